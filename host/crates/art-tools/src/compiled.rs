//! Tools in the registry: their schemas are copied, checked and compiled.

use std::sync::Arc;

use art_core::limits::Limits;
use art_core::tool::{ExecutionMode, ToolSchema};
use serde_json::Value;

use crate::admission::{Root, admit};
use crate::executor::ToolExecutor;
use crate::refusal::{InvalidName, MAX_EXAMPLE_BYTES, MAX_PROMPT_BYTES, Part, RegisterError};
use crate::schema::CompiledSchema;
use crate::shape::{Shape, text_len};

/// Maximum size of an output that is parsed on the thread on which it arrives, in bytes. This takes at most a
/// millisecond.
const LIGHT_OUTPUT_BYTES: usize = 16 << 10;
/// Maximum length of a tool's name, in bytes.
const MAX_NAME: usize = 64;

/// A registered tool. Its schemas are trees, without `$ref`. The values that the executor returned at registration are
/// used until the tool is registered again.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) executor: Arc<dyn ToolExecutor>,
    pub(crate) schema: ToolSchema,
    pub(crate) owner: String,
    pub(crate) limits: Limits,
    pub(crate) input: CompiledSchema,
    pub(crate) output: Option<CompiledSchema>,
}

impl Tool {
    /// Checks and compiles a tool. This finds every error in its declaration, before the tool is offered to a model.
    pub(crate) fn compile(executor: Arc<dyn ToolExecutor>) -> Result<Self, RegisterError> {
        let mut schema = executor.schema().clone();
        check_name(&schema.name).map_err(|source| RegisterError::InvalidExecutor { source })?;
        let refuse = |part| move |problem| RegisterError::Schema { part, problem };
        let input = CompiledSchema::new(&schema.input_schema, Root::Object).map_err(refuse(Part::Input))?;
        let output = schema.output_schema.as_ref();
        let output = output
            .map(|output| CompiledSchema::new(output, Root::Any))
            .transpose()
            .map_err(refuse(Part::Output))?;
        schema.input_schema = input.schema().clone();
        schema.output_schema = output.as_ref().map(|output| output.schema().clone());
        for (part, embedded) in embedded(&mut schema) {
            *embedded = admit(embedded, Root::Any).map_err(refuse(part))?.schema;
        }
        // Check the sizes first, because this bounds the work of checking the examples.
        check_prompt(&schema)?;
        check_examples(&schema, &input, output.as_ref())?;
        // The limits of an executor must not exceed the host's maximum.
        let limits = executor.limits().checked().map_err(|problem| RegisterError::Limits {
            name: schema.name.clone(),
            problem,
        })?;
        Ok(Self {
            owner: executor.owner().to_owned(),
            executor,
            schema,
            limits,
            input: input.release(),
            output: output.map(CompiledSchema::release),
        })
    }

    /// Returns whether a call of the tool runs alone, apart from the other calls of its batch.
    pub(crate) fn is_blocking(&self) -> bool {
        self.schema.execution_mode == ExecutionMode::Blocking
    }

    /// Returns whether an output of that many bytes is parsed and checked fast enough to delay no other call.
    pub(crate) fn is_light_output(&self, bytes: usize) -> bool {
        let shape = Shape::of_text(bytes);
        let schema = self.output.as_ref();
        bytes <= LIGHT_OUTPUT_BYTES && schema.is_none_or(|schema| schema.is_light(&shape))
    }

    pub(crate) fn is_display(&self) -> bool {
        self.schema.execution_mode == ExecutionMode::Display
    }
}

/// Checks that a name matches `^[a-z][a-z0-9_-]{0,63}$`. Every provider accepts such names, and no two of them look
/// alike.
///
/// # Errors
/// Fails with the shortened name if it does not.
pub fn check_name(name: &str) -> Result<(), InvalidName> {
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    let continues = name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-');
    if starts && continues && name.len() <= MAX_NAME {
        Ok(())
    } else {
        Err(InvalidName(art_core::text::truncate(name, MAX_NAME)))
    }
}

/// Returns the schemas of displayed data and of feedback. They are applied after the call, by other code, and their
/// cost must be bounded as well.
fn embedded(schema: &mut ToolSchema) -> impl Iterator<Item = (Part, &mut Value)> {
    let display = schema.display_config.as_mut();
    let data = display.and_then(|config| config.data_schema.as_mut());
    let blocking = schema.blocking_config.as_mut();
    let form = blocking.and_then(|config| config.feedback_schema.as_mut());
    let custom = form.and_then(|form| form.custom_schema.as_mut());
    let data = data.map(|schema| (Part::DisplayData, schema));
    data.into_iter().chain(custom.map(|schema| (Part::Feedback, schema)))
}

/// Checks every example against the schemas of its tool. An invalid example would teach the model to make calls that
/// are refused.
fn check_examples(
    schema: &ToolSchema,
    input: &CompiledSchema,
    output: Option<&CompiledSchema>,
) -> Result<(), RegisterError> {
    let inputs = schema.examples.iter().map(|example| Some(&example.input));
    check_part(Part::Input, "input", input, inputs)?;
    let outputs = schema.examples.iter().map(|example| example.output.as_ref());
    output.map_or(Ok(()), |output| check_part(Part::Output, "output", output, outputs))
}

/// Checks the inputs or the outputs of all examples. All of them together may cost no more than a single value.
fn check_part<'e>(
    part: Part,
    root: &str,
    schema: &CompiledSchema,
    values: impl Iterator<Item = Option<&'e Value>>,
) -> Result<(), RegisterError> {
    let mut together = Shape::default();
    for (index, value) in values.enumerate() {
        let Some(value) = value else { continue };
        let refuse = |message| RegisterError::Example { index, part, message };
        let shape = Shape::of_payload(value).map_err(|problem| refuse(problem.to_string()))?;
        together = together.and(shape);
        if !schema.cost().allows(&together) {
            return Err(refuse("the examples are too large to be checked against it".to_owned()));
        }
        let checked = schema.check(value, &shape, root);
        checked.map_err(|violations| refuse(violations.to_string()))?;
    }
    Ok(())
}

fn check_prompt(schema: &ToolSchema) -> Result<(), RegisterError> {
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
