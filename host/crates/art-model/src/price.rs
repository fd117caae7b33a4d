//! Prices of tokens, in US dollars for a million.

use std::collections::BTreeMap;

use art_core::stream::LlmMetadata;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use art_core::provider::RuntimeProviderConfig;

use crate::wire::usage::cache_writes;

const BUILT_IN: &str = include_str!("../prices.toml");

/// Price of writing to a cache relative to reading, where the price table does not say. It is the factor of the only
/// provider that counts cache writes apart.
const CACHE_WRITE: f64 = 1.25;

/// The prices of one model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Price {
    /// A million tokens read.
    #[serde(deserialize_with = "amount")]
    pub input: f64,
    /// A million tokens written.
    #[serde(deserialize_with = "amount")]
    pub output: f64,
    /// A million tokens read from the provider's cache; as `input` when it is not set.
    #[serde(default, deserialize_with = "some_amount", skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// A million tokens of the question that the provider says it wrote to its cache; 1.25 times `input` when it is not set.
    #[serde(default, deserialize_with = "some_amount", skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Prices of calls with a long prompt, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrice>,
}

/// Prices of a call with a long prompt. They apply to the whole call, not only to the tokens over the bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct LongPrice {
    /// Prompts with more tokens are long.
    pub over: u64,
    /// A million tokens read.
    #[serde(deserialize_with = "amount")]
    pub input: f64,
    /// A million tokens written.
    #[serde(deserialize_with = "amount")]
    pub output: f64,
    /// A million tokens read from the provider's cache; as `input` when it is not set.
    #[serde(default, deserialize_with = "some_amount", skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// A million tokens of the question that the provider says it wrote to its cache; 1.25 times `input` when it is not set.
    #[serde(default, deserialize_with = "some_amount", skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// Reads a price. Negative prices are refused, and so is NaN, which would be below every limit.
fn amount<'de, D: Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    let price = f64::deserialize(source)?;
    if price.is_finite() && price >= 0.0 {
        return Ok(price);
    }
    Err(D::Error::custom("a price is a number of US dollars, 0 or more"))
}

fn some_amount<'de, D: Deserializer<'de>>(source: D) -> Result<Option<f64>, D::Error> {
    amount(source).map(Some)
}

impl Price {
    /// Returns the cost of a call in dollars, if its tokens are known.
    #[must_use]
    pub fn cost(&self, metadata: &LlmMetadata) -> Option<f64> {
        let (input, output) = (metadata.input_tokens?, metadata.output_tokens?);
        let cached = metadata.cached_input_tokens.unwrap_or_default().min(input);
        let written = cache_writes(metadata).unwrap_or_default().min(input - cached);
        let fresh = input - cached - written;
        let price = self.for_prompt(input);
        let cached_price = price.cached_input.unwrap_or(price.input);
        let write_price = price.cache_write.unwrap_or(price.input * CACHE_WRITE);
        let read = dollars(fresh, price.input) + dollars(cached, cached_price) + dollars(written, write_price);
        Some((read + dollars(output, price.output)) / 1e6)
    }

    /// Returns the prices of a call whose prompt has this many tokens.
    fn for_prompt(&self, tokens: u64) -> Self {
        match self.long.filter(|long| tokens > long.over) {
            None => *self,
            Some(long) => Self {
                input: long.input,
                output: long.output,
                cached_input: long.cached_input,
                cache_write: long.cache_write,
                long: None,
            },
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of tokens are far below what a float holds exactly"
)]
fn dollars(tokens: u64, price: f64) -> f64 {
    tokens as f64 * price
}

/// Prices by `PROVIDER:MODEL`. A name covers the model and its dated versions (`-2025-08-07`, `-20250807`, `-latest`);
/// with `*` at its end it covers every model with that prefix. The longest name that fits wins, and prices of the
/// settings win over built-in ones. A model without a price has no cost.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct PriceTable(pub BTreeMap<String, Price>);

impl PriceTable {
    /// Returns the built-in prices.
    #[must_use]
    pub fn built_in() -> Self {
        // The same text is parsed by a test.
        Self(toml::from_str(BUILT_IN).unwrap_or_default())
    }

    /// Returns the prices of `config` in this table.
    #[must_use]
    pub fn find(&self, config: &RuntimeProviderConfig) -> Option<Price> {
        let name = config.to_string();
        let fitting = self.0.iter().filter(|(key, _)| fits(key, &name));
        fitting.max_by_key(|(key, _)| key.len()).map(|(_, price)| *price)
    }
}

fn fits(key: &str, name: &str) -> bool {
    if let Some(prefix) = key.strip_suffix('*') {
        return name.starts_with(prefix);
    }
    name.strip_prefix(key).is_some_and(is_version)
}

/// Whether `rest` is empty or only a version: a number that is longer than that of a generation (`-5`).
fn is_version(rest: &str) -> bool {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    rest.is_empty() || rest == "-latest" || rest.strip_prefix(['-', '@']).is_some_and(|rest| digits(rest) >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(input: f64) -> Price {
        Price {
            input,
            output: 1.0,
            cached_input: Some(0.5),
            cache_write: None,
            long: None,
        }
    }

    fn found(keys: &[&str], model: &str) -> Option<f64> {
        let rows = keys.iter().zip(1_u32..);
        let table = PriceTable(rows.map(|(key, n)| ((*key).to_owned(), price(n.into()))).collect());
        let config = RuntimeProviderConfig::new("p", model);
        table.find(&config).map(|price| price.input)
    }

    #[test]
    fn the_built_in_table_can_be_read_and_has_no_negative_price() {
        let table: PriceTable = toml::from_str(BUILT_IN).unwrap();
        assert!(!table.0.is_empty());
        for (name, price) in table.0 {
            let cached = price.cached_input.unwrap_or_default();
            assert!(
                name.contains(':') && price.input >= 0.0 && price.output >= 0.0,
                "{name}"
            );
            assert!(cached >= 0.0 && cached <= price.input, "{name}");
        }
    }

    #[test]
    fn local_models_cost_nothing() {
        for name in ["embedded", "ollama"] {
            let config = RuntimeProviderConfig::new(name, "any");
            let price = PriceTable::built_in().find(&config).unwrap();
            assert_eq!((price.input, price.output), (0.0, 0.0));
        }
    }

    #[test]
    fn a_name_stands_for_its_dated_versions_and_not_for_other_models() {
        for model in [
            "big-4",
            "big-4-2025-08-07",
            "big-4-20250807",
            "big-4@001",
            "big-4-latest",
        ] {
            assert_eq!(found(&["p:big-4"], model), Some(1.0), "{model}");
        }
        for model in ["big-4-mini", "big-4-5", "big-4.1", "big", "big-40"] {
            assert_eq!(found(&["p:big-4"], model), None, "{model}");
        }
    }

    #[test]
    fn the_longest_name_that_fits_holds() {
        assert_eq!(found(&["p:*", "p:big-*", "p:big-mini"], "big-mini"), Some(3.0));
        assert_eq!(found(&["p:*", "p:big-*", "p:big-mini"], "big-max"), Some(2.0));
        assert_eq!(found(&["p:*", "p:big-*", "p:big-mini"], "small"), Some(1.0));
    }

    #[test]
    fn cached_tokens_have_their_own_price() {
        let metadata = LlmMetadata {
            input_tokens: Some(1_000_000),
            cached_input_tokens: Some(400_000),
            output_tokens: Some(500_000),
            ..LlmMetadata::default()
        };
        let cost = price(2.0).cost(&metadata).unwrap();
        assert!((cost - (1.2 + 0.2 + 0.5)).abs() < 1e-9, "{cost}");
    }

    #[test]
    fn tokens_that_were_written_to_the_cache_have_their_own_price() {
        let metadata = LlmMetadata {
            input_tokens: Some(1_000_000),
            cached_input_tokens: Some(400_000),
            output_tokens: Some(0),
            provider_raw_usage: Some(serde_json::json!({"cache_creation_input_tokens": 200_000})),
            ..LlmMetadata::default()
        };
        let set = Price {
            cache_write: Some(10.0),
            ..price(2.0)
        };
        for (price, expected) in [(price(2.0), 0.8 + 0.2 + 0.5), (set, 0.8 + 0.2 + 2.0)] {
            let cost = price.cost(&metadata).unwrap();
            assert!((cost - expected).abs() < 1e-9, "{cost}");
        }
    }

    #[test]
    fn a_price_is_a_number_that_is_not_below_nothing() {
        let read = |field: &str, value: &str| {
            let mut fields = BTreeMap::from([("input", "1.0"), ("output", "1.0")]);
            fields.insert(field, value);
            let lines = fields.iter().map(|(name, value)| format!("{name} = {value}\n"));
            toml::from_str::<Price>(&lines.collect::<String>())
        };
        for field in ["input", "output", "cached_input", "cache_write"] {
            for value in ["-0.1", "nan", "inf", "-inf"] {
                let error = read(field, value).unwrap_err();
                assert_eq!(error.message(), "a price is a number of US dollars, 0 or more");
            }
            assert!(read(field, "0").is_ok() && read(field, "2.5").is_ok(), "{field}");
        }
        assert!(read("long", "{ over = 1, input = nan, output = 1.0 }").is_err());
    }

    #[test]
    fn a_long_prompt_has_another_price_for_all_of_the_call() {
        let long = LongPrice {
            over: 100_000,
            input: 10.0,
            output: 20.0,
            cached_input: None,
            cache_write: None,
        };
        let price = Price {
            long: Some(long),
            ..price(2.0)
        };
        let cost = |input| {
            let metadata = LlmMetadata {
                input_tokens: Some(input),
                output_tokens: Some(1000),
                ..LlmMetadata::default()
            };
            price.cost(&metadata).unwrap()
        };
        assert!((cost(100_000) - 0.201).abs() < 1e-9);
        assert!((cost(100_001) - 1.020_01).abs() < 1e-9);
    }

    #[test]
    fn without_counts_there_is_no_cost() {
        assert_eq!(price(2.0).cost(&LlmMetadata::default()), None);
    }
}
