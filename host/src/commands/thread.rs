//! `art thread`: lists, shows, changes and deletes conversations.

mod settings;

use art_core::agent::ThreadConfig;
use art_core::text::printable;
use art_runtime::compose::{open_store, open_store_read_only};
use art_runtime::config::Config;
use art_runtime::deletion::delete_thread;
use art_store::{MessageOptions, Store, ThreadFilter};
use serde_json::json;

use super::{ids, load_config};
use crate::cli::{GlobalOptions, ThreadCommand};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, table, units};
use crate::tokio_runtime::new_executor;

pub(super) fn thread(global: &GlobalOptions, command: &ThreadCommand) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    new_executor()?.block_on(async {
        match command {
            ThreadCommand::List { limit } => list(global, open_store_read_only(&config)?.as_ref(), *limit).await,
            ThreadCommand::Show { id } => show(global, open_store_read_only(&config)?.as_ref(), id).await,
            ThreadCommand::Set { id, setting, value } => {
                let store = open_store(&config)?;
                let id = ids::resolve_thread(store.as_ref(), &global.owner(), id).await?;
                change_settings(store.as_ref(), &id, |thread_config| {
                    settings::change(thread_config, *setting, value, &config)
                })
                .await
            }
            ThreadCommand::Delete { id } => delete(global, &config, id).await,
        }
    })
}

async fn list(global: &GlobalOptions, store: &dyn Store, limit: usize) -> Result<Exit, CommandError> {
    let filter = ThreadFilter {
        owner: global.owner(),
        limit: Some(limit),
        ..ThreadFilter::default()
    };
    let threads = store.list_threads(filter).await?;
    if global.json {
        render::json(&threads);
        return Ok(Exit::Success);
    }
    let mut rows = vec![vec!["thread".to_owned(), "updated".to_owned(), "title".to_owned()]];
    for thread in &threads {
        let state = store.load_state(&thread.id).await?;
        let title = state
            .and_then(|state| Some(state.data.get("title")?.as_str()?.to_owned()))
            .unwrap_or_default();
        rows.push(vec![thread.id.clone(), units::ago(thread.updated), title]);
    }
    render::print(&table::lines(&rows).join("\n"));
    Ok(Exit::Success)
}

async fn show(global: &GlobalOptions, store: &dyn Store, typed: &str) -> Result<Exit, CommandError> {
    let id = &ids::resolve_thread(store, &global.owner(), typed).await?;
    let thread = store.get_thread(id).await?.ok_or_else(|| CommandError::no_thread(id))?;
    let messages = store.list_messages(id, MessageOptions::default()).await?;
    if global.json {
        render::json(&json!({"thread": thread, "messages": messages}));
        return Ok(Exit::Success);
    }
    for message in messages {
        let role = format!("{:?}", message.role).to_lowercase();
        let names: Vec<_> = message.attachments().into_iter().map(|file| file.name).collect();
        let attached = match names.as_slice() {
            [] => String::new(),
            names => format!("\nattached: {}", names.join(", ")),
        };
        render::print_prose(None, &format!("{role}: {}{attached}\n", message.content));
    }
    Ok(Exit::Success)
}

/// Changes the settings of a conversation with `change`, and prints the new settings.
async fn change_settings(
    store: &dyn Store,
    id: &str,
    change: impl FnOnce(ThreadConfig) -> Result<ThreadConfig, CommandError>,
) -> Result<Exit, CommandError> {
    let thread = store.get_thread(id).await?.ok_or_else(|| CommandError::no_thread(id))?;
    let thread = store.set_thread_config(id, change(thread.config)?).await?;
    render::json(&thread.config);
    Ok(Exit::Success)
}

/// Deletes a conversation and the changes that its runs have staged.
async fn delete(global: &GlobalOptions, config: &Config, typed: &str) -> Result<Exit, CommandError> {
    let store = open_store(config)?;
    let id = &ids::resolve_thread(store.as_ref(), &global.owner(), typed).await?;
    let dropped = delete_thread(store.as_ref(), config.staging().as_deref(), id).await?;
    if global.json {
        render::json(&json!({"deleted": id, "droppedChanges": dropped}));
    } else {
        render::note(&format!("deleted thread {id}"));
        for path in dropped {
            render::note(&format!(
                "dropped its staged change of {}",
                printable(&path.display().to_string())
            ));
        }
    }
    Ok(Exit::Success)
}
