//! What a conversation shows: to a person, to a pipe, or as JSON lines to a program.

use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::text::prefix;
use art_runtime::error::in_one_line;
use art_runtime::{Answer, Runtime};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::commands::COMMANDS;
use super::session::Session;
use super::{approvals, report, run};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::display::Display;
use crate::render::events::EventLines;
use crate::render::table::first_sentence;
use crate::render::{self, table};

/// Characters of a tool's description.
const DESCRIBED: usize = 80;

/// How things are told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    json: bool,
}

impl Screen {
    pub(super) const fn new(json: bool) -> Self {
        Self { json }
    }

    /// Says which model answers and what it cannot do, and to a person how to go on.
    pub(super) async fn greet(self, host: &Runtime, interactive: bool) -> Result<(), CommandError> {
        report::warn_of_cost(host)?;
        if self.json {
            return Ok(());
        }
        report::introduce(host).await?;
        if interactive {
            render::note("ask something, or type /help; Ctrl-D leaves");
        }
        Ok(())
    }

    /// What a command was to show.
    pub(super) fn say(self, text: &str) {
        if self.json {
            render::json_line(&json!({"type": "NOTE", "data": text}));
        } else {
            render::answer(text);
        }
    }

    /// Something beside the conversation.
    pub(super) fn note(self, text: &str) {
        if !self.json {
            render::note(text);
        }
    }

    pub(super) fn error(self, error: &CommandError) {
        if self.json {
            let data = error.to_json();
            render::json_line(&json!({"type": "ERROR", "data": data.get("error")}));
        } else {
            render::note(&format!("error: {}", in_one_line(error)));
        }
    }

    /// Asks, shows what happens and how it ended.
    pub(super) async fn ask(
        self,
        session: &mut Session,
        query: String,
        cancel: CancellationToken,
    ) -> Result<Exit, CommandError> {
        let answered = if self.json {
            let answered = session.ask(query, cancel, &mut EventLines).await?;
            let report = report::to_json(&session.host, &answered);
            render::json_line(&json!({"type": "REPORT", "data": report}));
            answered
        } else {
            let mut display = Display::new();
            let asked = session.ask(query, cancel, &mut display).await;
            if let Some(answered) = report::show_answer(display, &asked) {
                show_rest(answered, session);
            }
            asked?
        };
        Ok(run::exit_of(&session.host, &answered))
    }
}

fn show_rest(answered: &Answer, session: &Session) {
    if let Some(waiting) = approvals::waiting(answered) {
        render::note(&waiting);
    }
    report::show_ending(&session.host, answered);
    if let Some(spent) = &session.last {
        render::note(&format!("({})\n", spent.in_words()));
    }
}

/// The commands, one a line.
pub(super) fn help() -> String {
    let rows = COMMANDS.map(|(name, arguments, what)| vec![format!("/{name} {arguments}"), what.to_owned()]);
    let more = "Anything else is a question; `//` begins one that starts with `/`. Ctrl-C cancels a run.";
    format!("{}\n{more}", table::lines(&rows).join("\n"))
}

/// The tools, one a line.
pub(super) fn tools(host: &Runtime) -> String {
    let schemas = host.tools.registry().list();
    if schemas.is_empty() {
        return "there are no tools; `art quickstart` builds some".to_owned();
    }
    let rows: Vec<_> = schemas
        .into_iter()
        .map(|schema| vec![schema.name, shortened(&schema.description)])
        .collect();
    table::lines(&rows).join("\n")
}

/// The beginning of a description, to a whole word.
fn shortened(description: &str) -> String {
    let sentence = first_sentence(description);
    let kept = prefix(&sentence, DESCRIBED);
    if kept.len() == sentence.len() {
        return sentence;
    }
    let words = kept.rsplit_once(' ').map_or(kept, |(words, _)| words);
    format!("{}...", words.trim_end_matches([',', ':', ';']))
}

/// What was used.
pub(super) fn costs(session: &Session) -> String {
    let last = session
        .last
        .as_ref()
        .map_or_else(|| "nothing yet".to_owned(), |last| last.in_words());
    format!("last question: {last}\nthis session: {}", session.spent.in_words())
}

/// What does not go with the next question any more.
pub(super) fn detached(names: &[String]) -> String {
    match names {
        [] => "nothing was attached".to_owned(),
        names => format!("`{}` will not be sent", names.join("`, `")),
    }
}

/// What was said, oldest first.
pub(super) fn history(messages: &[ConversationMessage]) -> String {
    if messages.is_empty() {
        return "nothing was said yet".to_owned();
    }
    let said = messages.iter().map(|message| {
        let who = if message.role == MessageRole::User { "> " } else { "" };
        format!("{who}{}", message.content.trim_end())
    });
    said.collect::<Vec<_>>().join("\n\n")
}
