//! Calls that a person has approved for the future.

use std::collections::BTreeMap;
use std::path::PathBuf;

use art_core::suspension::{SuspendedCall, SuspensionCause};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place::Place;

/// Maximum size of a standing approval, in bytes of JSON.
pub const MAX_STANDING_BYTES: usize = 16 << 10;

/// Calls that a person has approved in advance, so that neither a rule nor the declared risk of the tool asks about them again.
///
/// A standing approval holds for one person and for one version of the tool. It never applies to a call that a rule refuses, nor
/// to a question that the tool itself asks. Only a person creates a standing approval; an agent cannot create one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StandingApproval {
    /// Name of the tool.
    pub tool: String,
    /// Digest of the code of the tool; absent for a tool that is a function of the program that embeds the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_digest: Option<String>,
    /// What each argument may be. A call with an argument that is not listed does not match. Absent means any arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, AllowedValue>>,
    /// Where the arguments that are paths led when the call was approved, with every link followed. A call does not match if one of
    /// its arguments leads elsewhere by then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, PathBuf>,
    /// The person for whom the approval holds; absent on a host with a single user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

/// What an argument of an approved call may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AllowedValue {
    /// Any value. The argument may also be absent.
    Any,
    /// Exactly this value.
    Is(Value),
}

/// Which calls a person approves for the future, derived from one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StandingScope {
    /// Calls with exactly the same arguments.
    SameArguments,
    /// Calls in which these arguments have any value or are absent, and all others are the same.
    AnyValueOf(Vec<String>),
    /// All calls of the tool.
    AnyArguments,
}

/// The error for a call that cannot be approved for the future in the given way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StandingError {
    /// Neither a rule nor the declared risk of the tool leads to the question: the tool itself asks, or the host asks because the
    /// operator has not granted what the call needs.
    #[error("no rule asks about `{tool}`, so each question needs a decision of its own")]
    ToolAsks {
        /// Name of the tool.
        tool: String,
    },
    /// The call has no such argument.
    #[error("the call has no argument `{name}`: it has {known}")]
    UnknownArgument {
        /// The name.
        name: String,
        /// The names of the arguments that the call has, in backticks.
        known: String,
    },
    /// The arguments are too long.
    #[error(
        "the arguments are too long to compare later calls with: {bytes} bytes, at most {MAX_STANDING_BYTES}; \
         let the long ones have any value"
    )]
    TooLong {
        /// Size of the approval.
        bytes: usize,
    },
}

impl StandingApproval {
    /// Creates the approval of calls like `asked`, the call about which a person is asked.
    ///
    /// # Errors
    /// Fails if neither a rule nor the declared risk of the tool leads to the question, if `scope` names an argument that the
    /// call does not have, or if the arguments are too long.
    pub fn new(asked: &SuspendedCall, scope: &StandingScope, user_id: Option<String>) -> Result<Self, StandingError> {
        let tool = asked.call.tool_name.clone();
        if !matches!(asked.cause, SuspensionCause::Rule { .. }) {
            return Err(StandingError::ToolAsks { tool });
        }
        let arguments = allowed_arguments(&asked.call.arguments, scope)?;
        let approval = Self {
            tool,
            tool_digest: asked.tool_digest.clone(),
            places: arguments.as_ref().map(places).unwrap_or_default(),
            arguments,
            user_id,
        };
        let bytes = serde_json::to_vec(&approval).map_or(usize::MAX, |text| text.len());
        match bytes > MAX_STANDING_BYTES {
            true => Err(StandingError::TooLong { bytes }),
            false => Ok(approval),
        }
    }

    /// Returns whether a call of this person is approved. `arguments` are the validated ones, defaults included.
    #[must_use]
    pub fn matches(&self, user_id: Option<&str>, tool: &str, tool_digest: Option<&str>, arguments: &Value) -> bool {
        self.user_id.as_deref() == user_id
            && self.tool == tool
            && self.tool_digest.as_deref() == tool_digest
            && self
                .arguments
                .as_ref()
                .is_none_or(|allowed| are_all_allowed(allowed, arguments) && self.leads_to_same_places(allowed))
    }

    /// Returns whether the arguments that have to be the same still lead to where they led when the call was approved.
    fn leads_to_same_places(&self, allowed: &BTreeMap<String, AllowedValue>) -> bool {
        fixed_texts(allowed).all(|(name, text)| {
            let place = Place::of(text);
            match (self.places.get(name), place) {
                (Some(known), place) => place.is_some_and(|place| place.resolved == *known),
                // A text that was no path then, or at whose path nothing existed, must not have become a link.
                (None, place) => place.is_none_or(|place| !place.normal.is_symlink()),
            }
        })
    }
}

/// Returns where the arguments that may be paths lead now: texts with a `/`, and names of files that exist.
fn places(allowed: &BTreeMap<String, AllowedValue>) -> BTreeMap<String, PathBuf> {
    let place = |(name, text): (&String, &str)| {
        let place = Place::of(text)?;
        let is_path = text.contains('/') || place.normal.symlink_metadata().is_ok();
        is_path.then(|| (name.clone(), place.resolved))
    };
    fixed_texts(allowed).filter_map(place).collect()
}

/// Returns the arguments that have to be a certain text.
fn fixed_texts(allowed: &BTreeMap<String, AllowedValue>) -> impl Iterator<Item = (&String, &str)> {
    allowed.iter().filter_map(|(name, value)| match value {
        AllowedValue::Is(Value::String(text)) => Some((name, text.as_str())),
        AllowedValue::Is(_) | AllowedValue::Any => None,
    })
}

/// Returns what each argument of later calls may be, or `None` if later calls may have any arguments.
fn allowed_arguments(
    arguments: &Value,
    scope: &StandingScope,
) -> Result<Option<BTreeMap<String, AllowedValue>>, StandingError> {
    let given = arguments.as_object().into_iter().flatten();
    let mut allowed: BTreeMap<_, _> = given
        .map(|(name, value)| (name.clone(), AllowedValue::Is(value.clone())))
        .collect();
    match scope {
        StandingScope::AnyArguments => return Ok(None),
        StandingScope::SameArguments => {}
        StandingScope::AnyValueOf(names) => {
            for name in names {
                let Some(value) = allowed.get_mut(name) else {
                    return Err(unknown_argument(name, &allowed));
                };
                *value = AllowedValue::Any;
            }
        }
    }
    Ok(Some(allowed))
}

fn unknown_argument(name: &str, known: &BTreeMap<String, AllowedValue>) -> StandingError {
    let in_one_line = |name: &String| name.split_whitespace().collect::<Vec<_>>().join(" ");
    let names: Vec<_> = known.keys().map(|name| format!("`{}`", in_one_line(name))).collect();
    StandingError::UnknownArgument {
        name: name.to_owned(),
        known: match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        },
    }
}

fn are_all_allowed(allowed: &BTreeMap<String, AllowedValue>, arguments: &Value) -> bool {
    let Some(arguments) = arguments.as_object() else {
        return false;
    };
    let is_listed = |name: &String| allowed.contains_key(name);
    let is_allowed = |(name, allowed): (&String, &AllowedValue)| match allowed {
        AllowedValue::Any => true,
        AllowedValue::Is(value) => arguments.get(name) == Some(value),
    };
    arguments.keys().all(is_listed) && allowed.iter().all(is_allowed)
}

#[cfg(test)]
mod tests;
