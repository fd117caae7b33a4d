//! The answer of `schema()` as text: stored beside compiled code, and as the last section of a file.
//!
//! The section saves the host from compiling a tool that is never called. It is only a claim: it is admitted like an
//! answer, and the first call asks the tool and compares.

use std::ops::Range;

use art_core::tool::ExecutionMode;
use serde::{Deserialize, Serialize};

use crate::bindings::types;
use crate::error::LoadError;

/// The custom section with the promise.
pub(crate) const SECTION: &str = "art:schema";
/// Maximum size of the section. A prompt can hold far less.
const MAX_SECTION_BYTES: usize = 256 << 10;
/// Identifies a custom section.
const CUSTOM: u8 = 0;

/// An answer of `schema()`, not parsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SchemaText {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input_schema: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output_schema: Option<String>,
    pub(crate) execution_mode: ExecutionMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blocking_config: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) display_config: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) examples: Vec<ExampleText>,
}

/// An example of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ExampleText {
    pub(crate) input: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

impl From<types::ToolSchema> for SchemaText {
    fn from(found: types::ToolSchema) -> Self {
        let example = |found: types::Example| ExampleText {
            input: found.input,
            output: found.output,
            description: found.description,
        };
        Self {
            name: found.name,
            description: found.description,
            input_schema: found.input_schema,
            output_schema: found.output_schema,
            execution_mode: match found.execution_mode {
                types::ExecutionMode::Functional => ExecutionMode::Functional,
                types::ExecutionMode::Blocking => ExecutionMode::Blocking,
                types::ExecutionMode::Display => ExecutionMode::Display,
            },
            blocking_config: found.blocking_config,
            display_config: found.display_config,
            examples: found.examples.into_iter().map(example).collect(),
        }
    }
}

/// A component and the promise at its end.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    /// All of it but the promise.
    pub(crate) code: &'a [u8],
    /// Content of its last section.
    pub(crate) promise: Option<SchemaText>,
}

/// Splits a component; `section` is the position of its last section of that name. Only at the end of a file does it
/// count: elsewhere it is an ordinary custom section.
pub(crate) fn parts<'a>(wasm: &'a [u8], section: Option<&Section>) -> Result<Parts<'a>, LoadError> {
    let at_the_end = section.filter(|section| section.range.end == wasm.len());
    let start = at_the_end.and_then(|section| start_of(wasm, section.range.start));
    let (Some(section), Some(code)) = (at_the_end, start.and_then(|start| wasm.get(..start))) else {
        return Ok(Parts {
            code: wasm,
            promise: None,
        });
    };
    let text = wasm.get(section.data..).unwrap_or_default();
    if text.len() > MAX_SECTION_BYTES {
        return Err(LoadError::PromiseTooLarge {
            bytes: text.len(),
            limit: MAX_SECTION_BYTES,
        });
    }
    let promise = serde_json::from_slice(text).map_err(LoadError::Promise)?;
    Ok(Parts {
        code,
        promise: Some(promise),
    })
}

/// Position of a custom section in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Its name and its data.
    pub(crate) range: Range<usize>,
    /// Where its data begins.
    pub(crate) data: usize,
}

/// Returns the start of the section whose content begins at `content`: before it are one byte for its kind and its
/// size, of which every byte but the last has its highest bit set.
fn start_of(wasm: &[u8], content: usize) -> Option<usize> {
    let mut size = content.checked_sub(1)?;
    while wasm.get(size.checked_sub(1)?)? & 0x80 != 0 {
        size -= 1;
    }
    size.checked_sub(1)
}

/// Returns the component with a promise at its end.
pub(crate) fn with_promise(code: &[u8], promise: &SchemaText) -> Result<Vec<u8>, LoadError> {
    let text = serde_json::to_vec(promise).map_err(LoadError::Promise)?;
    let mut content = size(SECTION.len());
    content.extend(SECTION.as_bytes());
    content.extend(text);
    let mut wasm = code.to_vec();
    wasm.push(CUSTOM);
    wasm.extend(size(content.len()));
    wasm.extend(content);
    Ok(wasm)
}

/// Returns a length as WebAssembly writes it: seven bits a byte, the lowest first.
fn size(mut length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let seven = u8::try_from(length & 0x7f).unwrap_or_default();
        length >>= 7;
        if length == 0 {
            bytes.push(seven);
            return bytes;
        }
        bytes.push(seven | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmparser::{Parser, Payload};

    fn section(wasm: &[u8]) -> Option<Section> {
        let payloads = Parser::new(0).parse_all(wasm).map(Result::unwrap);
        let found = payloads.filter_map(|payload| match payload {
            Payload::CustomSection(section) if section.name() == SECTION => Some(Section {
                range: section.range(),
                data: section.data_offset(),
            }),
            _ => None,
        });
        found.last()
    }

    fn text(description: &str) -> SchemaText {
        SchemaText {
            name: "a".to_owned(),
            description: description.to_owned(),
            input_schema: "{}".to_owned(),
            output_schema: None,
            execution_mode: ExecutionMode::Functional,
            blocking_config: None,
            display_config: None,
            examples: Vec::new(),
        }
    }

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    #[test]
    fn a_promise_is_found_again_and_the_code_is_what_it_was() {
        for length in [0, 1, 60, 127, 128, 20_000, 100_000] {
            let promise = text(&"x".repeat(length));
            let wasm = with_promise(EMPTY, &promise).unwrap();
            let found = parts(&wasm, section(&wasm).as_ref()).unwrap();
            assert_eq!((found.code, found.promise), (EMPTY, Some(promise)));
        }
    }

    #[test]
    fn the_last_of_two_promises_counts_and_the_other_is_part_of_the_component() {
        let once = with_promise(EMPTY, &text("old")).unwrap();
        let twice = with_promise(&once, &text("new")).unwrap();
        let found = parts(&twice, section(&twice).as_ref()).unwrap();
        assert_eq!((found.code, found.promise), (&*once, Some(text("new"))));
    }

    #[test]
    fn a_promise_that_is_not_at_the_end_is_none() {
        let mut wasm = with_promise(EMPTY, &text("old")).unwrap();
        wasm.extend([CUSTOM, 2, 1, b'x']);
        let found = parts(&wasm, section(&wasm).as_ref()).unwrap();
        assert_eq!((found.code, found.promise), (&*wasm, None));
    }

    #[test]
    fn a_promise_that_is_too_large_or_no_json_is_refused() {
        let large = with_promise(EMPTY, &text(&"x".repeat(MAX_SECTION_BYTES))).unwrap();
        let refused = parts(&large, section(&large).as_ref()).unwrap_err();
        assert!(matches!(refused, LoadError::PromiseTooLarge { .. }), "{refused}");
        let mut cut = with_promise(EMPTY, &text("")).unwrap();
        *cut.last_mut().unwrap() = b' ';
        let refused = parts(&cut, section(&cut).as_ref()).unwrap_err();
        assert!(matches!(refused, LoadError::Promise(_)), "{refused}");
    }
}
