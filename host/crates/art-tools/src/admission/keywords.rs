//! Keywords of JSON Schema: those that contain schemas, those that assert something, and those that are refused.

/// The form in which a keyword contains schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// One schema.
    One,
    /// An array of schemas.
    List,
    /// An object whose values are schemas.
    Map,
}

/// The value to which the schemas in a keyword are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applies {
    /// The same value as the schema that has the keyword.
    Here,
    /// A part of that value, or the name of a property.
    Part,
    /// A part of that value. An `unevaluated*` in the same schema, or in one that contains it, tries the schemas again
    /// to find out which parts they evaluated.
    Again,
    /// None. The schemas are used only as targets of references.
    Nowhere,
}

/// Returns how a keyword contains schemas and to which value they are applied, or `None` for a keyword without schemas.
/// Knows the keywords of 2020-12 and the older names that validators and authors still use.
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

/// Returns whether a keyword can make a value invalid. All other keywords, such as titles, defaults and unknown
/// keywords, are annotations.
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

/// Returns the cost of a keyword for each value, in tries of an empty schema. Does not include the schemas in the
/// keyword.
pub(super) fn price(keyword: &str) -> u64 {
    match keyword {
        // Numbers are formatted as text and parsed as decimals.
        "multipleOf" => 60,
        // Every nested value is hashed, and the members of every object are sorted by name.
        "uniqueItems" => 20,
        // Every name of a property is converted to a JSON value.
        "propertyNames" => 5,
        _ => 0,
    }
}

/// Returns whether the result of a keyword depends on which parts of the value the other keywords of its schema
/// evaluated.
pub(super) fn looks_back(keyword: &str) -> bool {
    matches!(keyword, "unevaluatedProperties" | "unevaluatedItems")
}

/// Returns whether the schemas in a keyword are tried twice on an invalid value: once to find the violation and once to
/// explain it.
pub(super) fn chooses(keyword: &str) -> bool {
    looks_back(keyword) || matches!(keyword, "anyOf" | "oneOf" | "not" | "if" | "contains" | "propertyNames")
}

/// Returns whether a keyword changes the target of references or loads another vocabulary. Such keywords are refused.
pub(super) fn is_refused(keyword: &str) -> bool {
    matches!(
        keyword,
        "$dynamicRef" | "$dynamicAnchor" | "$recursiveRef" | "$recursiveAnchor" | "$anchor" | "$vocabulary"
    )
}
