//! Assembles tool calls from pieces, in memory that is bounded by their text.

use art_core::tool::{FunctionCall, FunctionKind, ToolCallRequest};
use serde_json::Value;

/// Most calls of a reply.
const MAX_CALLS: usize = 128;
/// Most bytes of all calls of a reply.
const MAX_BYTES: usize = 1 << 20;

/// The reply has more calls, or longer ones, than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMuch;

/// The calls of one reply, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pieces: Vec<Piece>,
    bytes: usize,
}

/// A call that is being assembled.
#[derive(Debug, Default)]
struct Piece {
    /// The provider's index of it, which is only compared and never used as a position.
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Arguments that came with the name. They are used if no pieces follow.
    given: String,
}

impl Calls {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the number of calls that began.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Adds a piece of a chat reply. Providers leave out indexes, use one index for several calls, or repeat the
    /// identifier with each piece, so a piece continues a call unless something in it says otherwise.
    pub(super) fn piece(&mut self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> Result<(), TooMuch> {
        if id.is_empty() && name.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        let found = self
            .pieces
            .iter_mut()
            .rev()
            .find(|call| call.goes_on(index, id, name, arguments));
        let Some(call) = found else {
            return self.add(Piece {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                given: String::new(),
            });
        };
        let kept = fill(&mut call.id, id) + fill(&mut call.name, name) + arguments.len();
        call.arguments.push_str(arguments);
        self.count(kept)
    }

    /// Begins a call. An earlier call may have had the same index. `given` are its arguments if no pieces follow.
    pub(super) fn begin(&mut self, index: u64, id: &str, name: &str, given: &str) -> Result<(), TooMuch> {
        let same = |call: &&mut Piece| id.is_empty() || call.id.is_empty() || call.id == id;
        if let Some(call) = self.find(index).filter(same) {
            let kept = fill(&mut call.id, id) + fill(&mut call.name, name) + fill(&mut call.given, given);
            return self.count(kept);
        }
        self.add(Piece {
            index: Some(index),
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: String::new(),
            given: given.to_owned(),
        })
    }

    /// Appends to the arguments of the call with that index, if there is one.
    pub(super) fn append(&mut self, index: u64, arguments: &str) -> Result<(), TooMuch> {
        let Some(call) = self.find(index) else { return Ok(()) };
        call.arguments.push_str(arguments);
        self.count(arguments.len())
    }

    /// Replaces the arguments of the call with that index, if there is one.
    pub(super) fn replace(&mut self, index: u64, arguments: &str) -> Result<(), TooMuch> {
        let Some(call) = self.find(index) else { return Ok(()) };
        let before = call.arguments.len();
        arguments.clone_into(&mut call.arguments);
        self.bytes = self.bytes.saturating_sub(before);
        self.count(arguments.len())
    }

    /// Returns the calls. If the reply was `cut` off, the last one is left out unless its arguments are a complete
    /// object.
    pub(super) fn take(&mut self, cut: bool) -> Vec<ToolCallRequest> {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.sort_by_key(|call| call.index);
        if cut && pieces.last().is_some_and(|call| !is_object(call.text())) {
            pieces.pop();
        }
        pieces.into_iter().map(Piece::into_call).collect()
    }

    fn find(&mut self, index: u64) -> Option<&mut Piece> {
        self.pieces.iter_mut().rev().find(|call| call.index == Some(index))
    }

    fn count(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_BYTES { Err(TooMuch) } else { Ok(()) }
    }

    fn add(&mut self, call: Piece) -> Result<(), TooMuch> {
        if self.pieces.len() >= MAX_CALLS {
            return Err(TooMuch);
        }
        self.count(call.id.len() + call.name.len() + call.arguments.len() + call.given.len())?;
        self.pieces.push(call);
        Ok(())
    }
}

impl Piece {
    /// Whether a piece with these parts belongs to this call.
    fn goes_on(&self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> bool {
        let same_id = id.is_empty() || self.id.is_empty() || self.id == id;
        let same_name = name.is_empty() || self.name.is_empty() || self.name == name;
        // A name and an object after a complete object can only be the next call.
        if !name.is_empty() && self.is_closed() && arguments.trim_start().starts_with('{') {
            return false;
        }
        match index {
            Some(_) => self.index == index && same_id && same_name,
            None if !id.is_empty() => self.id == id,
            None => name.is_empty(),
        }
    }

    /// Whether its arguments end like an object. Parsing them with each piece would take quadratic time.
    fn is_closed(&self) -> bool {
        self.arguments.trim_end().ends_with('}')
    }

    fn text(&self) -> &str {
        if self.arguments.is_empty() {
            &self.given
        } else {
            &self.arguments
        }
    }

    /// Converts it into a call. Missing arguments become an empty object.
    fn into_call(self) -> ToolCallRequest {
        let arguments = if self.arguments.is_empty() {
            self.given
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

/// Sets `target` if it is empty. Returns the number of bytes added.
fn fill(target: &mut String, text: &str) -> usize {
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

    fn shown(calls: &mut Calls, cut: bool) -> Vec<String> {
        let calls = calls.take(cut);
        let show = |call: ToolCallRequest| format!("{} {} {}", call.id, call.function.name, call.function.arguments);
        calls.into_iter().map(show).collect()
    }

    #[test]
    fn pieces_with_the_same_index_are_one_call() {
        let mut calls = Calls::default();
        calls.piece(Some(0), "a", "f", "").unwrap();
        calls.piece(Some(1), "b", "g", "{").unwrap();
        calls.piece(Some(0), "", "", "{}").unwrap();
        calls.piece(Some(1), "b", "g", "}").unwrap();
        assert_eq!(shown(&mut calls, false), ["a f {}", "b g {}"]);
    }

    #[test]
    fn an_index_used_for_two_identifiers_is_two_calls() {
        let mut calls = Calls::default();
        calls.piece(Some(0), "a", "f", "{}").unwrap();
        calls.piece(Some(0), "b", "f", "{\"x\"").unwrap();
        calls.piece(Some(0), "", "", ":1}").unwrap();
        assert_eq!(shown(&mut calls, false), ["a f {}", "b f {\"x\":1}"]);
    }

    #[test]
    fn an_index_used_for_two_names_without_identifiers_is_two_calls() {
        let mut calls = Calls::default();
        calls.piece(Some(0), "", "f", "{}").unwrap();
        calls.piece(Some(0), "", "g", "{\"x\"").unwrap();
        calls.piece(Some(0), "", "", ":1}").unwrap();
        assert_eq!(shown(&mut calls, false), [" f {}", " g {\"x\":1}"]);
    }

    #[test]
    fn a_name_behind_whole_arguments_begins_another_call_of_it() {
        let mut calls = Calls::default();
        calls.piece(Some(0), "", "f", "{\"x\":1}").unwrap();
        calls.piece(Some(0), "", "f", "{\"x\":2}").unwrap();
        assert_eq!(shown(&mut calls, false), [" f {\"x\":1}", " f {\"x\":2}"]);
    }

    #[test]
    fn a_name_that_is_repeated_with_each_piece_begins_no_other_call() {
        let mut calls = Calls::default();
        for arguments in ["{\"x\":", "{}", "}", ""] {
            calls.piece(Some(0), "", "f", arguments).unwrap();
        }
        assert_eq!(shown(&mut calls, false), [" f {\"x\":{}}"]);
    }

    #[test]
    fn calls_without_index_or_identifier_begin_with_a_name() {
        let mut calls = Calls::default();
        calls.piece(None, "", "f", "{").unwrap();
        calls.piece(None, "", "", "}").unwrap();
        calls.piece(None, "", "g", "{}").unwrap();
        calls.piece(None, "c", "h", "{}").unwrap();
        assert_eq!(shown(&mut calls, false), [" f {}", " g {}", "c h {}"]);
    }

    #[test]
    fn an_index_far_away_takes_no_memory() {
        let mut calls = Calls::default();
        calls.piece(Some(u64::MAX), "a", "f", "{}").unwrap();
        calls.piece(Some(7), "b", "g", "{}").unwrap();
        assert_eq!(shown(&mut calls, false), ["b g {}", "a f {}"]);
    }

    #[test]
    fn arguments_that_are_not_json_stay_text_and_missing_ones_are_an_empty_object() {
        let mut calls = Calls::default();
        calls.piece(Some(0), "", "f", "{oops").unwrap();
        calls.piece(Some(1), "", "g", "").unwrap();
        assert_eq!(shown(&mut calls, false), [" f {oops", " g {}"]);
    }

    #[test]
    fn of_a_reply_cut_short_the_last_call_is_left_out_unless_it_is_whole() {
        for (arguments, kept) in [("{\"a\":1", 1), ("", 1), ("12", 1), ("{\"a\":1}", 2)] {
            let mut calls = Calls::default();
            calls.piece(Some(0), "a", "f", "{oops").unwrap();
            calls.piece(Some(1), "b", "g", arguments).unwrap();
            assert_eq!(calls.take(true).len(), kept, "{arguments}");
        }
    }

    #[test]
    fn pieces_replace_the_arguments_that_came_with_the_name() {
        let mut calls = Calls::default();
        calls.begin(0, "a", "f", "{\"x\":1}").unwrap();
        calls.begin(1, "b", "g", "{}").unwrap();
        calls.append(1, "{\"y\":2}").unwrap();
        calls.append(9, "lost").unwrap();
        assert_eq!(shown(&mut calls, false), ["a f {\"x\":1}", "b g {\"y\":2}"]);
    }

    #[test]
    fn calls_are_bounded_in_number_and_size() {
        let mut calls = Calls::default();
        for index in 0..128 {
            calls.piece(Some(index), "", "f", "").unwrap();
        }
        assert_eq!(calls.piece(Some(128), "", "f", ""), Err(TooMuch));
        let mut calls = Calls::default();
        calls.begin(0, "", "f", "").unwrap();
        calls.append(0, &"x".repeat(MAX_BYTES - 1)).unwrap();
        assert_eq!(calls.append(0, "x"), Err(TooMuch));
    }

    #[test]
    fn what_a_provider_repeats_with_each_piece_does_not_count() {
        let (mut calls, id) = (Calls::default(), "x".repeat(1000));
        for _ in 0..2000 {
            calls.piece(Some(0), &id, "f", "1").unwrap();
        }
        assert_eq!(calls.take(false)[0].function.arguments.len(), 2000);
    }
}
