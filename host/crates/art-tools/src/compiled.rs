//! Registered tools, with their checked and compiled schemas.

use std::sync::Arc;

use art_core::limits::Limits;
use art_core::tool::{ExecutionMode, ToolSchema};
use serde_json::Value;

use crate::admission::{Root, admit};
use crate::executor::ToolExecutor;
use crate::form::admit_config;
use crate::refusal::{InvalidName, MAX_EXAMPLE_BYTES, MAX_PROMPT_BYTES, RegisterError, SchemaKind};
use crate::schema::CompiledSchema;
use crate::shape::{JsonSize, text_len};

/// Maximum size of an output that is parsed on the thread on which it arrives, in bytes. This takes at most a
/// millisecond.
const LIGHT_OUTPUT_BYTES: usize = 16 << 10;
/// Maximum length of a tool's name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// A registered tool, with what its executor returned at registration.
#[derive(Debug)]
pub(crate) struct RegisteredTool {
    pub(crate) executor: Arc<dyn ToolExecutor>,
    /// The declaration of the tool. Its schemas have no `$ref`.
    pub(crate) schema: ToolSchema,
    /// The identifier of the tool's plugin, or `host`.
    pub(crate) owner: String,
    pub(crate) limits: Limits,
    /// The digest of the tool's code, if there is one.
    pub(crate) digest: Option<Arc<str>>,
    /// Whether a call may be made again when it is unknown how it ended.
    pub(crate) is_repeatable: bool,
    /// The compiled form of `schema.input_schema`.
    pub(crate) input_schema: CompiledSchema,
    /// The compiled form of `schema.output_schema`.
    pub(crate) output_schema: Option<CompiledSchema>,
}

impl RegisteredTool {
    /// Checks and compiles a tool, so that errors in its declaration are found before the tool is offered to a model.
    pub(crate) fn compile(executor: Arc<dyn ToolExecutor>) -> Result<Self, RegisterError> {
        let mut schema = executor.schema().clone();
        check_name(&schema.name).map_err(|source| RegisterError::InvalidExecutor { source })?;
        let input_schema = compile_schema(&mut schema.input_schema, Root::Object, SchemaKind::Input)?;
        let output_schema = match &mut schema.output_schema {
            Some(output_schema) => Some(compile_schema(output_schema, Root::Any, SchemaKind::Output)?),
            None => None,
        };
        admit_display_and_question_settings(&mut schema)?;
        // Check the sizes first, because this bounds the work of checking the examples.
        check_sizes(&schema)?;
        check_examples(&schema, &input_schema, output_schema.as_ref())?;
        // The limits of an executor must not exceed the host's maximum.
        let limits = executor.limits().checked().map_err(|problem| RegisterError::Limits {
            name: schema.name.clone(),
            problem,
        })?;
        // Keep no large compiled schema in memory, because most tools are never called; a check compiles it again.
        Ok(Self {
            owner: executor.owner().to_owned(),
            digest: executor.digest().map(Into::into),
            is_repeatable: executor.is_repeatable(),
            executor,
            schema,
            limits,
            input_schema: input_schema.without_large_validator(),
            output_schema: output_schema.map(CompiledSchema::without_large_validator),
        })
    }

    /// Returns whether an output of `bytes` bytes is parsed and checked so fast that other calls are not delayed.
    pub(crate) fn is_light_output(&self, bytes: usize) -> bool {
        let size = JsonSize::of_text(bytes);
        let schema = self.output_schema.as_ref();
        bytes <= LIGHT_OUTPUT_BYTES && schema.is_none_or(|schema| schema.is_light(&size))
    }

    /// Returns whether the output of the tool is drawn for a person and not read by the model.
    pub(crate) fn is_display(&self) -> bool {
        self.schema.execution_mode == ExecutionMode::Display
    }
}

/// Checks that a name matches `^[a-z][a-z0-9_-]{0,63}$`. Every provider accepts such names, and they contain no letters of other
/// scripts that look like Latin ones.
///
/// # Errors
/// Fails with the shortened name if it does not match.
pub fn check_name(name: &str) -> Result<(), InvalidName> {
    let starts_with_letter = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if starts_with_letter && name.chars().all(is_allowed) && name.len() <= MAX_NAME_BYTES {
        Ok(())
    } else {
        Err(InvalidName(art_core::text::truncate(name, MAX_NAME_BYTES)))
    }
}

/// Compiles a schema, and replaces it by its form without references.
fn compile_schema(schema: &mut Value, root: Root, kind: SchemaKind) -> Result<CompiledSchema, RegisterError> {
    let compiled = CompiledSchema::new(schema, root).map_err(|problem| RegisterError::Schema { kind, problem })?;
    *schema = compiled.schema().clone();
    Ok(compiled)
}

/// Admits the schema of the data that the tool draws for a person, and the settings for its questions to a person. Other code
/// applies them later, so their cost must be bounded as well. A tool of any mode may have such settings: the operator's rules use
/// them, and every tool may ask (contract P64).
fn admit_display_and_question_settings(schema: &mut ToolSchema) -> Result<(), RegisterError> {
    let display = schema.display_config.as_mut();
    let data = display.and_then(|config| config.data_schema.as_mut());
    if let Some(schema) = data {
        let kind = SchemaKind::DisplayData;
        let tree = admit(schema, Root::Any).map_err(|problem| RegisterError::Schema { kind, problem })?;
        *schema = tree.schema;
    }
    match &mut schema.blocking_config {
        Some(config) => admit_config(config).map_err(|problem| RegisterError::Form { problem }),
        None => Ok(()),
    }
}

/// Checks every example against the schemas of its tool. An invalid example would teach the model to make calls that
/// are refused.
fn check_examples(
    schema: &ToolSchema,
    input_schema: &CompiledSchema,
    output_schema: Option<&CompiledSchema>,
) -> Result<(), RegisterError> {
    let inputs = schema.examples.iter().map(|example| Some(&example.input));
    check_values(SchemaKind::Input, "input", input_schema, inputs)?;
    if let Some(output_schema) = output_schema {
        let outputs = schema.examples.iter().map(|example| example.output.as_ref());
        check_values(SchemaKind::Output, "output", output_schema, outputs)?;
    }
    Ok(())
}

/// Checks the inputs or the outputs of all examples. The cost of checking all of them together has the same limit as the
/// cost of checking one value of a call. Each value is called `name` in messages.
fn check_values<'e>(
    kind: SchemaKind,
    name: &str,
    schema: &CompiledSchema,
    values: impl Iterator<Item = Option<&'e Value>>,
) -> Result<(), RegisterError> {
    let mut total = JsonSize::default();
    for (index, value) in values.enumerate() {
        let Some(value) = value else { continue };
        let error = |message| RegisterError::Example { index, kind, message };
        let size = JsonSize::of_payload(value).map_err(|problem| error(problem.to_string()))?;
        total = total.plus(size);
        if !schema.cost().allows(&total) {
            // The error names the schema directly before this text, so `it` is the schema.
            return Err(error("the examples are too large to be checked against it".to_owned()));
        }
        schema
            .check(value, &size, name)
            .map_err(|violations| error(violations.to_string()))?;
    }
    Ok(())
}

/// Checks that the tool fits into a prompt and that its examples are not too long.
fn check_sizes(schema: &ToolSchema) -> Result<(), RegisterError> {
    let bytes = schema.description.len().saturating_add(text_len(&schema.input_schema));
    if bytes > MAX_PROMPT_BYTES {
        let name = schema.name.clone();
        return Err(RegisterError::PromptTooLong { name, bytes });
    }
    let bytes = text_len(&schema.examples);
    if bytes > MAX_EXAMPLE_BYTES {
        let name = schema.name.clone();
        return Err(RegisterError::ExamplesTooLong { name, bytes });
    }
    Ok(())
}
