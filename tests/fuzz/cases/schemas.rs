//! Fuzz test of two functions: one admits schemas, which means that it refuses invalid and too expensive schemas, and one checks
//! values against schemas. The schema and the value come from the bytes of a fuzz case.

use art_tools::admission::{MAX_TEXT_BYTES, Root};
use art_tools::schema::CompiledSchema;
use art_tools::shape::{JsonSize, MAX_NODES};
use serde_json::{Map, Value, json};

/// Maximum size of the arguments of a call, in bytes.
const MAX_INPUT_BYTES: usize = 256 << 10;
/// Maximum size of the message that lists why a value does not fit its schema, in bytes.
const MAX_MESSAGE_BYTES: usize = 100_000;
/// Names of properties and definitions.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// Maximum nesting depth of a generated schema or value.
const MAX_DEPTH: usize = 8;
/// Maximum nesting depth of a generated schema in `$defs`.
const MAX_DEFINITION_DEPTH: usize = 4;

/// Admits a schema, fills its defaults into a value, and checks the value. Ends early if the schema or the value is refused.
pub(crate) fn admit_and_check(schema: &Value, mut value: Value) {
    // `Root::Any` also admits schemas that do not require an object.
    let Ok(compiled) = CompiledSchema::new(schema, Root::Any) else {
        return;
    };
    let Ok(size) = JsonSize::of_payload(&value) else {
        return;
    };
    let Ok(size) = compiled.fill(&mut value, size, MAX_INPUT_BYTES) else {
        return;
    };
    if let Err(violations) = compiled.check(&value, &size, "input") {
        assert!(violations.to_string().len() < MAX_MESSAGE_BYTES);
    }
}

/// Parses a JSON text `[schema, value]`. Generates both from the bytes if they are not such a text.
pub(crate) fn schema_and_value(bytes: &[u8]) -> (Value, Value) {
    if let Ok((schema, value)) = serde_json::from_slice(bytes) {
        return (schema, value);
    }
    let mut choices = Choices(bytes);
    let mut schema = choices.schema(MAX_DEPTH);
    if let Value::Object(members) = &mut schema {
        let definitions: Map<_, _> = NAMES
            .map(|name| (name.to_owned(), choices.schema(MAX_DEFINITION_DEPTH)))
            .into_iter()
            .collect();
        members.insert("$defs".to_owned(), Value::Object(definitions));
    }
    (schema, choices.value(MAX_DEPTH))
}

/// Returns a float. `byte`, which is 224 to 255, chooses its power of ten: -320 to 300, nearly the whole range of floats.
fn float(byte: usize) -> Value {
    let power = i32::try_from(byte).unwrap_or_default() * 20 - 4_800;
    json!(1.1 * 10_f64.powi(power))
}

/// The bytes of the fuzz case that are not used yet. Each byte chooses among alternatives. After the last byte,
/// `byte` returns 0.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> usize {
        match self.0.split_first() {
            None => 0,
            Some((first, rest)) => {
                self.0 = rest;
                usize::from(*first)
            }
        }
    }

    fn choose<'t>(&mut self, alternatives: &[&'t str]) -> &'t str {
        let index = self.byte() % alternatives.len().max(1);
        alternatives.get(index).copied().unwrap_or_default()
    }

    fn text(&mut self) -> String {
        let length = self.byte().min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        let times = [1, 1, 1, 100, 4_000].get(self.byte() % 5).copied().unwrap_or(1);
        String::from_utf8_lossy(text).repeat(times)
    }

    /// Returns a regular expression that may be expensive to compile or to match, or any text.
    fn pattern(&mut self) -> String {
        match self.byte() % 6 {
            0 => "(a|b)*a(a|b){500}c".to_owned(),
            1 => format!("\\w{{{}}}", self.byte()),
            2 => "^(([a-z])+.)+[A-Z]([a-z])+$".to_owned(),
            3 => format!("[^a]{{{}}}", self.byte() * 4),
            _ => self.text(),
        }
    }

    /// Returns one to four schemas, or up to 480 copies of one schema that contains no other schema. Makes only as many copies as
    /// fit into the maximum size of an admitted schema.
    fn schemas(&mut self, depth: usize) -> Vec<Value> {
        match self.byte() {
            count @ 240.. => {
                let schema = self.schema(depth.min(1));
                let max_copies = MAX_TEXT_BYTES / schema.to_string().len();
                vec![schema; max_copies.min((count - 239) * 30)]
            }
            count => (0..=count % 4).map(|_| self.schema(depth)).collect(),
        }
    }

    /// Returns a short name, or rarely a long one.
    fn name(&mut self) -> String {
        let name = self.choose(&NAMES);
        let times = if self.0.first() == Some(&255) { 1_500 } else { 1 };
        name.repeat(times)
    }

    fn schemas_by_name(&mut self, depth: usize) -> Map<String, Value> {
        let count = self.byte() % 4;
        (0..=count).map(|_| (self.name(), self.schema(depth))).collect()
    }

    fn schema(&mut self, depth: usize) -> Value {
        let mut members = Map::new();
        let keyword_count = if depth == 0 { 1 } else { self.byte() % 6 };
        for _ in 0..keyword_count {
            let (keyword, value) = self.keyword(depth.saturating_sub(1));
            members.insert(keyword.to_owned(), value);
        }
        if members.is_empty() {
            // One byte in five gives the schema `false`, which allows no value. The others give `true`, which allows every value.
            json!(!self.byte().is_multiple_of(5))
        } else {
            Value::Object(members)
        }
    }

    fn keyword(&mut self, depth: usize) -> (&'static str, Value) {
        // The keywords of the first seven choices contain no schemas.
        let choice = if depth == 0 { self.byte() % 7 } else { self.byte() % 16 };
        match choice {
            0 => (
                "type",
                self.choose(&["object", "array", "string", "number", "null"]).into(),
            ),
            1 => ("$ref", format!("#/$defs/{}", self.choose(&NAMES)).into()),
            2 => ("pattern", self.pattern().into()),
            3 => ("uniqueItems", true.into()),
            4 => (self.choose(&["const", "default"]), self.value(3)),
            5 => {
                let limit_keyword = self.choose(&["minLength", "maxItems", "minProperties", "minContains"]);
                match self.byte() {
                    byte @ 224.. => ("multipleOf", float(byte)),
                    208..224 => ("required", json!([self.name()])),
                    192..208 => ("minimum", json!(0.5)),
                    limit => (limit_keyword, limit.into()),
                }
            }
            6 => ("enum", (0..=self.byte() % 8).map(|_| self.value(2)).collect()),
            7 | 8 => ("properties", self.schemas_by_name(depth).into()),
            9 => (
                "patternProperties",
                [(self.pattern(), self.schema(depth))].into_iter().collect(),
            ),
            10 => ("dependentSchemas", self.schemas_by_name(depth).into()),
            11 | 12 => (
                self.choose(&["allOf", "anyOf", "oneOf", "prefixItems"]),
                self.schemas(depth).into(),
            ),
            13 => (
                self.choose(&["not", "if", "then", "else", "contains", "propertyNames"]),
                self.schema(depth),
            ),
            14 => (self.choose(&["items", "additionalProperties"]), self.schema(depth)),
            _ => (
                self.choose(&["unevaluatedProperties", "unevaluatedItems"]),
                self.schema(depth),
            ),
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        let choice = if depth == 0 { self.byte() % 5 } else { self.byte() % 9 };
        let depth = depth.saturating_sub(1);
        match choice {
            0 => Value::Null,
            1 => json!(self.byte()),
            2 => json!((1_u64 << 63) | self.byte() as u64),
            3 => match self.byte() {
                large @ 224.. => float(large),
                small => json!(small as f64 / 4.0),
            },
            4 => Value::String(self.text()),
            5 => (0..self.byte() % 6).map(|_| self.value(depth)).collect(),
            6 => match self.byte() {
                // Only in the two outermost levels, so that there are few large objects.
                count @ 240.. if depth >= MAX_DEPTH - 2 => self.large_object((count - 239) * 1_000),
                count => {
                    let member = |_| (self.name(), self.value(depth));
                    Value::Object((0..count % 6).map(member).collect())
                }
            },
            _ => self.large_array(depth),
        }
    }

    fn large_object(&mut self, count: usize) -> Value {
        let value = json!(self.byte());
        Value::Object((0..count).map(|n| (n.to_string(), value.clone())).collect())
    }

    /// Returns an array of copies of one value, up to the maximum size of a value.
    fn large_array(&mut self, depth: usize) -> Value {
        let times = self.byte() * 64;
        let item = self.value(depth);
        // The text of the item counts too: 32 bytes of text count as one node.
        let nodes = JsonSize::of_payload(&item).map_or(MAX_NODES, |size| size.nodes + size.text_bytes / 32);
        Value::Array(vec![item; times.min(MAX_NODES / nodes.max(1))])
    }
}
