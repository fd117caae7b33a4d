//! Where a schema holds other schemas, which keywords say something of a value, and which no schema may use.

/// How a keyword holds its schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    One,
    List,
    Map,
}

/// What the held schemas are applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applies {
    /// The value itself.
    Here,
    /// A part of the value, or the name of one.
    Part,
    /// What is left of the parts by the schemas in place, which are tried again to find that out.
    Left,
    /// Nothing, until a reference names it.
    Nowhere,
}

/// The keywords of 2020-12 that hold schemas, with the older names that validators and authors still know.
pub(super) fn holder(keyword: &str) -> Option<(Holder, Applies)> {
    Some(match keyword {
        "not" | "if" | "then" | "else" => (Holder::One, Applies::Here),
        "allOf" | "anyOf" | "oneOf" => (Holder::List, Applies::Here),
        "dependentSchemas" | "dependencies" => (Holder::Map, Applies::Here),
        "properties" | "patternProperties" => (Holder::Map, Applies::Part),
        "additionalProperties" | "propertyNames" | "items" | "contains" => (Holder::One, Applies::Part),
        "prefixItems" => (Holder::List, Applies::Part),
        "unevaluatedProperties" | "unevaluatedItems" => (Holder::One, Applies::Left),
        "$defs" | "definitions" => (Holder::Map, Applies::Nowhere),
        "contentSchema" | "additionalItems" => (Holder::One, Applies::Nowhere),
        _ => return None,
    })
}

/// Whether a keyword can make a value invalid. All others describe: titles, defaults, what nobody knows.
pub(super) fn asserts(keyword: &str) -> bool {
    let holds = holder(keyword).is_some_and(|(_, applies)| applies != Applies::Nowhere);
    holds || is_assertion(keyword)
}

fn is_assertion(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "enum"
            | "const"
            | "multipleOf"
            | "maximum"
            | "exclusiveMaximum"
            | "minimum"
            | "exclusiveMinimum"
            | "maxLength"
            | "minLength"
            | "pattern"
            | "maxItems"
            | "minItems"
            | "uniqueItems"
            | "maxContains"
            | "minContains"
            | "maxProperties"
            | "minProperties"
            | "required"
            | "dependentRequired"
    )
}

/// Keywords whose schemas are tried twice where a value breaks them: to see that it does, and to say why.
pub(super) fn chooses(keyword: &str) -> bool {
    matches!(
        keyword,
        "anyOf" | "oneOf" | "not" | "if" | "contains" | "propertyNames" | "unevaluatedProperties" | "unevaluatedItems"
    )
}

/// Keywords that make a reference mean something else than the place it names, or that load other vocabularies.
pub(super) fn is_refused(keyword: &str) -> bool {
    matches!(
        keyword,
        "$dynamicRef" | "$dynamicAnchor" | "$recursiveRef" | "$recursiveAnchor" | "$anchor" | "$vocabulary"
    )
}
