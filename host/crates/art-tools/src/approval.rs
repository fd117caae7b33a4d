//! The operator's rules: which calls run, which wait for the decision of a person, and which are refused.

mod place;
mod rule;
mod standing;

use art_core::Timestamp;
use art_core::hitl::InputType;
use art_core::suspension::{ExpiryAction, SuspendedCall, SuspensionCause};
use art_core::tool::{ExecutionMode, RiskLevel, ToolSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use rule::{ApprovalAction, ApprovalRule, InvalidPointer, Pointer};
pub use standing::{AllowedValue, MAX_STANDING_BYTES, StandingApproval, StandingError, StandingScope};

/// Decides which calls run, which a person is asked about, and which are refused. In `art.toml` it is the table `[approval]`:
///
/// ```toml
/// [approval]
/// ask_from = "high"            # `low`, `medium`, `high`, `critical`, or `never`
/// ask_together = true          # ask about all known calls of a plan before its first step
/// timeout_ms = 86400000        # time for a decision: one day
/// on_timeout = "reject"        # what an undecided question counts as after this time: `reject` or `approve`
///
/// [[approval.rule]]
/// action = "allow"
/// tool = "file_*"
/// arguments = { "/path" = "/tmp/*" }
///
/// [[approval.rule]]
/// action = "ask"
/// tool = "file_*"
/// ```
///
/// The first rule that matches decides. A call that no rule matches waits for a person if its tool declares a risk of at least
/// [`ask_from`](Self::ask_from), and runs otherwise. A blocking tool asks by itself, with what it is about to do, so its risk
/// does not lead to a second question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApprovalPolicy {
    /// The rules, of which the first that matches decides.
    #[serde(rename = "rule")]
    pub rules: Vec<ApprovalRule>,
    /// A person is asked about a tool that declares at least this risk. `None`, which is written `never`, means that no risk
    /// leads to a question.
    #[serde(with = "threshold")]
    pub ask_from: Option<RiskLevel>,
    /// Whether a person is asked, before the first step of a plan starts, about all its calls whose arguments are known by then.
    pub ask_together: bool,
    /// Time in milliseconds after which an undecided question counts as decided, unless its tool has a time limit of its own.
    /// `None` means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether a question counts as rejected or as approved when its time is over without a decision (contract Q4). A question
    /// always counts as rejected if it asks for more than an approval, such as a text, or if it is about a permission that the
    /// operator has not granted.
    pub on_timeout: ExpiryAction,
}

impl Default for ApprovalPolicy {
    /// Returns a policy without rules that asks about calls of a high or critical risk.
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            ask_from: Some(RiskLevel::High),
            ask_together: false,
            timeout_ms: None,
            on_timeout: ExpiryAction::Reject,
        }
    }
}

/// What the policy decides about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call runs.
    Run,
    /// The call waits for the decision of a person.
    Ask {
        /// Why, for the person.
        reason: String,
    },
    /// The call does not run, whatever a person decides.
    Refuse {
        /// Why, for the model and the person. Does not contain the patterns of the rule.
        reason: String,
    },
}

impl ApprovalPolicy {
    /// Sets the time at which a question that is asked `now` expires, unless it already has such a time. Also sets whether the
    /// question counts as rejected or as approved once it has expired. A question that asks for more than an approval, or that
    /// is about a permission that the operator has not granted, keeps its own `on_expiry`.
    pub fn set_expiry(&self, question: &mut SuspendedCall, now: Timestamp) {
        let deadline = self.timeout_ms.map(|timeout_ms| now.saturating_add(timeout_ms));
        question.expires = question.expires.or(deadline);
        let is_grant = matches!(question.cause, SuspensionCause::Grant { .. });
        if question.form.input_type == InputType::Confirm && !is_grant {
            question.on_expiry = self.on_timeout;
        }
    }

    /// Decides about a call of the tool that `schema` declares. `arguments` are the validated ones, defaults included. The same
    /// call always gets the same verdict while the links in its paths stay the same.
    ///
    /// Arguments that a person edited need a verdict of their own, which may refuse them.
    #[must_use]
    pub fn verdict(&self, schema: &ToolSchema, arguments: &Value) -> Verdict {
        let numbered = self.rules.iter().zip(1_usize..);
        for (rule, number) in numbered {
            if rule.matches(schema, arguments) {
                return rule.verdict(number);
            }
        }
        let risk = schema.blocking_config.as_ref().and_then(|config| config.risk_level);
        let asks_by_itself = schema.execution_mode == ExecutionMode::Blocking;
        match (risk, self.ask_from) {
            (Some(risk), Some(from)) if risk >= from && !asks_by_itself => Verdict::Ask {
                reason: format!("the risk of the tool is {}", risk.name()),
            },
            _ => Verdict::Run,
        }
    }
}

/// Serialises and deserialises a risk level or `never`.
mod threshold {
    use art_core::tool::RiskLevel;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Threshold {
        Low,
        Medium,
        High,
        Critical,
        Never,
    }

    #[expect(clippy::ref_option, reason = "the signature that serde calls")]
    pub(super) fn serialize<S: Serializer>(level: &Option<RiskLevel>, serializer: S) -> Result<S::Ok, S::Error> {
        match level {
            Some(RiskLevel::Low) => Threshold::Low,
            Some(RiskLevel::Medium) => Threshold::Medium,
            Some(RiskLevel::High) => Threshold::High,
            Some(RiskLevel::Critical) => Threshold::Critical,
            None => Threshold::Never,
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RiskLevel>, D::Error> {
        Ok(match Threshold::deserialize(deserializer)? {
            Threshold::Low => Some(RiskLevel::Low),
            Threshold::Medium => Some(RiskLevel::Medium),
            Threshold::High => Some(RiskLevel::High),
            Threshold::Critical => Some(RiskLevel::Critical),
            Threshold::Never => None,
        })
    }
}

#[cfg(test)]
mod tests;
