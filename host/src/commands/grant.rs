//! `art grant`: shows and changes what tools may touch. The grants of a tool are a policy in a file of the home, and are made
//! for one component: a component that replaces it has to be approved.

mod edit;
mod learn;
mod shown;

use art_core::capability::ToolPolicy;
use art_runtime::compose::open_sandbox;
use art_runtime::config::Config;
use art_runtime::grants::{GrantError, GrantFiles, GrantLock, StoredGrants};
use art_runtime::plugins::load_folder;
use art_sandbox::Plugin;
use art_tools::{ToolExecutor, same_name};

pub(super) use shown::confirm;

use super::{check_plugins_folder, load_config, note_unread_grants};
use crate::cli::{GlobalOptions, GrantCommand};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;
use crate::render::compiling::CompilationDisplay;

pub(super) fn grant(global: &GlobalOptions, command: &GrantCommand) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    check_plugins_folder(&config)?;
    let grants = GrantFiles::new(&config);
    match command {
        GrantCommand::List { tool } => {
            let plugins = load_plugins(global, &config, tool.as_deref())?;
            shown::list_all(global, &grants, &plugins, tool.is_none())
        }
        GrantCommand::Add(args) => {
            let plugin = load_plugin(global, &config, &args.tool)?;
            let lock = grants.lock()?;
            let policy = edit::with_added(read_grants_to_change(&grants, &plugin)?, args)?;
            let plugin = write_grants(&grants, &lock, plugin, policy)?;
            drop(lock);
            shown::list(global, &grants, &[plugin])
        }
        GrantCommand::Revoke {
            tool,
            grants: revoked,
            all,
        } => revoke(global, &grants, tool, (!all).then_some(revoked)),
        GrantCommand::Learn(args) => learn::learn(global, &config, &grants, args),
        GrantCommand::Approve { tool, yes } => approve(global, &grants, load_plugin(global, &config, tool)?, *yes),
    }
}

/// Reads the grants of a tool, in order to change them. Fails if they were made for an earlier component of the tool, because a
/// change of one grant must not approve all the others for the present component.
fn read_grants_to_change(grants: &GrantFiles, plugin: &Plugin) -> Result<ToolPolicy, CommandError> {
    let policy = grants.read(plugin)?;
    if !policy.is_for(&plugin.digest()) {
        let tool = plugin.schema().name.clone();
        return Err(GrantError::OtherComponent { tool }.into());
    }
    Ok(policy)
}

/// Takes grants of a tool back: those in `revoked`, or all. Needs no component: what is taken back is no longer granted to any
/// component of the tool, even if it was removed from the folder or replaced there.
fn revoke(
    global: &GlobalOptions,
    grants: &GrantFiles,
    tool: &str,
    revoked: Option<&Vec<String>>,
) -> Result<Exit, CommandError> {
    let lock = grants.lock()?;
    let of_tool = |stored: &StoredGrants| same_name(&stored.tool, tool) || stored.file == tool;
    let mut reduced: Vec<_> = grants.list()?.into_iter().filter(of_tool).collect();
    match revoked {
        _ if reduced.is_empty() => {
            let message =
                format!("nothing is granted to a tool `{tool}` (hint: `art grant list` prints what is granted)");
            return match revoked {
                None => {
                    render::note(&message);
                    Ok(Exit::Success)
                }
                Some(_) => Err(CommandError::Usage(message)),
            };
        }
        None => {
            for stored in &mut reduced {
                let component = std::mem::take(&mut stored.policy.component);
                stored.policy = ToolPolicy {
                    component,
                    ..ToolPolicy::default()
                };
            }
        }
        Some(revoked) => edit::remove_revoked(&mut reduced, revoked)?,
    }
    for stored in &reduced {
        grants.write_reduced(&lock, stored)?;
    }
    drop(lock);
    shown::list_stored(global, &reduced);
    Ok(Exit::Success)
}

/// Writes the grants of a tool, and records that they were made for this component: `art grant approve` shows the difference to it
/// when another component has replaced it. Returns the component with the grants.
fn write_grants(
    grants: &GrantFiles,
    lock: &GrantLock,
    plugin: Plugin,
    mut policy: ToolPolicy,
) -> Result<Plugin, CommandError> {
    policy.component = plugin.digest();
    grants.check(&policy)?;
    let plugin = plugin.with_policy(policy.clone(), grants.base_dirs().clone());
    let plugin = plugin.map_err(|error| CommandError::Usage(format!("no grant was changed: {error}")))?;
    grants.write(lock, &plugin, &policy)?;
    Ok(plugin)
}

/// Writes the grants `agreed`, to which a person agreed. Fails if the grants of the tool have changed since the person was
/// asked: they must still be `grants_when_asked`.
fn write_agreed_grants(
    grants: &GrantFiles,
    plugin: Plugin,
    grants_when_asked: &ToolPolicy,
    agreed: ToolPolicy,
) -> Result<Plugin, CommandError> {
    let lock = grants.lock()?;
    if grants.read(&plugin)? != *grants_when_asked {
        let tool = &plugin.schema().name;
        return Err(CommandError::Failed(format!(
            "the grants of `{tool}` have changed meanwhile (hint: run the command again)"
        )));
    }
    write_grants(grants, &lock, plugin, agreed)
}

/// Lets the present component of a tool have the grants of the tool, if the person agrees. `yes` means that the person need not
/// be asked. Grants that this component cannot use are not kept.
fn approve(global: &GlobalOptions, grants: &GrantFiles, plugin: Plugin, yes: bool) -> Result<Exit, CommandError> {
    let policy = grants.read(&plugin)?;
    if policy.component == plugin.digest() {
        render::note(&format!("`{}` is approved already", plugin.schema().name));
        return Ok(Exit::Success);
    }
    render::note(&shown::difference(grants.approved(&policy.component).as_ref(), &plugin));
    let kept = plugin.usable_part(policy.clone());
    for lost in shown::lost_lines(&policy, &kept) {
        render::note(&format!("the new component cannot use this grant, so it ends: {lost}"));
    }
    if !yes
        && !shown::confirm(&format!(
            "let the new component of `{}` have the present grants?",
            plugin.schema().name
        ))?
    {
        render::note("not approved");
        return Ok(Exit::Failure);
    }
    let plugin = write_agreed_grants(grants, plugin, &policy, kept)?;
    shown::list(global, grants, &[plugin])
}

/// Loads the components of the folder without their grants: all, or only that of `tool`.
fn load_plugins(global: &GlobalOptions, config: &Config, tool: Option<&str>) -> Result<Vec<Plugin>, CommandError> {
    let folder = &config.plugins.value;
    let display = CompilationDisplay::new(global.json);
    let loaded = load_folder(&open_sandbox(config)?, folder, &|compiled| display.show(compiled))
        .map_err(CommandError::file("read the plugins folder", folder))?;
    let refused = loaded.refused;
    note_unread_grants(&loaded.unread);
    let mut plugins: Vec<_> = loaded
        .plugins
        .into_iter()
        .filter_map(std::sync::Arc::into_inner)
        .collect();
    let Some(tool) = tool else { return Ok(plugins) };
    // The tool and the file of its component may have different names. Both identify the tool.
    let has_name = |plugin: &Plugin| same_name(&plugin.schema().name, tool) || plugin.name() == tool;
    plugins.retain(has_name);
    if plugins.is_empty() {
        let refusal = refused.iter().find(|refused| refused.file == format!("{tool}.wasm"));
        let reason = refusal.map_or_else(|| "no component has it".to_owned(), ToString::to_string);
        let folder = folder.display();
        return Err(CommandError::Usage(format!(
            "there is no tool `{tool}` in `{folder}`: {reason} (hint: `art tool list` prints the tools, and `--plugins DIR` names \
             another folder)"
        )));
    }
    // If `tool` is the tool name of one component and the file name of another, the first by file name counts.
    plugins.truncate(1);
    Ok(plugins)
}

fn load_plugin(global: &GlobalOptions, config: &Config, tool: &str) -> Result<Plugin, CommandError> {
    let mut plugins = load_plugins(global, config, Some(tool))?;
    plugins
        .pop()
        .ok_or_else(|| CommandError::Usage(format!("there is no tool `{tool}`")))
}
