//! Reads the token counts of a reply, whatever names the provider gives them (contract C85).

use art_core::json::is_deeper;
use art_core::stream::LlmMetadata;
use serde_json::Value;

/// Maximum size of a usage object that is stored in [`LlmMetadata::provider_raw_usage`], in bytes. Of a larger object, only the
/// counts are stored.
const MAX_RAW_BYTES: usize = 4 << 10;

/// Maximum depth of a usage object that is stored in [`LlmMetadata::provider_raw_usage`], in levels. Of a deeper object, only the
/// counts are stored. The deepest known usage object has a list of objects with counts, such as
/// `{"details": [{"tokenCount": 1}]}`: 4 levels with the number.
const MAX_RAW_DEPTH: usize = 4;

/// Maximum plausible cost of a call, in US dollars.
const MAX_COST_USD: f64 = 10_000.0;

/// Maximum number of usage fields that are merged from several events.
const MAX_FIELDS: usize = 64;

/// Returns the object with the token counts in `body`, under any of its names.
pub(super) fn find(body: &Value) -> Option<&Value> {
    let names = [
        "/usage",
        "/token_usage",
        "/tokenUsage",
        "/usageMetadata",
        "/x_groq/usage",
    ];
    let mut objects = names.iter().filter_map(|name| body.pointer(name));
    objects.find(|usage| usage.is_object())
}

/// Merges `newer` into `older`. Some providers send the counts of prompt and reply in separate events.
pub(super) fn merge(older: &mut Option<Value>, newer: &Value) {
    match (older, newer) {
        (Some(Value::Object(older)), Value::Object(newer)) => {
            for (name, value) in newer.iter().filter(|(_, value)| !value.is_null()) {
                let before = older.get(name);
                // Some gateways send zeros with the last event. Counts never shrink, so ignore smaller ones.
                let is_smaller = before.and_then(parse_count) > parse_count(value);
                if !is_smaller && (before.is_some() || older.len() < MAX_FIELDS) {
                    older.insert(name.clone(), value.clone());
                }
            }
        }
        (older, Value::Object(_)) => *older = Some(newer.clone()),
        _ => {}
    }
}

/// Copies the counts of `usage` into `metadata`, and stores `usage` itself there if it is small.
pub(super) fn copy_counts(usage: Value, metadata: &mut LlmMetadata) {
    let count = |names: &[&str]| names.iter().find_map(|name| usage.pointer(name).and_then(parse_count));
    // Gemini does not include thoughts in the count of the reply; all others do.
    let separate_thoughts = count(&["/thoughtsTokenCount"]);
    metadata.thinking_tokens = separate_thoughts.or_else(|| count(THINKING_COUNTS));
    metadata.cached_input_tokens = count(CACHED_COUNTS);
    let input = count(&["/prompt_tokens", "/promptTokens"])
        .or_else(|| sum([count(&["/promptTokenCount"]), count(&["/toolUsePromptTokenCount"])]))
        .or_else(|| {
            // Anthropic does not include cached tokens in the count of the prompt.
            let cache = [
                count(&["/cache_read_input_tokens"]),
                count(&["/cache_creation_input_tokens"]),
            ];
            sum([count(&["/input_tokens", "/inputTokens"]), sum(cache)])
        });
    metadata.input_tokens = input;
    metadata.output_tokens = count(&["/completion_tokens", "/completionTokens"])
        .or_else(|| sum([count(&["/candidatesTokenCount"]), separate_thoughts]))
        .or_else(|| count(&["/output_tokens", "/outputTokens"]));
    if usage.to_string().len() <= MAX_RAW_BYTES && !is_deeper(&usage, MAX_RAW_DEPTH) {
        metadata.provider_raw_usage = Some(usage);
    }
}

/// Returns the number of prompt tokens that were written to the provider's cache, if the provider counts them separately.
pub(crate) fn cache_write_tokens(metadata: &LlmMetadata) -> Option<u64> {
    let usage = metadata.provider_raw_usage.as_ref()?;
    usage.get("cache_creation_input_tokens").and_then(parse_count)
}

/// Returns the cost of the model call, in US dollars, if `usage` has it. Resellers report the cost there.
pub(super) fn cost(usage: &Value) -> Option<f64> {
    let cost = usage.get("cost").and_then(Value::as_f64);
    cost.filter(|cost| (0.0..=MAX_COST_USD).contains(cost))
}

/// JSON pointers to the number of tokens of thoughts in a usage object.
const THINKING_COUNTS: &[&str] = &[
    "/completion_tokens_details/reasoning_tokens",
    "/completionTokensDetails/reasoningTokens",
    "/output_tokens_details/reasoning_tokens",
    "/output_tokens_details/thinking_tokens",
];

/// JSON pointers to the number of prompt tokens that were read from the provider's cache.
const CACHED_COUNTS: &[&str] = &[
    "/prompt_tokens_details/cached_tokens",
    "/promptTokensDetails/cachedTokens",
    "/input_tokens_details/cached_tokens",
    "/prompt_cache_hit_tokens",
    "/cache_read_input_tokens",
    "/cachedContentTokenCount",
];

/// Returns the sum of the counts that are present, or `None` if there are none.
fn sum(counts: [Option<u64>; 2]) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
}

/// Parses a count, which some gateways send as a float or as text.
fn parse_count(value: &Value) -> Option<u64> {
    // Floats above about 9e15 are not exact integers.
    let float = || value.as_f64().filter(|n| (0.0..9.0e15).contains(n));
    let text = || value.as_str().and_then(|text| text.parse().ok());
    value.as_u64().or_else(|| float().map(to_integer)).or_else(text)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller checked that the number is between 0 and 9e15"
)]
fn to_integer(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns input, output, thinking and cached tokens of a body.
    fn counts(body: &Value) -> [Option<u64>; 4] {
        let mut metadata = LlmMetadata::default();
        if let Some(usage) = find(body) {
            copy_counts(usage.clone(), &mut metadata);
        }
        [
            metadata.input_tokens,
            metadata.output_tokens,
            metadata.thinking_tokens,
            metadata.cached_input_tokens,
        ]
    }

    #[test]
    fn the_usage_of_every_provider_is_read() {
        let openai = json!({"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17,
            "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 3}});
        let forms = [
            json!({"usage": openai}),
            json!({"token_usage": openai}),
            json!({"x_groq": {"id": "r", "usage": openai}}),
            json!({"usage": {"promptTokens": 10, "completionTokens": 7.0,
                "promptTokensDetails": {"cachedTokens": "4"}, "completionTokensDetails": {"reasoningTokens": 3}}}),
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 7, "prompt_cache_hit_tokens": 4,
                "completion_tokens_details": {"reasoning_tokens": 3}}}),
            json!({"usage": {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4},
                "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 3}}}),
            json!({"usage": {"input_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 1,
                "output_tokens": 7, "output_tokens_details": {"thinking_tokens": 3}}}),
            json!({"usageMetadata": {"promptTokenCount": 8, "toolUsePromptTokenCount": 2, "cachedContentTokenCount": 4,
                "candidatesTokenCount": 4, "thoughtsTokenCount": 3, "totalTokenCount": 17}}),
        ];
        for form in forms {
            assert_eq!(counts(&form), [Some(10), Some(7), Some(3), Some(4)], "{form}");
        }
    }

    #[test]
    fn missing_counts_stay_missing_and_openai_names_take_precedence() {
        assert_eq!(counts(&json!({})), [None; 4]);
        assert_eq!(counts(&json!({"usage": null, "x_groq": 3})), [None; 4]);
        assert_eq!(
            counts(&json!({"usage": {"output_tokens": 2}})),
            [None, Some(2), None, None]
        );
        let both =
            json!({"usage": {"prompt_tokens": 1, "input_tokens": 9, "completion_tokens": 2, "output_tokens": 9}});
        assert_eq!(counts(&both), [Some(1), Some(2), None, None]);
    }

    #[test]
    fn a_negative_or_huge_count_and_a_value_that_is_not_a_number_are_ignored() {
        for wrong in [json!(-1), json!("many"), json!({}), json!(1e300), json!(null)] {
            assert_eq!(counts(&json!({"usage": {"prompt_tokens": wrong}}))[0], None);
        }
    }

    #[test]
    fn a_later_count_replaces_an_earlier_one_unless_it_is_smaller() {
        let mut usage = None;
        merge(&mut usage, &json!({"input_tokens": 5, "output_tokens": 1}));
        merge(&mut usage, &json!({"output_tokens": 8, "input_tokens": null}));
        merge(&mut usage, &json!({"output_tokens": 0, "input_tokens": 0}));
        merge(&mut usage, &json!("nothing"));
        assert_eq!(usage, Some(json!({"input_tokens": 5, "output_tokens": 8})));
    }

    #[test]
    fn an_implausible_cost_is_ignored() {
        for (reported, expected) in [
            (json!(0.0125), Some(0.0125)),
            (json!(0), Some(0.0)),
            (json!(-1.0), None),
            (json!(1e300), None),
            (json!("0.1"), None),
            (json!({"total": 1.0}), None),
        ] {
            assert_eq!(cost(&json!({"cost": reported})), expected, "{reported}");
        }
    }

    /// Returns whether the usage object itself is stored, and not only its counts.
    fn is_stored(usage: Value) -> bool {
        let mut metadata = LlmMetadata::default();
        copy_counts(usage, &mut metadata);
        metadata.provider_raw_usage.is_some()
    }

    #[test]
    fn only_a_small_raw_usage_is_stored() {
        for (length, expected) in [(10, true), (5000, false)] {
            let usage = json!({"prompt_tokens": 1, "note": "x".repeat(length)});
            assert_eq!(is_stored(usage), expected);
        }
    }

    #[test]
    fn a_raw_usage_that_is_nested_too_deeply_is_not_stored() {
        assert!(is_stored(json!({"details": [{"modality": "TEXT", "tokenCount": 1}]})));
        assert!(!is_stored(json!({"details": [[[[1]]]]})));
    }
}
