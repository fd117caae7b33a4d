//! Where a schema holds other schemas, and which keywords no schema may use.

/// How a keyword holds its schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    One,
    List,
    Map,
}

/// Which value the held schemas are applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applies {
    /// The value itself.
    Here,
    /// The property of the same name.
    Property,
    /// Any property.
    AnyProperty,
    /// The item of the same position.
    Item,
    /// Any item.
    AnyItem,
    /// Nothing, until a reference names it.
    Nowhere,
}

/// The keywords of 2020-12 that hold schemas, with the older names that validators and authors still know.
pub(super) fn holder(keyword: &str) -> Option<(Holder, Applies)> {
    Some(match keyword {
        "not" | "if" | "then" | "else" => (Holder::One, Applies::Here),
        "allOf" | "anyOf" | "oneOf" => (Holder::List, Applies::Here),
        "dependentSchemas" | "dependencies" => (Holder::Map, Applies::Here),
        "properties" => (Holder::Map, Applies::Property),
        "patternProperties" => (Holder::Map, Applies::AnyProperty),
        "additionalProperties" | "unevaluatedProperties" | "propertyNames" => (Holder::One, Applies::AnyProperty),
        "prefixItems" => (Holder::List, Applies::Item),
        "items" | "contains" | "unevaluatedItems" => (Holder::One, Applies::AnyItem),
        "$defs" | "definitions" => (Holder::Map, Applies::Nowhere),
        "contentSchema" | "additionalItems" => (Holder::One, Applies::Nowhere),
        _ => return None,
    })
}

/// Keywords that make a reference mean something else than the place it names, or that load other vocabularies.
pub(super) fn is_refused(keyword: &str) -> bool {
    matches!(
        keyword,
        "$dynamicRef" | "$dynamicAnchor" | "$recursiveRef" | "$recursiveAnchor" | "$anchor" | "$vocabulary"
    )
}
