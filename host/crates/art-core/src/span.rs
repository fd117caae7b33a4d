//! Spans: the run and its calls, as parts of a trace.

use serde::{Deserialize, Serialize};

use crate::id;

/// A span of a trace: a run, or one call within it (contract C75). The identifiers have the format of the W3C trace
/// context, which trace collectors accept unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpanContext {
    /// Identifier of the trace, the same for all spans of a run: 32 lower-case hexadecimal digits.
    pub trace_id: String,
    /// Identifier of the span: 16 lower-case hexadecimal digits.
    pub span_id: String,
    /// Identifier of the enclosing span; absent for a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<String>,
}

impl SpanContext {
    /// Creates the root span of a new trace.
    #[must_use]
    pub fn root() -> Self {
        Self::root_in_trace(id::trace_id())
    }

    /// Creates a root span for a run. If `run_id` is a UUID, its 32 digits are the identifier of the trace. Otherwise the
    /// identifier is derived from `run_id`.
    #[must_use]
    pub fn root_of_run(run_id: &str) -> Self {
        Self::root_in_trace(id::trace_id_of(run_id))
    }

    /// Creates a span within this one, in the same trace.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            trace_id: self.trace_id.clone(),
            span_id: id::span_id(),
            parent_span_id: Some(self.span_id.clone()),
        }
    }

    /// Creates a root span of the trace `trace_id`.
    fn root_in_trace(trace_id: String) -> Self {
        Self {
            trace_id,
            span_id: id::span_id(),
            parent_span_id: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn is_hex(text: &str, digits: usize) -> bool {
        text.len() == digits && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
    }

    // Identifiers of traces and spans (contract A83).
    #[test]
    fn a_root_span_has_hexadecimal_identifiers_and_no_parent() {
        let root = SpanContext::root();
        assert!(is_hex(&root.trace_id, 32), "{root:?}");
        assert!(is_hex(&root.span_id, 16), "{root:?}");
        assert_eq!(root.parent_span_id, None);
    }

    // Identifiers of traces and spans (contract A83).
    #[test]
    fn the_identifiers_of_spans_and_traces_are_unique() {
        let roots: Vec<_> = (0..100).map(|_| SpanContext::root()).collect();
        let children = roots.iter().map(SpanContext::child);
        let mut spans: Vec<_> = roots.iter().cloned().chain(children).map(|span| span.span_id).collect();
        let mut traces: Vec<_> = roots.iter().map(|root| root.trace_id.clone()).collect();
        spans.sort();
        spans.dedup();
        traces.sort();
        traces.dedup();
        assert_eq!((spans.len(), traces.len()), (200, 100));
    }

    // Identifiers of traces and spans (contract A83).
    #[test]
    fn a_child_and_its_child_stay_in_the_trace_and_name_their_parents() {
        let root = SpanContext::root();
        let child = root.child();
        let grandchild = child.child();
        assert_eq!(
            (&child.trace_id, &grandchild.trace_id),
            (&root.trace_id, &root.trace_id)
        );
        assert_eq!(child.parent_span_id.as_ref(), Some(&root.span_id));
        assert_eq!(grandchild.parent_span_id.as_ref(), Some(&child.span_id));
        assert!(is_hex(&grandchild.span_id, 16), "{grandchild:?}");
    }

    #[test]
    fn the_digits_of_the_run_identifier_are_the_trace_identifier() {
        let root = SpanContext::root_of_run("01980B3C-7f10-7abc-8def-0123456789ab");
        assert_eq!(root.trace_id, "01980b3c7f107abc8def0123456789ab");
        assert_eq!(root.parent_span_id, None);
    }

    #[test]
    fn two_roots_of_a_run_have_different_span_identifiers() {
        let run = id::time_ordered();
        assert_ne!(
            SpanContext::root_of_run(&run).span_id,
            SpanContext::root_of_run(&run).span_id
        );
    }

    #[test]
    fn the_wire_names_are_those_of_the_contract() {
        let root = SpanContext {
            trace_id: "0".repeat(32),
            span_id: "1".repeat(16),
            parent_span_id: None,
        };
        let wire = json!({"traceId": root.trace_id, "spanId": root.span_id});
        assert_eq!(serde_json::to_value(&root).unwrap(), wire);
        let child = root.child();
        let wire = serde_json::to_value(&child).unwrap();
        assert_eq!(wire["parentSpanId"], root.span_id);
        assert_eq!(serde_json::from_value::<SpanContext>(wire).unwrap(), child);
    }

    proptest! {
        #[test]
        fn the_trace_identifier_of_a_run_is_always_the_same(run in ".{0,60}") {
            let trace = SpanContext::root_of_run(&run).trace_id;
            prop_assert!(is_hex(&trace, 32));
            prop_assert_eq!(SpanContext::root_of_run(&run).trace_id, trace);
        }
    }
}
