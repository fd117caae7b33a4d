//! Queries for the messages of conversations.

use art_core::Timestamp;
use art_core::conversation::ConversationMessage;
use rusqlite::{Connection, Row, params};

use super::fault::QueryError;
use super::row::{
    execute, from_name, get_u64, limit_parameter, name_list, query_all, time_bounds, to_integer, to_name,
};
use super::threads;
use crate::check;
use crate::error::StoreError;
use crate::record::MessageOptions;

/// Adds messages to a thread, and sets the time of its last write. Each message comes with its metadata as JSON text.
pub(super) fn append(
    connection: &Connection,
    thread_id: &str,
    messages: &[(ConversationMessage, String)],
    now: Timestamp,
) -> Result<(), QueryError> {
    let thread_key = threads::touch(connection, thread_id, now)?;
    insert(connection, thread_key, messages)
}

/// Adds messages to the thread with that primary key, but does not set the time of its last write.
pub(super) fn insert(
    connection: &Connection,
    thread_key: i64,
    messages: &[(ConversationMessage, String)],
) -> Result<(), QueryError> {
    for (message, metadata) in messages {
        let added = execute(
            connection,
            "INSERT INTO messages (id, thread, role, content, timestamp, metadata) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO NOTHING",
            params![
                message.message_id,
                thread_key,
                to_name(message.role),
                message.content,
                to_integer(message.timestamp),
                metadata
            ],
        )?;
        if added == 0 {
            return Err(QueryError::Store(StoreError::AlreadyExists {
                what: "message",
                id: message.message_id.clone(),
            }));
        }
    }
    Ok(())
}

pub(super) fn list(
    connection: &Connection,
    thread_id: &str,
    options: &MessageOptions,
) -> Result<Vec<ConversationMessage>, QueryError> {
    let Some(thread_key) = threads::find_key(connection, thread_id, &options.owner)? else {
        return Ok(Vec::new());
    };
    let (before, after) = time_bounds(options.before, options.after);
    let roles = name_list(options.roles.iter().map(to_name));
    // Reads the newest messages first, since the limit keeps these, and then reverses them. `roles` is a text such as `,A,B,`.
    let mut messages = query_all(
        connection,
        "SELECT id, role, content, timestamp, metadata FROM messages
         WHERE thread = ?1 AND timestamp < ?2 AND timestamp > ?3
           AND (?4 = '' OR instr(?4, ',' || role || ',') > 0)
         ORDER BY timestamp DESC, seq DESC LIMIT ?5",
        params![thread_key, before, after, roles, limit_parameter(options.limit)],
        |row| read(row, thread_id),
    )?;
    messages.reverse();
    Ok(messages)
}

fn read(row: &Row<'_>, thread_id: &str) -> Result<ConversationMessage, QueryError> {
    let message_id: String = row.get(0)?;
    let metadata = row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(ConversationMessage {
        role: from_name("the role", &message_id, row.get(1)?)?,
        metadata: check::decode("the metadata", &message_id, metadata)?,
        message_id,
        thread_id: thread_id.to_owned(),
        content: row.get(2)?,
        timestamp: get_u64(row, 3)?,
    })
}
