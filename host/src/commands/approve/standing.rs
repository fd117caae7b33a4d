//! Standing approvals: with the decision about one call, a person can also approve later calls of the same tool, which then need
//! no decision. Here standing approvals are created, shown, stored, listed and removed.

use art_core::JsonObject;
use art_runtime::standing::StandingFolderError;
use art_runtime::{Runtime, StandingApprovals, StoredApproval};
use art_store::SuspensionRecord;
use art_tools::approval::AllowedValue;
use art_tools::{StandingApproval, StandingScope};
use serde_json::{Value, json};

use super::as_text;
use crate::cli::{AlwaysArgs, GlobalOptions};
use crate::commands::load_config;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;

impl AlwaysArgs {
    /// Returns which later calls the person approves, or `None` if the person approves only the call that the decision is about.
    fn scope(&self) -> Option<StandingScope> {
        self.always.then(|| match (self.any_arguments, self.any.is_empty()) {
            (true, _) => StandingScope::AnyArguments,
            (false, true) => StandingScope::SameArguments,
            (false, false) => StandingScope::AnyValueOf(self.any.clone()),
        })
    }

    /// Returns the standing approval that the person wants in addition to the decision, if any, and prints it.
    pub(super) fn create_standing_approval(
        &self,
        global: &GlobalOptions,
        record: &SuspensionRecord,
    ) -> Result<Option<StandingApproval>, CommandError> {
        let Some(scope) = self.scope() else {
            return Ok(None);
        };
        let approval = StandingApproval::new(&record.call, &scope, global.user.clone());
        let approval = approval.map_err(|error| CommandError::Usage(error.to_string()))?;
        render::note(&describe(&approval));
        Ok(Some(approval))
    }
}

/// Returns a standing approval in words. The values of arguments come from a call, so they are quoted and cannot look like words
/// of the host.
pub(super) fn describe(approval: &StandingApproval) -> String {
    let version = match &approval.tool_digest {
        Some(digest) => format!(" in its version {}", short_digest(digest)),
        None => String::new(),
    };
    let beginning = format!("no rule asks about calls of `{}`{version}", approval.tool);
    let Some(arguments) = &approval.arguments else {
        return format!("{beginning}, with any arguments");
    };
    let mut lines = vec![format!("{beginning} that have exactly these arguments:")];
    let exact = arguments.iter().filter_map(|(name, allowed)| match allowed {
        AllowedValue::Is(value) => Some((name.clone(), value.clone())),
        AllowedValue::Any => None,
    });
    lines.extend(as_text::quoted_json_lines(&Value::Object(
        exact.collect::<JsonObject>(),
    )));
    let with_any_value: Vec<_> = arguments
        .iter()
        .filter(|(_, allowed)| **allowed == AllowedValue::Any)
        .map(|(name, _)| format!("`{}`", as_text::one_line(name)))
        .collect();
    if !with_any_value.is_empty() {
        lines.push(format!("and any value of {}", with_any_value.join(", ")));
    }
    lines.join("\n")
}

/// Returns the first digits of a digest.
fn short_digest(digest: &str) -> String {
    let digits = digest.rsplit(':').next().unwrap_or_default();
    digits.chars().take(8).collect()
}

/// Stores the standing approval that a person gave together with the approval of a call. If it cannot be stored, prints that; the
/// call is approved nevertheless.
pub(super) fn store(runtime: &Runtime, approval: StandingApproval) {
    match StandingApprovals::of(&runtime.config).add(approval) {
        Ok(stored) => render::note(&format!(
            "kept as the standing approval {}; `art approve forget {}` removes it",
            stored.id, stored.id
        )),
        Err(error) => render::note(&format!(
            "error: approved, but not kept for later calls: {}",
            art_runtime::error::in_one_line(&error)
        )),
    }
}

/// Lists the rules by which the configuration allows or refuses calls or asks about them, in their order, and the standing
/// approvals of the person.
pub(super) fn list(global: &GlobalOptions, limit: usize) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    let (policy, approvals) = (&config.approval.value, StandingApprovals::of(&config));
    let mut listed = approvals.list().map_err(folder_error)?;
    listed.retain(|stored| stored.approval.user_id == global.user);
    let more = listed.len().saturating_sub(limit);
    listed.truncate(limit);
    if global.json {
        render::json(&json!({"policy": policy, "standing": listed, "more": more, "folder": approvals.folder()}));
        return Ok(Exit::Success);
    }
    let mut lines: Vec<_> = (1..)
        .zip(&policy.rules)
        .map(|(number, rule)| format!("rule {number} {}", rule.in_words()))
        .collect();
    lines.push(match policy.ask_from {
        Some(risk) => format!(
            "otherwise tools that declare a risk of at least {} are asked about",
            risk.name()
        ),
        None => "otherwise no tool is asked about".to_owned(),
    });
    lines.extend(listed.iter().map(list_line));
    render::print(&lines.join("\n"));
    if more > 0 {
        render::note(&format!("and {more} more; `--limit` lists more of them"));
    }
    Ok(Exit::Success)
}

fn list_line(stored: &StoredApproval) -> String {
    format!("standing approval {}: {}", stored.id, describe(&stored.approval))
}

/// Removes a standing approval.
pub(super) fn forget(global: &GlobalOptions, id: &str) -> Result<Exit, CommandError> {
    let approvals = StandingApprovals::of(&load_config(global)?);
    let all = approvals.list().map_err(folder_error)?;
    let belongs_to_somebody_else = |stored: &StoredApproval| stored.id == id && stored.approval.user_id != global.user;
    if all.iter().any(belongs_to_somebody_else) || !approvals.remove(id).map_err(folder_error)? {
        let unknown = format!("there is no standing approval `{id}`; `art approve rules` lists them");
        return Err(CommandError::Failed(unknown));
    }
    match global.json {
        true => render::json(&json!({"removed": id})),
        false => render::note("removed; its calls are asked about again"),
    }
    Ok(Exit::Success)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn folder_error(error: StandingFolderError) -> CommandError {
    CommandError::Failed(art_runtime::error::in_one_line(&error))
}
