//! `#[args]` and `#[output]`: the derives of a tool's types, through the crate that exports the attribute, so that a tool depends
//! on nothing else.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Error, Field, Result};

/// Which way the type goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Args,
    Output,
}

/// Expands to the type with its derives, which are looked up in the crate `root`.
pub(crate) fn expand(role: Role, root: &TokenStream, options: &TokenStream, item: &TokenStream) -> TokenStream {
    // The type itself always comes out, so that a mistake here is not followed by one error for each use of it.
    derive(role, root, options, item).unwrap_or_else(|error| {
        let error = error.to_compile_error();
        quote!(#item #error)
    })
}

fn derive(role: Role, root: &TokenStream, options: &TokenStream, item: &TokenStream) -> Result<TokenStream> {
    if !options.is_empty() {
        return Err(Error::new_spanned(
            options,
            "this attribute takes no options; use `#[serde(..)]` on the type",
        ));
    }
    let mut item: DeriveInput = syn::parse2(item.clone())?;
    if let Data::Union(data) = &item.data {
        return Err(Error::new(
            data.union_token.span,
            "a tool's types are structs and enums",
        ));
    }
    refuse_recursion(&item)?;
    let before = item.attrs.len();
    item.attrs.retain(|attribute| !is_role(attribute));
    let both = item.attrs.len() < before;

    let debug = (!derives(&item, "Debug")).then(|| quote!(::core::fmt::Debug,));
    let read = (both || role == Role::Args).then(|| quote!(#root::serde::Deserialize,));
    let write = (both || role == Role::Output).then(|| quote!(#root::serde::Serialize,));
    // Unknown fields are refused, so that the schema says `additionalProperties: false` and a model's slip is found.
    // Serde cannot combine that with `flatten`.
    let strict = (read.is_some() && !flattens(&item)).then(|| quote!(, deny_unknown_fields));
    // The crates are given as the text of a path.
    let path = |name: &str| root.to_string().replace(' ', "") + name;
    let (serde, schemars) = (path("::serde"), path("::schemars"));
    Ok(quote! {
        #[derive(#debug #read #write #root::schemars::JsonSchema)]
        #[serde(crate = #serde #strict)]
        #[schemars(crate = #schemars)]
        #item
    })
}

/// `#[args]` above `#[output]`, or the other way round.
fn is_role(attribute: &Attribute) -> bool {
    let last = attribute
        .path()
        .segments
        .last()
        .map(|segment| segment.ident.to_string());
    matches!(last.as_deref(), Some("args" | "output"))
}

fn derives(item: &DeriveInput, name: &str) -> bool {
    item.attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("derive") && mentions(attribute, name))
}

fn flattens(item: &DeriveInput) -> bool {
    let mut attributes = fields(item).into_iter().flat_map(|field| &field.attrs);
    attributes.any(|attribute| attribute.path().is_ident("serde") && mentions(attribute, "flatten"))
}

/// Refuses a type that holds itself: its schema has no end, and no host admits it. What holds itself through another type is
/// found when the component is built.
fn refuse_recursion(item: &DeriveInput) -> Result<()> {
    let name = item.ident.to_string();
    let found = fields(item)
        .into_iter()
        .find(|field| !has_other_schema(field) && names(field.ty.to_token_stream(), &name));
    found.map_or(Ok(()), |field| {
        Err(Error::new_spanned(
            &field.ty,
            format!(
                "`{name}` holds itself, so its schema has no end: write the levels that are needed as types of their own, \
                 a list whose items name their parent, or `serde_json::Value`"
            ),
        ))
    })
}

/// Whether the schema of a field is not that of its type.
fn has_other_schema(field: &Field) -> bool {
    let is_ours = |attribute: &&Attribute| attribute.path().is_ident("serde") || attribute.path().is_ident("schemars");
    let mut ours = field.attrs.iter().filter(is_ours);
    ours.any(|attribute| mentions(attribute, "skip") || mentions(attribute, "with"))
}

/// Whether the tokens of a type name the type `name` itself, and not one of that name in another module.
fn names(tokens: TokenStream, name: &str) -> bool {
    let mut after_colon = false;
    tokens.into_iter().any(|token| {
        let was_after = after_colon;
        after_colon = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ':');
        match token {
            TokenTree::Ident(ident) => !was_after && (ident == name || ident == "Self"),
            TokenTree::Group(group) => names(group.stream(), name),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        }
    })
}

/// The fields of a struct or of all variants of an enum.
fn fields(item: &DeriveInput) -> Vec<&Field> {
    match &item.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    }
}

fn mentions(attribute: &Attribute, word: &str) -> bool {
    let text = attribute.meta.to_token_stream().to_string();
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}
