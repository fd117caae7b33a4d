//! How the work of a recursive schema grows with the depth of the value.

use std::collections::HashMap;

use super::cost::factor;
use super::graph::{Graph, Step};

/// How often, at most, one part of a value is reached from the whole by schemas that are recursive or lead to one.
///
/// 1 is a list or a tree: the work is linear in the value. 2 may double it with each level of the value, as `anyOf` over two
/// schemas that both go on to the same property does. 0 means that no schema is recursive.
pub(super) fn measure(graph: &Graph<'_>, recursive: impl Fn(usize) -> bool) -> u64 {
    let mut parts = Parts {
        graph,
        recursive,
        reached: vec![None; graph.nodes.len()],
    };
    let all = 0..graph.nodes.len();
    all.map(|node| parts.reached(node).most()).max().unwrap_or(0)
}

struct Parts<'g, 's, R> {
    graph: &'g Graph<'s>,
    recursive: R,
    reached: Vec<Option<Reached<'s>>>,
}

/// How often each part of a value is reached.
#[derive(Clone, Debug, Default)]
struct Reached<'s> {
    named: HashMap<&'s str, u64>,
    any_property: u64,
    placed: HashMap<usize, u64>,
    any_item: u64,
}

impl<'s, R: Fn(usize) -> bool> Parts<'_, 's, R> {
    /// The recursion is bounded: chains in place have no cycle and were measured before.
    fn reached(&mut self, node: usize) -> Reached<'s> {
        if let Some(Some(known)) = self.reached.get(node) {
            return known.clone();
        }
        let mut sum = Reached::default();
        let graph = self.graph;
        for edge in graph.edges(node) {
            if !(self.recursive)(edge.to) {
                continue;
            }
            match edge.step {
                Step::Here | Step::Reference => {
                    let times = factor(*edge, graph.looks_back(node));
                    sum.add(&self.reached(edge.to), times);
                }
                Step::Property(name) => add(sum.named.entry(name).or_default(), 1),
                Step::AnyProperty => add(&mut sum.any_property, 1),
                Step::Item(position) => add(sum.placed.entry(position).or_default(), 1),
                Step::AnyItem => add(&mut sum.any_item, 1),
            }
        }
        if let Some(slot) = self.reached.get_mut(node) {
            *slot = Some(sum.clone());
        }
        sum
    }
}

impl<'s> Reached<'s> {
    fn add(&mut self, other: &Self, times: u64) {
        for (name, count) in &other.named {
            add(self.named.entry(name).or_default(), count.saturating_mul(times));
        }
        for (position, count) in &other.placed {
            add(self.placed.entry(*position).or_default(), count.saturating_mul(times));
        }
        add(&mut self.any_property, other.any_property.saturating_mul(times));
        add(&mut self.any_item, other.any_item.saturating_mul(times));
    }

    fn most(&self) -> u64 {
        let named = self.named.values().copied().max().unwrap_or(0);
        let placed = self.placed.values().copied().max().unwrap_or(0);
        let property = named.saturating_add(self.any_property);
        property.max(placed.saturating_add(self.any_item))
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}
