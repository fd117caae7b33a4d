//! Finds what the schema of an output says about the value at a position in it.

use art_core::JsonObject;
use serde_json::{Value, json};

use super::flow::{self, ANY};
use super::reference::{escape, unescape};

/// The values at one position of an output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output<'s> {
    /// The schemas that a value may have: one for each `anyOf` or `oneOf` branch in which the position exists, or just one.
    schemas: Vec<&'s Value>,
    /// Whether an output may have nothing there.
    pub(crate) may_be_absent: bool,
}

impl<'s> Output<'s> {
    /// Returns what `schema` says of the value that the JSON pointer `path` points to.
    ///
    /// # Errors
    /// Fails with `path` up to and including the first part that is not declared. With `properties`, other keys count as not
    /// declared even if `additionalProperties` allows them.
    pub(crate) fn at<'p>(schema: &'s Value, path: &'p str) -> Result<Self, &'p str> {
        let mut output = Self {
            schemas: vec![schema],
            may_be_absent: false,
        };
        for (end, _) in path.match_indices('/').skip(1).chain([(path.len(), "")]) {
            let walked = path.get(..end).unwrap_or(path);
            let Some((_, part)) = walked.rsplit_once('/') else {
                break;
            };
            output = output.step_into(&unescape(part)).ok_or(walked)?;
        }
        Ok(output)
    }

    fn step_into(&self, key: &str) -> Option<Self> {
        let mut next = Self {
            schemas: Vec::new(),
            may_be_absent: self.may_be_absent,
        };
        for schema in self.schemas.iter().flat_map(|schema| branches(schema)) {
            match child(schema, key) {
                Some((child, is_there)) => {
                    next.schemas.push(child);
                    next.may_be_absent |= !is_there;
                }
                None => next.may_be_absent = true,
            }
        }
        (!next.schemas.is_empty()).then_some(next)
    }

    /// Returns the schema that the value has when it is present.
    pub(crate) fn schema(self) -> Value {
        match self.schemas.as_slice() {
            [one] => (*one).clone(),
            several => json!({"anyOf": several}),
        }
    }
}

/// Returns the branches of a schema, or the schema itself.
fn branches(schema: &Value) -> Vec<&Value> {
    let all = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    match all {
        Some(all) => all.iter().flat_map(branches).collect(),
        None => vec![schema],
    }
}

/// Returns the schema under `key` and whether `key` is always present, or `None` if `schema` does not declare `key`.
fn child<'s>(schema: &'s Value, key: &str) -> Option<(&'s Value, bool)> {
    let map = match schema {
        Value::Bool(true) => return Some((ANY, false)),
        Value::Object(map) => map,
        _ => return None,
    };
    if allows_anything(map) {
        return Some((ANY, false));
    }
    if let Some(property) = map.get("properties").and_then(|properties| properties.get(key)) {
        return Some((property, flow::requires(map, key)));
    }
    // An object without fixed keys: any key counts as declared.
    let values = map
        .get("additionalProperties")
        .filter(|values| **values != Value::Bool(false));
    if let Some(values) = values.filter(|_| !map.contains_key("properties")) {
        return Some((values, false));
    }
    let position = index(key)?;
    let has_items = map.contains_key("items") || map.contains_key("prefixItems");
    let item = has_items.then(|| flow::item(map, position))?;
    let fewest = map.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    (*item != Value::Bool(false)).then_some((item, (position as u64) < fewest))
}

/// Returns the position that a part of a JSON pointer names, or `None` if the part is not a number without sign and leading zero.
fn index(key: &str) -> Option<usize> {
    let position: usize = key.parse().ok()?;
    (position.to_string() == key).then_some(position)
}

/// Returns whether a schema allows any value.
fn allows_anything(schema: &JsonObject) -> bool {
    schema.keys().all(|keyword| flow::is_annotation(keyword))
}

/// Returns at most `limit` positions that a schema declares, each with its schema, the outermost first.
pub(crate) fn declared_pointers(schema: &Value, limit: usize) -> Vec<(String, Value)> {
    let mut found = vec![(String::new(), schema.clone())];
    let mut next = 0;
    while let Some((path, schema)) = found.get(next).cloned() {
        next += 1;
        for schema in branches(&schema) {
            let Some(map) = schema.as_object() else { continue };
            for key in flow::declared_keys(map) {
                found.push((format!("{path}/{}", escape(key)), flow::property(map, key).clone()));
            }
            if let Some(item) = map.get("items") {
                found.push((format!("{path}/0"), item.clone()));
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

    fn table() -> Value {
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
            Output::at(&table(), "/title").unwrap().schema(),
            json!({"type": "string"})
        );
        assert_eq!(Output::at(&table(), "").unwrap().schema(), table());
    }

    #[test]
    fn an_item_that_a_list_may_lack_may_be_absent() {
        let table = table();
        let output = Output::at(&table, "/rows/0/n").unwrap();
        assert_eq!(
            (output.may_be_absent, output.schema()),
            (true, json!({"type": "integer"}))
        );
    }

    #[test]
    fn the_error_is_the_path_up_to_the_first_undeclared_part() {
        assert_eq!(Output::at(&table(), "/rows/0/gone/more").unwrap_err(), "/rows/0/gone");
        assert_eq!(Output::at(&table(), "/title/x").unwrap_err(), "/title/x");
        for path in ["/rows/first", "/rows/-1", "/rows/+1", "/rows/01", "/rows/"] {
            assert_eq!(Output::at(&table(), path).unwrap_err(), path);
        }
    }

    #[test]
    fn a_property_of_only_one_branch_may_be_absent() {
        let table = table();
        let output = Output::at(&table, "/a~1b/c").unwrap();
        assert_eq!((output.may_be_absent, output.schema()), (true, json!({"type": "null"})));
    }

    #[test]
    fn an_unconstrained_output_may_have_any_value_at_any_pointer() {
        let schema = json!({"description": "any"});
        let output = Output::at(&schema, "/x/0").unwrap();
        assert_eq!((output.may_be_absent, output.schema()), (true, json!(true)));
    }

    #[test]
    fn every_key_of_a_map_is_declared_but_may_be_absent() {
        for values in [json!(true), json!({"type": "number"})] {
            let map = json!({"type": "object", "additionalProperties": values});
            let output = Output::at(&map, "/region").unwrap();
            assert_eq!((output.may_be_absent, output.schema()), (true, values));
        }
    }

    #[test]
    fn an_undeclared_key_is_an_error_unless_the_object_is_a_map() {
        for schema in [
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": true}, "additionalProperties": true}),
        ] {
            assert_eq!(Output::at(&schema, "/region").unwrap_err(), "/region");
        }
    }

    #[test]
    fn declared_pointers_come_outermost_first() {
        let found = declared_pointers(&table(), 100);
        let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        let depths: Vec<usize> = paths.iter().map(|path| path.matches('/').count()).collect();
        assert_eq!(depths, [0, 1, 1, 1, 2, 2, 3]);
        assert!(["/a~1b", "/rows/0/n"].iter().all(|path| paths.contains(path)));
    }
}
