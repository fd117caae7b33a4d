//! Keywords of JSON Schema: which hold other schemas, which assert something, and which are refused.

/// How a keyword holds its schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    One,
    List,
    Map,
}

/// What nested schemas are applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applies {
    /// The value itself.
    Here,
    /// A part of the value, or the name of one.
    Part,
    /// A part of the value, which `unevaluated*` beside or around it tries again to find out whether it was evaluated.
    Again,
    /// Not used until a reference names it.
    Nowhere,
}

/// Returns the keywords of 2020-12 that hold schemas, with the older names that validators and authors still know.
pub(super) fn holder(keyword: &str) -> Option<(Holder, Applies)> {
    Some(match keyword {
        "not" | "if" | "then" | "else" => (Holder::One, Applies::Here),
        "allOf" | "anyOf" | "oneOf" => (Holder::List, Applies::Here),
        "dependentSchemas" | "dependencies" => (Holder::Map, Applies::Here),
        "properties" | "patternProperties" => (Holder::Map, Applies::Part),
        "additionalProperties" | "propertyNames" | "items" => (Holder::One, Applies::Part),
        "prefixItems" => (Holder::List, Applies::Part),
        "contains" | "unevaluatedProperties" | "unevaluatedItems" => (Holder::One, Applies::Again),
        "$defs" | "definitions" => (Holder::Map, Applies::Nowhere),
        "contentSchema" | "additionalItems" => (Holder::One, Applies::Nowhere),
        _ => return None,
    })
}

/// Returns whether a keyword can make a value invalid. All others are annotations, such as titles, defaults and unknown
/// keywords.
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

/// Returns how many tries of a plain schema the keyword costs for each value, beside those of the schemas that it holds.
pub(super) fn price(keyword: &str) -> u64 {
    match keyword {
        // Numbers are written and read as decimals.
        "multipleOf" => 60,
        // Every value below is hashed, objects in the order of their names.
        "uniqueItems" => 20,
        // Every name becomes a value of its own.
        "propertyNames" => 5,
        _ => 0,
    }
}

/// Returns whether a keyword looks back at what the schemas beside it have evaluated.
pub(super) fn looks_back(keyword: &str) -> bool {
    matches!(keyword, "unevaluatedProperties" | "unevaluatedItems")
}

/// Returns whether the schemas of a keyword are tried twice on an invalid value: to find out, and to explain.
pub(super) fn chooses(keyword: &str) -> bool {
    looks_back(keyword) || matches!(keyword, "anyOf" | "oneOf" | "not" | "if" | "contains" | "propertyNames")
}

/// Keywords that make a reference mean something else than the place it names, or that load other vocabularies.
pub(super) fn is_refused(keyword: &str) -> bool {
    matches!(
        keyword,
        "$dynamicRef" | "$dynamicAnchor" | "$recursiveRef" | "$recursiveAnchor" | "$anchor" | "$vocabulary"
    )
}
