//! Errors of applying an event. The run itself never fails without an answer.

use crate::action::ActionId;

/// An event does not fit the run, which is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The run was started before.
    #[error("the run was started before; start another run instead")]
    AlreadyStarted,
    /// The run has its answer already.
    #[error("the run is finished; drop answers that come after its end")]
    Finished,
    /// The action was answered before, or never existed.
    #[error("action `{action}` is not open; answer each action once")]
    StepNotOpen {
        /// The action that was answered.
        action: ActionId,
    },
    /// A model replied where tool results were expected, or the other way round.
    #[error("action `{action}` waits for {expected}")]
    WrongAnswer {
        /// The action that was answered.
        action: ActionId,
        /// What would have answered it.
        expected: &'static str,
    },
    /// The results are not those of the calls.
    #[error(
        "action `{action}` needs exactly one result for each of its calls; the result of call `{call_id}` is {fault}"
    )]
    ResultsDoNotMatch {
        /// The action that was answered.
        action: ActionId,
        /// The call concerned.
        call_id: String,
        /// `missing`, `given twice`, or `of no call of the action`.
        fault: &'static str,
    },
}

/// The events are not the journal of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// There are no events, or another event comes first.
    #[error("the first event of a run has to be `started`")]
    NotStarted,
    /// The host did not name the run.
    #[error("the run has no `traceId`; give it one before it starts")]
    NoTraceId,
    /// An event does not fit what came before it.
    #[error("event {index} of the journal does not fit the run")]
    DoesNotFit {
        /// Position in the journal, from 0.
        index: usize,
        /// Why not.
        #[source]
        source: ApplyError,
    },
}
