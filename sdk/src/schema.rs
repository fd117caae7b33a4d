//! Generates JSON Schemas in the form that the host requires: self-contained, without details that do not help a model, and, for
//! arguments, with the type `object` at the root.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Map, Value};

/// Returns the schema of a tool's arguments.
pub(crate) fn input_schema<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(Contract::Deserialize);
    if let Value::Object(root) = &mut schema {
        // An enum of objects has `oneOf` at its root and no type. The arguments of a call are always an object.
        root.entry("type").or_insert_with(|| "object".into());
    }
    schema
}

/// Returns the schema of a tool's output; `None` if any JSON is valid.
pub(crate) fn output_schema<T: JsonSchema>() -> Option<Value> {
    let schema = generate::<T>(Contract::Serialize);
    match &schema {
        Value::Bool(_) => None,
        Value::Object(root) if root.is_empty() => None,
        _ => Some(schema),
    }
}

/// Generates the schema of `T`. `contract` is whether `T` is read from JSON or written as JSON.
fn generate<T: JsonSchema>(contract: Contract) -> Value {
    let mut settings = SchemaSettings::draft2020_12().with_transform(DropNumberFormats);
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    settings.contract = contract;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The generator uses the name of the Rust type as the title, unless the type has a title of its own.
    if schema.get("title").and_then(Value::as_str) == Some(&T::schema_name()) {
        schema.remove("title");
    }
    match schema.to_value() {
        Value::Bool(true) => Value::Object(Map::new()),
        other => other,
    }
}

/// Removes each `format` that names a type of number, such as `int64` or `double`, which is not a format of JSON Schema.
/// `minimum` and `maximum` stay.
#[derive(Clone, Debug)]
struct DropNumberFormats;

const NUMBER_FORMATS: [&str; 14] = [
    "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64", "uint128", "uint",
    "float", "double",
];

impl Transform for DropNumberFormats {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        if schema
            .get("format")
            .and_then(Value::as_str)
            .is_some_and(|format| NUMBER_FORMATS.contains(&format))
        {
            schema.remove("format");
        }
        transform_subschemas(self, schema);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{args, output};
    use serde_json::json;

    #[args]
    #[expect(dead_code, reason = "only the schema is read")]
    struct Point {
        /// Steps to the right.
        x: i64,
        y: u32,
        #[serde(default)]
        label: Option<String>,
    }

    #[args]
    #[expect(dead_code, reason = "only the schema is read")]
    struct Path {
        points: Vec<Point>,
        #[serde(default = "default_width")]
        width: u8,
    }

    fn default_width() -> u8 {
        2
    }

    #[test]
    fn schemas_are_inlined_without_number_formats() {
        assert_eq!(
            input_schema::<Path>(),
            json!({
                "type": "object",
                "properties": {
                    "points": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "x": {"description": "Steps to the right.", "type": "integer"},
                                "y": {"type": "integer", "minimum": 0},
                                "label": {"type": ["string", "null"], "default": null},
                            },
                            "additionalProperties": false,
                            "required": ["x", "y"],
                        },
                    },
                    "width": {"type": "integer", "minimum": 0, "maximum": 255, "default": 2},
                },
                "additionalProperties": false,
                "required": ["points"],
            })
        );
    }

    #[test]
    fn properties_keep_their_order() {
        let text = input_schema::<Point>().to_string();
        let position = |name: &str| text.find(name).unwrap();
        assert!(
            position("\"x\"") < position("\"y\"") && position("\"y\"") < position("\"label\""),
            "{text}"
        );
    }

    #[test]
    fn the_schema_of_an_enum_of_objects_has_the_type_object() {
        #[args]
        #[serde(tag = "shape", rename_all = "snake_case")]
        #[expect(dead_code, reason = "only the schema is read")]
        enum Shape {
            Circle { radius: f64 },
            Square { side: f64 },
        }
        let schema = input_schema::<Shape>();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["oneOf"][0]["properties"]["shape"]["const"], "circle");
    }

    #[test]
    fn the_schema_of_mutually_recursive_types_contains_a_ref() {
        #[args]
        #[expect(dead_code, reason = "only the schema is read")]
        struct Tree {
            branches: Vec<Branch>,
        }
        #[args]
        #[expect(dead_code, reason = "only the schema is read")]
        struct Branch {
            tree: Tree,
        }
        let schema = input_schema::<Tree>();
        assert!(schema.to_string().contains(r##""$ref":"#"##), "{schema}");
    }

    #[test]
    fn an_output_of_any_json_has_no_schema() {
        assert_eq!(output_schema::<Value>(), None);
        assert_eq!(output_schema::<u8>().unwrap()["maximum"], 255);
    }

    #[test]
    fn an_explicit_title_is_kept() {
        #[output]
        #[schemars(title = "A pair")]
        struct Pair {
            left: u8,
        }
        assert_eq!(output_schema::<Pair>().unwrap()["title"], "A pair");
    }
}
