//! Progress of calls before their batch has ended.

use std::sync::{Arc, Mutex, PoisonError};

use art_core::text::byte_prefix;
use art_core::tool::ParsedToolCall;
use serde_json::Value;

use crate::report::ToolReport;

/// Bytes of a title that are kept: more than a line of a terminal has.
const MAX_TITLE_BYTES: usize = 200;
/// Maximum bytes of the facts in a progress report; longer ones are ignored.
const MAX_FACTS_BYTES: usize = 1_000;

/// Progress of a call. A call that did not run, because it was refused or found no place in the queue, has none; only
/// its report mentions it.
#[derive(Clone, Debug, PartialEq)]
pub enum CallProgress {
    /// The call has a place and runs now. Its arguments are the validated ones, defaults included.
    Started(ParsedToolCall),
    /// Progress of a running call, reported at most ten times a second; the newest report counts.
    Reported(ToolProgress),
    /// A call that had started has ended, in whatever way, and was recorded, with the report that the batch returns.
    Ended(Box<ToolReport>),
}

/// A progress report of a tool (C78). It is for a waiting person only: it is not stored and decides nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolProgress {
    /// The call.
    pub call_id: String,
    /// Parent of the call; see [`CallScope::parent_id`](crate::CallScope::parent_id).
    pub parent_id: Option<String>,
    /// What the tool is doing, in its own words: at most 200 bytes, unescaped.
    pub title: String,
    /// Progress in percent, 0 to 100, if the facts of the tool have `done` and `of`.
    pub percent: Option<u8>,
}

/// The newest progress report of a call, until it is read; older ones are lost. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct NewestProgress(Arc<Mutex<Option<Said>>>);

/// A progress in the words of the tool, bounded.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    title: String,
    /// JSON, if the tool keeps to its contract.
    facts: String,
}

impl NewestProgress {
    /// Replaces the last report. `facts` is the text of a JSON object, or empty.
    pub fn say(&self, title: &str, facts: &str) {
        let facts = if facts.len() > MAX_FACTS_BYTES { "" } else { facts };
        let said = Said {
            title: byte_prefix(title, MAX_TITLE_BYTES).to_owned(),
            facts: facts.to_owned(),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
    }

    /// Returns the last report as that of `call`, if it was not taken before.
    pub(crate) fn take_for(&self, call: &ParsedToolCall, parent_id: Option<&str>) -> Option<ToolProgress> {
        self.take().map(|said| ToolProgress {
            call_id: call.call_id.clone(),
            parent_id: parent_id.map(str::to_owned),
            percent: percent(&said.facts),
            title: said.title,
        })
    }

    fn take(&self) -> Option<Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Returns the share that `{"done": 3, "of": 10}` means, rounded down; none if the facts have no such share.
fn percent(facts: &str) -> Option<u8> {
    let facts: Value = serde_json::from_str(facts).ok()?;
    let number = |name: &str| facts.get(name).and_then(Value::as_f64);
    let (done, of) = (number("done")?, number("of")?);
    let share = done / of * 100.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number from 0 to 100 is cut to a whole one"
    )]
    (of > 0.0 && share >= 0.0).then(|| share.min(100.0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_whole_percentage_up_to_a_hundred() {
        let of = |facts: &str| percent(facts);
        assert_eq!(of(r#"{"done": 3, "of": 10}"#), Some(30));
        assert_eq!(of(r#"{"done": 2, "of": 3, "file": "a"}"#), Some(66));
        assert_eq!(of(r#"{"done": 0, "of": 0.5}"#), Some(0));
        assert_eq!(of(r#"{"done": 1e308, "of": 1e-308}"#), Some(100));
    }

    #[test]
    fn facts_without_a_share_have_no_percentage() {
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
    fn what_was_said_last_is_what_is_heard_and_only_once() {
        let newest = NewestProgress::default();
        let tool = newest.clone();
        assert_eq!(newest.take(), None);
        tool.say("one", "");
        tool.say("two", "{}");
        assert_eq!(newest.take().unwrap().title, "two");
        assert_eq!(newest.take(), None);
    }

    #[test]
    fn what_a_tool_says_is_bounded() {
        let newest = NewestProgress::default();
        newest.say(&"ä".repeat(1_000_000), &"x".repeat(1_000_000));
        let said = newest.take().unwrap();
        assert_eq!((said.title.len(), said.facts.as_str()), (MAX_TITLE_BYTES, ""));
    }
}
