//! Errors of applying events. A run itself always ends with an answer and never with an error of this kind.

use crate::action::ActionId;

/// Why an event does not fit the run. The event leaves the run unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The run has already started.
    #[error("the run was started before; start another run instead")]
    AlreadyStarted,
    /// The run has already ended.
    #[error("the run is finished; drop answers that come after its end")]
    Finished,
    /// The action has been answered already, or never existed.
    #[error("action `{action}` is not open; answer each action once")]
    ActionNotOpen {
        /// Number of the action.
        action: ActionId,
    },
    /// The event is a model reply for an action that calls tools, or the reverse.
    #[error("action `{action}` waits for {expected}")]
    WrongAnswer {
        /// Number of the action.
        action: ActionId,
        /// The kind of event that the action waits for.
        expected: &'static str,
    },
    /// The call was made already.
    #[error("a call of action `{action}` is made twice; make each call once")]
    AlreadyMade {
        /// Number of the action.
        action: ActionId,
    },
    /// A call has ended that was not made.
    #[error("a call of action `{action}` has ended that was not made; announce each call before it is made")]
    NotMade {
        /// Number of the action.
        action: ActionId,
    },
    /// The suspension was decided already, or never existed.
    #[error("no call waits for a decision with the identifier `{suspension_id}`; decide each suspension once")]
    NotSuspended {
        /// Identifier of the suspension.
        suspension_id: String,
    },
    /// The calls of the plan are not to be checked now, or a question is about another call.
    #[error(
        "the questions are not about the calls of the plan that are to be checked now; ask about each known call once"
    )]
    PlanNotToCheck,
    /// The results do not match the calls of the action.
    #[error(
        "action `{action}` needs exactly one result for each of its calls; the result of call `{call_id}` is {fault}"
    )]
    ResultsDoNotMatch {
        /// Number of the action.
        action: ActionId,
        /// Identifier of the call.
        call_id: String,
        /// What is wrong with the result, such as `missing` or `given twice`.
        fault: &'static str,
    },
}

/// Why a list of events is not the journal of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// There is no event, or the first one is not `started`.
    #[error("the first event of a run has to be `started`")]
    NotStarted,
    /// The first event does not name the run.
    #[error("the run has no `traceId`; give it one before it starts")]
    NoTraceId,
    /// An event does not fit the events before it.
    #[error("event {index} of the journal does not fit the run")]
    DoesNotFit {
        /// Position of the event in the journal, from 0.
        index: usize,
        /// The error of applying it.
        #[source]
        source: ApplyError,
    },
}
