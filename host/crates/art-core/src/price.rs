//! Prices of the tokens of a model, in US dollars per million tokens.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::stream::LlmMetadata;

/// Default price of tokens written to a cache, as a multiple of the price of input tokens. It is the factor of Anthropic, the
/// only provider that counts cache writes separately.
const CACHE_WRITE_FACTOR: f64 = 1.25;

/// The prices of one model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Price {
    /// Price of input tokens.
    #[serde(deserialize_with = "valid_price")]
    pub input: f64,
    /// Price of output tokens.
    #[serde(deserialize_with = "valid_price")]
    pub output: f64,
    /// Price of input tokens that were read from the provider's cache; default: `input`.
    #[serde(default, deserialize_with = "some_price", skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Price of input tokens that were written to the provider's cache; default: 1.25 times `input`.
    #[serde(default, deserialize_with = "some_price", skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Prices of calls with a long prompt, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrice>,
}

/// Prices of a call with a long prompt. They apply to the whole call, not only to the tokens over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct LongPrice {
    /// Number of tokens over which a prompt is long.
    pub over: u64,
    /// Price of input tokens.
    #[serde(deserialize_with = "valid_price")]
    pub input: f64,
    /// Price of output tokens.
    #[serde(deserialize_with = "valid_price")]
    pub output: f64,
    /// Price of input tokens that were read from the provider's cache; default: `input`.
    #[serde(default, deserialize_with = "some_price", skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Price of input tokens that were written to the provider's cache; default: 1.25 times `input`.
    #[serde(default, deserialize_with = "some_price", skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// Deserialises a price. Refuses infinite and negative prices and NaN, since with these a cost limit would not work.
fn valid_price<'de, D: Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    let price = f64::deserialize(source)?;
    if price.is_finite() && price >= 0.0 {
        return Ok(price);
    }
    Err(D::Error::custom("a price must be a number of US dollars, 0 or more"))
}

fn some_price<'de, D: Deserializer<'de>>(source: D) -> Result<Option<f64>, D::Error> {
    valid_price(source).map(Some)
}

impl Price {
    /// Returns the cost of a call in US dollars, or `None` if its token counts are unknown. `cache_written` is the number of
    /// input tokens that were written to the provider's cache.
    #[must_use]
    pub fn cost(&self, metadata: &LlmMetadata, cache_written: u64) -> Option<f64> {
        let (input, output) = (metadata.input_tokens?, metadata.output_tokens?);
        let cached = metadata.cached_input_tokens.unwrap_or_default().min(input);
        let cache_written = cache_written.min(input - cached);
        let uncached = input - cached - cache_written;
        let price = self.for_prompt(input);
        let cached_price = price.cached_input.unwrap_or(price.input);
        let write_price = price.cache_write.unwrap_or(price.input * CACHE_WRITE_FACTOR);
        let input_cost = micro_dollars(uncached, price.input)
            + micro_dollars(cached, cached_price)
            + micro_dollars(cache_written, write_price);
        Some((input_cost + micro_dollars(output, price.output)) / 1e6)
    }

    /// Returns the prices of a call whose prompt has `tokens` tokens.
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

/// Returns the cost of the tokens in millionths of a US dollar. `price` is in US dollars per million tokens, and thus in
/// millionths of a US dollar per token.
#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
fn micro_dollars(tokens: u64, price: f64) -> f64 {
    tokens as f64 * price
}
