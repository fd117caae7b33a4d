//! Output of a run for a person: the plan and notes on stderr, the answer on stdout.

use art_agent::{ActionId, AnswerStream, RunStage, RunView};
use art_core::span::SpanContext;
use art_core::stream::{Phase, StreamEvent};
use art_core::text::is_joiner;
use art_runtime::{CallUsage, ReplyPiece, Watcher};
use art_tools::{ToolProgress, ToolReport};

use super::plan::PlanDisplay;
use super::{drawing, note, print, print_piece, print_prose, stdout_is_terminal};

/// Shows a run. On a terminal the answer is shown while the model writes it; otherwise it is printed at the end.
pub(crate) struct RunDisplay {
    plan: PlanDisplay,
    /// The drawings that are not printed yet. They show the outputs of display tools, which are for the person and not for the
    /// model, and are printed above the answer.
    drawings: Vec<String>,
    /// Number of drawings that were printed already.
    printed_drawing_count: usize,
    /// The part of the answer that was printed so far. `None` if stdout is not a terminal, where the answer is printed at the
    /// end.
    printed_answer: Option<PrintedAnswer>,
}

/// The part of the answer that was printed.
#[derive(Default)]
struct PrintedAnswer {
    /// The model call whose reply is printed.
    call: Option<ActionId>,
    /// Extracts the text of the answer from the reply.
    reader: AnswerStream,
    /// The printed text.
    text: String,
    /// Joiners after it, which are printed together with what follows.
    joiners: String,
}

impl RunDisplay {
    pub(crate) fn new() -> Self {
        Self {
            plan: PlanDisplay::new(),
            drawings: Vec::new(),
            printed_drawing_count: 0,
            printed_answer: stdout_is_terminal().then(PrintedAnswer::default),
        }
    }

    /// Prints the part of the answer that was not printed yet, and ends the display. `content` is the full answer.
    pub(crate) fn finish(mut self, content: &str) {
        self.print_plan_and_drawings();
        let shown = self.printed_answer.map(|printed| printed.text).unwrap_or_default();
        match unprinted(&shown, content) {
            Unprinted::All(content) => {
                note("");
                print_prose(None, content);
            }
            Unprinted::Rest(rest) => print_prose(shown.chars().next_back(), rest),
            // The run ended with another answer than the one that was shown.
            Unprinted::Other(content) => print_prose(None, &format!("\n\n{content}")),
        }
    }

    /// Ends the display of a run without an answer.
    pub(crate) fn abandon(mut self) {
        self.print_plan_and_drawings();
        if self.printed_answer.is_some_and(|printed| !printed.text.is_empty()) {
            print("");
        }
    }

    /// Prints the plan as permanent lines, and then the new drawings. The answer is printed below them.
    fn print_plan_and_drawings(&mut self) {
        self.plan.stop_redrawing();
        self.printed_drawing_count += self.drawings.len();
        for drawing in self.drawings.drain(..) {
            note("");
            print(&drawing);
        }
    }

    /// Prints what `token` adds to the answer, if stdout is a terminal.
    fn print_token(&mut self, piece: &ReplyPiece<'_>, token: &str) {
        let Some(printed) = &mut self.printed_answer else {
            return;
        };
        let read = printed.reader_of(piece.call, piece.phase).push(token);
        let text = printed.take_printable(&read);
        if text.is_empty() {
            return;
        }
        let is_first_piece = printed.text.is_empty();
        let before = printed.text.chars().next_back();
        printed.text.push_str(&text);
        if is_first_piece {
            self.print_plan_and_drawings();
            note("");
        }
        print_piece(before, &text);
    }
}

impl PrintedAnswer {
    /// Returns what can be printed now that `read` was read, and keeps the joiners at its end.
    fn take_printable(&mut self, read: &str) -> String {
        let text = std::mem::take(&mut self.joiners) + read;
        let end = text.trim_end_matches(is_joiner).len();
        let (printable, joiners) = text.split_at(end);
        joiners.clone_into(&mut self.joiners);
        printable.to_owned()
    }

    /// Returns the reader of the reply of a model call. Forgets the text so far if it came from an earlier call: this call
    /// repeats the earlier one, or the earlier reply was not the answer.
    fn reader_of(&mut self, call: ActionId, phase: Phase) -> &mut AnswerStream {
        if self.call.replace(call) != Some(call) {
            self.discard_text();
            self.reader = answer_reader(phase);
        }
        &mut self.reader
    }

    /// Forgets the printed text, which turned out not to be the answer, and ends its line. Returns whether there was such a text.
    fn discard_text(&mut self) -> bool {
        self.joiners.clear();
        let was_printed = !std::mem::take(&mut self.text).is_empty();
        if was_printed {
            print("");
        }
        was_printed
    }
}

/// Returns the reader that extracts the answer from a reply of this phase.
fn answer_reader(phase: Phase) -> AnswerStream {
    match phase {
        Phase::Planning => AnswerStream::of_planner(),
        Phase::Execution | Phase::Synthesis => AnswerStream::new(),
    }
}

impl Watcher for RunDisplay {
    fn update(&mut self, view: &RunView<'_>, calls: &[CallUsage]) {
        if view.stage == RunStage::Execution {
            // Text that the planner wrote in addition to its tool calls is not the answer.
            if self.printed_answer.as_mut().is_some_and(PrintedAnswer::discard_text) {
                self.plan.resume_redrawing();
            }
        } else {
            // The drawings are printed above the answer. During the execution no answer is written, so no drawings are collected.
            let results = view.items.iter().flat_map(drawing::results_to_draw);
            self.drawings = results.skip(self.printed_drawing_count).map(drawing::draw).collect();
        }
        self.plan.update(view, calls);
    }

    fn tool_progressed(&mut self, span: &SpanContext, progress: &ToolProgress) {
        self.plan.tool_progressed(span, progress);
    }

    fn tool_returned(&mut self, span: &SpanContext, report: &ToolReport) {
        self.plan.tool_returned(span, report);
    }

    fn stream(&mut self, piece: &ReplyPiece<'_>) {
        // `may_answer` means that the reply is the answer, unless it calls tools or is a plan.
        match piece.event {
            StreamEvent::Token(token) if piece.may_answer => self.print_token(piece, token),
            StreamEvent::Thinking(thoughts) if piece.may_answer => {
                // If thoughts come separately, think tags in the text are part of the answer.
                if let Some(printed) = &mut self.printed_answer {
                    printed.reader_of(piece.call, piece.phase).push_thoughts(thoughts);
                }
                self.plan.stream(piece);
            }
            _ => self.plan.stream(piece),
        }
    }
}

/// The part of an answer that is still to be printed.
#[derive(Debug, PartialEq)]
enum Unprinted<'a> {
    /// Nothing was printed.
    All(&'a str),
    /// The beginning was printed; this text follows.
    Rest(&'a str),
    /// Other text was printed, so the whole answer follows.
    Other(&'a str),
}

/// Returns the part of `content` that is not in `shown`, the text printed while the reply arrived.
fn unprinted<'a>(shown: &str, content: &'a str) -> Unprinted<'a> {
    let content = content.trim_end();
    if shown.is_empty() {
        return Unprinted::All(content);
    }
    let rest = content.strip_prefix(shown);
    // The shown text may begin with reasoning that was recognized as such only later, and end with white space.
    let rest = rest.or_else(|| shown.trim_end().ends_with(content).then_some(""));
    rest.map_or(Unprinted::Other(content), Unprinted::Rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joiner_at_the_end_of_a_piece_is_printed_with_the_next_piece() {
        let mut printed = PrintedAnswer::default();
        assert_eq!(printed.take_printable("می\u{200c}"), "می");
        assert_eq!(printed.take_printable("\u{200d}"), "");
        assert_eq!(printed.take_printable("خ"), "\u{200c}\u{200d}خ");
    }

    #[test]
    fn only_the_rest_of_a_shown_answer_is_printed() {
        assert_eq!(unprinted("4\n", "4"), Unprinted::Rest(""));
        assert_eq!(unprinted("2+2", "2+2: 4\n"), Unprinted::Rest(": 4"));
        assert_eq!(unprinted("Hm. 4", "4"), Unprinted::Rest(""));
    }

    #[test]
    fn think_tags_in_the_text_are_printed_if_the_thoughts_came_separately() {
        for (thoughts, prints_tags) in [("hm", true), ("", false)] {
            let (mut printed, call) = (PrintedAnswer::default(), ActionId(1));
            printed.reader_of(call, Phase::Synthesis).push_thoughts(thoughts);
            let text = printed
                .reader_of(call, Phase::Synthesis)
                .push("<think>is</think> the tag");
            assert_eq!(text.contains("<think>"), prints_tags, "{thoughts}: {text}");
        }
    }

    #[test]
    fn an_answer_that_was_not_shown_is_printed_in_full() {
        assert_eq!(unprinted("", "4"), Unprinted::All("4"));
    }

    #[test]
    fn an_answer_other_than_the_shown_one_is_printed_in_full() {
        assert_eq!(
            unprinted("2+2 is", "The model failed."),
            Unprinted::Other("The model failed.")
        );
    }
}
