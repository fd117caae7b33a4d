//! Tools that are functions of the host program. Their input is parsed into a value of a Rust type, from which the input schema
//! is derived.

use std::fmt::Display;

use art_core::error::ToolErrorCode;
use art_core::outcome::{Ending, Success};
use art_core::tool::{ExecutionMode, ToolExample, ToolSchema};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::direct::{DirectTool, failure};

impl DirectTool {
    /// Creates a tool from an asynchronous function. Its input schema is derived from the type of the argument; doc
    /// comments of the fields become descriptions. If the function returns an error, the model is shown its text.
    pub fn typed<I, O, E, F, Fut>(name: impl Into<String>, description: impl Into<String>, function: F) -> Self
    where
        I: DeserializeOwned + JsonSchema,
        O: Serialize,
        E: Display,
        F: Fn(I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, E>> + Send + 'static,
    {
        let schema = ToolSchema {
            name: name.into(),
            description: description.into(),
            input_schema: input_schema::<I>().into(),
            output_schema: None,
            examples: Vec::new().into(),
            execution_mode: ExecutionMode::Functional,
            blocking_config: None,
            display_config: None,
        };
        Self::new(schema, move |call| {
            let future_or_parse_error = serde_json::from_value(call.arguments).map(&function);
            async move {
                match future_or_parse_error {
                    Ok(future) => ending(future.await),
                    Err(error) => failure(ToolErrorCode::ValidationError, error.to_string()),
                }
            }
        })
    }

    /// Adds an example: a question as a person would ask it, and the input of the call that answers it. Models learn from
    /// examples when to call a tool.
    #[must_use]
    pub fn example(mut self, question: impl Into<String>, input: Value) -> Self {
        self.schema.examples.push(ToolExample {
            input,
            output: None,
            description: Some(question.into()),
        });
        self
    }
}

fn ending<O: Serialize, E: Display>(result: Result<O, E>) -> Ending {
    // A text, because a value could not have an integer of more than 64 bits.
    match result.map(|output| serde_json::to_string(&output)) {
        Ok(Ok(output)) => Ending::Success(Success {
            output,
            ..Success::default()
        }),
        Ok(Err(error)) => failure(
            ToolErrorCode::InvalidOutput,
            format!("the output cannot be written as JSON: {error}"),
        ),
        Err(error) => failure(ToolErrorCode::Unknown, error.to_string()),
    }
}

/// Returns the JSON Schema of a type, without `$ref` and with a `type` at its root.
fn input_schema<I: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<I>();
    // Remove the title, because it is the name of the Rust type.
    schema.remove("title");
    let mut schema = schema.to_value();
    if let Some(root) = schema.as_object_mut() {
        // The schema of an enum of objects has `oneOf` at its root, but no type.
        root.entry("type").or_insert_with(|| "object".into());
    }
    schema
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::testing::call;
    use crate::{CallScope, EnabledTools, SystemConfig, ToolExecutor, ToolRegistry, ToolReport, ToolSystem};

    #[derive(Deserialize, JsonSchema)]
    struct Division {
        /// The dividend.
        dividend: i32,
        divisor: i32,
    }

    fn division() -> DirectTool {
        DirectTool::typed("division", "Divides.", async |input: Division| {
            let quotient = input.dividend.checked_div(input.divisor);
            quotient.ok_or("a number cannot be divided by 0")
        })
    }

    #[test]
    fn the_input_schema_of_a_typed_tool_describes_its_argument() {
        let schema = division().schema().input_schema.clone();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["dividend", "divisor"]));
        assert_eq!(schema["properties"]["dividend"]["description"], "The dividend.");
        assert_eq!(schema.get("title"), None);
    }

    async fn divide(dividend: i32, divisor: Value) -> ToolReport {
        let registry = Arc::new(ToolRegistry::new());
        registry.register(Arc::new(division())).unwrap();
        let system = ToolSystem::new(registry, SystemConfig::default());
        let scope = CallScope {
            enabled_tools: EnabledTools::named(["division"]),
            ..CallScope::default()
        };
        let call = call("division", json!({"dividend": dividend, "divisor": divisor}));
        system.call(call, &scope).await
    }

    #[tokio::test]
    async fn a_typed_tool_returns_the_output_of_its_function() {
        assert_eq!(divide(6, json!(3)).await.result.output, Some(json!(2).into()));
    }

    #[tokio::test]
    async fn an_error_of_the_function_is_the_error_of_the_call() {
        let error = divide(6, json!(0)).await.result.error;
        assert_eq!(error.as_deref(), Some("a number cannot be divided by 0"));
    }

    #[tokio::test]
    async fn arguments_of_another_type_are_refused_before_the_function_runs() {
        assert!(divide(6, json!("three")).await.result.metadata.not_run);
    }
}
