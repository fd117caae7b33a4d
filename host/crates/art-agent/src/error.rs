//! Errors of applying an event to a run. They show a fault of the driver, which is the program around the run, or of the journal,
//! which is the stored list of the events of a run. The run itself never ends with an error of this kind.
//!
//! An action is one model call or one batch of tool calls. It is open from the time when the run needs it until it is answered:
//! by the reply or the failure of the model call, or by the ends of all calls of the batch. A call counts as made once an event
//! announces it.

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
    /// The event is about an action that has been answered already, or never existed.
    #[error("action `{action}` is not open; answer each action once")]
    ActionNotOpen {
        /// Number of the action.
        action: ActionId,
    },
    /// The event is for a model call, and the action is a batch of tool calls, or the reverse.
    #[error("action `{action}` waits for {expected}")]
    WrongAnswer {
        /// Number of the action.
        action: ActionId,
        /// What the action waits for.
        expected: &'static str,
    },
    /// The event announces a call, refuses a model call or suspends a tool call, but that call was announced before or waits for
    /// a person.
    #[error("a call of action `{action}` is made twice; make each call once")]
    AlreadyMade {
        /// Number of the action.
        action: ActionId,
    },
    /// The event ends a call that no event has announced.
    #[error("a call of action `{action}` has ended that was not made; announce each call before it is made")]
    NotMade {
        /// Number of the action.
        action: ActionId,
    },
    /// The event is a decision about a suspended call, and no call with this suspension waits for a person: it was decided
    /// already, or never existed.
    #[error("no call waits for a decision with the identifier `{suspension_id}`; decide each suspension once")]
    NotSuspended {
        /// Identifier of the suspension.
        suspension_id: String,
    },
    /// The event says that the planned calls were checked against the approval rules, and contains the questions about these
    /// calls that a person has to answer. But no such check is due, or a question is about another call, or two are about the
    /// same call.
    #[error(
        "the questions are not about the calls of the plan that are to be checked now; ask about each known call once"
    )]
    PlanQuestionsDoNotMatch,
    /// The event does not match the calls of the action: it names a call that is not among them, has a second result for a call,
    /// lacks a result, or has a result that its call cannot have.
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
    /// The first event has no identifier of the run.
    #[error("the run has no `traceId`; give it one before it starts")]
    NoTraceId,
    /// An event does not fit the events before it.
    #[error("event {index} of the journal does not fit the run")]
    DoesNotFit {
        /// Position of the event in the journal, from 0.
        index: usize,
        /// Why it does not fit.
        #[source]
        source: ApplyError,
    },
}
