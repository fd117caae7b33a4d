//! Output of a conversation: as text, or as JSON lines for a program.

use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::text::shorten;
use art_runtime::error::in_one_line;
use art_runtime::{Answer, Runtime};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::commands::COMMANDS;
use super::session::{Request, Session};
use super::{approve, report};
use crate::error::CommandError;
use crate::render::display::RunDisplay;
use crate::render::events::EventLines;
use crate::render::table::first_sentence;
use crate::render::{self, suggestions, table};

/// Maximum length of the description of a tool in the list of tools, in characters.
const MAX_DESCRIPTION_CHARS: usize = 80;

/// Prints what happens in a conversation, in one of two formats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    /// Whether to print JSON lines for a program instead of text for a person.
    json: bool,
}

impl Screen {
    pub(super) const fn new(json: bool) -> Self {
        Self { json }
    }

    /// Prints what a person should know before the first question. Always warns if costs are limited and the model has no
    /// price. Unless the output is JSON, also prints the model, its limitations, the interrupted runs and, if interactive, what
    /// can be typed.
    pub(super) async fn print_greeting(self, session: &Session, interactive: bool) -> Result<(), CommandError> {
        let runtime = &session.runtime;
        report::warn_of_unknown_price(runtime)?;
        if self.json {
            return Ok(());
        }
        report::show_model_and_problems(runtime, &runtime.model_info()?).await?;
        report::note_interrupted_runs(runtime, session.owner(), None, "/resume").await?;
        if interactive {
            render::note("type a question, or /help; Ctrl-D leaves");
        }
        Ok(())
    }

    /// Prints the result of a `/` command; in JSON output, as a line of the type `NOTE`.
    pub(super) fn print(self, text: &str) {
        if self.json {
            render::json_line(&json!({"type": "NOTE", "data": suggestions::in_text(text)}));
        } else {
            render::print(&suggestions::in_text(text));
        }
    }

    /// Prints a note for a person to stderr; in JSON output, prints nothing.
    pub(super) fn note(self, text: &str) {
        if !self.json {
            render::note(text);
        }
    }

    /// Prints an error.
    pub(super) fn print_error(self, error: &CommandError) {
        if self.json {
            let error = error.to_json();
            render::json_line(&json!({"type": "ERROR", "data": error.get("error")}));
        } else {
            render::note(&format!("error: {}", in_one_line(error)));
        }
    }

    /// Asks a question or resumes a run, and shows its progress and result.
    pub(super) async fn carry_out_and_show(
        self,
        session: &mut Session,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<Answer, CommandError> {
        if self.json {
            let answer = session.carry_out(request, cancel, &mut EventLines).await?;
            let report = report::to_json(&session.runtime, &answer);
            render::json_line(&json!({"type": "REPORT", "data": report}));
            return Ok(answer);
        }
        let mut display = RunDisplay::new();
        let result = session.carry_out(request, cancel, &mut display).await;
        if let Some(answer) = report::show_answer(display, &result) {
            show_notes_after_answer(answer, session);
        }
        result
    }

    /// Prints how to decide about the calls that the run waits for; nothing in JSON output.
    pub(super) fn note_how_to_decide(self, answer: &Answer) {
        if !self.json {
            approve::note_how_to_decide(answer);
        }
    }
}

/// Prints the notes after an answer: files, failures and the cost.
fn show_notes_after_answer(answer: &Answer, session: &Session) {
    report::show_closing_notes(answer);
    if let Some(usage) = &session.last_usage {
        render::note(&format!("({})\n", usage.to_line()));
    }
}

/// Returns the list of commands.
pub(super) fn help() -> String {
    let rows = COMMANDS.map(|(name, arguments, help)| vec![format!("/{name} {arguments}"), help.to_owned()]);
    let footer = "Any other line is a question; write `//` for a question that starts with `/`. Ctrl-C cancels a run.";
    format!("{}\n{footer}", table::lines(&rows).join("\n"))
}

/// Returns the list of tools.
pub(super) fn tools(runtime: &Runtime) -> String {
    let schemas = runtime.tools.registry().list();
    if schemas.is_empty() {
        return "there are no tools; `art quickstart` builds some".to_owned();
    }
    let rows: Vec<_> = schemas
        .into_iter()
        .map(|schema| {
            vec![
                schema.name,
                shorten(&first_sentence(&schema.description), MAX_DESCRIPTION_CHARS).into_owned(),
            ]
        })
        .collect();
    table::lines(&rows).join("\n")
}

/// Returns the usage of the last question and of the whole session.
pub(super) fn usage(session: &Session) -> String {
    let last = session
        .last_usage
        .as_ref()
        .map_or_else(|| "none yet".to_owned(), |last| last.to_line());
    format!("last question: {last}\nthis session: {}", session.total_usage.to_line())
}

/// Returns the message that names the attachments that were removed.
pub(super) fn removed_attachments(names: &[String]) -> String {
    match names {
        [] => "nothing was attached".to_owned(),
        names => format!("removed `{}`", names.join("`, `")),
    }
}

/// Returns the messages as text, oldest first.
pub(super) fn history(messages: &[ConversationMessage]) -> String {
    if messages.is_empty() {
        return "there are no messages yet".to_owned();
    }
    let lines = messages.iter().map(|message| {
        let prefix = if message.role == MessageRole::User { "> " } else { "" };
        format!("{prefix}{}", message.content.trim_end())
    });
    lines.collect::<Vec<_>>().join("\n\n")
}
