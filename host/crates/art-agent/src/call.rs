//! Tool calls as a model or a person wrote them: each gets an identifier, and a fingerprint by which repeated calls are found.

use std::collections::BTreeSet;

use art_core::id::nth_call_id;
use art_core::json::sorted_text;
use art_core::tool::{FunctionCall, FunctionKind, ParsedToolCall, ToolCallRequest};
use serde_json::Value;

use crate::attachment::FileNamePointers;

/// Maximum length of a call identifier that a model gives, in bytes.
const MAX_CALL_ID_BYTES: usize = 128;

/// A tool call from a reply, from a plan or from a person, before [`CallIds`] assigns its identifier.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawCall {
    /// Identifier that the model gave, if any.
    pub(crate) call_id: Option<String>,
    pub(crate) tool_name: String,
    pub(crate) arguments: Value,
    /// The texts in the arguments that may name files.
    pub(crate) file_name_pointers: FileNamePointers,
    /// Why the call cannot be made, in words for the model.
    pub(crate) problem: Option<String>,
}

impl RawCall {
    /// Creates a call of `tool_name`. If the arguments are not an object, sets the problem of the call.
    pub(crate) fn new(call_id: Option<String>, tool_name: String, arguments: Value) -> Self {
        let problem = (!arguments.is_object()).then(|| "`arguments` has to be a JSON object".to_owned());
        Self {
            call_id,
            tool_name,
            arguments,
            file_name_pointers: FileNamePointers::All,
            problem,
        }
    }
}

/// Gives each call of a run an identifier that no other call of the run has (contract X1).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallIds {
    /// Number of identifiers that the host generated.
    generated_count: u64,
    /// All identifiers so far, those of models too.
    used: BTreeSet<String>,
}

impl CallIds {
    /// Returns the call with an identifier: the one that the model gave if it is valid and not used yet, or else a generated one.
    /// `trace_id` is the identifier of the run. The result does not contain the problem and the file name pointers of `raw`.
    pub(crate) fn assign_id(&mut self, trace_id: &str, raw: RawCall) -> ParsedToolCall {
        let usable_id = raw.call_id.filter(|id| is_valid_id(id) && !self.used.contains(id));
        let call_id = usable_id.unwrap_or_else(|| self.next_id(trace_id));
        self.used.insert(call_id.clone());
        ParsedToolCall {
            call_id,
            tool_name: raw.tool_name,
            arguments: raw.arguments,
        }
    }

    fn next_id(&mut self, trace_id: &str) -> String {
        loop {
            self.generated_count += 1;
            let id = nth_call_id(trace_id, self.generated_count);
            if !self.used.contains(&id) {
                return id;
            }
        }
    }
}

fn is_valid_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_CALL_ID_BYTES && id.chars().all(|c| c.is_ascii_graphic())
}

/// Returns the call in the form in which an assistant message contains it.
pub(crate) fn as_request(call: &ParsedToolCall) -> ToolCallRequest {
    ToolCallRequest {
        id: call.call_id.clone(),
        kind: FunctionKind::Function,
        function: FunctionCall {
            name: call.tool_name.clone(),
            // Providers accept only an object as arguments. A call whose arguments are not an object is not made, and its result
            // says so.
            arguments: if call.arguments.is_object() {
                call.arguments.to_string()
            } else {
                "{}".to_owned()
            },
        },
    }
}

/// Returns a text that is equal for calls of the same tool with the same arguments, in any order of the keys.
pub(crate) fn fingerprint(call: &ParsedToolCall) -> String {
    format!("{} {}", call.tool_name, sorted_text(&call.arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call_with_id(id: Option<&str>) -> RawCall {
        RawCall::new(id.map(str::to_owned), "calculator".to_owned(), json!({}))
    }

    // A missing identifier is filled in (contract A20).
    #[test]
    fn a_call_without_an_id_gets_the_next_id_of_the_run() {
        let mut ids = CallIds::default();
        assert_eq!(ids.assign_id("run", call_with_id(None)).call_id, nth_call_id("run", 1));
        assert_eq!(ids.assign_id("run", call_with_id(None)).call_id, nth_call_id("run", 2));
    }

    #[test]
    fn a_call_id_that_is_already_used_is_replaced() {
        let mut ids = CallIds::default();
        assert_eq!(ids.assign_id("run", call_with_id(Some("a"))).call_id, "a");
        assert_eq!(
            ids.assign_id("run", call_with_id(Some("a"))).call_id,
            nth_call_id("run", 1)
        );
    }

    #[test]
    fn a_call_id_with_control_characters_is_replaced() {
        let call = CallIds::default().assign_id("run", call_with_id(Some("a\nb")));
        assert_eq!(call.call_id, nth_call_id("run", 1));
    }

    #[test]
    fn the_order_of_keys_does_not_change_the_fingerprint() {
        let call = |arguments| CallIds::default().assign_id("run", RawCall::new(None, "t".to_owned(), arguments));
        let call_1 = call(json!({"a": 1, "b": [{"c": 2, "d": 3}]}));
        let reordered = call(json!({"b": [{"d": 3, "c": 2}], "a": 1}));
        let changed = call(json!({"b": [{"d": 3, "c": 4}], "a": 1}));
        assert_eq!(fingerprint(&call_1), fingerprint(&reordered));
        assert_ne!(fingerprint(&call_1), fingerprint(&changed));
    }
}
