//! Parsing of the lines of a conversation: questions and `/` commands.

use std::path::PathBuf;

/// A parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChatLine {
    /// An empty line.
    Empty,
    /// A question.
    Ask(String),
    /// `/help`
    Help,
    /// `/tools`
    Tools,
    /// `/model [PROVIDER[:MODEL]]`
    Model(Option<String>),
    /// `/thread [ID|new]`
    Thread(ThreadAction),
    /// `/resume [RUN]`
    Resume(Option<String>),
    /// `/cost`
    Cost,
    /// `/attach FILE`, or `/attach --keep FILE` for all later questions too. A file with the name `none` has to be given as `./none`.
    Attach {
        /// The file.
        path: PathBuf,
        /// Whether later questions may use it without naming it.
        keep: bool,
    },
    /// `/attach none`
    Detach,
    /// `/history`
    History,
    /// `/exit`
    Exit,
    /// An invalid command, with the reason.
    Invalid(String),
}

/// The action of `/thread`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ThreadAction {
    /// Show the identifier of the conversation.
    Show,
    /// Start a new conversation.
    New,
    /// Continue the conversation with this identifier.
    Switch(String),
}

/// Name, arguments and help text of each command.
pub(super) const COMMANDS: [(&str, &str, &str); 9] = [
    ("help", "", "show this list"),
    ("tools", "", "list the tools"),
    (
        "model",
        "[PROVIDER[:MODEL]]",
        "show the model, or switch to another one",
    ),
    (
        "thread",
        "[ID|new]",
        "show the conversation, switch to another one, or start a new one",
    ),
    (
        "resume",
        "[RUN]",
        "go on with the interrupted run of this conversation, or with another one",
    ),
    ("cost", "", "show what the last question and this session cost"),
    (
        "attach",
        "[--keep] FILE|none",
        "attach a file to the next question; with `--keep` later ones may use it; `none` removes all",
    ),
    ("history", "", "show the messages of this conversation"),
    ("exit", "", "leave (so does Ctrl-D)"),
];

/// Aliases of commands in [`COMMANDS`].
const ALIASES: [(&str, &str); 2] = [("quit", "exit"), ("?", "help")];

impl ChatLine {
    /// Parses a line. A line that begins with `/` is a command; `//` begins a question that starts with `/`.
    pub(super) fn parse(line: &str) -> Self {
        let line = line.trim();
        match line.strip_prefix('/') {
            _ if line.is_empty() => Self::Empty,
            None => Self::Ask(line.to_owned()),
            Some(question) if question.starts_with('/') => Self::Ask(question.to_owned()),
            Some(command) => {
                let (name, argument) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
                Self::parse_command(&name.to_lowercase(), argument.trim())
            }
        }
    }

    fn parse_command(name: &str, argument: &str) -> Self {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let name = alias.map_or(name, |(_, name)| name);
        match (name, argument) {
            ("model", "") => Self::Model(None),
            ("model", model) => Self::Model(Some(model.to_owned())),
            ("thread", "") => Self::Thread(ThreadAction::Show),
            ("thread", "new") => Self::Thread(ThreadAction::New),
            ("thread", id) => Self::Thread(ThreadAction::Switch(id.to_owned())),
            ("resume", "") => Self::Resume(None),
            ("resume", run) => Self::Resume(Some(run.to_owned())),
            ("attach", "") => Self::Invalid("`/attach` needs a file, as in `/attach sales.csv`".to_owned()),
            ("attach", "none") => Self::Detach,
            ("attach", file) => {
                let kept = file.strip_prefix("--keep ").map(str::trim);
                Self::Attach {
                    path: PathBuf::from(unquote(kept.unwrap_or(file))),
                    keep: kept.is_some(),
                }
            }
            ("help" | "tools" | "cost" | "history" | "exit", argument) if !argument.is_empty() => {
                Self::Invalid(format!("`/{name}` takes no argument"))
            }
            ("help", _) => Self::Help,
            ("tools", _) => Self::Tools,
            ("cost", _) => Self::Cost,
            ("history", _) => Self::History,
            ("exit", _) => Self::Exit,
            (unknown, _) => Self::Invalid(unknown_command(unknown)),
        }
    }
}

/// Removes quotes around a file name, as a shell does.
fn unquote(file: &str) -> &str {
    let strip = |quote: char| file.strip_prefix(quote)?.strip_suffix(quote);
    strip('"').or_else(|| strip('\'')).unwrap_or(file)
}

/// Returns the error for an unknown command, with a similar command if there is one.
fn unknown_command(name: &str) -> String {
    let distance = |command: &str| strsim::damerau_levenshtein(name, command);
    let nearest = COMMANDS.iter().map(|(command, ..)| (distance(command), *command)).min();
    let name = art_core::text::truncate(name, 40);
    match nearest {
        Some((distance, command)) if distance <= 2 => {
            format!("there is no command `/{name}`; did you mean `/{command}`?")
        }
        _ => format!("there is no command `/{name}`; `/help` lists all"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid_reason(line: &str) -> String {
        match ChatLine::parse(line) {
            ChatLine::Invalid(reason) => reason,
            other => panic!("`{line}` is {other:?}"),
        }
    }

    fn attach(path: &str, keep: bool) -> ChatLine {
        let path = path.into();
        ChatLine::Attach { path, keep }
    }

    #[test]
    fn a_line_that_does_not_begin_with_a_slash_is_a_question() {
        assert_eq!(
            ChatLine::parse("  What is 2+2? "),
            ChatLine::Ask("What is 2+2?".to_owned())
        );
        assert_eq!(ChatLine::parse("1/2"), ChatLine::Ask("1/2".to_owned()));
    }

    #[test]
    fn two_slashes_begin_a_question_that_starts_with_one_slash() {
        assert_eq!(ChatLine::parse("//help me"), ChatLine::Ask("/help me".to_owned()));
    }

    #[test]
    fn a_blank_line_is_empty() {
        assert_eq!(ChatLine::parse(" \t"), ChatLine::Empty);
    }

    #[test]
    fn every_listed_command_is_parsed() {
        for (name, arguments, _) in COMMANDS {
            // `/attach` is the only command that needs an argument.
            let line = if arguments.ends_with("FILE|none") {
                format!("/{name} x")
            } else {
                format!("/{name}")
            };
            assert!(!matches!(ChatLine::parse(&line), ChatLine::Invalid(_)), "{line}");
        }
    }

    #[test]
    fn a_command_is_parsed_with_its_argument() {
        let model = |name: &str| ChatLine::Model(Some(name.to_owned()));
        assert_eq!(
            ChatLine::parse("/model openrouter:a/b:free"),
            model("openrouter:a/b:free")
        );
        assert_eq!(ChatLine::parse("/MODEL"), ChatLine::Model(None));
        assert_eq!(ChatLine::parse("/thread new"), ChatLine::Thread(ThreadAction::New));
        assert_eq!(
            ChatLine::parse("/thread 01-a"),
            ChatLine::Thread(ThreadAction::Switch("01-a".to_owned()))
        );
        assert_eq!(ChatLine::parse("/resume"), ChatLine::Resume(None));
        assert_eq!(
            ChatLine::parse("/resume 01-a"),
            ChatLine::Resume(Some("01-a".to_owned()))
        );
        assert_eq!(ChatLine::parse("/attach 'my file.csv'"), attach("my file.csv", false));
        assert_eq!(ChatLine::parse("/attach --keep a.csv"), attach("a.csv", true));
        assert_eq!(ChatLine::parse("/attach none"), ChatLine::Detach);
        assert_eq!(ChatLine::parse("/attach ./none"), attach("./none", false));
        assert_eq!(ChatLine::parse("/quit"), ChatLine::Exit);
    }

    #[test]
    fn a_surplus_or_missing_argument_is_an_error() {
        assert_eq!(invalid_reason("/tools all"), "`/tools` takes no argument");
        assert_eq!(
            invalid_reason("/attach"),
            "`/attach` needs a file, as in `/attach sales.csv`"
        );
    }

    #[test]
    fn the_error_for_an_unknown_command_suggests_a_similar_command() {
        assert_eq!(
            invalid_reason("/hlep"),
            "there is no command `/hlep`; did you mean `/help`?"
        );
        assert_eq!(
            invalid_reason("/tool"),
            "there is no command `/tool`; did you mean `/tools`?"
        );
        assert_eq!(
            invalid_reason("/weather"),
            "there is no command `/weather`; `/help` lists all"
        );
        assert_eq!(invalid_reason("/"), "there is no command `/`; `/help` lists all");
    }
}
