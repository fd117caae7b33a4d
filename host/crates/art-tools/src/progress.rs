//! Progress of running calls, for a person who waits: when a call starts, and what its tool reports.

use std::sync::{Arc, Mutex, PoisonError};

use art_core::text::byte_prefix;
use art_core::tool::ParsedToolCall;
use serde_json::Value;

/// Maximum length of the title of a progress report, in bytes. A line of a terminal usually has fewer.
const MAX_TITLE_BYTES: usize = 200;
/// Maximum size of the facts of a progress report, in bytes; longer ones are ignored. Facts are a JSON object such as
/// `{"done": 3, "of": 10}`.
const MAX_FACTS_BYTES: usize = 1_000;

/// Progress of a call that runs. A call that is refused or finds the queue full has no progress, only a
/// [`ToolReport`](crate::ToolReport).
#[derive(Clone, Debug, PartialEq)]
pub enum CallProgress {
    /// The call started. Its arguments are the validated ones, with defaults.
    Started(ParsedToolCall),
    /// The tool reported progress. Sent at most ten times a second, with only the newest of several reports.
    Reported(ToolProgress),
}

/// A progress report of a tool (contract C78). It is only for a waiting person: it is not stored and has no effect on
/// the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolProgress {
    /// Identifier of the call.
    pub call_id: String,
    /// Identifier of the plan item of the call; see [`CallScope::parent_id`](crate::CallScope::parent_id).
    pub parent_id: Option<String>,
    /// Description of what the tool is doing: at most 200 bytes. It may contain any characters, also control characters.
    pub title: String,
    /// Progress in percent, from 0 to 100, if the facts of the tool contain `done` and `of`.
    pub percent: Option<u8>,
}

/// The newest progress report of a call, until it is read. A new report replaces an unread one. Clones share the report.
#[derive(Clone, Debug, Default)]
pub struct NewestProgress(Arc<Mutex<Option<RawProgress>>>);

/// A progress report as the tool sent it, within the limits.
#[derive(Debug, PartialEq, Eq)]
struct RawProgress {
    title: String,
    /// The text of a JSON object, if the tool follows the contract; else any text.
    facts: String,
}

impl NewestProgress {
    /// Replaces the last report. `facts` is the text of a JSON object such as `{"done": 3, "of": 10}`, or empty.
    pub fn report(&self, title: &str, facts: &str) {
        let facts = if facts.len() > MAX_FACTS_BYTES { "" } else { facts };
        let report = RawProgress {
            title: byte_prefix(title, MAX_TITLE_BYTES).to_owned(),
            facts: facts.to_owned(),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    /// Removes the newest report and returns it with the identifiers of `call`. Returns `None` if there is none.
    pub(crate) fn take_for(&self, call: &ParsedToolCall, parent_id: Option<&str>) -> Option<ToolProgress> {
        self.take().map(|report| ToolProgress {
            call_id: call.call_id.clone(),
            parent_id: parent_id.map(str::to_owned),
            percent: percent(&report.facts),
            title: report.title,
        })
    }

    fn take(&self) -> Option<RawProgress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Returns the percentage in facts such as `{"done": 3, "of": 10}`, rounded down, or `None` if they contain none.
fn percent(facts: &str) -> Option<u8> {
    let facts: Value = serde_json::from_str(facts).ok()?;
    let number = |name: &str| facts.get(name).and_then(Value::as_f64);
    let (done, total) = (number("done")?, number("of")?);
    let percent = done / total * 100.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number from 0 to 100, rounded down"
    )]
    (total > 0.0 && percent >= 0.0).then(|| percent.min(100.0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentage_is_rounded_down_and_at_most_100() {
        assert_eq!(percent(r#"{"done": 3, "of": 10}"#), Some(30));
        assert_eq!(percent(r#"{"done": 2, "of": 3, "file": "a"}"#), Some(66));
        assert_eq!(percent(r#"{"done": 0, "of": 0.5}"#), Some(0));
        assert_eq!(percent(r#"{"done": 1e308, "of": 1e-308}"#), Some(100));
    }

    #[test]
    fn facts_without_two_usable_numbers_have_no_percentage() {
        for facts in [
            "",
            "3",
            "{}",
            r#"{"done": 3}"#,
            r#"{"done": 3, "of": 0}"#,
            r#"{"done": -1, "of": 3}"#,
            r#"{"done": "3", "of": "4"}"#,
            r#"{"done": 3, "of": "#,
        ] {
            assert_eq!(percent(facts), None, "{facts}");
        }
    }

    #[test]
    fn only_the_newest_report_is_read_and_only_once() {
        let newest = NewestProgress::default();
        let clone_for_tool = newest.clone();
        assert_eq!(newest.take(), None);
        clone_for_tool.report("one", "");
        clone_for_tool.report("two", "{}");
        assert_eq!(newest.take().unwrap().title, "two");
        assert_eq!(newest.take(), None);
    }

    #[test]
    fn a_report_is_bounded() {
        let newest = NewestProgress::default();
        newest.report(&"ä".repeat(1_000_000), &"x".repeat(1_000_000));
        let report = newest.take().unwrap();
        assert_eq!((report.title.len(), report.facts.as_str()), (MAX_TITLE_BYTES, ""));
    }
}
