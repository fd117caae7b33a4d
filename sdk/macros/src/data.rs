//! `#[args]` and `#[output]`: add the derives that the types of a tool need. The derives are named by paths into the crate that
//! exports the attribute (`art_sdk` or `art_runtime`), so that a tool depends on that crate alone.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Error, Field, Meta, Result};

use crate::options;

/// Whether the type is read from arguments or written as output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Args,
    Output,
}

/// The options of `#[args(..)]`.
#[derive(Default)]
struct ArgsOptions {
    /// Whether fields that the type does not have are ignored. By default they are refused.
    ignore_unknown: bool,
}

/// Expands to the type with its derives, which are named by paths into the crate `root`.
pub(crate) fn expand(role: Role, root: &TokenStream, options: &TokenStream, item: &TokenStream) -> TokenStream {
    // Always emit the type itself, so that a mistake here does not cause one more error at each use of the type.
    derive(role, root, options, item).unwrap_or_else(|error| {
        let error = error.to_compile_error();
        quote!(#item #error)
    })
}

fn derive(role: Role, root: &TokenStream, options: &TokenStream, item: &TokenStream) -> Result<TokenStream> {
    let mut item: DeriveInput = syn::parse2(item.clone())?;
    if let Data::Union(data) = &item.data {
        return Err(Error::new(
            data.union_token.span,
            "a tool's types are structs and enums",
        ));
    }
    refuse_recursion(&item)?;
    // `attrs` no longer contains the attribute that is being expanded, so a role attribute in it is that of the other role.
    // Remove it, because this expansion adds the derives for both roles.
    let role_attributes: Vec<Attribute> = item
        .attrs
        .extract_if(.., |attribute| role_of(attribute).is_some())
        .collect();
    let has_both_roles = !role_attributes.is_empty();
    let given = std::iter::once(parse_options(role, options)).chain(role_attributes.iter().map(options_of));
    let (args_options, option_error) = merge_options(given);

    let debug = (!has_derive(&item, "Debug")).then(|| quote!(::core::fmt::Debug,));
    let deserialize = (has_both_roles || role == Role::Args).then(|| quote!(#root::serde::Deserialize,));
    let serialize = (has_both_roles || role == Role::Output).then(|| quote!(#root::serde::Serialize,));
    // Refuse unknown fields: the schema then says `additionalProperties: false`, and an argument that the model
    // misspells is an error. Serde cannot combine this with `flatten`.
    let refuses_unknown = deserialize.is_some() && !args_options.ignore_unknown && !has_flattened_field(&item);
    let deny_unknown = refuses_unknown.then(|| quote!(, deny_unknown_fields));
    // Serde and schemars take the path of their crate as a string.
    let path = |name: &str| root.to_string().replace(' ', "") + name;
    let (serde, schemars) = (path("::serde"), path("::schemars"));
    Ok(quote! {
        #[derive(#debug #deserialize #serialize #root::schemars::JsonSchema)]
        #[serde(crate = #serde #deny_unknown)]
        #[schemars(crate = #schemars)]
        #item
        #option_error
    })
}

/// Returns the role of the attribute if it is `#[args]` or `#[output]`. A type may have both.
fn role_of(attribute: &Attribute) -> Option<Role> {
    let last = attribute.path().segments.last()?;
    match last.ident.to_string().as_str() {
        "args" => Some(Role::Args),
        "output" => Some(Role::Output),
        _ => None,
    }
}

/// Returns the options of a role attribute, such as `#[args(ignore_unknown)]`.
fn options_of(attribute: &Attribute) -> Result<ArgsOptions> {
    match (&attribute.meta, role_of(attribute)) {
        (Meta::List(list), Some(role)) => parse_options(role, &list.tokens),
        _ => Ok(ArgsOptions::default()),
    }
}

/// Merges the options of all role attributes of a type. A mistake in one of them becomes a compile error beside the type, which
/// still gets its derives, so that the mistake does not cause one more error at each use of the type.
fn merge_options(given: impl Iterator<Item = Result<ArgsOptions>>) -> (ArgsOptions, Option<TokenStream>) {
    let (mut merged, mut option_error) = (ArgsOptions::default(), None);
    for options in given {
        match options {
            Ok(options) => merged.ignore_unknown |= options.ignore_unknown,
            Err(error) => option_error = Some(error.to_compile_error()),
        }
    }
    (merged, option_error)
}

/// Parses the options of `#[args(..)]`. `#[output]` has none.
fn parse_options(role: Role, tokens: &TokenStream) -> Result<ArgsOptions> {
    if role == Role::Output && !tokens.is_empty() {
        return Err(Error::new_spanned(
            tokens,
            "this attribute takes no options; use `#[serde(..)]` on the type",
        ));
    }
    let mut parsed = ArgsOptions::default();
    let mut seen_keys = Vec::new();
    for meta in options::parse_list(tokens.clone())? {
        let key = options::option_name(meta.path());
        options::check_not_repeated(&mut seen_keys, &key, meta.path())?;
        match (key.as_str(), &meta) {
            ("ignore_unknown", Meta::Path(_)) => parsed.ignore_unknown = true,
            ("ignore_unknown", _) => {
                return Err(Error::new_spanned(&meta, "`ignore_unknown` takes no value"));
            }
            _ => {
                let expected = "expected `ignore_unknown`, or `#[serde(..)]` on the type";
                return Err(options::unknown_option_error(meta.path(), expected));
            }
        }
    }
    Ok(parsed)
}

fn has_derive(item: &DeriveInput, name: &str) -> bool {
    item.attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("derive") && mentions(attribute, name))
}

fn has_flattened_field(item: &DeriveInput) -> bool {
    let mut attributes = fields(item).into_iter().flat_map(|field| &field.attrs);
    attributes.any(|attribute| attribute.path().is_ident("serde") && mentions(attribute, "flatten"))
}

/// Refuses a type that directly contains itself, because its schema would be infinite. Recursion through another type
/// is found when the component is built.
fn refuse_recursion(item: &DeriveInput) -> Result<()> {
    let name = item.ident.to_string();
    for field in fields(item) {
        if !overrides_schema(field) && contains_name(field.ty.to_token_stream(), &name) {
            let text = format!(
                "`{name}` contains itself, so its schema would be infinite: define one type for each level, use a list \
                 whose items name their parent, or use `serde_json::Value`"
            );
            return Err(Error::new_spanned(&field.ty, text));
        }
    }
    Ok(())
}

/// Returns whether attributes of a field replace the schema of its type.
fn overrides_schema(field: &Field) -> bool {
    let is_serde_or_schemars =
        |attribute: &&Attribute| attribute.path().is_ident("serde") || attribute.path().is_ident("schemars");
    let mut attributes = field.attrs.iter().filter(is_serde_or_schemars);
    attributes.any(|attribute| {
        ["skip", "with", "schema_with"]
            .iter()
            .any(|word| mentions(attribute, word))
    })
}

/// Returns whether a type contains the identifier `name` or `Self`. A path such as `other::Name` does not count.
fn contains_name(tokens: TokenStream, name: &str) -> bool {
    let mut previous_is_colon = false;
    tokens.into_iter().any(|token| {
        let follows_colon = previous_is_colon;
        previous_is_colon = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ':');
        match token {
            TokenTree::Ident(ident) => !follows_colon && (ident == name || ident == "Self"),
            TokenTree::Group(group) => contains_name(group.stream(), name),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        }
    })
}

/// Returns the fields of a struct or of all variants of an enum.
fn fields(item: &DeriveInput) -> Vec<&Field> {
    match &item.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    }
}

/// Returns whether `word` occurs in the attribute as a whole word.
fn mentions(attribute: &Attribute, word: &str) -> bool {
    let text = attribute.meta.to_token_stream().to_string();
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}
