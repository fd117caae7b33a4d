//! Finds out from the output schema of a tool what is known of the value that an output will have at a JSON pointer.

use art_core::JsonObject;
use serde_json::{Value, json};

use super::flow::{self, ANY_VALUE};
use super::reference::{escape_pointer_key, unescape_pointer_key};

/// What is known of the value at one position of an output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OutputValue<'s> {
    /// The schemas of the value: one for each `anyOf` or `oneOf` branch that declares the position, or a single one if there are
    /// no branches.
    schemas: Vec<&'s Value>,
    /// Whether an output may have no value at this position.
    pub(crate) may_be_absent: bool,
}

impl<'s> OutputValue<'s> {
    /// Returns what the output schema `schema` says of the value that the JSON pointer `path` points to.
    ///
    /// # Errors
    /// Fails with the beginning of `path`, up to and including the first part that the schema does not declare. If a schema has
    /// `properties`, other keys count as not declared, even if `additionalProperties` allows them.
    pub(crate) fn at<'p>(schema: &'s Value, path: &'p str) -> Result<Self, &'p str> {
        let mut value = Self {
            schemas: vec![schema],
            may_be_absent: false,
        };
        // Each `beginning` is a pointer that has one part more than the one before it.
        for (end, _) in path.match_indices('/').skip(1).chain([(path.len(), "")]) {
            let beginning = path.get(..end).unwrap_or(path);
            let Some((_, part)) = beginning.rsplit_once('/') else {
                break;
            };
            value = value.child(&unescape_pointer_key(part)).ok_or(beginning)?;
        }
        Ok(value)
    }

    /// Returns what is known of the value under `key` of this value, or `None` if no branch declares `key`.
    fn child(&self, key: &str) -> Option<Self> {
        let mut child = Self {
            schemas: Vec::new(),
            may_be_absent: self.may_be_absent,
        };
        for schema in self.schemas.iter().flat_map(|schema| alternatives(schema, key)) {
            match child_schema(schema, key) {
                Some((child_schema, is_always_there)) => {
                    child.schemas.push(child_schema);
                    child.may_be_absent |= !is_always_there;
                }
                None => child.may_be_absent = true,
            }
        }
        (!child.schemas.is_empty()).then_some(child)
    }

    /// Returns the schema of the value, for an output that has a value at this position.
    pub(crate) fn schema(self) -> Value {
        match self.schemas.as_slice() {
            [one] => (*one).clone(),
            several => json!({"anyOf": several}),
        }
    }
}

/// Returns the schemas that may describe the value under `key`: the `anyOf` or `oneOf` branches of a schema. If the schema has
/// no branches, or has `key` among its own properties beside them, returns the schema itself.
fn alternatives<'s>(schema: &'s Value, key: &str) -> Vec<&'s Value> {
    let own_property = schema.get("properties").and_then(|properties| properties.get(key));
    match branches(schema) {
        Some(branches) if own_property.is_none() => {
            branches.iter().flat_map(|branch| alternatives(branch, key)).collect()
        }
        _ => vec![schema],
    }
}

/// Returns a schema, its `anyOf` or `oneOf` branches, the branches of these branches, and so on.
fn with_branches(schema: &Value) -> Vec<&Value> {
    let branches = branches(schema).into_iter().flatten();
    std::iter::once(schema)
        .chain(branches.flat_map(with_branches))
        .collect()
}

fn branches(schema: &Value) -> Option<&Vec<Value>> {
    ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array())
}

/// Returns the schema of the value under `key`, which is the name of a property or a position in an array, and whether this value
/// is always there. Returns `None` if `schema` does not declare `key`.
fn child_schema<'s>(schema: &'s Value, key: &str) -> Option<(&'s Value, bool)> {
    let map = match schema {
        Value::Bool(true) => return Some((ANY_VALUE, false)),
        Value::Object(map) => map,
        _ => return None,
    };
    if allows_anything(map) {
        return Some((ANY_VALUE, false));
    }
    if let Some(property) = map.get("properties").and_then(|properties| properties.get(key)) {
        return Some((property, flow::requires_key(map, key)));
    }
    // A schema with `additionalProperties` and without `properties` is one of an object without fixed keys: any key counts as
    // declared.
    let other_values = map
        .get("additionalProperties")
        .filter(|values| **values != Value::Bool(false));
    if let Some(values) = other_values.filter(|_| !map.contains_key("properties")) {
        return Some((values, false));
    }
    let position = array_position(key)?;
    let item = declared_item(map, position)?;
    let min_items = map.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    Some((item, (position as u64) < min_items))
}

/// Returns the schema of the item at `position` of an array. Returns `None` if `schema` declares no items or allows none there.
fn declared_item(schema: &JsonObject, position: usize) -> Option<&Value> {
    let has_items = schema.contains_key("items") || schema.contains_key("prefixItems");
    let item = has_items.then(|| flow::item_schema(schema, position))?;
    (*item != Value::Bool(false)).then_some(item)
}

/// Returns the position in an array that a part of a JSON pointer names. Returns `None` if the part is not a number, or has a
/// sign or a leading zero.
fn array_position(key: &str) -> Option<usize> {
    let position: usize = key.parse().ok()?;
    (position.to_string() == key).then_some(position)
}

/// Returns whether a schema allows any value.
fn allows_anything(schema: &JsonObject) -> bool {
    schema.keys().all(|keyword| flow::is_annotation(keyword))
}

/// Returns the positions that a schema declares, as JSON pointers with their schemas: at most `limit`, the outermost first. Of
/// the items of an array, only the first one is listed.
pub(crate) fn declared_pointers(schema: &Value, limit: usize) -> Vec<(String, Value)> {
    let mut found = vec![(String::new(), schema.clone())];
    let add = |found: &mut Vec<(String, Value)>, path: String, schema: &Value| {
        if found.iter().all(|(other, _)| *other != path) {
            found.push((path, schema.clone()));
        }
    };
    let mut read_count = 0;
    while let Some((path, schema)) = found.get(read_count).cloned() {
        read_count += 1;
        for schema in with_branches(&schema) {
            let Some(map) = schema.as_object() else { continue };
            for key in flow::declared_keys(map) {
                let path = format!("{path}/{}", escape_pointer_key(key));
                add(&mut found, path, flow::property_schema(map, key));
            }
            if let Some(item) = declared_item(map, 0) {
                add(&mut found, format!("{path}/0"), item);
            }
        }
        if found.len() >= limit {
            found.truncate(limit);
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the schema of an output with rows, a title and a key that contains a slash.
    fn table_schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
                "title": {"type": "string"},
                "a/b": {"anyOf": [{"type": "object", "properties": {"c": {"type": "null"}}}, {"type": "string"}]},
            },
            "required": ["rows", "title"],
        })
    }

    #[test]
    fn a_declared_property_has_its_schema() {
        assert_eq!(
            OutputValue::at(&table_schema(), "/title").unwrap().schema(),
            json!({"type": "string"})
        );
        assert_eq!(OutputValue::at(&table_schema(), "").unwrap().schema(), table_schema());
    }

    #[test]
    fn an_item_of_an_array_that_may_be_empty_may_be_absent() {
        let table = table_schema();
        let output = OutputValue::at(&table, "/rows/0/n").unwrap();
        assert_eq!(
            (output.may_be_absent, output.schema()),
            (true, json!({"type": "integer"}))
        );
    }

    #[test]
    fn the_error_is_the_pointer_up_to_its_first_undeclared_part() {
        assert_eq!(
            OutputValue::at(&table_schema(), "/rows/0/gone/more").unwrap_err(),
            "/rows/0/gone"
        );
        assert_eq!(OutputValue::at(&table_schema(), "/title/x").unwrap_err(), "/title/x");
        for path in ["/rows/first", "/rows/-1", "/rows/+1", "/rows/01", "/rows/"] {
            assert_eq!(OutputValue::at(&table_schema(), path).unwrap_err(), path);
        }
    }

    #[test]
    fn a_property_of_only_one_branch_may_be_absent() {
        let table = table_schema();
        let output = OutputValue::at(&table, "/a~1b/c").unwrap();
        assert_eq!((output.may_be_absent, output.schema()), (true, json!({"type": "null"})));
    }

    #[test]
    fn a_property_that_is_declared_beside_branches_is_declared() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
            "required": ["b"],
            "anyOf": [{"required": ["a"]}, {"properties": {"c": {"type": "null"}}}],
        });
        for (path, may_be_absent, expected) in [("/a", true, "integer"), ("/b", false, "string"), ("/c", true, "null")]
        {
            let output = OutputValue::at(&schema, path).unwrap();
            assert_eq!(
                (output.may_be_absent, output.schema()),
                (may_be_absent, json!({"type": expected})),
                "{path}"
            );
        }
        let pointers: Vec<_> = declared_pointers(&schema, 9)
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        assert_eq!(pointers, ["", "/a", "/b", "/c"]);
    }

    #[test]
    fn an_output_without_constraints_may_have_any_value_at_any_position() {
        let schema = json!({"description": "any"});
        let output = OutputValue::at(&schema, "/x/0").unwrap();
        assert_eq!((output.may_be_absent, output.schema()), (true, json!(true)));
    }

    #[test]
    fn every_key_of_an_object_without_fixed_keys_is_declared_but_may_be_absent() {
        for values in [json!(true), json!({"type": "number"})] {
            let map = json!({"type": "object", "additionalProperties": values});
            let output = OutputValue::at(&map, "/region").unwrap();
            assert_eq!((output.may_be_absent, output.schema()), (true, values));
        }
    }

    #[test]
    fn a_key_counts_as_declared_by_additional_properties_only_if_no_properties_are_listed() {
        for schema in [
            // Without `additionalProperties`, no key is declared.
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": true}, "additionalProperties": true}),
        ] {
            assert_eq!(OutputValue::at(&schema, "/region").unwrap_err(), "/region");
        }
    }

    #[test]
    fn declared_pointers_come_outermost_first() {
        let found = declared_pointers(&table_schema(), 100);
        let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        let depths: Vec<usize> = paths.iter().map(|path| path.matches('/').count()).collect();
        assert_eq!(depths, [0, 1, 1, 1, 2, 2, 3]);
        assert!(["/a~1b", "/rows/0/n"].iter().all(|path| paths.contains(path)));
    }

    #[test]
    fn the_first_position_of_an_array_has_the_schema_of_its_first_item() {
        let items = json!({"type": "integer"});
        // The pointer at index 0 is that of the array itself.
        let first_item = |array: Value| declared_pointers(&array, 100).into_iter().nth(1);
        let text = json!({"type": "string"});
        for array in [
            json!({"prefixItems": [text], "items": items}),
            json!({"prefixItems": [text]}),
        ] {
            assert_eq!(first_item(array), Some(("/0".to_owned(), text.clone())));
        }
        assert_eq!(first_item(json!({"items": items})), Some(("/0".to_owned(), items)));
        assert_eq!(first_item(json!({"type": "array", "items": false})), None);
    }
}
