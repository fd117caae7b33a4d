//! Bindings of the contract between host and tool (`wit/tool.wit`), and helpers, for guests that implement the contract
//! themselves instead of with the SDK.

#![cfg(target_family = "wasm")]

/// The bindings that `wit-bindgen` generates from the contract.
#[doc(hidden)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "tool-plugin",
        pub_export_macro: true,
        export_macro_name: "export",
        default_bindings_module: "::guests::bindings",
        // Such a guest may still use other parts of the SDK, such as its HTTP client. Then it has two type sections: one of
        // these bindings and one of the SDK's bindings. If the sections had the same name, the linker would join them into an
        // invalid one.
        type_section_suffix: "-guests",
    });
}

use bindings::art::tool::types::{ExecutionMode, Outcome, Success, ToolSchema};

/// Returns a small valid schema: every JSON object is an input, and all optional parts are left out.
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

/// Returns a success with this text as its output. The text need not be JSON.
#[must_use]
pub fn success_outcome(output: impl Into<String>) -> Outcome {
    Outcome::Success(success(output))
}

/// Returns a success with this output and no other part, as the base of a struct update.
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

/// Defines a guest whose `schema` evaluates an expression of type `ToolSchema`.
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
                $crate::success_outcome("null")
            }
        }

        $crate::bindings::export!(Guest with_types_in $crate::bindings);
    };
}
