//! Prices of tokens, in US dollars per million tokens.

use std::collections::BTreeMap;

use art_core::price::Price;
use art_core::provider::RuntimeProviderConfig;
use art_core::stream::LlmMetadata;
use serde::Deserialize;

use crate::protocol::usage::cache_writes;

const BUILT_IN: &str = include_str!("../prices.toml");

/// Returns the cost of a call in US dollars, or `None` if its token counts are unknown.
pub(crate) fn cost(price: &Price, metadata: &LlmMetadata) -> Option<f64> {
    price.cost(metadata, cache_writes(metadata).unwrap_or_default())
}

/// Prices by `PROVIDER:MODEL`. A name matches the model and its versions (`-2025-08-07`, `-20250807`, `@001`, `-latest`). A name
/// that ends with `*` matches every model with that prefix. The longest match is used. Prices of the settings override built-in
/// ones. The cost of a model without a price is unknown.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct PriceTable(pub BTreeMap<String, Price>);

impl PriceTable {
    /// Returns the built-in prices.
    #[must_use]
    pub fn built_in() -> Self {
        // A test checks that the text can be parsed.
        Self(toml::from_str(BUILT_IN).unwrap_or_default())
    }

    /// Returns the price of `config` in this table, or `None` if no name matches.
    #[must_use]
    pub fn find(&self, config: &RuntimeProviderConfig) -> Option<Price> {
        let name = config.to_string();
        let matching = self.0.iter().filter(|(key, _)| matches(key, &name));
        matching.max_by_key(|(key, _)| key.len()).map(|(_, price)| *price)
    }
}

fn matches(key: &str, name: &str) -> bool {
    if let Some(prefix) = key.strip_suffix('*') {
        return name.starts_with(prefix);
    }
    name.strip_prefix(key).is_some_and(is_version)
}

/// Returns whether `rest` is empty, `-latest`, or begins like a date: with `-` or `@` and at least three digits. Fewer digits are
/// a model generation, such as `-5`.
fn is_version(rest: &str) -> bool {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    rest.is_empty() || rest == "-latest" || rest.strip_prefix(['-', '@']).is_some_and(|rest| digits(rest) >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::price::LongPrice;

    fn price(input: f64) -> Price {
        Price {
            input,
            output: 1.0,
            cached_input: Some(0.5),
            cache_write: None,
            long: None,
        }
    }

    fn find_input_price(keys: &[&str], model: &str) -> Option<f64> {
        let rows = keys.iter().zip(1_u32..);
        let table = PriceTable(rows.map(|(key, n)| ((*key).to_owned(), price(n.into()))).collect());
        let config = RuntimeProviderConfig::new("p", model);
        table.find(&config).map(|price| price.input)
    }

    #[test]
    fn the_built_in_table_is_valid() {
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
    fn local_models_are_free() {
        for name in ["embedded", "ollama"] {
            let config = RuntimeProviderConfig::new(name, "any");
            let price = PriceTable::built_in().find(&config).unwrap();
            assert_eq!((price.input, price.output), (0.0, 0.0));
        }
    }

    #[test]
    fn a_name_matches_the_versions_of_its_model_but_not_other_models() {
        for model in [
            "big-4",
            "big-4-2025-08-07",
            "big-4-20250807",
            "big-4@001",
            "big-4-latest",
        ] {
            assert_eq!(find_input_price(&["p:big-4"], model), Some(1.0), "{model}");
        }
        for model in ["big-4-mini", "big-4-5", "big-4.1", "big", "big-40"] {
            assert_eq!(find_input_price(&["p:big-4"], model), None, "{model}");
        }
    }

    #[test]
    fn the_longest_matching_name_is_used() {
        assert_eq!(
            find_input_price(&["p:*", "p:big-*", "p:big-mini"], "big-mini"),
            Some(3.0)
        );
        assert_eq!(
            find_input_price(&["p:*", "p:big-*", "p:big-mini"], "big-max"),
            Some(2.0)
        );
        assert_eq!(find_input_price(&["p:*", "p:big-*", "p:big-mini"], "small"), Some(1.0));
    }

    #[test]
    fn cached_tokens_have_their_own_price() {
        let metadata = LlmMetadata {
            input_tokens: Some(1_000_000),
            cached_input_tokens: Some(400_000),
            output_tokens: Some(500_000),
            ..LlmMetadata::default()
        };
        let cost = cost(&price(2.0), &metadata).unwrap();
        assert!((cost - (1.2 + 0.2 + 0.5)).abs() < 1e-9, "{cost}");
    }

    #[test]
    fn cache_writes_have_their_own_price() {
        let metadata = LlmMetadata {
            input_tokens: Some(1_000_000),
            cached_input_tokens: Some(400_000),
            output_tokens: Some(0),
            provider_raw_usage: Some(serde_json::json!({"cache_creation_input_tokens": 200_000})),
            ..LlmMetadata::default()
        };
        let with_write_price = Price {
            cache_write: Some(10.0),
            ..price(2.0)
        };
        for (price, expected) in [(price(2.0), 0.8 + 0.2 + 0.5), (with_write_price, 0.8 + 0.2 + 2.0)] {
            let cost = cost(&price, &metadata).unwrap();
            assert!((cost - expected).abs() < 1e-9, "{cost}");
        }
    }

    #[test]
    fn a_price_must_be_a_number_of_at_least_zero() {
        let read = |field: &str, value: &str| {
            let mut fields = BTreeMap::from([("input", "1.0"), ("output", "1.0")]);
            fields.insert(field, value);
            let lines = fields.iter().map(|(name, value)| format!("{name} = {value}\n"));
            toml::from_str::<Price>(&lines.collect::<String>())
        };
        for field in ["input", "output", "cached_input", "cache_write"] {
            for value in ["-0.1", "nan", "inf", "-inf"] {
                let error = read(field, value).unwrap_err();
                assert_eq!(error.message(), "a price must be a number of US dollars, 0 or more");
            }
            assert!(read(field, "0").is_ok() && read(field, "2.5").is_ok(), "{field}");
        }
        assert!(read("long", "{ over = 1, input = nan, output = 1.0 }").is_err());
    }

    #[test]
    fn the_long_price_applies_to_the_whole_call() {
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
        let cost_with_input = |input| {
            let metadata = LlmMetadata {
                input_tokens: Some(input),
                output_tokens: Some(1000),
                ..LlmMetadata::default()
            };
            cost(&price, &metadata).unwrap()
        };
        assert!((cost_with_input(100_000) - 0.201).abs() < 1e-9);
        assert!((cost_with_input(100_001) - 1.020_01).abs() < 1e-9);
    }

    #[test]
    fn without_token_counts_the_cost_is_unknown() {
        assert_eq!(cost(&price(2.0), &LlmMetadata::default()), None);
    }
}
