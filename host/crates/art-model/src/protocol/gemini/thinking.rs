//! Tells the model how much to think: models since Gemini 3 by a level, older models by a number of tokens.

use serde_json::{Value, json};

/// Returns the `thinkingConfig` for `effort`.
pub(super) fn config(model: &str, effort: &str) -> Value {
    let include_thoughts = effort != "none";
    if is_gemini_3_or_newer(model) {
        // `low` is the lowest level that all models support.
        let level = match effort {
            "none" | "minimal" | "low" => "low",
            "medium" => "medium",
            _ => "high",
        };
        return json!({"thinkingLevel": level, "includeThoughts": include_thoughts});
    }
    let budget = match effort {
        "none" if model.contains("flash") => 0,
        // Thinking cannot be turned off for Pro models. Their minimum is 128.
        "none" => 128,
        "minimal" => 512,
        "low" => 2048,
        "medium" => 8192,
        _ => 16384,
    };
    json!({"thinkingBudget": budget, "includeThoughts": include_thoughts})
}

/// Returns whether the model is Gemini 3 or newer. Such a model accepts a thinking level. A Gemini name without a version
/// counts as a current model.
pub(super) fn is_gemini_3_or_newer(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let Some(version) = name.strip_prefix("gemini-") else {
        return false;
    };
    let digits = version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse::<u32>().map_or(true, |version| version >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gemini_models_since_version_3_are_recognised() {
        for (model, expected) in [
            ("gemini-3-pro-preview", true),
            ("gemini-3.5-flash", true),
            ("models/gemini-flash-latest", true),
            ("gemini-2.5-pro", false),
            ("gemini-1.5-flash", false),
            ("gemma-3-27b-it", false),
        ] {
            assert_eq!(is_gemini_3_or_newer(model), expected, "{model}");
        }
    }

    #[test]
    fn an_effort_becomes_a_level_or_a_budget() {
        let config = |model, effort| config(model, effort).to_string();
        assert_eq!(
            config("gemini-3-pro", "minimal"),
            r#"{"thinkingLevel":"low","includeThoughts":true}"#
        );
        assert_eq!(
            config("gemini-3-pro", "xhigh"),
            r#"{"thinkingLevel":"high","includeThoughts":true}"#
        );
        assert_eq!(
            config("gemini-2.5-flash", "none"),
            r#"{"thinkingBudget":0,"includeThoughts":false}"#
        );
        assert_eq!(
            config("gemini-2.5-pro", "none"),
            r#"{"thinkingBudget":128,"includeThoughts":false}"#
        );
        assert_eq!(
            config("gemini-2.5-pro", "medium"),
            r#"{"thinkingBudget":8192,"includeThoughts":true}"#
        );
    }
}
