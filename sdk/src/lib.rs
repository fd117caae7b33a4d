//! Write a tool for the ART host: a plain function, its types, and one attribute.
//!
//! ```
//! use art_sdk::prelude::*;
//!
//! #[args]
//! struct In {
//!     /// The text to count in.
//!     text: String,
//! }
//!
//! #[output]
//! struct Out {
//!     words: usize,
//! }
//!
//! /// Counts the words of a text.
//! #[tool]
//! fn word_count(input: In) -> Result<Out> {
//!     Ok(Out { words: input.text.split_whitespace().count() })
//! }
//!
//! let out = art_sdk::testing::output(&WORD_COUNT, json!({"text": "to be or not"}));
//! assert_eq!(out, json!({"words": 4}));
//! ```
//!
//! `art plugin build` builds the crate as a component that exports the contract of `wit/tool.wit`: the function's
//! name is the tool's name, its doc comment the description, and its types define the JSON Schemas. For unit
//! tests, the crate is built natively, as an ordinary library, and the tests run its tool through [`testing`]. A crate contains
//! one tool.

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod bindings;
#[cfg(feature = "change")]
pub mod change;
mod context;
mod convert;
mod error;
pub mod files;
// Not with WASI: the C library there has an allocator too, and memory from one of the two could be freed by the other.
#[cfg(any(test, all(feature = "heap", target_family = "wasm", target_os = "unknown")))]
mod heap;
mod host;
#[cfg(feature = "http")]
pub mod http;
mod number;
mod outcome;
mod promise;
mod reply;
mod schema;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod tool;
#[cfg(target_family = "wasm")]
mod wire;

// Generated code refers to this crate by its absolute path, even inside of this crate.
extern crate self as art_sdk;

pub use art_sdk_macros::{args, output, tool};
pub use context::{Context, Hitl, Level};
pub use convert::{IntoOutcome, IntoToolError, NoArgs, ToolInput, ToolReturn};
pub use error::{ErrorCode, Result, ToolError};
pub use number::Numeric;
pub use outcome::{Outcome, Subtask, Suspension};
pub use promise::{never_null, promise};
pub use reply::{Attachment, Reply, Source};
pub use tool::{Example, Mode, Tool};
pub use {schemars, serde, serde_json};

/// What most tools need, for `use art_sdk::prelude::*;`.
pub mod prelude {
    pub use crate::{
        Attachment, Context, ErrorCode, Hitl, IntoToolError, Level, NoArgs, Outcome, Reply, Result, Source, Subtask,
        Suspension, ToolError, args, output, tool,
    };
    pub use serde_json::{Value, json};
}

/// The items that the attributes expand to. Not part of the public API: they change without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::convert::{Fallible, conversion};
    pub use crate::tool::Definition;

    #[cfg(target_family = "wasm")]
    pub use crate::bindings;
    #[cfg(target_family = "wasm")]
    pub use wit_bindgen;

    /// Returns the bytes of `text` as an array, which is what a `static` in a link section has to be. `N` is the length of
    /// `text`.
    pub const fn section<const N: usize>(text: &str) -> [u8; N] {
        match text.as_bytes().as_chunks::<N>() {
            ([bytes], []) => *bytes,
            _ => [0; N],
        }
    }

    /// Returns the JSON text of a value, as the `Option` that `Definition::blocking` and `Definition::display` return.
    pub fn json_text(value: impl Into<serde_json::Value>) -> Option<String> {
        Some(value.into().to_string())
    }
}
