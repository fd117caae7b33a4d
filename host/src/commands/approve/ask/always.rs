//! Asks a person which later calls shall need no decision. The answer becomes a standing approval, which approves such calls.

use art_core::hitl::Feedback;
use art_core::suspension::SuspensionCause;
use art_runtime::StandingApprovals;
use art_tools::{StandingApproval, StandingScope};

use super::super::super::current_time;
use super::super::standing;
use super::{Question, QuestionOutcome};
use crate::render;

impl Question<'_> {
    /// Returns whether the person may approve later calls as well: only if a rule, and not the tool or the lack of
    /// a grant, is the cause of this question.
    pub(super) fn may_approve_later_calls(&self) -> bool {
        matches!(self.record.call.cause, SuspensionCause::Rule { .. })
    }

    /// Approves the call if a standing approval covers it. Returns `None` if no standing approval does, or if the decision is
    /// refused, so that the person has to be asked.
    pub(super) fn decide_by_standing_approval(&self) -> Option<QuestionOutcome> {
        let approvals = StandingApprovals::of(&self.runtime.config);
        let id = approvals.find_for(&self.record.call, self.user)?;
        let tool = &self.record.call.call.tool_name;
        render::note(&format!(
            "the call of `{tool}` is approved by the standing approval {id}"
        ));
        self.decide(Feedback::new(true, current_time()), None).ok()
    }

    /// Returns the standing approval that the person chooses and confirms, or `None` if the person goes back to the question.
    pub(super) fn choose_standing_approval(&self) -> Result<Option<StandingApproval>, QuestionOutcome> {
        let tool = &self.record.call.call.tool_name;
        render::note(&format!(
            "which later calls of `{tool}` need no decision?\n  1. those with exactly these arguments\n  2. those with these \
             arguments, but with any value of some that you name\n  3. all"
        ));
        let scope = match self.read("1, 2, 3 or back? ")?.trim() {
            "1" => StandingScope::SameArguments,
            "2" => StandingScope::AnyValueOf(self.read_argument_names()?),
            "3" => StandingScope::AnyArguments,
            _ => return Ok(None),
        };
        let approval = match StandingApproval::new(&self.record.call, &scope, self.user.map(str::to_owned)) {
            Ok(approval) => approval,
            Err(error) => {
                render::note(&error.to_string());
                return Ok(None);
            }
        };
        render::note(&standing::describe(&approval));
        let answer = self.read("keep this, and approve the call? (yes or no) ")?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes").then_some(approval))
    }

    fn read_argument_names(&self) -> Result<Vec<String>, QuestionOutcome> {
        let typed = self.read("arguments that may have any value, separated by commas: ")?;
        let names = typed.split(',').map(|name| name.trim().to_owned());
        Ok(names.filter(|name| !name.is_empty()).collect())
    }
}
