//! Keywords of JSON Schema: which of them contain schemas, which assert something, what they cost, and which are refused.

/// The form in which the value of a keyword contains subschemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeywordValue {
    /// One schema.
    Schema,
    /// An array of schemas.
    List,
    /// An object whose values are schemas.
    Map,
}

/// The value to which the subschemas of a keyword are applied, when a schema with the keyword is applied to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AppliesTo {
    /// The same value.
    SameValue,
    /// A part of the value, or the name of a property.
    Part,
    /// A part of the value. The keyword `unevaluatedProperties` or `unevaluatedItems` of the same schema, or of an enclosing one,
    /// applies the subschemas again to find out which parts they evaluated.
    PartRepeatedly,
    /// No value. The subschemas are used only as targets of references.
    Nothing,
}

/// Returns how the value of a keyword contains subschemas and to which value they are applied, or `None` for a keyword without
/// subschemas. Knows the keywords of JSON Schema 2020-12 and the older keywords that validators and authors still use.
pub(super) fn subschemas(keyword: &str) -> Option<(KeywordValue, AppliesTo)> {
    Some(match keyword {
        "not" | "if" | "then" | "else" => (KeywordValue::Schema, AppliesTo::SameValue),
        "allOf" | "anyOf" | "oneOf" => (KeywordValue::List, AppliesTo::SameValue),
        "dependentSchemas" | "dependencies" => (KeywordValue::Map, AppliesTo::SameValue),
        "properties" | "patternProperties" => (KeywordValue::Map, AppliesTo::Part),
        "additionalProperties" | "propertyNames" | "items" => (KeywordValue::Schema, AppliesTo::Part),
        "prefixItems" => (KeywordValue::List, AppliesTo::Part),
        "contains" | "unevaluatedProperties" | "unevaluatedItems" => (KeywordValue::Schema, AppliesTo::PartRepeatedly),
        "$defs" | "definitions" => (KeywordValue::Map, AppliesTo::Nothing),
        "contentSchema" | "additionalItems" => (KeywordValue::Schema, AppliesTo::Nothing),
        _ => return None,
    })
}

/// Returns whether a keyword can make a value invalid. All other keywords, such as titles, defaults and unknown
/// keywords, are annotations.
pub(super) fn is_assertion(keyword: &str) -> bool {
    if let Some((_, applies_to)) = subschemas(keyword) {
        return applies_to != AppliesTo::Nothing;
    }
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

/// Returns the work that an expensive keyword takes for each value in addition to the work of its subschemas, and 0 for all other
/// keywords. One unit is the work of applying an empty schema to one value.
pub(super) fn extra_work(keyword: &str) -> u64 {
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

/// Returns whether a keyword is one of the two `unevaluated*` keywords. Their result depends on which parts of the value the
/// other keywords of the schema evaluated.
pub(super) fn is_unevaluated(keyword: &str) -> bool {
    matches!(keyword, "unevaluatedProperties" | "unevaluatedItems")
}

/// Returns whether the subschemas of a keyword are applied twice to an invalid value: once to find the violation, and again to
/// explain it.
pub(super) fn is_applied_again_to_explain(keyword: &str) -> bool {
    is_unevaluated(keyword) || matches!(keyword, "anyOf" | "oneOf" | "not" | "if" | "contains" | "propertyNames")
}

/// Returns whether a keyword changes the target of references or loads another vocabulary. Such keywords are refused.
pub(super) fn is_refused(keyword: &str) -> bool {
    matches!(
        keyword,
        "$dynamicRef" | "$dynamicAnchor" | "$recursiveRef" | "$recursiveAnchor" | "$anchor" | "$vocabulary"
    )
}
