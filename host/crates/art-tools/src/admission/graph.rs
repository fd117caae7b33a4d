//! The schemas inside a schema and how they apply each other.

use std::collections::HashMap;

use art_core::text::truncate;
use serde_json::Value;

use super::keywords::{Applies, Holder, holder, is_refused};
use super::problem::SchemaProblem;

/// Characters of a pointer or a reference that a message shows; names are chosen by the tool.
const SHOWN: usize = 200;

/// Every schema inside a schema, by what holds it, with the references among them.
///
/// Building it is one pass over the keywords and one over the references. Neither recurses, whatever the shape.
#[derive(Debug)]
pub(super) struct Graph<'s> {
    pub(super) nodes: Vec<Node<'s>>,
    by_address: HashMap<usize, usize>,
}

/// One schema.
#[derive(Debug)]
pub(super) struct Node<'s> {
    pub(super) schema: &'s Value,
    pub(super) edges: Vec<Edge<'s>>,
    held_by: Option<(usize, &'s str, Option<Place<'s>>)>,
}

/// A schema that another one applies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge<'s> {
    pub(super) to: usize,
    pub(super) step: Step<'s>,
}

/// From the value a schema applies to, to the value the next one applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'s> {
    /// The same value, in place.
    Here,
    /// The same value, by `$ref`.
    Reference,
    Property(&'s str),
    AnyProperty,
    Item(usize),
    AnyItem,
}

impl Step<'_> {
    pub(super) const fn stays(self) -> bool {
        matches!(self, Self::Here | Self::Reference)
    }
}

#[derive(Clone, Copy, Debug)]
enum Place<'s> {
    Name(&'s str),
    Position(usize),
}

impl<'s> Graph<'s> {
    pub(super) fn build(root: &'s Value) -> Result<Self, SchemaProblem> {
        let mut graph = Self {
            nodes: Vec::new(),
            by_address: HashMap::new(),
        };
        graph.add(root, None)?;
        let mut next = 0;
        while let Some(node) = graph.nodes.get(next) {
            let schema = node.schema;
            graph.expand(next, schema)?;
            next += 1;
        }
        graph.connect_references(root)?;
        Ok(graph)
    }

    pub(super) fn edges(&self, node: usize) -> &[Edge<'s>] {
        self.nodes.get(node).map_or(&[], |node| &node.edges)
    }

    /// Whether the schema has `unevaluatedProperties` or `unevaluatedItems`, for which a validator tries the schemas in
    /// place again.
    pub(super) fn looks_back(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| {
            let has = |keyword| node.schema.get(keyword).is_some();
            has("unevaluatedProperties") || has("unevaluatedItems")
        })
    }

    /// The JSON pointer of a schema, shortened.
    pub(super) fn pointer(&self, node: usize) -> String {
        let mut segments = Vec::new();
        let mut at = self.nodes.get(node);
        while let Some((parent, keyword, place)) = at.and_then(|node| node.held_by) {
            match place {
                Some(Place::Name(name)) => segments.push(name.replace('~', "~0").replace('/', "~1")),
                Some(Place::Position(position)) => segments.push(position.to_string()),
                None => {}
            }
            segments.push(keyword.to_owned());
            at = self.nodes.get(parent);
        }
        let pointer: String = segments.iter().rev().flat_map(|segment| ["/", segment]).collect();
        truncate(if pointer.is_empty() { "/" } else { &pointer }, SHOWN)
    }

    fn add(
        &mut self,
        schema: &'s Value,
        held_by: Option<(usize, &'s str, Option<Place<'s>>)>,
    ) -> Result<usize, SchemaProblem> {
        let index = self.nodes.len();
        self.nodes.push(Node {
            schema,
            edges: Vec::new(),
            held_by,
        });
        if !(schema.is_object() || schema.is_boolean()) {
            return Err(SchemaProblem::NotASchema {
                at: self.pointer(index),
            });
        }
        self.by_address.insert(address(schema), index);
        Ok(index)
    }

    fn expand(&mut self, index: usize, schema: &'s Value) -> Result<(), SchemaProblem> {
        let Some(members) = schema.as_object() else {
            return Ok(());
        };
        for (keyword, value) in members {
            if is_refused(keyword) || (index > 0 && matches!(keyword.as_str(), "$id" | "$schema")) {
                return Err(SchemaProblem::RefusedKeyword {
                    at: self.pointer(index),
                    keyword: truncate(keyword, SHOWN),
                });
            }
            if let Some((holder, applies)) = holder(keyword) {
                self.hold(index, keyword, value, holder, applies)?;
            }
        }
        Ok(())
    }

    /// Adds the schemas that one keyword holds. A keyword whose value has another form than it should holds none; the
    /// meta-schema refuses it later.
    fn hold(
        &mut self,
        index: usize,
        keyword: &'s str,
        value: &'s Value,
        holder: Holder,
        applies: Applies,
    ) -> Result<(), SchemaProblem> {
        match (holder, value) {
            (Holder::One, _) => {
                let to = self.add(value, Some((index, keyword, None)))?;
                self.connect(index, to, applies, None);
            }
            (Holder::List, Value::Array(schemas)) => {
                for (position, schema) in schemas.iter().enumerate() {
                    let place = Some(Place::Position(position));
                    let to = self.add(schema, Some((index, keyword, place)))?;
                    self.connect(index, to, applies, place);
                }
            }
            (Holder::Map, Value::Object(schemas)) => {
                // `dependencies` may also list names of properties, which hold nothing.
                let held = schemas
                    .iter()
                    .filter(|(_, schema)| keyword != "dependencies" || !schema.is_array());
                for (name, schema) in held {
                    let place = Some(Place::Name(name));
                    let to = self.add(schema, Some((index, keyword, place)))?;
                    self.connect(index, to, applies, place);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn connect(&mut self, from: usize, to: usize, applies: Applies, place: Option<Place<'s>>) {
        let step = match (applies, place) {
            (Applies::Nowhere, _) => return,
            (Applies::Here, _) => Step::Here,
            (Applies::Property, Some(Place::Name(name))) => Step::Property(name),
            (Applies::Property | Applies::AnyProperty, _) => Step::AnyProperty,
            (Applies::Item, Some(Place::Position(position))) => Step::Item(position),
            (Applies::Item | Applies::AnyItem, _) => Step::AnyItem,
        };
        if let Some(node) = self.nodes.get_mut(from) {
            node.edges.push(Edge { to, step });
        }
    }

    fn connect_references(&mut self, root: &'s Value) -> Result<(), SchemaProblem> {
        for from in 0..self.nodes.len() {
            let reference = self.nodes.get(from).and_then(|node| node.schema.get("$ref"));
            if let Some(reference) = reference {
                let to = self.resolve(root, from, reference)?;
                if let Some(node) = self.nodes.get_mut(from) {
                    node.edges.push(Edge {
                        to,
                        step: Step::Reference,
                    });
                }
            }
        }
        Ok(())
    }

    /// The schema that a reference names. It has to be one that a keyword holds: what lies elsewhere, say in a `default`,
    /// was not looked at.
    fn resolve(&self, root: &'s Value, from: usize, reference: &Value) -> Result<usize, SchemaProblem> {
        let at = || self.pointer(from);
        let shown = || truncate(reference.as_str().unwrap_or("(not a string)"), SHOWN);
        // Percent-encoding is refused because the validator and this walk could read it in two ways.
        let pointer = reference
            .as_str()
            .and_then(|text| text.strip_prefix('#'))
            .filter(|pointer| pointer.starts_with('/') && !pointer.contains('%'));
        let Some(pointer) = pointer else {
            return Err(SchemaProblem::ForeignReference {
                at: at(),
                reference: shown(),
            });
        };
        root.pointer(pointer)
            .and_then(|target| self.by_address.get(&address(target)).copied())
            .ok_or_else(|| SchemaProblem::DanglingReference {
                at: at(),
                reference: shown(),
            })
    }
}

/// Identifies a schema by its place in memory; two equal schemas in two places are two.
fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema).addr()
}
