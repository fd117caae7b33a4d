//! Compares a call that was run again with its record.

use art_agent::CallEnd;
use art_core::text::truncate;
use art_core::tool::ToolResult;
use art_store::digest;
use art_tools::{ReplayedCall, ToolReport};
use serde_json::Value;

/// Maximum length of a value in a difference, in characters, without the note of how much of the value is missing.
const MAX_EXCERPT_CHARS: usize = 200;

/// What differs, its recorded value, and the value that the replay found.
pub(super) type Mismatch = (String, String, String);

/// Compares the input of a call with its recorded digest, if there is one. Returns the difference, if any.
pub(super) fn input_mismatch(recorded: &str, input_json: &str) -> Option<Mismatch> {
    let found = digest(input_json.as_bytes());
    let differs = !recorded.is_empty() && recorded != found;
    differs.then(|| ("input".to_owned(), recorded.to_owned(), found))
}

/// Compares a call with its record, and also its use of fuel if `with_fuel` is set. Returns the first difference, if any.
pub(super) fn call_mismatch(recorded: &CallEnd, replayed: &ReplayedCall, with_fuel: bool) -> Option<Mismatch> {
    let ReplayedCall { report, divergence } = replayed;
    // The component asked the host for other things than it did when it was recorded. Each answer of the host is a crossing,
    // since it crosses the border of the sandbox.
    if let Some(divergence) = divergence {
        let what = format!("crossing {}", divergence.number);
        return Some((what, "an answer of the host".to_owned(), divergence.reason.to_string()));
    }
    if recorded.ending != report.ending {
        let found = match &report.result.error {
            Some(error) => format!("{} ({error})", report.ending.as_str()),
            None => report.ending.as_str().to_owned(),
        };
        return Some((
            "ending".to_owned(),
            recorded.ending.as_str().to_owned(),
            excerpt(&found),
        ));
    }
    compare_results(&recorded.result, &as_journaled(report, &recorded.result)).or_else(|| {
        let (fuel, found) = (recorded.usage.fuel, report.usage.fuel);
        (with_fuel && fuel != found).then(|| ("fuel".to_owned(), fuel.to_string(), found.to_string()))
    })
}

/// Returns the result of a report as the journal would have it. The digests of the files and the log are added, except where the
/// recording host had no room for them. The identifier of a suspension is replaced by the recorded one, since it is random.
fn as_journaled(report: &ToolReport, recorded: &ToolResult) -> ToolResult {
    let mut result = report.result.clone();
    let metadata = &mut result.metadata;
    let infos = metadata.attachments.iter_mut().zip(report.attachments.iter());
    for ((info, file), recorded) in infos.zip(&recorded.metadata.attachments) {
        info.digest = recorded.digest.as_ref().map(|_| digest(&file.data));
    }
    if recorded.metadata.log_digest.is_some() && !report.log.is_empty() {
        let log = serde_json::to_vec(&report.log).unwrap_or_default();
        metadata.log_digest = Some(digest(&log));
    }
    if metadata.suspension_id.is_some() {
        metadata.suspension_id.clone_from(&recorded.metadata.suspension_id);
    }
    result
}

fn compare_results(recorded: &ToolResult, found: &ToolResult) -> Option<Mismatch> {
    let json = |result: &ToolResult| serde_json::to_value(result).unwrap_or_default();
    let (recorded, found) = (json(recorded), json(found));
    let (recorded_text, found_text) = (recorded.to_string(), found.to_string());
    if recorded_text == found_text {
        return None;
    }
    let differing = first_difference(&recorded, &found, &mut String::from("result"));
    differing.or_else(|| {
        let what = "the order of keys in the result".to_owned();
        Some((what, excerpt(&recorded_text), excerpt(&found_text)))
    })
}

/// Returns the first place at which two values differ, with what each has there. `path` leads to the two values. It is extended
/// while the values inside of them are compared, and then restored.
fn first_difference(recorded: &Value, found: &Value, path: &mut String) -> Option<Mismatch> {
    match (recorded, found) {
        (Value::Object(recorded), Value::Object(found)) => {
            let added = found.keys().filter(|key| !recorded.contains_key(*key));
            let mut keys = recorded.keys().chain(added);
            keys.find_map(|key| first_difference_at(key, recorded.get(key), found.get(key), path))
        }
        (Value::Array(recorded), Value::Array(found)) => (0..recorded.len().max(found.len()))
            .find_map(|index| first_difference_at(&index.to_string(), recorded.get(index), found.get(index), path)),
        _ if recorded == found => None,
        _ => Some((excerpt(path), show_value(Some(recorded)), show_value(Some(found)))),
    }
}

/// Same as [`first_difference`], for the values of one key or index, which may be missing on one side.
fn first_difference_at(
    key: &str,
    recorded: Option<&Value>,
    found: Option<&Value>,
    path: &mut String,
) -> Option<Mismatch> {
    let length = path.len();
    path.push('/');
    path.push_str(key);
    let difference = match (recorded, found) {
        (Some(recorded), Some(found)) => first_difference(recorded, found, path),
        _ => Some((excerpt(path), show_value(recorded), show_value(found))),
    };
    path.truncate(length);
    difference
}

fn show_value(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| excerpt(&value.to_string()))
}

/// Returns the text, shortened for a difference.
pub(super) fn excerpt(text: &str) -> String {
    truncate(text, MAX_EXCERPT_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn find_difference(recorded: &Value, found: &Value) -> Option<Mismatch> {
        first_difference(recorded, found, &mut String::from("result"))
    }

    #[test]
    fn the_place_of_a_difference_is_shortened() {
        let key = "k".repeat(10 * MAX_EXCERPT_CHARS);
        for found in [json!({&key: 2}), json!({})] {
            let (place, ..) = find_difference(&json!({&key: 1}), &found).unwrap();
            assert!(place.chars().count() < 2 * MAX_EXCERPT_CHARS, "{place}");
        }
    }

    #[test]
    fn equal_values_have_no_difference() {
        let value = json!({"a": [1, {"b": null}], "c": "d"});
        assert_eq!(find_difference(&value, &value.clone()), None);
    }

    #[test]
    fn the_difference_is_the_first_differing_place_with_both_values() {
        let found = find_difference(
            &json!({"a": [1, {"b": 2}], "c": 3}),
            &json!({"a": [1, {"b": 5}], "c": 4}),
        );
        assert_eq!(found, Some(("result/a/1/b".to_owned(), "2".to_owned(), "5".to_owned())));
    }

    #[test]
    fn a_missing_and_an_added_value_are_differences() {
        let nothing = || "nothing".to_owned();
        let found = find_difference(&json!({"a": 1}), &json!({}));
        assert_eq!(found, Some(("result/a".to_owned(), "1".to_owned(), nothing())));
        let found = find_difference(&json!([]), &json!([true]));
        assert_eq!(found, Some(("result/0".to_owned(), nothing(), "true".to_owned())));
    }

    #[test]
    fn a_long_value_is_shortened() {
        const MAX_NOTE_CHARS: usize = 100;
        let (_, recorded, _) = find_difference(&json!("x".repeat(1_000)), &json!("y")).unwrap();
        assert!(
            recorded.chars().count() < MAX_EXCERPT_CHARS + MAX_NOTE_CHARS,
            "{recorded}"
        );
    }

    #[test]
    fn an_input_is_compared_with_its_recorded_digest_if_there_is_one() {
        assert_eq!(input_mismatch("", "{}"), None);
        assert_eq!(input_mismatch(&digest(b"{}"), "{}"), None);
        assert!(input_mismatch(&digest(b"{}"), "[]").is_some());
    }
}
