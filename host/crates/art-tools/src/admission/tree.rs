//! Replaces every `$ref` of a schema by its target. The result is a tree with a bounded number of schemas and bytes.

use art_core::JsonObject;
use art_core::text::truncate;
use serde_json::Value;

use super::keywords::{
    AppliesTo, KeywordValue, extra_work, is_applied_again_to_explain, is_assertion, is_refused, is_unevaluated,
    subschemas,
};
use super::patterns::Patterns;
use super::problem::SchemaProblem;
use super::weight::Weight;
use super::{MAX_POINTER_BYTES, MAX_REFERENCE_BYTES, MAX_REFERENCES, MAX_SCHEMA_DEPTH, MAX_SCHEMAS, MAX_TEXT_BYTES};
use crate::shape::{JsonSize, text_len, work_of_text};

/// Number of bytes of the quotes, the colon and the comma of a property in compact JSON text.
const PROPERTY_SYNTAX_BYTES: usize = 4;
/// Maximum length of a pointer or a reference in a message, in characters. The tool chooses the names in them.
const MAX_SHOWN_CHARS: usize = 200;

/// Returns `root` without references, and the weight of applying it.
///
/// A schema with `$ref` but without assertions is replaced by the target of the reference; annotations next to the
/// `$ref` override those of the target. If the schema has assertions, the target is added to its `allOf`, because
/// merging the two would change their meaning. Definitions are removed. Data, such as a `default`, is copied unchanged,
/// even if it looks like a schema.
pub(super) fn dereference(root: &Value) -> Result<(Value, Weight), SchemaProblem> {
    let mut dereferencer = Dereferencer {
        root,
        remaining_schemas: MAX_SCHEMAS,
        remaining_bytes: MAX_TEXT_BYTES,
        patterns: Patterns::default(),
        references: Vec::new(),
        pointer: String::new(),
    };
    let level = Level {
        depth: 1,
        inside_unevaluated: false,
    };
    dereferencer.dereference_schema(root, level)
}

/// The remaining budget and the current position in the tree.
struct Dereferencer<'s> {
    root: &'s Value,
    /// Number of schemas that may still be added to the tree.
    remaining_schemas: usize,
    /// Number of bytes that may still be added to the text of the tree.
    remaining_bytes: usize,
    patterns: Patterns<'s>,
    /// The references that are being replaced, the outermost first.
    references: Vec<&'s str>,
    /// The current position in the tree, as a JSON pointer.
    pointer: String,
}

/// Position of a schema relative to the schemas that contain it.
#[derive(Clone, Copy)]
struct Level {
    depth: usize,
    /// True if an enclosing schema that applies to the same value has `unevaluated*`.
    inside_unevaluated: bool,
}

/// An object schema of the tree, under construction.
struct Node {
    members: JsonObject,
    weight: Weight,
}

impl<'s> Dereferencer<'s> {
    /// Returns the tree of a schema and its weight, and counts the schema against the budget.
    fn dereference_schema(&mut self, schema: &'s Value, level: Level) -> Result<(Value, Weight), SchemaProblem> {
        if level.depth > MAX_SCHEMA_DEPTH {
            return Err(SchemaProblem::TooDeep);
        }
        let remaining = self.remaining_schemas.checked_sub(1);
        self.remaining_schemas =
            remaining.ok_or_else(|| SchemaProblem::TooManySchemas(self.describe_last_reference()))?;
        match schema {
            Value::Object(members) => self.dereference_object(members, level),
            Value::Bool(_) => Ok((schema.clone(), Weight::empty_schema())),
            _ => Err(SchemaProblem::NotASchema { at: self.position() }),
        }
    }

    /// Returns the tree of an object schema and its weight.
    fn dereference_object(&mut self, members: &'s JsonObject, level: Level) -> Result<(Value, Weight), SchemaProblem> {
        let unevaluated_count = members.keys().filter(|keyword| is_unevaluated(keyword)).count();
        if unevaluated_count > 0 && level.inside_unevaluated {
            return Err(SchemaProblem::NestedUnevaluated { at: self.position() });
        }
        let subschema_level = Level {
            depth: level.depth + 1,
            inside_unevaluated: level.inside_unevaluated || unevaluated_count > 0,
        };
        let mut node = Node {
            members: JsonObject::new(),
            weight: Weight::empty_schema(),
        };
        for (keyword, value) in members {
            self.add_keyword(&mut node, keyword, value, subschema_level)?;
        }
        if let Some(reference) = members.get("$ref") {
            if !members.keys().any(|keyword| is_assertion(keyword)) {
                // Count only the target, and not the schema that it replaces.
                self.remaining_schemas += 1;
                let (target, weight) = self.follow(reference, level)?;
                return Ok((annotate(target, node.members), weight));
            }
            let (target, weight) = self.follow(reference, subschema_level)?;
            node.weight.add_subschema(weight, AppliesTo::SameValue);
            add_to_all_of(&mut node.members, target);
        }
        // Count what a validator does again: for each `unevaluated*` keyword, and to explain a violation.
        node.weight.add_repetitions(unevaluated_count);
        Ok((Value::Object(node.members), node.weight))
    }

    /// Adds a keyword and its value to `node`.
    fn add_keyword(
        &mut self,
        node: &mut Node,
        keyword: &'s str,
        value: &'s Value,
        subschema_level: Level,
    ) -> Result<(), SchemaProblem> {
        if matches!(keyword, "$ref" | "$defs" | "definitions") {
            return Ok(());
        }
        // The root has depth 1 and its subschemas have depth 2. The target of a reference at the root also has depth 1, but is
        // not the root.
        let is_root = subschema_level.depth == 2 && self.references.is_empty();
        if is_refused(keyword) || (matches!(keyword, "$id" | "$schema") && !is_root) {
            return Err(SchemaProblem::RefusedKeyword {
                at: self.position(),
                keyword: truncate(keyword, MAX_SHOWN_CHARS),
            });
        }
        self.spend_bytes(keyword.len() + PROPERTY_SYNTAX_BYTES)?;
        // A validator applies the subschemas of such a keyword to an invalid value again, to explain the violation.
        if is_applied_again_to_explain(keyword) {
            node.weight.set_applied_again_to_explain();
        }
        node.weight.add_work(extra_work(keyword));
        let value = match (subschemas(keyword), value) {
            (Some((KeywordValue::Schema, applies_to)), _) => {
                self.dereference_subschema(node, applies_to, [keyword, ""], value, subschema_level)?
            }
            (Some((KeywordValue::List, applies_to)), Value::Array(schemas)) => {
                let mut items = Vec::with_capacity(schemas.len());
                for (index, schema) in schemas.iter().enumerate() {
                    let index = index.to_string();
                    items.push(self.dereference_subschema(
                        node,
                        applies_to,
                        [keyword, &index],
                        schema,
                        subschema_level,
                    )?);
                }
                Value::Array(items)
            }
            (Some((KeywordValue::Map, applies_to)), Value::Object(schemas)) => {
                self.dereference_map(node, keyword, applies_to, schemas, subschema_level)?
            }
            // The keyword has no subschemas, or its value has the wrong form, which the meta-schema refuses later.
            _ => self.copy_data(node, keyword, value)?,
        };
        node.members.insert(keyword.to_owned(), value);
        Ok(())
    }

    /// Returns the trees of the subschemas of a keyword whose value maps names to subschemas.
    fn dereference_map(
        &mut self,
        node: &mut Node,
        keyword: &'s str,
        applies_to: AppliesTo,
        schemas: &'s JsonObject,
        subschema_level: Level,
    ) -> Result<Value, SchemaProblem> {
        let mut members = JsonObject::new();
        for (name, schema) in schemas {
            self.spend_bytes(name.len() + PROPERTY_SYNTAX_BYTES)?;
            node.weight.add_work(work_of_text(name.len()));
            if keyword == "patternProperties" {
                node.weight.add_pattern(self.patterns.add(name, &self.pointer)?);
            }
            let member = match schema {
                // In `dependencies`, a list contains names of properties instead of schemas.
                Value::Array(_) if keyword == "dependencies" => self.copy_data(node, keyword, schema)?,
                _ => self.dereference_subschema(node, applies_to, [keyword, name], schema, subschema_level)?,
            };
            members.insert(name.clone(), member);
        }
        Ok(Value::Object(members))
    }

    /// Returns the tree of a subschema, and adds its weight to that of `node`. `path` is the keyword and the name or index of
    /// this subschema. The name or index is empty if the keyword contains only one subschema, or if a property has an empty name.
    /// The position in messages leaves out an empty name or index.
    fn dereference_subschema(
        &mut self,
        node: &mut Node,
        applies_to: AppliesTo,
        path: [&str; 2],
        schema: &'s Value,
        subschema_level: Level,
    ) -> Result<Value, SchemaProblem> {
        let parent_len = self.pointer.len();
        for segment in path.into_iter().filter(|segment| !segment.is_empty()) {
            self.pointer.push('/');
            self.pointer.push_str(&segment.replace('~', "~0").replace('/', "~1"));
        }
        if self.pointer.len() > MAX_POINTER_BYTES {
            return Err(SchemaProblem::PointerTooLong { at: self.position() });
        }
        let level = Level {
            inside_unevaluated: applies_to == AppliesTo::SameValue && subschema_level.inside_unevaluated,
            ..subschema_level
        };
        let (schema, weight) = self.dereference_schema(schema, level)?;
        self.pointer.truncate(parent_len);
        node.weight.add_subschema(weight, applies_to);
        Ok(schema)
    }

    /// Returns a copy of the value of a keyword that has no subschemas, and adds the cost of the keyword to `node`.
    fn copy_data(&mut self, node: &mut Node, keyword: &str, value: &'s Value) -> Result<Value, SchemaProblem> {
        self.spend_bytes(text_len(value))?;
        if keyword == "pattern"
            && let Some(pattern) = value.as_str()
        {
            node.weight.add_pattern(self.patterns.add(pattern, &self.pointer)?);
        }
        if is_assertion(keyword) {
            let size = JsonSize::measure(value, usize::MAX, usize::MAX)?;
            node.weight.add_work(size.work());
        }
        Ok(value.clone())
    }

    /// Returns the tree of the target of a reference, and its weight.
    fn follow(&mut self, reference: &'s Value, level: Level) -> Result<(Value, Weight), SchemaProblem> {
        let (reference, target) = self.find_target(reference)?;
        if self.references.contains(&reference) {
            return Err(SchemaProblem::Recursive {
                at: self.position(),
                reference: truncate(reference, MAX_SHOWN_CHARS),
            });
        }
        if self.references.len() == MAX_REFERENCES {
            return Err(SchemaProblem::TooManyReferences);
        }
        self.references.push(reference);
        let tree = self.dereference_schema(target, level)?;
        self.references.pop();
        Ok(tree)
    }

    /// Returns the text of a reference and its target. The target must be under keywords that contain schemas: a value
    /// anywhere else, for example in a `default`, is data.
    fn find_target(&self, reference: &'s Value) -> Result<(&'s str, &'s Value), SchemaProblem> {
        let text = reference.as_str().unwrap_or("(not a string)");
        let (at, reference) = (self.position(), truncate(text, MAX_SHOWN_CHARS));
        if text == "#" {
            return Err(SchemaProblem::Recursive { at, reference });
        }
        // Refuse percent-encoding, because it is ambiguous: an author may mean the decoded name, but this code does not
        // decode it.
        let pointer = text.strip_prefix("#/");
        match pointer.filter(|pointer| pointer.len() <= MAX_REFERENCE_BYTES && !pointer.contains('%')) {
            None => Err(SchemaProblem::ForeignReference { at, reference }),
            Some(pointer) => match schema_at(self.root, pointer) {
                None => Err(SchemaProblem::DanglingReference { at, reference }),
                Some(target) => Ok((text, target)),
            },
        }
    }

    /// Takes `bytes` from the budget for the text of the tree.
    fn spend_bytes(&mut self, bytes: usize) -> Result<(), SchemaProblem> {
        let remaining = self.remaining_bytes.checked_sub(bytes);
        self.remaining_bytes = remaining.ok_or_else(|| SchemaProblem::TreeTooLong(self.describe_last_reference()))?;
        Ok(())
    }

    /// Returns the part of a message that names the innermost reference that is being replaced, or an empty text if no
    /// reference is being replaced.
    fn describe_last_reference(&self) -> String {
        match self.references.last() {
            Some(reference) => format!(", the last one `{}`", truncate(reference, MAX_SHOWN_CHARS)),
            None => String::new(),
        }
    }

    /// Returns the current position, for messages.
    fn position(&self) -> String {
        let pointer = if self.pointer.is_empty() { "/" } else { &self.pointer };
        truncate(pointer, MAX_SHOWN_CHARS)
    }
}

/// Adds a schema to `allOf`.
fn add_to_all_of(members: &mut JsonObject, schema: Value) {
    match members.get_mut("allOf") {
        Some(Value::Array(schemas)) => schemas.push(schema),
        _ => drop(members.insert("allOf".to_owned(), Value::Array(vec![schema]))),
    }
}

/// Returns `schema` with annotations, which come first and override those of the schema.
fn annotate(schema: Value, mut annotations: JsonObject) -> Value {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members {
                annotations.entry(keyword).or_insert(value);
            }
        }
        boolean if annotations.is_empty() => return boolean,
        boolean => add_to_all_of(&mut annotations, boolean),
    }
    Value::Object(annotations)
}

/// Returns the schema at a JSON pointer. Returns `None` if there is none, or if a part of the pointer is not a keyword
/// that contains schemas.
fn schema_at<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut schema = root;
    let mut segments = pointer
        .split('/')
        .map(|segment| segment.replace("~1", "/").replace("~0", "~"));
    while let Some(keyword) = segments.next() {
        let value = schema.as_object()?.get(&keyword)?;
        schema = match subschemas(&keyword)?.0 {
            KeywordValue::Schema => value,
            KeywordValue::List => value.as_array()?.get(segments.next()?.parse::<usize>().ok()?)?,
            KeywordValue::Map => value.as_object()?.get(&segments.next()?)?,
        };
    }
    (schema.is_object() || schema.is_boolean()).then_some(schema)
}
