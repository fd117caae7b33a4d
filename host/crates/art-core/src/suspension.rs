//! Calls that wait for the decision of a person, and the decisions about them (contracts C16, C19).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Timestamp;
use crate::capability::Denial;
use crate::hitl::{Feedback, FeedbackSchema, HitlContext};
use crate::tool::{ParsedToolCall, RiskLevel};

/// Name of the tool with which a model asks the person for information (contract C104). The answer becomes a message of
/// the person.
pub const REQUEST_USER_INPUT: &str = "request_user_input";

/// A call that waits for a decision: the question to the person, and the tool version and arguments for which the decision holds.
///
/// It does not name the run, the thread or the person, because the journal (the record of the run) that contains it names them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SuspendedCall {
    /// Random identifier that the host creates. A person's decision refers to it.
    pub suspension_id: String,
    /// The call, with the arguments that the person sees: validated, defaults included.
    pub call: ParsedToolCall,
    /// Digest of the code of the tool; absent for a tool that is a function of the program that embeds the host. A decision does
    /// not hold for another version of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_digest: Option<String>,
    /// Digest of the arguments as JSON text. An approved call runs with exactly these arguments, unless the person changed them.
    #[serde(rename = "input")]
    pub input_digest: String,
    /// Who asks.
    pub cause: SuspensionCause,
    /// The question and the form of the answer.
    pub form: FeedbackSchema,
    /// Information that the tool gives for the decision.
    #[serde(
        default,
        deserialize_with = "crate::wire::keep_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub details: Option<Value>,
    /// What happens on approval, as the tool describes it.
    #[serde(
        default,
        deserialize_with = "crate::wire::keep_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub preview: Option<Value>,
    /// Risk of a wrong approval, as the tool declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
    /// Whether the call runs after an approval (for the second time if the tool itself asked). If not, the decision is the result
    /// of the call.
    pub runs_on_approval: bool,
    /// Whether the model may call the tool again in this run after a rejection, with other arguments.
    pub allow_retry: bool,
    /// Time from which the question is decided by [`on_expiry`](Self::on_expiry); absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// The decision that applies if nobody decides in time.
    #[serde(default)]
    pub on_expiry: ExpiryAction,
}

/// Who asks for the decision about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SuspensionCause {
    /// The tool, which ran and ended as suspended.
    Tool,
    /// A rule of the operator or the risk of the tool. The tool has not run.
    Rule {
        /// The rule in words, for the person.
        reason: String,
    },
    /// The host, because the call needs what the operator has not granted. The tool has not run. An approval adds the missing
    /// grants.
    Grant {
        /// What is missing.
        denials: Vec<Denial>,
    },
}

/// The decision about a question that nobody decided in time (contract Q4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpiryAction {
    /// Rejected.
    #[default]
    Reject,
    /// Approved. Only an operator can choose this action.
    Approve,
}

/// The decision about a suspended call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// What was decided, valid under the form of the question.
    pub feedback: Feedback,
    /// Who decided.
    pub by: DecidedBy,
}

/// Who decided about a suspended call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DecidedBy {
    /// A person.
    Person {
        /// The person, if the host knows several.
        #[serde(default, rename = "userId", skip_serializing_if = "Option::is_none")]
        user_id: Option<String>,
    },
    /// Nobody: the time limit of the question was over.
    Expiry,
}

impl SuspendedCall {
    /// Returns whether the time limit of the question is over.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// Returns the context that a call gets when it runs again after the decision (contract C18). The field `feedback` of the
    /// context has only the answer from the parameter `feedback`.
    #[must_use]
    pub fn hitl_context(&self, feedback: &Feedback) -> HitlContext {
        HitlContext {
            is_resuming: true,
            was_approved: Some(feedback.approved),
            feedback: feedback.answer(),
            suspension_id: Some(self.suspension_id.clone()),
            original_args: Some(self.call.arguments.clone()),
        }
    }
}
