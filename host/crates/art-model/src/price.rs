//! Prices of tokens, in US dollars per million tokens.

use std::collections::BTreeMap;

use art_core::price::Price;
use art_core::provider::RuntimeProviderConfig;
use art_core::stream::LlmMetadata;
use serde::Deserialize;

use crate::protocol::usage::cache_write_tokens;

const BUILT_IN: &str = include_str!("../prices.toml");

/// Returns the cost of a model call in US dollars, or `None` if its token counts are unknown.
pub(crate) fn cost(price: &Price, metadata: &LlmMetadata) -> Option<f64> {
    price.cost(metadata, cache_write_tokens(metadata).unwrap_or_default())
}

/// Prices by a pattern of model names. The pattern `PROVIDER:MODEL` matches the model and its versions (`-2025-08-07`,
/// `-20250807`, `@001`, `-latest`). A pattern that ends with `*` matches every model with that prefix. The longest matching
/// pattern is used. A matching pattern in the settings is preferred to all built-in ones. The cost of a model without a price is
/// unknown.
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

    /// Returns the price of the model `config` in this table, or `None` if no pattern matches.
    #[must_use]
    pub fn find(&self, config: &RuntimeProviderConfig) -> Option<Price> {
        let provider_and_model = config.to_string();
        let matching = self
            .0
            .iter()
            .filter(|(pattern, _)| matches(pattern, &provider_and_model));
        matching
            .max_by_key(|(pattern, _)| pattern.len())
            .map(|(_, price)| *price)
    }
}

fn matches(pattern: &str, provider_and_model: &str) -> bool {
    if let Some(prefix) = pattern.strip_suffix('*') {
        return provider_and_model.starts_with(prefix);
    }
    provider_and_model
        .strip_prefix(pattern)
        .is_some_and(is_empty_or_version)
}

/// Returns whether `suffix` is empty or names a version: it is `-latest`, or begins with `-` or `@` and at least three digits,
/// like a date. Fewer digits name another generation of the model, such as `-5`.
fn is_empty_or_version(suffix: &str) -> bool {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    suffix.is_empty() || suffix == "-latest" || suffix.strip_prefix(['-', '@']).is_some_and(|rest| digits(rest) >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::price::LongPrice;

    /// Returns a price with the input price `input`, an output price of 1 and a price of cached tokens of 0.5.
    fn price(input: f64) -> Price {
        Price {
            input,
            output: 1.0,
            cached_input: Some(0.5),
            cache_write: None,
            long: None,
        }
    }

    /// Returns the number, from 1, of the pattern whose price is used for a model of the provider `p`.
    fn used_pattern_number(patterns: &[&str], model: &str) -> Option<f64> {
        let rows = patterns.iter().zip(1_u32..);
        // The input price of each pattern is its number.
        let table = rows.map(|(pattern, number)| ((*pattern).to_owned(), price(number.into())));
        let table = PriceTable(table.collect());
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
    fn models_on_this_machine_are_free() {
        // The provider `embedded` is a model in this process.
        for name in ["embedded", "ollama"] {
            let config = RuntimeProviderConfig::new(name, "any");
            let price = PriceTable::built_in().find(&config).unwrap();
            assert_eq!((price.input, price.output), (0.0, 0.0));
        }
    }

    #[test]
    fn a_pattern_matches_the_versions_of_its_model_but_not_other_models() {
        for model in [
            "big-4",
            "big-4-2025-08-07",
            "big-4-20250807",
            "big-4@001",
            "big-4-latest",
        ] {
            assert_eq!(used_pattern_number(&["p:big-4"], model), Some(1.0), "{model}");
        }
        for model in ["big-4-mini", "big-4-5", "big-4.1", "big", "big-40"] {
            assert_eq!(used_pattern_number(&["p:big-4"], model), None, "{model}");
        }
    }

    #[test]
    fn the_longest_matching_pattern_is_used() {
        assert_eq!(
            used_pattern_number(&["p:*", "p:big-*", "p:big-mini"], "big-mini"),
            Some(3.0)
        );
        assert_eq!(
            used_pattern_number(&["p:*", "p:big-*", "p:big-mini"], "big-max"),
            Some(2.0)
        );
        assert_eq!(
            used_pattern_number(&["p:*", "p:big-*", "p:big-mini"], "small"),
            Some(1.0)
        );
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
        let (uncached_cost, cached_cost, output_cost) = (1.2, 0.2, 0.5);
        assert!(
            (cost - (uncached_cost + cached_cost + output_cost)).abs() < 1e-9,
            "{cost}"
        );
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
        let (uncached_cost, cached_cost) = (0.8, 0.2);
        // The default price of a cache write is 1.25 times the input price.
        for (price, write_cost) in [(price(2.0), 0.5), (with_write_price, 2.0)] {
            let cost = cost(&price, &metadata).unwrap();
            assert!(
                (cost - (uncached_cost + cached_cost + write_cost)).abs() < 1e-9,
                "{cost}"
            );
        }
    }

    #[test]
    fn a_price_must_be_a_number_of_at_least_zero() {
        let price_with = |field: &str, value: &str| {
            let mut fields = BTreeMap::from([("input", "1.0"), ("output", "1.0")]);
            fields.insert(field, value);
            let lines = fields.iter().map(|(name, value)| format!("{name} = {value}\n"));
            toml::from_str::<Price>(&lines.collect::<String>())
        };
        for field in ["input", "output", "cached_input", "cache_write"] {
            for value in ["-0.1", "nan", "inf", "-inf"] {
                let error = price_with(field, value).unwrap_err();
                assert_eq!(error.message(), "a price must be a number of US dollars, 0 or more");
            }
            assert!(
                price_with(field, "0").is_ok() && price_with(field, "2.5").is_ok(),
                "{field}"
            );
        }
        assert!(price_with("long", "{ over = 1, input = nan, output = 1.0 }").is_err());
    }

    #[test]
    fn the_price_for_long_prompts_applies_to_the_whole_call() {
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
        // 100,000 input tokens cost 0.2 and 1,000 output tokens 0.001.
        assert!((cost_with_input(100_000) - 0.201).abs() < 1e-9);
        // 100,001 input tokens cost 1.00001 and 1,000 output tokens 0.02.
        assert!((cost_with_input(100_001) - 1.020_01).abs() < 1e-9);
    }

    #[test]
    fn without_token_counts_the_cost_is_unknown() {
        assert_eq!(cost(&price(2.0), &LlmMetadata::default()), None);
    }
}
