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

/// Makes a function a tool. `art_sdk::tool` has the documentation, whose examples need that crate.
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
