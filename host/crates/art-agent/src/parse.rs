//! Parses replies of models to the three kinds of requests: for a plan, for work on a step, and for the answer. Models do not
//! keep to one form, so the parser accepts many. It returns a list of problems for the parts that it could not use, so that the
//! model can correct them.

mod answer;
mod execution;
mod json;
mod kept;
mod planning;
mod stream;
mod think;

pub(crate) use answer::parse_answer;
pub(crate) use execution::{ExecutionReply, PlanUpdate, StepDecision, is_blank, parse_execution};
pub(crate) use json::{MARKER_END, MARKER_START};
pub(crate) use kept::parse_kept_plan;
pub(crate) use planning::{DraftItem, PlanDraft, PlanReply, parse_planning};
pub use stream::AnswerStream;
pub(crate) use think::split_thoughts;

use art_core::stream::{ModelReply, StopReason};
use art_core::text::byte_prefix;

/// Maximum size of a reply that is parsed, in bytes.
const MAX_REPLY_BYTES: usize = 1 << 20;

/// Maximum number of items in a plan.
pub(crate) const MAX_TODO_ITEMS: usize = 50;

/// Maximum number of calls of one reply that are made.
pub(crate) const MAX_CALLS_PER_REPLY: usize = 64;

/// Maximum number of calls of one reply that get a result. Those after the first [`MAX_CALLS_PER_REPLY`] get a result that says
/// that they were not made. Calls after the first `MAX_CALLS_WITH_RESULT` are dropped, and the model is told their number.
pub(crate) const MAX_CALLS_WITH_RESULT: usize = 512;

/// The problem that is reported to the model when its reply was cut off (contract M10).
pub(crate) const CUT_OFF_PROBLEM: &str =
    "the reply was cut off before its end, so nothing of it was used; reply again, shorter, with fewer calls at a time";

/// The reason why a step or a plan fails if the provider withheld the reply (contract M10).
pub(crate) const WITHHELD_REASON: &str = "the provider withheld the reply";

/// Maximum number of problems that are reported at once. Models do not benefit from longer lists.
pub(crate) const MAX_PROBLEMS: usize = 20;

/// A reply, split into thoughts and content.
#[derive(Debug)]
pub(crate) struct ReplyTexts {
    pub(crate) thoughts: String,
    pub(crate) content: String,
}

/// Splits a reply into thoughts and content. If the provider sent the thoughts separately, the whole text is content, even if it
/// has think tags. Otherwise think tags in the text enclose the thoughts.
pub(crate) fn split_reply(reply: &ModelReply) -> ReplyTexts {
    let text = byte_prefix(&reply.text, MAX_REPLY_BYTES);
    let separate = byte_prefix(&reply.thinking, MAX_REPLY_BYTES).trim();
    let (thoughts, content) = if separate.is_empty() {
        split_thoughts(text)
    } else {
        (separate.to_owned(), text.trim().to_owned())
    };
    ReplyTexts { thoughts, content }
}

/// Returns whether the reply was cut off before its end, so that a call in it may be incomplete.
pub(crate) fn is_cut_off(reply: &ModelReply) -> bool {
    matches!(
        reply.metadata.stop_reason,
        Some(StopReason::Length | StopReason::ContentFilter)
    )
}

/// Returns whether the provider withheld the content of the reply.
pub(crate) fn is_withheld(reply: &ModelReply) -> bool {
    reply.metadata.stop_reason == Some(StopReason::ContentFilter) && split_reply(reply).content.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pattern of texts that consist of pieces of replies.
    const PIECES_OF_REPLIES: &str = "(<think>|</think>|```json|```|---JSON_OUTPUT_START---|---JSON_OUTPUT_END---|\\{|\\}|\\[|\\]|\
                          \"toolCalls\":|\"todoList\":|\"content\":|\"plan\":|\"x\"|1|,|:|\\\\|\"|é|\n|<mainContent>|\
                          </uiMetadata>|Plan:|\nTool Calls:|\"toolName\":){0,40}";

    /// Parses a reply with this text, and the same text backwards as thoughts, as a reply of each phase.
    fn parse_in_every_phase(text: &str) {
        let reply = ModelReply {
            text: text.to_owned(),
            thinking: text.chars().rev().collect(),
            ..ModelReply::default()
        };
        parse_planning(&reply);
        parse_execution(&reply);
        parse_answer(&reply);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,200}") {
            parse_in_every_phase(&text);
        }

        #[test]
        fn no_text_of_pieces_of_replies_makes_the_parser_panic(text in PIECES_OF_REPLIES) {
            parse_in_every_phase(&text);
        }
    }

    #[test]
    fn think_tags_enclose_thoughts_only_in_a_reply_without_separate_thoughts() {
        let split = |thinking: &str| {
            let texts = split_reply(&ModelReply {
                text: "<think>a</think>b".to_owned(),
                thinking: thinking.to_owned(),
                ..ModelReply::default()
            });
            (texts.thoughts, texts.content)
        };
        assert_eq!(split(" "), ("a".to_owned(), "b".to_owned()));
        assert_eq!(split("hm"), ("hm".to_owned(), "<think>a</think>b".to_owned()));
    }

    #[test]
    fn a_reply_of_many_open_brackets_is_parsed_quickly() {
        let started = std::time::Instant::now();
        parse_in_every_phase(&"{".repeat(2 << 20));
        parse_in_every_phase(&"{\"a\":".repeat(1 << 18));
        parse_in_every_phase(&"a: Tool Calls:[\n".repeat(1 << 16));
        let max_seconds = 5;
        assert!(started.elapsed().as_secs() < max_seconds);
    }
}
