//! Assembles the tool calls of a reply, which may arrive in pieces. The number and the size of the calls are limited.
//!
//! Protocols stream calls in two ways. In the Chat Completions protocol, pieces of calls arrive with or without their index,
//! identifier and name ([`Calls::add_piece`]). In the other protocols, an event starts each call ([`Calls::start`]), and later
//! events add its arguments.

use art_core::tool::{FunctionCall, FunctionKind, ToolCallRequest};
use serde_json::Value;

/// Maximum number of calls of a reply.
const MAX_CALLS: usize = 128;
/// Maximum size of all calls of a reply, in bytes.
const MAX_TOTAL_BYTES: usize = 1 << 20;

/// The error for a reply with too many or too long calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallsTooLarge;

/// The calls of one reply so far, in the order in which they started.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<PartialCall>,
    /// Size of all calls, in bytes.
    bytes: usize,
}

/// A call that is being assembled.
#[derive(Debug, Default)]
struct PartialCall {
    /// The provider's index of the call. It is only compared, never used as a position in a list.
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Arguments in the event that started the call. They are used if no pieces of arguments follow.
    initial_arguments: String,
}

impl Calls {
    /// Returns whether there are no calls.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns the number of calls.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Adds a piece of a call, as the Chat Completions protocol sends it. Some providers omit indexes, use one index for several
    /// calls, or repeat the identifier with each piece. `PartialCall::is_continued_by` decides whether a piece belongs to an
    /// earlier call; otherwise the piece starts a new call.
    pub(super) fn add_piece(
        &mut self,
        index: Option<u64>,
        id: &str,
        name: &str,
        arguments: &str,
    ) -> Result<(), CallsTooLarge> {
        if id.is_empty() && name.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        let found = self
            .calls
            .iter_mut()
            .rev()
            .find(|call| call.is_continued_by(index, id, name, arguments));
        let Some(call) = found else {
            return self.add(PartialCall {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                initial_arguments: String::new(),
            });
        };
        let added = fill_if_empty(&mut call.id, id) + fill_if_empty(&mut call.name, name) + arguments.len();
        call.arguments.push_str(arguments);
        self.count_bytes(added)
    }

    /// Starts a call. If the last call with this index has the same identifier, or if one of the two identifiers is empty, both
    /// are the same call: then sets only the empty fields of the existing call. `initial_arguments` are used if no pieces of
    /// arguments follow.
    pub(super) fn start(
        &mut self,
        index: u64,
        id: &str,
        name: &str,
        initial_arguments: &str,
    ) -> Result<(), CallsTooLarge> {
        let is_same_call = |call: &&mut PartialCall| id.is_empty() || call.id.is_empty() || call.id == id;
        if let Some(call) = self.last_with_index(index).filter(is_same_call) {
            let added = fill_if_empty(&mut call.id, id)
                + fill_if_empty(&mut call.name, name)
                + fill_if_empty(&mut call.initial_arguments, initial_arguments);
            return self.count_bytes(added);
        }
        self.add(PartialCall {
            index: Some(index),
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: String::new(),
            initial_arguments: initial_arguments.to_owned(),
        })
    }

    /// Appends to the arguments of the call with this index, if there is one.
    pub(super) fn append_arguments(&mut self, index: u64, arguments: &str) -> Result<(), CallsTooLarge> {
        let Some(call) = self.last_with_index(index) else {
            return Ok(());
        };
        call.arguments.push_str(arguments);
        self.count_bytes(arguments.len())
    }

    /// Replaces the arguments of the call with this index, if there is one.
    pub(super) fn replace_arguments(&mut self, index: u64, arguments: &str) -> Result<(), CallsTooLarge> {
        let Some(call) = self.last_with_index(index) else {
            return Ok(());
        };
        let before = call.arguments.len();
        arguments.clone_into(&mut call.arguments);
        self.bytes = self.bytes.saturating_sub(before);
        self.count_bytes(arguments.len())
    }

    /// Returns the calls, ordered by index. If the reply is cut off, the last call is dropped unless its arguments are a complete
    /// object.
    pub(super) fn take(&mut self, is_cut_off: bool) -> Vec<ToolCallRequest> {
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_by_key(|call| call.index);
        if is_cut_off && calls.last().is_some_and(|call| !is_object(call.arguments())) {
            calls.pop();
        }
        calls.into_iter().map(PartialCall::into_call).collect()
    }

    /// Returns the last call with this index.
    fn last_with_index(&mut self, index: u64) -> Option<&mut PartialCall> {
        self.calls.iter_mut().rev().find(|call| call.index == Some(index))
    }

    /// Adds `bytes` to the size of the calls. Fails if they exceed [`MAX_TOTAL_BYTES`].
    fn count_bytes(&mut self, bytes: usize) -> Result<(), CallsTooLarge> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_TOTAL_BYTES {
            Err(CallsTooLarge)
        } else {
            Ok(())
        }
    }

    fn add(&mut self, call: PartialCall) -> Result<(), CallsTooLarge> {
        if self.calls.len() >= MAX_CALLS {
            return Err(CallsTooLarge);
        }
        self.count_bytes(call.id.len() + call.name.len() + call.arguments.len() + call.initial_arguments.len())?;
        self.calls.push(call);
        Ok(())
    }
}

impl PartialCall {
    /// Returns whether a piece with these values belongs to this call. A piece without an index belongs to the call with its
    /// identifier. Without an identifier as well, it belongs to any call, and `add_piece` adds it to the last one; but if it has
    /// a name, it belongs to none and starts a new call.
    fn is_continued_by(&self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> bool {
        let same_id = id.is_empty() || self.id.is_empty() || self.id == id;
        let same_name = name.is_empty() || self.name.is_empty() || self.name == name;
        // If the arguments so far end like an object, a piece with a name and the start of an object starts the next call.
        if !name.is_empty() && self.ends_like_an_object() && arguments.trim_start().starts_with('{') {
            return false;
        }
        match index {
            Some(_) => self.index == index && same_id && same_name,
            None if !id.is_empty() => self.id == id,
            None => name.is_empty(),
        }
    }

    /// Returns whether the arguments so far end like a JSON object. To parse them with each piece would take quadratic time.
    fn ends_like_an_object(&self) -> bool {
        self.arguments.trim_end().ends_with('}')
    }

    /// Returns the arguments so far.
    fn arguments(&self) -> &str {
        if self.arguments.is_empty() {
            &self.initial_arguments
        } else {
            &self.arguments
        }
    }

    /// Returns the complete call. Missing arguments become an empty object.
    fn into_call(self) -> ToolCallRequest {
        let arguments = if self.arguments.is_empty() {
            self.initial_arguments
        } else {
            self.arguments
        };
        let arguments = if arguments.trim().is_empty() {
            "{}".to_owned()
        } else {
            arguments
        };
        ToolCallRequest {
            id: self.id,
            kind: FunctionKind::Function,
            function: FunctionCall {
                name: self.name,
                arguments,
            },
        }
    }
}

/// Sets `target` to `text` if `target` is empty. Returns by how many bytes it has grown.
fn fill_if_empty(target: &mut String, text: &str) -> usize {
    if !target.is_empty() {
        return 0;
    }
    text.clone_into(target);
    text.len()
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the calls of a complete reply. Returns a line for each: its identifier, which may be empty, its name and its
    /// arguments.
    fn take_lines(calls: &mut Calls) -> Vec<String> {
        let calls = calls.take(false);
        let line = |call: ToolCallRequest| format!("{} {} {}", call.id, call.function.name, call.function.arguments);
        calls.into_iter().map(line).collect()
    }

    #[test]
    fn pieces_with_the_same_index_are_one_call() {
        let mut calls = Calls::default();
        calls.add_piece(Some(0), "a", "f", "").unwrap();
        calls.add_piece(Some(1), "b", "g", "{").unwrap();
        calls.add_piece(Some(0), "", "", "{}").unwrap();
        calls.add_piece(Some(1), "b", "g", "}").unwrap();
        assert_eq!(take_lines(&mut calls), ["a f {}", "b g {}"]);
    }

    #[test]
    fn two_identifiers_with_one_index_are_two_calls() {
        let mut calls = Calls::default();
        calls.add_piece(Some(0), "a", "f", "{}").unwrap();
        calls.add_piece(Some(0), "b", "f", "{\"x\"").unwrap();
        calls.add_piece(Some(0), "", "", ":1}").unwrap();
        assert_eq!(take_lines(&mut calls), ["a f {}", "b f {\"x\":1}"]);
    }

    #[test]
    fn two_names_with_one_index_and_no_identifiers_are_two_calls() {
        let mut calls = Calls::default();
        calls.add_piece(Some(0), "", "f", "{}").unwrap();
        calls.add_piece(Some(0), "", "g", "{\"x\"").unwrap();
        calls.add_piece(Some(0), "", "", ":1}").unwrap();
        assert_eq!(take_lines(&mut calls), [" f {}", " g {\"x\":1}"]);
    }

    #[test]
    fn a_name_after_complete_arguments_starts_another_call() {
        let mut calls = Calls::default();
        calls.add_piece(Some(0), "", "f", "{\"x\":1}").unwrap();
        calls.add_piece(Some(0), "", "f", "{\"x\":2}").unwrap();
        assert_eq!(take_lines(&mut calls), [" f {\"x\":1}", " f {\"x\":2}"]);
    }

    #[test]
    fn a_name_repeated_with_each_piece_starts_no_other_call() {
        let mut calls = Calls::default();
        for arguments in ["{\"x\":", "{}", "}", ""] {
            calls.add_piece(Some(0), "", "f", arguments).unwrap();
        }
        assert_eq!(take_lines(&mut calls), [" f {\"x\":{}}"]);
    }

    #[test]
    fn without_an_index_a_name_or_a_new_identifier_starts_a_call() {
        let mut calls = Calls::default();
        calls.add_piece(None, "", "f", "{").unwrap();
        calls.add_piece(None, "", "", "}").unwrap();
        calls.add_piece(None, "", "g", "{}").unwrap();
        calls.add_piece(None, "c", "h", "{}").unwrap();
        assert_eq!(take_lines(&mut calls), [" f {}", " g {}", "c h {}"]);
    }

    #[test]
    fn calls_are_ordered_by_index_even_if_an_index_is_huge() {
        let mut calls = Calls::default();
        calls.add_piece(Some(u64::MAX), "a", "f", "{}").unwrap();
        calls.add_piece(Some(7), "b", "g", "{}").unwrap();
        assert_eq!(take_lines(&mut calls), ["b g {}", "a f {}"]);
    }

    #[test]
    fn invalid_arguments_are_kept_and_missing_ones_become_an_empty_object() {
        let mut calls = Calls::default();
        calls.add_piece(Some(0), "", "f", "{oops").unwrap();
        calls.add_piece(Some(1), "", "g", "").unwrap();
        assert_eq!(take_lines(&mut calls), [" f {oops", " g {}"]);
    }

    #[test]
    fn an_incomplete_last_call_of_a_cut_reply_is_dropped() {
        for (last_arguments, remaining_calls) in [("{\"a\":1", 1), ("", 1), ("12", 1), ("{\"a\":1}", 2)] {
            let mut calls = Calls::default();
            calls.add_piece(Some(0), "a", "f", "{oops").unwrap();
            calls.add_piece(Some(1), "b", "g", last_arguments).unwrap();
            let is_cut_off = true;
            assert_eq!(calls.take(is_cut_off).len(), remaining_calls, "{last_arguments}");
        }
    }

    #[test]
    fn pieces_replace_the_initial_arguments() {
        let mut calls = Calls::default();
        calls.start(0, "a", "f", "{\"x\":1}").unwrap();
        calls.start(1, "b", "g", "{}").unwrap();
        calls.append_arguments(1, "{\"y\":2}").unwrap();
        // No call has index 9, so these arguments are ignored.
        calls.append_arguments(9, "lost").unwrap();
        assert_eq!(take_lines(&mut calls), ["a f {\"x\":1}", "b g {\"y\":2}"]);
    }

    #[test]
    fn calls_are_bounded_in_number_and_size() {
        let mut calls = Calls::default();
        for index in 0..128 {
            calls.add_piece(Some(index), "", "f", "").unwrap();
        }
        assert_eq!(calls.add_piece(Some(128), "", "f", ""), Err(CallsTooLarge));
        let mut calls = Calls::default();
        calls.start(0, "", "f", "").unwrap();
        // The name `f` takes one byte.
        calls.append_arguments(0, &"x".repeat(MAX_TOTAL_BYTES - 1)).unwrap();
        assert_eq!(calls.append_arguments(0, "x"), Err(CallsTooLarge));
    }

    #[test]
    fn repeated_identifiers_do_not_count_towards_the_limit() {
        let (mut calls, id) = (Calls::default(), "x".repeat(1000));
        for _ in 0..2000 {
            calls.add_piece(Some(0), &id, "f", "1").unwrap();
        }
        assert_eq!(calls.take(false)[0].function.arguments.len(), 2000);
    }
}
