//! Commands that messages suggest. Most messages are made where nothing is known about the command line, and some of them are
//! also read by a model or stored. So a suggested command gets the options of this command line only when it is printed.

use std::borrow::Cow;
use std::sync::OnceLock;

use art_core::capability::Denial;
use art_core::suspension::SuspensionCause;
use art_core::text::quote_for_shell;
use art_store::SuspensionRecord;

/// How a command begins in a text.
const IN_TEXT: &str = "`art ";

/// The options of this command line with which a suggested command looks at the same home, plugins folder and person, each with a
/// space before it.
static TYPED_OPTIONS: OnceLock<String> = OnceLock::new();

/// Sets the options, each with its value, that suggested commands need as well. The first call counts.
pub(crate) fn set_typed_options(options: &[(&str, String)]) {
    let words = options.iter().map(|(name, value)| match value.starts_with('-') {
        true => format!(" --{name}={}", quote_for_shell(value)),
        false => format!(" --{name} {}", quote_for_shell(value)),
    });
    TYPED_OPTIONS.get_or_init(|| words.collect());
}

/// Returns a suggested command, which begins with `art `, with the options of this command line.
pub(crate) fn command(command: &str) -> Cow<'_, str> {
    match (command.strip_prefix("art "), typed_options()) {
        (Some(rest), Some(options)) => Cow::Owned(format!("art{options} {rest}")),
        _ => Cow::Borrowed(command),
    }
}

/// Returns a text of the host in which each command in backticks has the options of this command line.
pub(crate) fn in_text(text: &str) -> Cow<'_, str> {
    match typed_options() {
        Some(options) if text.contains(IN_TEXT) => Cow::Owned(text.replace(IN_TEXT, &format!("`art{options} "))),
        _ => Cow::Borrowed(text),
    }
}

/// Gives the commands of denials the options of this command line.
pub(crate) fn complete_denials<'a>(denials: impl IntoIterator<Item = &'a mut Denial>) {
    for suggested in denials.into_iter().filter_map(|denial| denial.command.as_mut()) {
        *suggested = command(suggested).into_owned();
    }
}

/// Returns waiting calls as they are printed for programs: with the options of this command line in the commands of their denials.
pub(crate) fn complete_waiting(records: &[SuspensionRecord]) -> Vec<SuspensionRecord> {
    let mut records = records.to_vec();
    for record in &mut records {
        if let SuspensionCause::Grant { denials } = &mut record.call.cause {
            complete_denials(denials);
        }
    }
    records
}

/// Returns the options, or `None` if there are none.
fn typed_options() -> Option<&'static str> {
    TYPED_OPTIONS
        .get()
        .map(String::as_str)
        .filter(|options| !options.is_empty())
}
