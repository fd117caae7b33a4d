//! Truncates large outputs for the store. The run itself keeps the complete outputs.

use std::borrow::Cow;

use art_core::json::{MAX_LEVELS, is_deeper, measure, text_len};
use art_core::pes::{PesAgentStateData, StepOutputEntry, TodoItem, TodoItemChange, TodoListChanges};
use art_core::shared::Shared;
use art_core::text::byte_prefix;
use art_core::tool::ToolResult;
use serde::Serialize;
use serde_json::{Value, json};

/// Sizes in bytes to which each output is cut, tried one after the other until the total size is at most [`TOTAL_BYTES`].
const OUTPUT_BYTES: [usize; 5] = [256 << 10, 64 << 10, 16 << 10, 4 << 10, 512];

/// Target size of a state or an observation as JSON, in bytes. A store accepts at most 16 MiB.
const TOTAL_BYTES: usize = 4 << 20;

/// Beginning of the marker that ends a text that was cut.
const CUT_MARKER: &str = "... [kept ";

/// Returns the state of a thread, truncated.
pub(crate) fn state(state: &PesAgentStateData) -> Cow<'_, PesAgentStateData> {
    cut_to_fit(state, |state, limit| {
        let earlier = state
            .earlier_questions
            .iter_mut()
            .flat_map(|question| &mut question.items);
        let items = state.todo_list.iter_mut().chain(earlier);
        items.for_each(|item| cut_item(item, limit));
        state
            .step_outputs
            .values_mut()
            .for_each(|entry| cut_step_output(entry, limit));
    })
}

/// Returns the items of a plan as JSON, truncated.
pub(crate) fn items(items: &Vec<TodoItem>) -> Value {
    json!(cut_to_fit(items, |items, limit| {
        items.iter_mut().for_each(|item| cut_item(item, limit));
    }))
}

/// Returns the changes of a plan as JSON, truncated. The changes contain each changed item several times.
pub(crate) fn changes(changes: &TodoListChanges) -> Value {
    json!(cut_to_fit(changes, |shortened, limit| {
        let lists = [
            &mut shortened.added,
            &mut shortened.modified,
            &mut shortened.removed,
            &mut shortened.changes,
        ];
        lists.into_iter().flatten().for_each(|change| cut_change(change, limit));
    }))
}

/// Returns the output of a step as JSON, truncated.
pub(crate) fn step_output(entry: &StepOutputEntry) -> Value {
    json!(cut_to_fit(entry, cut_step_output))
}

/// Returns `value` with its outputs cut by `cut` to the largest of [`OUTPUT_BYTES`] with which the whole value has at most
/// [`TOTAL_BYTES`] as JSON. If it is larger even with the smallest of them, the outputs are cut to that.
fn cut_to_fit<T: Clone + Serialize>(value: &T, cut: impl Fn(&mut T, usize)) -> Cow<'_, T> {
    let [first, others @ ..] = OUTPUT_BYTES;
    // Most values are so small that nothing in them has to be cut.
    let size = measure(value);
    if size.bytes <= first && size.depth < MAX_LEVELS {
        return Cow::Borrowed(value);
    }
    let cut_to = |limit| {
        let mut shortened = value.clone();
        cut(&mut shortened, limit);
        shortened
    };
    let mut shortened = cut_to(first);
    for limit in others {
        if text_len(&shortened) <= TOTAL_BYTES {
            break;
        }
        shortened = cut_to(limit);
    }
    Cow::Owned(shortened)
}

fn cut_item(item: &mut TodoItem, limit: usize) {
    item.result.iter_mut().for_each(|result| cut_shared(result, limit));
    cut_results(&mut item.tool_results, limit);
    for call in &mut item.actual_tool_calls {
        // Arguments must stay an object, so each argument is cut on its own. It may be the content of an attachment.
        match &mut call.arguments {
            Value::Object(arguments) => arguments.values_mut().for_each(|value| cut_value(value, limit)),
            other => cut_value(other, limit),
        }
    }
}

fn cut_change(change: &mut TodoItemChange, limit: usize) {
    let items = [&mut change.item, &mut change.previous_item];
    items.into_iter().flatten().for_each(|item| cut_item(item, limit));
}

fn cut_step_output(entry: &mut StepOutputEntry, limit: usize) {
    entry.raw_result.iter_mut().for_each(|result| cut_shared(result, limit));
    cut_results(&mut entry.tool_results, limit);
}

fn cut_results(results: &mut [ToolResult], limit: usize) {
    for result in results {
        result.output.iter_mut().for_each(|output| cut_shared(output, limit));
    }
}

/// Same as [`cut_value`]. A value that is not cut stays shared.
fn cut_shared(value: &mut Shared<Value>, limit: usize) {
    if let Some(text) = shortened_text(value, limit) {
        *value = Value::String(text).into();
    }
}

/// Replaces a value whose text has more than `limit` bytes by the beginning of the text and a marker. A shorter value that is
/// nested too deeply for the store is replaced by its whole text. The text of an array or an object is its JSON.
fn cut_value(value: &mut Value, limit: usize) {
    if let Some(text) = shortened_text(value, limit) {
        *value = Value::String(text);
    }
}

/// Returns the text by which a value is replaced in the store, or `None` if it is stored as it is.
fn shortened_text(value: &Value, limit: usize) -> Option<String> {
    let text = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
        Value::String(text) if text.len() <= limit => return None,
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(_) | Value::Object(_) if text_len(value) <= limit && !is_deeper(value, MAX_LEVELS) => return None,
        Value::Array(_) | Value::Object(_) => Cow::Owned(value.to_string()),
    };
    if text.len() <= limit {
        return Some(text.into_owned());
    }
    let shortened = byte_prefix(&text, limit);
    let (kept, bytes) = (shortened.len(), text.len());
    Some(format!("{shortened}{CUT_MARKER}{kept} of {bytes} bytes]"))
}

/// Returns whether a value is the beginning of an output that was cut for the store.
pub(crate) fn is_cut(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let marker = text.rsplit_once(CUT_MARKER);
    let sizes = marker.and_then(|(_, rest)| rest.strip_suffix(" bytes]")?.split_once(" of "));
    sizes.is_some_and(|(kept, bytes)| kept.parse::<usize>().is_ok() && bytes.parse::<usize>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::tool::ParsedToolCall;

    /// Returns an item with a number of calls, whose arguments and outputs each have a text of `bytes` bytes.
    fn item_with_calls(count: usize, bytes: usize) -> TodoItem {
        let call = ParsedToolCall {
            call_id: "c".to_owned(),
            tool_name: "t".to_owned(),
            arguments: json!({"text": "x".repeat(bytes)}),
        };
        let mut item = crate::plan::tests::item("a", &[]);
        item.tool_results = vec![ToolResult::success(&call, json!({"text": "x".repeat(bytes)})); count];
        item.actual_tool_calls = vec![call; count];
        item.result = Some(json!("ok").into());
        item
    }

    #[test]
    fn small_outputs_are_unchanged() {
        let small = vec![item_with_calls(4, 1_000)];
        assert_eq!(items(&small), json!(small));
    }

    #[test]
    fn a_large_output_is_cut_with_a_marker() {
        let shortened = items(&vec![item_with_calls(1, 300 << 10)]);
        let text = shortened[0]["toolResults"][0]["output"].as_str().unwrap();
        // The output as JSON has 11 bytes more than the text in it.
        assert!(text.starts_with(r#"{"text":"xxx"#) && text.ends_with("[kept 262144 of 307211 bytes]"));
        assert!(is_cut(&json!(text)));
        for uncut in [json!("... [kept some of 9 bytes]"), json!("x"), json!({"a": text})] {
            assert!(!is_cut(&uncut), "{uncut}");
        }
        assert!(shortened[0]["actualToolCalls"][0]["arguments"]["text"].is_string());
    }

    fn nested(levels: usize) -> Value {
        (1..levels).fold(json!(1), |inside, _| json!([inside]))
    }

    #[test]
    fn a_value_that_is_nested_too_deeply_is_kept_as_its_text() {
        let max_levels_of_store = 120;
        for (levels, stays_json) in [
            (MAX_LEVELS, true),
            (MAX_LEVELS + 1, false),
            (max_levels_of_store, false),
        ] {
            let mut item = item_with_calls(1, 1);
            item.result = Some(nested(levels).into());
            item.actual_tool_calls[0].arguments = json!({"deep": nested(levels)});
            let shortened = &items(&vec![item])[0];
            for value in [
                &shortened["result"],
                &shortened["actualToolCalls"][0]["arguments"]["deep"],
            ] {
                let expected = if stays_json {
                    nested(levels)
                } else {
                    json!(nested(levels).to_string())
                };
                assert_eq!(*value, expected);
            }
        }
    }

    #[test]
    fn many_large_changes_are_cut_to_the_target_size() {
        let before: Vec<_> = (0..8).map(|_| item_with_calls(4, 256 << 10)).collect();
        let with_status = |items: Vec<TodoItem>, status| {
            let mut items = items;
            for (n, item) in items.iter_mut().enumerate() {
                item.id = n.to_string();
                item.status = status;
            }
            items
        };
        use art_core::pes::TodoItemStatus::{Failed, Pending};
        let (failed, pending) = (with_status(before.clone(), Failed), with_status(before, Pending));
        let changed_at = 7;
        let changed = crate::plan::diff(&failed, &pending, changed_at);
        assert!(serde_json::to_string(&changed).unwrap().len() > TOTAL_BYTES);
        let shortened = changes(&changed);
        assert!(shortened.to_string().len() <= TOTAL_BYTES);
        assert_eq!(shortened["modified"].as_array().unwrap().len(), 8);
    }

    #[test]
    fn many_large_outputs_are_cut_to_the_target_size() {
        let large = PesAgentStateData {
            todo_list: vec![item_with_calls(24, 256 << 10)],
            ..PesAgentStateData::default()
        };
        assert!(text_len(state(&large).as_ref()) <= TOTAL_BYTES);
    }
}
