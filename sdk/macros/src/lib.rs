//! The attributes of `art-sdk`: `#[tool]` on a function, `#[args]` and `#[output]` on its types.
//!
//! Use them through `art_sdk::prelude`; their documentation is there.

mod data;
mod describe;
mod expand;
mod json;
mod manifest;
mod options;
mod signature;
#[cfg(test)]
mod tests;
mod units;

use proc_macro::TokenStream;
use quote::quote;

/// Makes a function a tool.
///
/// The function takes its arguments as one type and, optionally, a `&Context`; it returns a `Result`. Its name is the
/// tool's name and its doc comment the description that the model reads. The attribute also generates a static named
/// after the function in upper case, such as `WORD_COUNT`: the tool as a value for tests.
///
/// All options are optional:
///
/// ```
/// # use art_sdk::prelude::*;
/// #
/// # #[args]
/// # struct In {
/// #     text: String,
/// #     url: String,
/// #     path: String,
/// # }
/// #
/// /// Counts the words of a text.
/// #[tool(
///     name = "word_count",                      // instead of the function's name
///     mode = "blocking",                        // or "functional" (default), "display"
///     risk = "high",                            // or "low", "medium", "critical"
///     example(
///         ask = "How many words are in \"to be\"?", // as a person would ask; may be repeated for the same input
///         input = r#"{"text":"to be"}"#,
///         output = "2",
///     ),
///     limits(fuel = 2_000_000, memory = "16 MiB", timeout = "5s", output = "1 MiB"),
///     capabilities(
///         fs(read, path = "{args.path}", reason = "reads the table"), // or read_write; without `path`: all that is granted
///         http("https://api.example.com/v1", methods("GET", "POST"), reason = "asks for rates"),
///         http("{args.url}"),                   // the origin of the URL in an argument; or `any`: all that is granted
///         env("LANG"),
///     ),
/// )]
/// fn count(input: In) -> Result<usize> {
///     Ok(input.text.split_whitespace().count())
/// }
/// ```
///
/// `blocking = ..` and `display = ..` configure a mode and imply it. They are JSON text, which is checked at compile time, or an
/// expression. A tool with `blocking` has its risk there, in `riskLevel`:
///
/// ```
/// # use art_sdk::prelude::*;
/// #
/// /// Empties the bin.
/// #[tool(blocking = r#"{"riskLevel":"high"}"#)]
/// fn empty_bin(_: NoArgs) -> Result<bool> {
///     Ok(true)
/// }
///
/// /// Draws a chart.
/// #[tool(display = json!({"displayMode": "modal"}))]
/// fn chart(_: NoArgs) -> Result<Vec<u8>> {
///     Ok(vec![1, 2])
/// }
/// ```
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(options.into(), &item.into()).into()
}

/// Makes a struct or enum usable as the arguments of a tool, or as a part of them.
///
/// Derives `Debug`, `serde::Deserialize` and `schemars::JsonSchema`. Doc comments of the fields become descriptions,
/// `#[serde(..)]` attributes keep their meaning, and unknown fields are refused unless a
/// field has `#[serde(flatten)]`.
///
/// `#[args(ignore_unknown)]` ignores unknown fields of this type. It is for data that comes from elsewhere, such as the response
/// of a server, which may have more fields than the tool reads. A type that it contains needs the option itself.
#[proc_macro_attribute]
pub fn args(options: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(data::Role::Args, &quote!(::art_sdk), &options.into(), &item.into()).into()
}

/// Does the same as [`args`] for tools that are functions of an embedding program. Exported as `art_runtime::args`.
#[proc_macro_attribute]
pub fn native_args(options: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(data::Role::Args, &quote!(::art_runtime), &options.into(), &item.into()).into()
}

/// Makes a struct or enum usable as the output of a tool, or as a part of it.
///
/// Derives `Debug`, `serde::Serialize` and `schemars::JsonSchema`. A type that has `#[args]` too is usable as both.
#[proc_macro_attribute]
pub fn output(options: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(data::Role::Output, &quote!(::art_sdk), &options.into(), &item.into()).into()
}
