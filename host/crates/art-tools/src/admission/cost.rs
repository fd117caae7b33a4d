//! What a schema costs to apply, from its graph alone.

use super::graph::{Edge, Graph, Step};
use super::growth;
use super::problem::SchemaProblem;
use super::{LOOK_BACK_FACTOR, MAX_HEIGHT, MAX_PATHS, MAX_REFERENCES};

/// What the graph of a schema says of the work of applying it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// Schemas tried on one value and its parts; what comes back to itself counts once.
    pub(super) paths: u64,
    /// How many times as many schemas are tried on a part as on the whole; 0 when the schema is not recursive.
    pub(super) growth: u64,
    /// Schemas in the longest chain that is applied to one and the same value.
    pub(super) chain: usize,
}

/// Measures the work, or refuses a graph that is too deep, unfolds too far, or never reaches a part of the value.
pub(super) fn measure(graph: &Graph<'_>) -> Result<Work, SchemaProblem> {
    let mut walk = Walk::new(graph);
    let mut chains = Chains::new(graph);
    let mut chain = 0;
    for node in 0..graph.nodes.len() {
        walk.visit(node, 0)?;
        chain = chain.max(chains.visit(node, 0)?);
    }
    let seen = |node| walk.finished(node).unwrap_or_default();
    Ok(Work {
        paths: seen(0).paths,
        growth: growth::measure(graph, |node| seen(node).recursive),
        chain,
    })
}

/// How often a schema reached over an edge is tried: `unevaluated*` makes a validator try the schemas in place again, at
/// every level of them.
pub(super) const fn factor(edge: Edge<'_>, looks_back: bool) -> u64 {
    if looks_back && edge.step.stays() {
        LOOK_BACK_FACTOR
    } else {
        1
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Open,
    Finished(Seen),
}

/// What lies below a schema.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    paths: u64,
    /// Longest way down, in schemas and in references.
    height: usize,
    references: usize,
    /// Comes to a schema that comes back to itself.
    recursive: bool,
}

/// A depth-first walk with a memo. Its recursion is bounded: a way down longer than [`MAX_HEIGHT`] is refused.
struct Walk<'g, 's> {
    graph: &'g Graph<'s>,
    states: Vec<Option<State>>,
}

impl<'g, 's> Walk<'g, 's> {
    fn new(graph: &'g Graph<'s>) -> Self {
        Self {
            graph,
            states: vec![None; graph.nodes.len()],
        }
    }

    fn finished(&self, node: usize) -> Option<Seen> {
        match self.states.get(node) {
            Some(Some(State::Finished(seen))) => Some(*seen),
            _ => None,
        }
    }

    fn put(&mut self, node: usize, state: State) {
        if let Some(slot) = self.states.get_mut(node) {
            *slot = Some(state);
        }
    }

    fn visit(&mut self, node: usize, depth: usize) -> Result<(), SchemaProblem> {
        if self.states.get(node).copied().flatten().is_some() {
            return Ok(());
        }
        if depth > MAX_HEIGHT {
            return Err(SchemaProblem::ReferencesTooDeep);
        }
        self.put(node, State::Open);
        let mut own = Seen {
            paths: 1,
            ..Seen::default()
        };
        let graph = self.graph;
        for edge in graph.edges(node) {
            self.visit(edge.to, depth + 1)?;
            self.add(&mut own, *edge, graph.looks_back(node))?;
        }
        self.put(node, State::Finished(own));
        Ok(())
    }

    /// Adds what lies behind an edge. A way back to a schema that is still open counts once: what it repeats is for
    /// [`growth`] to bound.
    fn add(&self, own: &mut Seen, edge: Edge<'_>, looks_back: bool) -> Result<(), SchemaProblem> {
        let child = self.finished(edge.to).unwrap_or(Seen {
            paths: 1,
            recursive: true,
            ..Seen::default()
        });
        let behind = child.paths.saturating_mul(factor(edge, looks_back));
        own.paths = own.paths.saturating_add(behind);
        own.recursive |= child.recursive;
        own.height = own.height.max(child.height + 1);
        own.references = own
            .references
            .max(child.references + usize::from(edge.step == Step::Reference));
        if own.paths > MAX_PATHS {
            return Err(SchemaProblem::TooManyPaths);
        }
        if own.height > MAX_HEIGHT || own.references > MAX_REFERENCES {
            return Err(SchemaProblem::ReferencesTooDeep);
        }
        Ok(())
    }
}

/// The graph without the edges that go on to a part of the value.
struct Chains<'g, 's> {
    graph: &'g Graph<'s>,
    /// None: not seen; 0: still open; otherwise the length of the longest chain from here.
    lengths: Vec<Option<usize>>,
}

impl<'g, 's> Chains<'g, 's> {
    fn new(graph: &'g Graph<'s>) -> Self {
        Self {
            graph,
            lengths: vec![None; graph.nodes.len()],
        }
    }

    /// The length of the longest chain from `node`. Refuses a schema that comes back to itself without going on to a part
    /// of the value (D04).
    fn visit(&mut self, node: usize, depth: usize) -> Result<usize, SchemaProblem> {
        match self.lengths.get(node).copied().flatten() {
            Some(0) => {
                return Err(SchemaProblem::UnproductiveCycle {
                    at: self.graph.pointer(node),
                });
            }
            Some(length) => return Ok(length),
            // The walk over all edges does not bound this one: it leaves out what lies behind an open schema.
            None if depth > MAX_HEIGHT => return Err(SchemaProblem::ReferencesTooDeep),
            None => self.put(node, 0),
        }
        let graph = self.graph;
        let mut length = 1;
        for edge in graph.edges(node).iter().filter(|edge| edge.step.stays()) {
            length = length.max(1 + self.visit(edge.to, depth + 1)?);
        }
        if length > MAX_HEIGHT {
            return Err(SchemaProblem::ReferencesTooDeep);
        }
        self.put(node, length);
        Ok(length)
    }

    fn put(&mut self, node: usize, length: usize) {
        if let Some(slot) = self.lengths.get_mut(node) {
            *slot = Some(length);
        }
    }
}
