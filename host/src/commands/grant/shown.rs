//! Shows what tools ask for and what they are granted: as text for people, or as JSON for programs.

use std::io::{IsTerminal, Write};

use art_core::capability::ToolPolicy;
use art_runtime::grants::{ApprovedComponent, GrantFiles, StoredGrants};
use art_sandbox::Plugin;
use art_tools::ToolExecutor;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, suggestions};

/// Prints what the tools ask for and what they are granted.
pub(super) fn list(global: &GlobalOptions, grants: &GrantFiles, plugins: &[Plugin]) -> Result<Exit, CommandError> {
    list_all(global, grants, plugins, false)
}

/// Same as [`list`]. `with_absent` adds the grants of components that are not in the plugins folder.
pub(super) fn list_all(
    global: &GlobalOptions,
    grants: &GrantFiles,
    plugins: &[Plugin],
    with_absent: bool,
) -> Result<Exit, CommandError> {
    let mut listed = Vec::new();
    for plugin in plugins {
        listed.push((plugin, grants.read(plugin)?));
    }
    let is_shown = |stored: &StoredGrants| {
        let mut shown = listed.iter().map(|(_, policy)| &policy.component);
        shown.any(|component| *component == stored.policy.component)
    };
    let stored = if with_absent { grants.list()? } else { Vec::new() };
    let absent: Vec<_> = stored.into_iter().filter(|stored| !is_shown(stored)).collect();
    if global.json {
        let tools = listed.iter().map(|(plugin, policy)| to_json(plugin, policy));
        let tools: Vec<_> = tools.chain(absent.iter().map(stored_to_json)).collect();
        render::json(&tools);
        return Ok(Exit::Success);
    }
    let texts = listed.iter().map(|(plugin, policy)| to_text(plugin, policy));
    let texts: Vec<_> = texts.chain(absent.iter().map(stored_to_text)).collect();
    match texts.is_empty() {
        true => render::note("there are no tools"),
        false => render::print(&texts.join("\n\n")),
    }
    Ok(Exit::Success)
}

/// Prints stored grants.
pub(super) fn list_stored(global: &GlobalOptions, stored: &[StoredGrants]) {
    if global.json {
        return render::json(&stored.iter().map(stored_to_json).collect::<Vec<_>>());
    }
    let texts = stored
        .iter()
        .map(|stored| [vec![stored.tool.clone()], indented_grant_lines(&stored.policy)].concat());
    render::print(&texts.map(|lines| lines.join("\n")).collect::<Vec<_>>().join("\n\n"));
}

/// Returns whether the grants were made for another component, so that a person has to approve the present one.
fn needs_approval(plugin: &Plugin, policy: &ToolPolicy) -> bool {
    !policy.is_for(&plugin.digest())
}

fn stored_to_json(stored: &StoredGrants) -> Value {
    json!({
        "tool": stored.tool,
        "file": format!("{}.wasm", stored.file),
        "digest": stored.policy.component,
        "grants": stored.policy,
    })
}

/// Returns the text about grants whose component is not in the plugins folder.
fn stored_to_text(stored: &StoredGrants) -> String {
    let tool = &stored.tool;
    let note = format!("  is not in the plugins folder; `art grant revoke {tool} --all` ends its grants");
    let note = suggestions::in_text(&note).into_owned();
    [vec![tool.clone(), note], indented_grant_lines(&stored.policy)]
        .concat()
        .join("\n")
}

fn indented_grant_lines(policy: &ToolPolicy) -> Vec<String> {
    grant_lines(policy)
        .into_iter()
        .map(|line| format!("  {line}"))
        .collect()
}

/// Returns the lines of the grants in `before` that are not in `after`.
pub(super) fn lost_lines(before: &ToolPolicy, after: &ToolPolicy) -> Vec<String> {
    let (mut lines, kept) = (grant_lines(before), grant_lines(after));
    lines.retain(|line| !kept.contains(line));
    lines
}

fn to_json(plugin: &Plugin, policy: &ToolPolicy) -> Value {
    json!({
        "tool": plugin.schema().name,
        "file": format!("{}.wasm", plugin.name()),
        "digest": plugin.digest(),
        "requests": plugin.inspection().requests(),
        "grants": policy,
        "needsApproval": needs_approval(plugin, policy),
    })
}

fn to_text(plugin: &Plugin, policy: &ToolPolicy) -> String {
    let name = &plugin.schema().name;
    let mut lines = vec![name.clone()];
    match plugin.inspection().requests() {
        None => lines.push("  has no manifest that says what it asks for, so it gets whatever is granted".to_owned()),
        Some(requests) if requests.is_empty() => lines.push("  asks for nothing".to_owned()),
        Some(requests) => lines.extend(requests.iter().map(|request| format!("  asks to {request}"))),
    }
    if needs_approval(plugin, policy) {
        let note =
            format!("  is not called until `art grant approve {name}`: its grants were made for another component");
        lines.push(suggestions::in_text(&note).into_owned());
    }
    lines.extend(indented_grant_lines(policy));
    lines.join("\n")
}

/// Returns a line for each grant, each limit and each restriction, or one line that says that nothing is granted.
fn grant_lines(policy: &ToolPolicy) -> Vec<String> {
    let mut lines = Vec::new();
    for grant in &policy.fs {
        let verb = if grant.access.may_write() {
            "read and write"
        } else {
            "read"
        };
        let staged = if grant.stage {
            "; what the tool writes there waits until you commit it"
        } else {
            ""
        };
        lines.push(format!("may {verb} {}{staged}", grant.path.display()));
    }
    for grant in &policy.http {
        let private = if grant.private {
            ", also at an address that is not public"
        } else {
            ""
        };
        let secret = grant.secret.as_ref();
        let secret = secret.map_or_else(String::new, |secret| format!(", with the secret {}", secret.name));
        lines.push(format!(
            "may send {} to {}{private}{secret}",
            grant.methods.join(", "),
            grant.url
        ));
    }
    lines.extend(policy.env.keys().map(|name| format!("may read the variable {name}")));
    lines.extend(
        policy
            .limits
            .iter()
            .map(|(name, value)| format!("has the limit {name} = {value}")),
    );
    if !policy.clock {
        lines.push("may not read the time".to_owned());
    }
    if !policy.random {
        lines.push("may not draw random numbers".to_owned());
    }
    if lines.is_empty() {
        lines.push("is granted nothing".to_owned());
    }
    lines
}

/// Returns the difference between the component for which the grants were made and the present one.
pub(super) fn difference(approved: Option<&ApprovedComponent>, plugin: &Plugin) -> String {
    let name = &plugin.schema().name;
    let now = to_pretty_json(&ApprovedComponent::of(plugin));
    let Some(approved) = approved else {
        return format!("there is no record of the earlier component of `{name}`; this is the new one:\n{now}");
    };
    let before = to_pretty_json(approved);
    let diff = TextDiff::from_lines(&before, &now);
    let changed_lines = diff
        .unified_diff()
        .context_radius(2)
        .header("approved", "now")
        .to_string();
    match changed_lines.is_empty() {
        true => format!("the code of `{name}` has changed; its schema, imports and requests are the same"),
        false => format!("`{name}` has changed:\n{changed_lines}"),
    }
}

/// Returns the properties of a component as JSON, without its digest, which always differs.
fn to_pretty_json(component: &ApprovedComponent) -> String {
    let mut properties = json!(component);
    if let Some(fields) = properties.as_object_mut() {
        fields.shift_remove("digest");
    }
    let mut text = serde_json::to_string_pretty(&properties).unwrap_or_default();
    text.push('\n');
    text
}

/// Asks the person at the terminal. Returns whether the answer is yes.
///
/// # Errors
/// Fails if there is no terminal.
pub(in crate::commands) fn confirm(question: &str) -> Result<bool, CommandError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !render::stderr_is_terminal() {
        return Err(CommandError::Usage("nobody can be asked: add `--yes`".to_owned()));
    }
    render::note(&format!("{question} [y/N]"));
    drop(std::io::stderr().flush());
    let mut line = String::new();
    stdin
        .read_line(&mut line)
        .map_err(|error| CommandError::Failed(format!("the answer could not be read: {error}")))?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
