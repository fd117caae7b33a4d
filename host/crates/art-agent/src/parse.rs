//! Reads what a model wrote (P32 to P33d). Tolerant of form, and never silent: what cannot be used is named, so that the
//! model can be told. Nothing in here panics or fails.

mod answer;
mod execution;
mod json;
mod planning;
mod think;

pub(crate) use answer::answer;
pub(crate) use execution::{Decision, ExecutionReply, PlanUpdate, execution, is_blank};
pub(crate) use json::{MARKER_END, MARKER_START};
pub(crate) use planning::{DraftItem, PlanDraft, planning};
pub(crate) use think::split_thoughts;

use art_core::stream::ModelReply;
use art_core::text::byte_prefix;

/// Part of a reply that is looked at, so that an endless reply cannot keep the host busy.
const MAX_REPLY_BYTES: usize = 1 << 20;

/// Items that a plan may have.
pub(crate) const MAX_TODO_ITEMS: usize = 50;

/// Calls that one reply may make.
pub(crate) const MAX_CALLS_PER_REPLY: usize = 32;

/// Problems that are reported at a time; a model that made fifty mistakes learns nothing from the rest.
pub(crate) const MAX_PROBLEMS: usize = 20;

/// A reply with thoughts and answer apart, whichever way the provider gave them.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) thoughts: String,
    pub(crate) content: String,
}

/// Thoughts in the provider's own field and in think tags together; the rest is the answer.
pub(crate) fn texts(reply: &ModelReply) -> Texts {
    let (tagged, content) = split_thoughts(byte_prefix(&reply.text, MAX_REPLY_BYTES));
    let own = byte_prefix(&reply.thinking, MAX_REPLY_BYTES).trim();
    let thoughts = [own, tagged.as_str()].into_iter().filter(|text| !text.is_empty());
    Texts {
        thoughts: thoughts.collect::<Vec<_>>().join("\n\n"),
        content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pieces from which texts that look like replies are made.
    const PIECES: &str = "(<think>|</think>|```json|```|---JSON_OUTPUT_START---|---JSON_OUTPUT_END---|\\{|\\}|\\[|\\]|\
                          \"toolCalls\":|\"todoList\":|\"content\":|\"plan\":|\"x\"|1|,|:|\\\\|\"|é|\n|<mainContent>|\
                          </uiMetadata>|Plan:){0,40}";

    fn read_every_way(text: &str) {
        let reply = ModelReply {
            text: text.to_owned(),
            thinking: text.chars().rev().collect(),
            ..ModelReply::default()
        };
        drop(planning(text));
        execution(&reply);
        answer(&reply);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,200}") {
            read_every_way(&text);
        }

        #[test]
        fn no_text_that_looks_like_a_reply_makes_the_parser_panic(text in PIECES) {
            read_every_way(&text);
        }
    }

    #[test]
    fn a_reply_of_braces_is_read_in_no_time() {
        let started = std::time::Instant::now();
        read_every_way(&"{".repeat(2 << 20));
        read_every_way(&"{\"a\":".repeat(1 << 18));
        assert!(started.elapsed().as_secs() < 5);
    }
}
