//! Parses replies of models to the three kinds of requests: for a plan, for work on a step, and for the answer. Models do not
//! keep to one form, so the parser accepts many. It returns a list of problems for the parts that it could not use, so that the
//! model can correct them.
//!
//! The module `saved` parses files instead: plans that a person saved to run them again.

mod answer;
mod execution;
mod json;
mod planning;
mod saved;
mod stream;
mod think;

pub(crate) use answer::parse_answer;
pub(crate) use execution::{ExecutionReply, PlanUpdate, StepDecision, is_blank, parse_execution};
pub(crate) use json::{MARKER_END, MARKER_START};
pub(crate) use planning::{DraftItem, PlanDraft, PlanReply, parse_planning};
pub(crate) use saved::parse_saved_plan;
pub use stream::AnswerStream;
pub(crate) use think::split_thoughts;

use art_core::stream::{ModelReply, StopReason};
use art_core::text::byte_prefix;

/// Maximum number of bytes of the text of a reply that are parsed. The same maximum holds for thoughts that the provider sent
/// separately. The rest is ignored.
const MAX_REPLY_BYTES: usize = 1 << 20;

/// Maximum number of items in a plan, which are its steps.
pub(crate) const MAX_TODO_ITEMS: usize = 50;

/// Maximum number of tool calls that the host makes for one reply. The reply may have more.
pub(crate) const MAX_CALLS_MADE: usize = 64;

/// Maximum number of calls of one reply that get a result. The calls after the first [`MAX_CALLS_MADE`] get a result that says
/// that they were not made. Calls after the first `MAX_CALLS_WITH_RESULT` are dropped, and the model is told how many calls the
/// reply had.
pub(crate) const MAX_CALLS_WITH_RESULT: usize = 512;

/// The problem that is reported to the model when its reply was cut off (contract M10).
pub(crate) const CUT_OFF_PROBLEM: &str =
    "the reply was cut off before its end, so nothing of it was used; reply again, shorter, with fewer calls at a time";

/// The reason why a plan, a step or an answer fails if the provider withheld the reply (contract M10).
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
    let separate_thoughts = byte_prefix(&reply.thinking, MAX_REPLY_BYTES).trim();
    let (thoughts, content) = if separate_thoughts.is_empty() {
        split_thoughts(text)
    } else {
        (separate_thoughts.to_owned(), text.trim().to_owned())
    };
    ReplyTexts { thoughts, content }
}

/// Returns whether the reply was cut off before its end, by the token limit or by the content filter of the provider, so that a
/// call in it may be incomplete.
pub(crate) fn is_cut_off(reply: &ModelReply) -> bool {
    matches!(
        reply.metadata.stop_reason,
        Some(StopReason::Length | StopReason::ContentFilter)
    )
}

/// Returns whether the provider withheld the reply: its content filter ended the reply before any content.
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

    /// Parses one reply three times: as a plan, as work on a step, and as the answer. The reply has this text, and its separate
    /// thoughts are the same text backwards.
    fn parse_as_each_kind_of_reply(text: &str) {
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
            parse_as_each_kind_of_reply(&text);
        }

        #[test]
        fn no_mixture_of_pieces_of_replies_makes_the_parser_panic(text in PIECES_OF_REPLIES) {
            parse_as_each_kind_of_reply(&text);
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
        parse_as_each_kind_of_reply(&"{".repeat(2 << 20));
        parse_as_each_kind_of_reply(&"{\"a\":".repeat(1 << 18));
        parse_as_each_kind_of_reply(&"a: Tool Calls:[\n".repeat(1 << 16));
        let max_seconds = 5;
        assert!(started.elapsed().as_secs() < max_seconds);
    }
}
