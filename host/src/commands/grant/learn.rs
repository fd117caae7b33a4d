//! `art grant learn`: proposes the smallest grants for what a tool was seen to do, in recorded calls or in calls that are made
//! now.

use art_core::capability::{Denial, LearnedPolicy, ObservedCalls, ToolPolicy};
use art_core::text::printable;
use art_runtime::compose::open_store_read_only;
use art_runtime::config::Config;
use art_runtime::grants::{GrantFiles, resolved};
use art_runtime::learn::observe_runs;
use art_sandbox::Plugin;
use art_store::RunFilter;
use art_tools::ToolExecutor;
use serde_json::json;
use similar::TextDiff;

use super::{load_plugin, read_grants_to_change, shown, write_agreed_grants};
use crate::cli::{GlobalOptions, LearnArgs};
use crate::commands::interrupt::{AfterInterrupt, Interrupts};
use crate::commands::tool::call::call_and_decide;
use crate::commands::{changes, open_runtime_without_grant_questions};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, suggestions};
use crate::tokio_runtime::new_executor;

/// What the observed calls of a tool show.
struct Findings {
    plugin: Plugin,
    /// The grants that the tool has now.
    present_grants: ToolPolicy,
    /// Number of calls that were observed.
    calls: usize,
    /// The proposed grants, and what was denied or never used.
    learned: LearnedPolicy,
}

pub(super) fn learn(
    global: &GlobalOptions,
    config: &Config,
    grants: &GrantFiles,
    args: &LearnArgs,
) -> Result<Exit, CommandError> {
    let plugin = load_plugin(global, config, &args.tool)?;
    let present_grants = read_grants_to_change(grants, &plugin)?;
    let observed = match args.arguments.is_empty() {
        true => observe_recorded(global, config, &plugin, args.runs)?,
        false => observe_new_calls(global, config, &plugin, &args.arguments)?,
    };
    // Calls that are suspended because of a denial have no end yet, and `observed.calls` does not count them.
    if observed.calls == 0 && observed.denials.is_empty() {
        let tool = &plugin.schema().name;
        return Err(CommandError::Failed(format!(
            "no call of the present component of `{tool}` is recorded (hint: `art grant learn {tool} ARGUMENTS` calls \
             the tool)"
        )));
    }
    let requests = plugin.inspection().requests();
    let may_grant = |policy: &ToolPolicy| grants.check(policy).is_ok();
    let current_policy = bind_to_component(&present_grants, &plugin);
    let learned = observed.learn(&current_policy, requests.as_deref(), may_grant, resolved);
    let calls = observed.calls;
    let findings = Findings {
        plugin,
        present_grants,
        calls,
        learned,
    };
    let text = findings.to_text(grants)?;
    let is_to_apply = args.apply && findings.proposes_change();
    if !global.json {
        render::print(&text);
    }
    let question = "make these grants in place of the present ones?";
    let applied = is_to_apply && (args.yes || shown::confirm(question)?);
    let as_json = global.json.then(|| findings.to_json(applied));
    if applied {
        write_agreed_grants(
            grants,
            findings.plugin,
            &findings.present_grants,
            findings.learned.policy,
        )?;
        render::note("the grants were made");
    }
    as_json.iter().for_each(render::json);
    let declined = is_to_apply && !applied;
    Ok(if declined { Exit::Failure } else { Exit::Success })
}

/// Returns what the calls of the tool in the recorded runs of this person show.
fn observe_recorded(
    global: &GlobalOptions,
    config: &Config,
    plugin: &Plugin,
    runs: usize,
) -> Result<ObservedCalls, CommandError> {
    let store = open_store_read_only(config)?;
    let filter = RunFilter {
        owner: global.owner(),
        limit: Some(runs),
        ..RunFilter::default()
    };
    let (tool, digest) = (&plugin.schema().name, plugin.digest());
    let found = new_executor()?.block_on(observe_runs(store.as_ref(), filter, tool, &digest))?;
    if found.unreadable > 0 {
        render::note(&format!("{} runs could not be read", found.unreadable));
    }
    Ok(found.observed)
}

/// Calls the tool once for each of `arguments`, with the grants that it has, and returns what was observed.
fn observe_new_calls(
    global: &GlobalOptions,
    config: &Config,
    plugin: &Plugin,
    arguments: &[String],
) -> Result<ObservedCalls, CommandError> {
    let interrupts = Interrupts::listen(AfterInterrupt::End)?;
    let executor = new_executor()?;
    // A runtime that asks a person for missing grants would suspend the calls, so they would not end with their denials.
    let runtime = executor.block_on(open_runtime_without_grant_questions(global, config.clone()))?;
    let mut observed = ObservedCalls::default();
    let outcome = arguments.iter().try_for_each(|arguments| {
        let name_and_arguments = (plugin.schema().name.as_str(), arguments.as_str());
        let answer = call_and_decide(global, &executor, &runtime, &interrupts, name_and_arguments)?;
        match &answer.direct_call_report {
            Some(report) => observed.add(&report.uses, &report.result.metadata.denials),
            None => render::note("a call waits for a decision and does not count"),
        }
        changes::offer_to_commit(global, &runtime.config, &answer.trace_id)
    });
    executor.block_on(runtime.close());
    outcome.map(|()| observed)
}

impl Findings {
    /// Returns whether the proposal differs from what is granted.
    fn proposes_change(&self) -> bool {
        self.learned.policy != bind_to_component(&self.present_grants, &self.plugin)
    }

    fn to_json(&self, applied: bool) -> serde_json::Value {
        let denials_to_json = |denials: &[(Denial, usize)]| -> Vec<_> {
            let each = denials.iter();
            each.map(|(denial, calls)| {
                let mut denial = denial.clone();
                suggestions::complete_denials([&mut denial]);
                json!({"denial": denial, "calls": calls})
            })
            .collect()
        };
        // `learned.allowed` has the denials that the proposed grants end, and `learned.denied` those that remain.
        json!({
            "tool": self.plugin.schema().name,
            "file": format!("{}.toml", self.plugin.digest()),
            "calls": self.calls,
            "denied": denials_to_json(&self.learned.allowed),
            "notGrantable": denials_to_json(&self.learned.denied),
            "neverUsed": self.learned.unused,
            "present": self.present_grants,
            "proposed": self.learned.policy,
            "applied": applied,
        })
    }

    /// Returns the findings as text for people.
    fn to_text(&self, grants: &GrantFiles) -> Result<String, CommandError> {
        let (learned, tool) = (&self.learned, &self.plugin.schema().name);
        let mut lines = vec![format!("{tool}: {} observed", count_calls(self.calls))];
        let denial_lines = |heading: &str, denials: &[(Denial, usize)]| {
            let each = denials.iter();
            let each = each.map(|(denial, calls)| format!("  {denial} ({})", count_calls(*calls)));
            let heading = (!denials.is_empty()).then(|| heading.to_owned());
            heading.into_iter().chain(each).collect::<Vec<_>>()
        };
        lines.extend(denial_lines("denied, and proposed below:", &learned.allowed));
        lines.extend(denial_lines("denied, and no grant is proposed:", &learned.denied));
        if !learned.unused.is_empty() {
            lines.push("never used:".to_owned());
            lines.extend(learned.unused.iter().map(|unused| format!("  {unused}")));
        }
        if !self.proposes_change() {
            lines.push("the grants are the smallest for these calls".to_owned());
            return Ok(printable(&lines.join("\n")));
        }
        let path = grants.path(&self.plugin.digest());
        lines.push(format!("proposed for `{}`:", path.display()));
        lines.push(difference(&self.present_grants, &self.learned.policy)?);
        Ok(printable(&lines.join("\n")))
    }
}

/// Returns the grants as if they were made for the present component. Policies are compared in this form, since an empty
/// policy may name no component.
fn bind_to_component(policy: &ToolPolicy, plugin: &Plugin) -> ToolPolicy {
    ToolPolicy {
        component: plugin.digest(),
        ..policy.clone()
    }
}

fn count_calls(calls: usize) -> String {
    match calls {
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    }
}

/// Returns the lines of the present and of the proposed grants as TOML, each marked as removed, added or unchanged.
fn difference(present: &ToolPolicy, proposed: &ToolPolicy) -> Result<String, CommandError> {
    let toml = |policy: &ToolPolicy| {
        let failed = |error: toml::ser::Error| CommandError::Failed(format!("the grants cannot be written: {error}"));
        toml::to_string(policy).map_err(failed)
    };
    let (present, proposed) = (toml(present)?, toml(proposed)?);
    let lines = TextDiff::from_lines(&present, &proposed);
    let lines = lines.iter_all_changes();
    let lines = lines.map(|change| format!("{} {change}", change.tag()).trim_end().to_owned());
    Ok(lines.collect::<Vec<_>>().join("\n"))
}
