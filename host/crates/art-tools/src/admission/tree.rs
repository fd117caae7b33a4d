//! Replaces every `$ref` of a schema by its target. The result is a tree, which is built under one budget.

use art_core::JsonObject;
use art_core::text::truncate;
use serde_json::Value;

use super::keywords::{Applies, Holder, asserts, chooses, holder, is_refused, looks_back, price};
use super::patterns::Patterns;
use super::problem::SchemaProblem;
use super::weight::Weight;
use super::{MAX_DEPTH, MAX_POINTER_BYTES, MAX_REFERENCE_BYTES, MAX_REFERENCES, MAX_SCHEMAS, MAX_TEXT_BYTES};
use crate::shape::{Shape, text_len, text_units};

/// Maximum length of a pointer or a reference in a message, in characters. The tool chooses the names in them.
const SHOWN: usize = 200;

/// Returns the tree of `root` and the weight of applying it.
///
/// A schema with `$ref` but without assertions is replaced by the target of the reference; annotations next to the
/// `$ref` override those of the target. If the schema has assertions, the target is added to its `allOf`, because
/// merging the two would change their meaning. Definitions are removed. Data, such as a `default`, is copied unchanged,
/// even if it looks like a schema.
pub(super) fn grow(root: &Value) -> Result<(Value, Weight), SchemaProblem> {
    let mut grower = Grower {
        root,
        schemas: MAX_SCHEMAS,
        bytes: MAX_TEXT_BYTES,
        patterns: Patterns::default(),
        open: Vec::new(),
        at: String::new(),
    };
    grower.schema(
        root,
        Level {
            depth: 1,
            looked_at: false,
        },
    )
}

/// The remaining budget and the current position in the tree.
struct Grower<'s> {
    root: &'s Value,
    /// Number of schemas that may still be added to the tree.
    schemas: usize,
    /// Number of bytes that may still be added to the text of the tree.
    bytes: usize,
    patterns: Patterns<'s>,
    /// The references that are being replaced, the outermost first.
    open: Vec<&'s str>,
    /// The current position in the tree, as a JSON pointer.
    at: String,
}

/// Position of a schema relative to the schemas that contain it.
#[derive(Clone, Copy)]
struct Level {
    depth: usize,
    /// True if a schema that contains it and applies to the same value has `unevaluated*`.
    looked_at: bool,
}

/// An object schema of the tree, under construction.
#[derive(Default)]
struct Grown {
    members: JsonObject,
    weight: Weight,
}

impl<'s> Grower<'s> {
    fn schema(&mut self, schema: &'s Value, level: Level) -> Result<(Value, Weight), SchemaProblem> {
        if level.depth > MAX_DEPTH {
            return Err(SchemaProblem::TooDeep);
        }
        self.schemas = self.schemas.checked_sub(1).ok_or_else(|| self.too_many())?;
        match schema {
            Value::Object(members) => self.object(members, level),
            Value::Bool(_) => Ok((schema.clone(), Weight::of_one())),
            _ => Err(SchemaProblem::NotASchema { at: self.place() }),
        }
    }

    fn object(&mut self, members: &'s JsonObject, level: Level) -> Result<(Value, Weight), SchemaProblem> {
        let looks_back = members.keys().filter(|keyword| looks_back(keyword)).count();
        if looks_back > 0 && level.looked_at {
            return Err(SchemaProblem::NestedUnevaluated { at: self.place() });
        }
        let held = Level {
            depth: level.depth + 1,
            looked_at: level.looked_at || looks_back > 0,
        };
        let mut grown = Grown {
            weight: Weight::of_one(),
            ..Grown::default()
        };
        for (keyword, value) in members {
            self.member(&mut grown, keyword, value, held)?;
        }
        let alone = !members.keys().any(|keyword| asserts(keyword));
        let target = match members.get("$ref") {
            None => None,
            Some(reference) if alone => {
                // Count only the target, and not the schema that it replaces.
                self.schemas += 1;
                Some(self.follow(reference, level)?)
            }
            Some(reference) => Some(self.follow(reference, held)?),
        };
        Ok(grown.close(target, alone, looks_back))
    }

    fn member(
        &mut self,
        grown: &mut Grown,
        keyword: &'s str,
        value: &'s Value,
        held: Level,
    ) -> Result<(), SchemaProblem> {
        if matches!(keyword, "$ref" | "$defs" | "definitions") {
            return Ok(());
        }
        let is_root = held.depth == 2 && self.open.is_empty();
        if is_refused(keyword) || (matches!(keyword, "$id" | "$schema") && !is_root) {
            return Err(SchemaProblem::RefusedKeyword {
                at: self.place(),
                keyword: truncate(keyword, SHOWN),
            });
        }
        self.spend(keyword.len() + 4)?;
        grown.weight.choose(chooses(keyword));
        grown.weight.try_more(price(keyword));
        let value = match (holder(keyword), value) {
            (Some((Holder::One, applies)), _) => self.part(grown, applies, [keyword, ""], value, held)?,
            (Some((Holder::List, applies)), Value::Array(schemas)) => {
                let grow = |(position, schema): (usize, &'s Value)| {
                    let position = position.to_string();
                    self.part(grown, applies, [keyword, &position], schema, held)
                };
                Value::Array(schemas.iter().enumerate().map(grow).collect::<Result<_, _>>()?)
            }
            (Some((Holder::Map, applies)), Value::Object(schemas)) => {
                self.map(grown, keyword, applies, schemas, held)?
            }
            // The meta-schema later refuses a keyword whose value has the wrong form.
            _ => self.data(grown, keyword, value)?,
        };
        grown.members.insert(keyword.to_owned(), value);
        Ok(())
    }

    fn map(
        &mut self,
        grown: &mut Grown,
        keyword: &'s str,
        applies: Applies,
        schemas: &'s JsonObject,
        held: Level,
    ) -> Result<Value, SchemaProblem> {
        let mut members = JsonObject::new();
        for (name, schema) in schemas {
            self.spend(name.len() + 4)?;
            grown.weight.try_more(text_units(name.len()));
            if keyword == "patternProperties" {
                grown.weight.match_pattern(self.patterns.weigh(name, &self.at)?);
            }
            let member = match schema {
                // In `dependencies`, a list contains names of properties instead of schemas.
                Value::Array(_) if keyword == "dependencies" => self.data(grown, keyword, schema)?,
                _ => self.part(grown, applies, [keyword, name], schema, held)?,
            };
            members.insert(name.clone(), member);
        }
        Ok(Value::Object(members))
    }

    /// Returns the tree of a nested schema, and adds its weight to that of `grown`. `place` is the keyword and, if the
    /// keyword contains several schemas, the name or index in it.
    fn part(
        &mut self,
        grown: &mut Grown,
        applies: Applies,
        place: [&str; 2],
        schema: &'s Value,
        held: Level,
    ) -> Result<Value, SchemaProblem> {
        let length = self.at.len();
        for segment in place.into_iter().filter(|segment| !segment.is_empty()) {
            self.at.push('/');
            self.at.push_str(&segment.replace('~', "~0").replace('/', "~1"));
        }
        if self.at.len() > MAX_POINTER_BYTES {
            return Err(SchemaProblem::PointerTooLong { at: self.place() });
        }
        let looked_at = applies == Applies::Here && held.looked_at;
        let (schema, weight) = self.schema(schema, Level { looked_at, ..held })?;
        self.at.truncate(length);
        grown.weight.hold(weight, applies);
        Ok(schema)
    }

    fn data(&mut self, grown: &mut Grown, keyword: &str, value: &'s Value) -> Result<Value, SchemaProblem> {
        self.spend(text_len(value))?;
        if keyword == "pattern"
            && let Some(pattern) = value.as_str()
        {
            grown.weight.match_pattern(self.patterns.weigh(pattern, &self.at)?);
        }
        if asserts(keyword) {
            let shape = Shape::measure(value, usize::MAX, usize::MAX)?;
            grown.weight.try_more(shape.units());
        }
        Ok(value.clone())
    }

    fn follow(&mut self, reference: &'s Value, level: Level) -> Result<(Value, Weight), SchemaProblem> {
        let (name, target) = self.target(reference)?;
        if self.open.contains(&name) {
            return Err(SchemaProblem::Recursive {
                at: self.place(),
                reference: truncate(name, SHOWN),
            });
        }
        if self.open.len() == MAX_REFERENCES {
            return Err(SchemaProblem::TooManyReferences);
        }
        self.open.push(name);
        let grown = self.schema(target, level)?;
        self.open.pop();
        Ok(grown)
    }

    /// Returns the text of a reference and its target. The target must be under keywords that contain schemas: a value
    /// anywhere else, for example in a `default`, is data.
    fn target(&self, reference: &'s Value) -> Result<(&'s str, &'s Value), SchemaProblem> {
        let name = reference.as_str().unwrap_or("(not a string)");
        let (at, shown) = (self.place(), truncate(name, SHOWN));
        if name == "#" {
            return Err(SchemaProblem::Recursive { at, reference: shown });
        }
        let pointer = name.strip_prefix("#/");
        // Refuse percent-encoding, because it is ambiguous: an author may mean the decoded name, but this code does not
        // decode it.
        match pointer.filter(|pointer| pointer.len() <= MAX_REFERENCE_BYTES && !pointer.contains('%')) {
            None => Err(SchemaProblem::ForeignReference { at, reference: shown }),
            Some(pointer) => match schema_at(self.root, pointer) {
                None => Err(SchemaProblem::DanglingReference { at, reference: shown }),
                Some(target) => Ok((name, target)),
            },
        }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), SchemaProblem> {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.ok_or_else(|| SchemaProblem::TreeTooLong(self.named()))?;
        Ok(())
    }

    fn too_many(&self) -> SchemaProblem {
        SchemaProblem::TooManySchemas(self.named())
    }

    /// Returns the part of a message that names the innermost reference that is being replaced. It is empty if there is
    /// none.
    fn named(&self) -> String {
        let name = |reference: &&str| format!(", the last one `{}`", truncate(reference, SHOWN));
        self.open.last().map(name).unwrap_or_default()
    }

    fn place(&self) -> String {
        truncate(if self.at.is_empty() { "/" } else { &self.at }, SHOWN)
    }
}

impl Grown {
    /// Returns the finished schema and its weight, after adding the target of its reference if it has one.
    fn close(mut self, target: Option<(Value, Weight)>, alone: bool, looks_back: usize) -> (Value, Weight) {
        match target {
            Some((target, weight)) if alone => return (annotated(self.members, target), weight),
            Some((target, weight)) => {
                self.weight.hold(weight, Applies::Here);
                join(&mut self.members, target);
            }
            None => {}
        }
        self.weight.close(looks_back);
        (Value::Object(self.members), self.weight)
    }
}

/// Adds a schema to `allOf`.
fn join(members: &mut JsonObject, target: Value) {
    match members.get_mut("allOf") {
        Some(Value::Array(all)) => all.push(target),
        _ => drop(members.insert("allOf".to_owned(), Value::Array(vec![target]))),
    }
}

/// Returns the target with the annotations of the schema that referred to it, which come first and override those of
/// the target.
fn annotated(mut own: JsonObject, target: Value) -> Value {
    match target {
        Value::Object(members) => {
            for (keyword, value) in members {
                own.entry(keyword).or_insert(value);
            }
        }
        target if own.is_empty() => return target,
        target => join(&mut own, target),
    }
    Value::Object(own)
}

/// Returns the schema at a JSON pointer. Returns `None` if there is none, or if a part of the pointer is not a keyword
/// that contains schemas.
fn schema_at<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut schema = root;
    let mut segments = pointer
        .split('/')
        .map(|segment| segment.replace("~1", "/").replace("~0", "~"));
    while let Some(keyword) = segments.next() {
        let held = schema.as_object()?.get(&keyword)?;
        schema = match holder(&keyword)?.0 {
            Holder::One => held,
            Holder::List => held.as_array()?.get(segments.next()?.parse::<usize>().ok()?)?,
            Holder::Map => held.as_object()?.get(&segments.next()?)?,
        };
    }
    (schema.is_object() || schema.is_boolean()).then_some(schema)
}
