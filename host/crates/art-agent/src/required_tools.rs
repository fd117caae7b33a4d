//! Enforces that a step calls its required tools, which the plan names. A model that does not call them is reminded to do so.
//! The setting `taef_max_retries` limits the reminders of one step; TAEF stands for tool-aware execution framework, a name for
//! this enforcement.
//!
//! The calls in all replies of a step count (contract P52). A step whose required tools were all called has passed its
//! validation (contract P55); a step without required tools skips it (contract P56). The model is reminded of missing
//! tools only if the validation mode of the step is strict, not advisory, and a reminder is left (contract P54).

use std::collections::BTreeSet;

use art_core::pes::{StepType, TodoItem, ToolValidationMode, ValidationStatus};

/// Returns whether `item` is a tool step: its type is `tool`, or it requires tools (contract P42). Any other item is a
/// reasoning step.
pub(crate) fn is_tool_step(item: &TodoItem) -> bool {
    item.step_type == Some(StepType::Tool) || !item.required_tools.is_empty()
}

/// The result of checking whether the required tools were called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolValidation {
    /// Whether all required tools were called, or `Skipped` if there are none.
    pub(crate) status: ValidationStatus,
    /// Required tools that were not called.
    pub(crate) missing: Vec<String>,
    /// Whether to remind the model. If so, none of the calls of its last reply is made (contract P53).
    pub(crate) must_remind: bool,
}

/// Checks whether the required tools were called. `called` contains all tools that were called for the item so far, and, while
/// the calls of the last reply are still to be made, the tools that this reply calls. A call that ended with an error counts as
/// well; a call that was refused before its tool ran does not (contract X19). `may_remind` tells whether the item has a reminder
/// and a model call left.
pub(crate) fn validate(item: &TodoItem, called: &BTreeSet<String>, may_remind: bool) -> ToolValidation {
    if item.required_tools.is_empty() {
        return ToolValidation {
            status: ValidationStatus::Skipped,
            missing: Vec::new(),
            must_remind: false,
        };
    }
    let missing: Vec<_> = item
        .required_tools
        .iter()
        .filter(|tool| !called.contains(*tool))
        .cloned()
        .collect();
    let strict = item.tool_validation_mode.unwrap_or_default() == ToolValidationMode::Strict;
    ToolValidation {
        status: if missing.is_empty() {
            ValidationStatus::Passed
        } else {
            ValidationStatus::Failed
        },
        must_remind: strict && may_remind && !missing.is_empty(),
        missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::item;

    const MAY_REMIND: bool = true;
    const NO_REMINDER_LEFT: bool = false;

    /// Returns an item that requires `tools`. Its validation is strict if `mode` is `None`.
    fn item_requiring(tools: &[&str], mode: Option<ToolValidationMode>) -> TodoItem {
        TodoItem {
            required_tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            tool_validation_mode: mode,
            ..item("a", &[])
        }
    }

    fn tool_set(tools: &[&str]) -> BTreeSet<String> {
        tools.iter().map(|tool| (*tool).to_owned()).collect()
    }

    // A step that requires a tool is a tool step, even if its type is `reasoning` (contract A30).
    #[test]
    fn a_step_is_a_tool_step_if_its_type_says_so_or_it_requires_a_tool() {
        let is_tool = |step_type, tools: &[&str]| {
            is_tool_step(&TodoItem {
                step_type,
                ..item_requiring(tools, None)
            })
        };
        assert!(is_tool(Some(StepType::Tool), &[]));
        assert!(is_tool(None, &["t"]));
        assert!(is_tool(Some(StepType::Reasoning), &["t"]));
        assert!(!is_tool(Some(StepType::Reasoning), &[]));
        assert!(!is_tool(None, &[]));
    }

    #[test]
    fn the_status_is_passed_if_all_required_tools_were_called() {
        let validation = validate(&item_requiring(&["t"], None), &tool_set(&["t", "u"]), MAY_REMIND);
        assert_eq!(
            (validation.status, validation.must_remind),
            (ValidationStatus::Passed, false)
        );
    }

    #[test]
    fn the_status_is_failed_if_a_required_tool_is_missing() {
        let validation = validate(&item_requiring(&["t", "u"], None), &tool_set(&["u"]), MAY_REMIND);
        assert_eq!(
            (validation.status, validation.must_remind),
            (ValidationStatus::Failed, true)
        );
        assert_eq!(validation.missing, ["t"]);
    }

    #[test]
    fn the_status_is_skipped_without_required_tools() {
        assert_eq!(
            validate(&item_requiring(&[], None), &tool_set(&[]), MAY_REMIND).status,
            ValidationStatus::Skipped
        );
    }

    #[test]
    fn in_advisory_mode_the_model_is_never_reminded() {
        let validation = validate(
            &item_requiring(&["t"], Some(ToolValidationMode::Advisory)),
            &tool_set(&[]),
            MAY_REMIND,
        );
        assert_eq!(
            (validation.status, validation.must_remind),
            (ValidationStatus::Failed, false)
        );
    }

    #[test]
    fn the_model_is_not_reminded_if_no_reminder_is_left() {
        let validation = validate(&item_requiring(&["t"], None), &tool_set(&[]), NO_REMINDER_LEFT);
        assert!(!validation.must_remind);
    }
}
