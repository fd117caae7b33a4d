//! `#[args]` and `#[output]`: add the derives that the types of a tool need. The derives are named by paths into the crate that
//! exports the attribute (`art_sdk` or `art_runtime`), so that a tool depends on that crate alone.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Error, Field, Result};

/// Whether the type is read from arguments or written as output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Args,
    Output,
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
    // `attrs` no longer contains the attribute that is being expanded, so a role attribute in it is that of the other role.
    // Remove it, because this expansion adds the derives for both roles.
    let attribute_count = item.attrs.len();
    item.attrs.retain(|attribute| !is_role_attribute(attribute));
    let has_both_roles = item.attrs.len() < attribute_count;

    let debug = (!has_derive(&item, "Debug")).then(|| quote!(::core::fmt::Debug,));
    let deserialize = (has_both_roles || role == Role::Args).then(|| quote!(#root::serde::Deserialize,));
    let serialize = (has_both_roles || role == Role::Output).then(|| quote!(#root::serde::Serialize,));
    // Refuse unknown fields: the schema then says `additionalProperties: false`, and an argument that the model
    // misspells is an error. Serde cannot combine this with `flatten`.
    let deny_unknown = (deserialize.is_some() && !has_flattened_field(&item)).then(|| quote!(, deny_unknown_fields));
    // Serde and schemars take the path of their crate as a string.
    let path = |name: &str| root.to_string().replace(' ', "") + name;
    let (serde, schemars) = (path("::serde"), path("::schemars"));
    Ok(quote! {
        #[derive(#debug #deserialize #serialize #root::schemars::JsonSchema)]
        #[serde(crate = #serde #deny_unknown)]
        #[schemars(crate = #schemars)]
        #item
    })
}

/// Returns whether the attribute is `#[args]` or `#[output]`. A type may have both, one for each role.
fn is_role_attribute(attribute: &Attribute) -> bool {
    let last = attribute
        .path()
        .segments
        .last()
        .map(|segment| segment.ident.to_string());
    matches!(last.as_deref(), Some("args" | "output"))
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
