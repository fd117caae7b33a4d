//! Reads the beginning of JSON whose end is missing.

/// Returns the beginning of a JSON text up to the last object or list in it that is complete, with everything closed that is still
/// open there. Returns `None` if no object or list is complete. The object that the text breaks off in is kept only if it
/// contains a complete one, and then without the fields after that.
pub(crate) fn close(json: &[u8]) -> Option<Vec<u8>> {
    // The closing brackets of what is open, outermost first.
    let mut closing = Vec::new();
    // Where the last complete object or list ends, and how many others are open around it.
    let mut last_complete = None;
    let (mut is_in_string, mut is_escaped) = (false, false);
    for (at, byte) in json.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_string => is_escaped = true,
            b'"' => is_in_string = !is_in_string,
            _ if is_in_string => {}
            b'{' => closing.push(b'}'),
            b'[' => closing.push(b']'),
            b'}' | b']' => {
                closing.pop();
                last_complete = Some((at + 1, closing.len()));
            }
            _ => {}
        }
    }
    let (end, open) = last_complete?;
    // Since then, brackets were only opened, so the first ones are those that were open there.
    let closing = closing.get(..open)?.iter().rev();
    Some(json.get(..end)?.iter().chain(closing).copied().collect())
}

#[cfg(test)]
mod tests {
    use art_sdk::prelude::*;
    use art_sdk::serde_json;

    use super::*;

    fn closed(json: &str) -> Option<Value> {
        close(json.as_bytes()).map(|text| serde_json::from_slice(&text).unwrap())
    }

    #[test]
    fn what_is_complete_is_kept_and_what_is_open_is_closed() {
        assert_eq!(
            closed(r#"{"results": [{"url": "a"}, {"url": "b]}"}, {"url": "c"#),
            Some(json!({"results": [{"url": "a"}, {"url": "b]}"}]}))
        );
        assert_eq!(
            closed(r#"[{"a": "\"}", "b": [1, {}], "c": tr"#),
            Some(json!([{"a": "\"}", "b": [1, {}]}]))
        );
        assert_eq!(closed(r#"{"a": [1]} "#), Some(json!({"a": [1]})));
    }

    #[test]
    fn a_text_without_a_complete_object_or_list_has_no_beginning_of_use() {
        for json in ["", r#"{"a": "b", "c"#, "[[[[", r#""}"#] {
            assert_eq!(close(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn the_beginning_of_any_length_is_closed_to_valid_json() {
        let json = json!({"a": [{"b": "\\\"]"}, {"c": [[], {"d": "\u{e9}{"}]}], "e": {"f": [1.5, null]}}).to_string();
        for end in 0..=json.len() {
            if let Some(text) = close(&json.as_bytes()[..end]) {
                serde_json::from_slice::<Value>(&text).unwrap();
            }
        }
    }

    #[test]
    fn brackets_that_do_not_match_do_no_harm() {
        for text in ["]}]}{[", "}{]", "<script>f({})</script>"] {
            close(text.as_bytes());
        }
    }
}
