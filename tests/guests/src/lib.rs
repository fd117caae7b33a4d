//! What guests share that do not go through the SDK: raw bindings of the contract.

#![cfg(target_family = "wasm")]

/// The contract, as `wit-bindgen` gives it.
#[doc(hidden)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "tool-plugin",
        pub_export_macro: true,
        export_macro_name: "export",
        default_bindings_module: "::guests::bindings",
    });
}

use bindings::art::tool::types::{ExecutionMode, Outcome, Success, ToolSchema};

/// A schema that any host admits.
#[must_use]
pub fn plain_schema(name: &str) -> ToolSchema {
    ToolSchema {
        name: name.to_owned(),
        description: "A guest of the tests.".to_owned(),
        input_schema: r#"{"type":"object"}"#.to_owned(),
        output_schema: None,
        execution_mode: ExecutionMode::Functional,
        blocking_config: None,
        display_config: None,
        examples: Vec::new(),
    }
}

/// A success with this text as its output, JSON or not.
#[must_use]
pub fn answer(output: impl Into<String>) -> Outcome {
    Outcome::Success(success(output))
}

/// See [`answer`].
#[must_use]
pub fn success(output: impl Into<String>) -> Success {
    Success {
        output: output.into(),
        title: None,
        sources: Vec::new(),
        attachments: Vec::new(),
        metadata: None,
    }
}

/// Makes a component of an expression of type `ToolSchema`.
#[macro_export]
macro_rules! schema_guest {
    ($schema:expr) => {
        struct Guest;

        impl $crate::bindings::exports::art::tool::tool::Guest for Guest {
            fn schema() -> $crate::bindings::art::tool::types::ToolSchema {
                $schema
            }

            fn execute(
                _input: String,
                _context: $crate::bindings::art::tool::types::ExecutionContext,
            ) -> $crate::bindings::art::tool::types::Outcome {
                $crate::answer("null")
            }
        }

        $crate::bindings::export!(Guest with_types_in $crate::bindings);
    };
}
