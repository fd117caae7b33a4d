//! The result of `schema()` with its JSON fields as text, as the cache and the `art:schema` section of a component store it.
//!
//! The section lets the host offer a tool without compiling it. It is untrusted: it is validated like the result of
//! `schema()`, and the first call of the tool calls `schema()` and compares.

use std::ops::Range;

use art_core::tool::ExecutionMode;
use serde::{Deserialize, Serialize};

use crate::bindings::types;
use crate::error::LoadError;

/// Name of the custom section that holds the schema.
pub(crate) const SCHEMA_SECTION: &str = "art:schema";
/// Maximum size of the section, in bytes. A prompt of a model has room for far less.
const MAX_SECTION_BYTES: usize = 256 << 10;
/// Kind byte of a custom section.
const CUSTOM_SECTION: u8 = 0;

/// The result of `schema()`, with its JSON fields not parsed yet.
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

/// An example in the result of `schema()`.
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
    fn from(schema: types::ToolSchema) -> Self {
        let example = |example: types::Example| ExampleText {
            input: example.input,
            output: example.output,
            description: example.description,
        };
        Self {
            name: schema.name,
            description: schema.description,
            input_schema: schema.input_schema,
            output_schema: schema.output_schema,
            execution_mode: match schema.execution_mode {
                types::ExecutionMode::Functional => ExecutionMode::Functional,
                types::ExecutionMode::Blocking => ExecutionMode::Blocking,
                types::ExecutionMode::Display => ExecutionMode::Display,
            },
            blocking_config: schema.blocking_config,
            display_config: schema.display_config,
            examples: schema.examples.into_iter().map(example).collect(),
        }
    }
}

/// A file, split into the component and its schema.
#[derive(Debug)]
pub(crate) struct SplitFile<'a> {
    /// The component: all of the file except for the `art:schema` section at its end.
    pub(crate) component: &'a [u8],
    /// The schema in the `art:schema` section at the end of the file.
    pub(crate) declared_schema: Option<SchemaText>,
}

/// Splits the `art:schema` section from the component. `section` is the position of the last section of that name. It is split
/// off only if it is at the end of the file; elsewhere it is an ordinary custom section.
///
/// # Errors
/// Fails with [`LoadError::SchemaSectionTooLarge`] or [`LoadError::InvalidSchemaSection`].
pub(crate) fn split_file<'a>(wasm: &'a [u8], section: Option<&SectionPosition>) -> Result<SplitFile<'a>, LoadError> {
    let section_at_end = section.filter(|section| section.range.end == wasm.len());
    let start = section_at_end.and_then(|section| section_start(wasm, section.range.start));
    let (Some(section), Some(component)) = (section_at_end, start.and_then(|start| wasm.get(..start))) else {
        return Ok(SplitFile {
            component: wasm,
            declared_schema: None,
        });
    };
    let text = wasm.get(section.data_offset..).unwrap_or_default();
    if text.len() > MAX_SECTION_BYTES {
        return Err(LoadError::SchemaSectionTooLarge {
            bytes: text.len(),
            limit: MAX_SECTION_BYTES,
        });
    }
    let schema = serde_json::from_slice(text).map_err(LoadError::InvalidSchemaSection)?;
    Ok(SplitFile {
        component,
        declared_schema: Some(schema),
    })
}

/// Position of a custom section in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionPosition {
    /// Range of the content of the section, which is its name and its data.
    pub(crate) range: Range<usize>,
    /// Offset of the data.
    pub(crate) data_offset: usize,
}

/// Returns the offset of the section whose content starts at `content_start`. A section is a kind byte, the size of its
/// content in LEB128, and its content.
fn section_start(wasm: &[u8], content_start: usize) -> Option<usize> {
    // Goes back to the first byte of the size, and then to the kind byte before it.
    let mut size_offset = content_start.checked_sub(1)?;
    // All bytes of a LEB128 number except for the last have their highest bit set. The kind byte, which is 0, has not.
    while wasm.get(size_offset.checked_sub(1)?)? & 0x80 != 0 {
        size_offset -= 1;
    }
    size_offset.checked_sub(1)
}

/// Returns the component with an `art:schema` section at its end.
pub(crate) fn append_section(component: &[u8], schema: &SchemaText) -> Result<Vec<u8>, LoadError> {
    let text = serde_json::to_vec(schema).map_err(LoadError::InvalidSchemaSection)?;
    let mut content = encode_leb128(SCHEMA_SECTION.len());
    content.extend(SCHEMA_SECTION.as_bytes());
    content.extend(text);
    let mut wasm = component.to_vec();
    wasm.push(CUSTOM_SECTION);
    wasm.extend(encode_leb128(content.len()));
    wasm.extend(content);
    Ok(wasm)
}

/// Returns `number` as an unsigned LEB128: seven bits in each byte, the lowest first.
fn encode_leb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low_bits = u8::try_from(number & 0x7f).unwrap_or_default();
        number >>= 7;
        if number == 0 {
            bytes.push(low_bits);
            return bytes;
        }
        bytes.push(low_bits | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmparser::{Parser, Payload};

    fn find_last_section(wasm: &[u8]) -> Option<SectionPosition> {
        let payloads = Parser::new(0).parse_all(wasm).map(Result::unwrap);
        let sections = payloads.filter_map(|payload| match payload {
            Payload::CustomSection(section) if section.name() == SCHEMA_SECTION => Some(SectionPosition {
                range: section.range(),
                data_offset: section.data_offset(),
            }),
            _ => None,
        });
        sections.last()
    }

    fn schema_with_description(description: &str) -> SchemaText {
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

    /// A component without any section.
    const EMPTY_COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    #[test]
    fn an_appended_section_is_read_back_and_the_component_is_unchanged() {
        for length in [0, 1, 60, 127, 128, 20_000, 100_000] {
            let schema = schema_with_description(&"x".repeat(length));
            let wasm = append_section(EMPTY_COMPONENT, &schema).unwrap();
            let file = split_file(&wasm, find_last_section(&wasm).as_ref()).unwrap();
            assert_eq!((file.component, file.declared_schema), (EMPTY_COMPONENT, Some(schema)));
        }
    }

    #[test]
    fn of_two_sections_only_the_last_is_split_off() {
        let once = append_section(EMPTY_COMPONENT, &schema_with_description("old")).unwrap();
        let twice = append_section(&once, &schema_with_description("new")).unwrap();
        let file = split_file(&twice, find_last_section(&twice).as_ref()).unwrap();
        assert_eq!(
            (file.component, file.declared_schema),
            (&*once, Some(schema_with_description("new")))
        );
    }

    #[test]
    fn a_section_that_is_not_at_the_end_is_ignored() {
        let mut wasm = append_section(EMPTY_COMPONENT, &schema_with_description("old")).unwrap();
        // Another section after it: its content has 2 bytes, which are the length of its name, 1, and the name `x`.
        wasm.extend([CUSTOM_SECTION, 2, 1, b'x']);
        let file = split_file(&wasm, find_last_section(&wasm).as_ref()).unwrap();
        assert_eq!((file.component, file.declared_schema), (&*wasm, None));
    }

    #[test]
    fn a_section_that_is_too_large_or_not_json_is_refused() {
        let large = append_section(
            EMPTY_COMPONENT,
            &schema_with_description(&"x".repeat(MAX_SECTION_BYTES)),
        )
        .unwrap();
        let error = split_file(&large, find_last_section(&large).as_ref()).unwrap_err();
        assert!(matches!(error, LoadError::SchemaSectionTooLarge { .. }), "{error}");
        let mut damaged = append_section(EMPTY_COMPONENT, &schema_with_description("")).unwrap();
        *damaged.last_mut().unwrap() = b' ';
        let error = split_file(&damaged, find_last_section(&damaged).as_ref()).unwrap_err();
        assert!(matches!(error, LoadError::InvalidSchemaSection(_)), "{error}");
    }
}
