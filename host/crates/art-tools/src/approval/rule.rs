//! One rule of the operator: its conditions, and what happens to a call that meets them.

use std::collections::BTreeMap;

use art_core::tool::{RiskLevel, ToolSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Verdict, place};
use crate::glob::Glob;
use crate::scalar::scalar_text;

/// A rule about calls. It matches a call that meets all of its conditions; a rule without conditions matches every call.
///
/// Risk and category are claims of the tool. For tools that are not trusted, write rules with `tool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRule {
    /// What happens to a call that matches.
    pub action: ApprovalAction,
    /// Pattern for the name of the tool, in which `_` and `-` are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Glob>,
    /// The rule matches only tools that declare at least this risk. A tool that declares none does not match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskLevel>,
    /// Pattern for the category that the tool declares. A tool that declares none does not match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Glob>,
    /// Patterns for arguments, each at a JSON pointer: `{ "/path" = "/etc/*" }`. A pattern is compared with the text of a string,
    /// number, boolean or null. Equal numbers have the same text, so `10` also matches `10.0`.
    ///
    /// A pattern with a `/`, other than that of an address (`https://..`), is a pattern of paths, in which `~` is the home directory
    /// and `*` matches `/` as well. It is compared with the path in normal form (absolute, without empty parts, `.` and `..`) and
    /// with the path to which all its links lead. An `allow` rule matches only if both match, and an `ask` or `refuse` rule if
    /// either does, or if the text matches as the model wrote it. Without a `/`, the text is compared as it is written, and, if it
    /// is the path of a link, the path to which this leads.
    ///
    /// If an argument is missing, or is an array or an object, the host cannot know what it means to the tool. Then the
    /// condition on this argument counts as met in an `ask` or `refuse` rule, and as not met in an `allow` rule.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<Pointer, Glob>,
    /// True if a call that lacks one of the `arguments` does not match, whatever the action of the rule is. Set it for arguments
    /// without which the tool is harmless.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_missing: bool,
    /// Why the rule exists, for the person and, if it refuses, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What happens to a call that a rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalAction {
    /// A person is asked.
    Ask,
    /// The call runs.
    Allow,
    /// The call does not run.
    Refuse,
}

/// A JSON pointer to an argument: `/path`, or `/options/force`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pointer(String);

/// The error for a text that is no JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no JSON pointer: begin it with `/`, and write `~0` for `~` and `~1` for `/` in a name")]
pub struct InvalidPointer(String);

impl TryFrom<String> for Pointer {
    type Error = InvalidPointer;

    fn try_from(text: String) -> Result<Self, InvalidPointer> {
        let mut escapes = text.split('~').skip(1);
        match text.starts_with('/') && escapes.all(|rest| rest.starts_with(['0', '1'])) {
            true => Ok(Self(text)),
            false => Err(InvalidPointer(text)),
        }
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> Self {
        pointer.0
    }
}

impl ApprovalRule {
    /// Returns whether the rule matches a call.
    pub(super) fn matches(&self, schema: &ToolSchema, arguments: &Value) -> bool {
        // Risk and category are in `blocking_config`, also for tools that are not blocking.
        let declared = schema.blocking_config.as_ref();
        let risk = declared.and_then(|config| config.risk_level);
        let category = declared.and_then(|config| config.category.as_deref());
        let tool_matches = |glob: &Glob| glob.matches_tool(&schema.name);
        let category_matches = |glob: &Glob| category.is_some_and(|category| glob.matches(category));
        self.tool.as_ref().is_none_or(tool_matches)
            && self.risk.is_none_or(|least| risk.is_some_and(|risk| risk >= least))
            && self.category.as_ref().is_none_or(category_matches)
            && self
                .arguments
                .iter()
                .all(|(pointer, glob)| self.matches_argument(arguments.pointer(&pointer.0), glob))
    }

    /// Returns whether an argument matches a pattern. A missing argument, an array and an object match if the rule asks or
    /// refuses. With `skip_missing`, a missing argument never matches.
    fn matches_argument(&self, argument: Option<&Value>, glob: &Glob) -> bool {
        let matches_incomparable = self.action != ApprovalAction::Allow;
        match argument.map(scalar_text) {
            Some(Some(text)) => place::matches(self.action, glob, &text),
            Some(None) => matches_incomparable,
            None => matches_incomparable && !self.skip_missing,
        }
    }

    /// Returns the verdict about a call that matches the rule with this number.
    pub(super) fn verdict(&self, number: usize) -> Verdict {
        let with_reason = |text: String| match &self.reason {
            Some(reason) => format!("{text}: {reason}"),
            None => text,
        };
        match self.action {
            ApprovalAction::Allow => Verdict::Run,
            ApprovalAction::Ask => Verdict::Ask {
                reason: with_reason(format!("approval rule {number} asks about {}", self.conditions())),
            },
            ApprovalAction::Refuse => Verdict::Refuse {
                reason: with_reason(format!("approval rule {number} refuses this call")),
            },
        }
    }

    /// Returns the rule in words, for the operator.
    #[must_use]
    pub fn in_words(&self) -> String {
        let verb = match self.action {
            ApprovalAction::Ask => "asks about",
            ApprovalAction::Allow => "allows",
            ApprovalAction::Refuse => "refuses",
        };
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}"));
        format!("{verb} {}{}", self.conditions(), reason.unwrap_or_default())
    }

    /// Returns the conditions in words.
    fn conditions(&self) -> String {
        let tool = self.tool.as_ref().map(|glob| format!("tools like `{glob}`"));
        let risk = self.risk.map(|risk| format!("a risk of at least {}", risk.name()));
        let category = self.category.as_ref().map(|glob| format!("the category `{glob}`"));
        let argument = |(pointer, glob): (&Pointer, &Glob)| format!("`{}` like `{glob}`", pointer.0);
        let arguments = self.arguments.iter().map(argument);
        let texts: Vec<_> = [tool, risk, category].into_iter().flatten().chain(arguments).collect();
        match texts.as_slice() {
            [] => "every call".to_owned(),
            texts => texts.join(" with "),
        }
    }
}
