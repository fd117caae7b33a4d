//! Finds the answer in a streamed reply without thoughts, by the rules of [`crate::parse::parse_answer`].

use art_core::text::prefix;

use super::fence::Fence;
use super::pending::{PendingText, first_tag};
use crate::parse::answer::{answer_text, without_trailing_fence};
use crate::parse::json::MARKER_START;
use crate::parse::planning::begins_like_json;

const MAIN: &str = "<mainContent>";
const MAIN_END: &str = "</mainContent>";
const METADATA: &str = "<uiMetadata>";
const FENCE: &str = "```json";

/// Number of characters, not counting white space, after which a reply without a tag is treated as the answer itself.
const MAX_START_CHARS: usize = 16;

/// The section of the reply that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    /// The first characters, before any tag.
    #[default]
    Start,
    /// Text without a tag.
    Plain,
    /// After `<mainContent>`.
    Main,
    /// After `<uiMetadata>`, without a `<mainContent>` before it.
    Metadata,
    /// After the answer.
    End,
}

/// Finds the answer in the pieces of a reply.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerFinder {
    section: Section,
    /// Whether the reply is one of the planner, which may be a plan.
    of_planner: bool,
    pending: PendingText,
    /// Number of characters read in [`Section::Start`], not counting white space.
    start_chars: usize,
    /// The fence at the beginning of the pending text.
    fence: Fence,
    /// Whether text other than white space was shown.
    has_shown: bool,
}

impl AnswerFinder {
    pub(super) fn of_planner() -> Self {
        Self {
            of_planner: true,
            ..Self::default()
        }
    }

    /// Begins again with the text that follows.
    pub(super) fn restart(&mut self) {
        *self = Self {
            of_planner: self.of_planner,
            ..Self::default()
        };
    }

    /// Adds a piece and returns the text to show now.
    pub(super) fn push(&mut self, text: &str) -> String {
        self.pending.push(text);
        let mut shown = String::new();
        loop {
            let (section, length_before) = (self.section, shown.len());
            self.read_section(&mut shown);
            let visible = shown.get(length_before..).unwrap_or_default();
            self.has_shown |= !visible.trim().is_empty();
            if visible.is_empty() && self.section == section {
                return shown;
            }
        }
    }

    /// Ends the reply and returns the pending text that is part of the answer.
    pub(super) fn finish(self) -> String {
        let pending = self.pending.rest();
        match self.section {
            Section::Start if self.is_plan() => String::new(),
            Section::Start => answer_text(pending).to_owned(),
            // A fence counts as trailing only after other text; `x` represents the text that was shown.
            Section::Plain if self.has_shown && without_trailing_fence(&format!("x{pending}")).is_some() => {
                String::new()
            }
            Section::Main if pending.starts_with(METADATA) => String::new(),
            Section::Plain | Section::Main => pending.to_owned(),
            Section::Metadata | Section::End => String::new(),
        }
    }

    /// Reads pending text in the current section, and appends the text of the answer to `shown`.
    fn read_section(&mut self, shown: &mut String) {
        match self.section {
            Section::Start => self.read_start(),
            Section::Plain => self.read_plain(shown),
            Section::Main => self.read_main(shown),
            Section::Metadata => match self.pending.find(&[MAIN]) {
                Ok((start, _)) => self.enter_main(start),
                Err(end) => {
                    self.pending.take(end);
                }
            },
            Section::End => {
                self.pending.take(usize::MAX);
            }
        }
    }

    fn read_start(&mut self) {
        let searched = self.pending.searched();
        let found = self.pending.find(&[MAIN]);
        let end = found.map_or_else(|end| end, |(start, _)| start);
        let before = self.pending.rest().get(searched..end).unwrap_or_default();
        self.start_chars += before.chars().filter(|c| !c.is_whitespace()).count();
        match found {
            _ if self.start_chars >= MAX_START_CHARS && self.is_plan() => self.enter(Section::End),
            _ if self.start_chars >= MAX_START_CHARS => self.enter(Section::Plain),
            Ok((start, _)) => self.enter_main(start),
            Err(_) => {}
        }
    }

    /// Returns whether the reply is one of the planner and begins like a plan.
    fn is_plan(&self) -> bool {
        let text = self.pending.rest().trim_start();
        let marker = prefix(MARKER_START, MAX_START_CHARS);
        self.of_planner && (begins_like_json(text) || text.starts_with(marker))
    }

    fn read_plain(&mut self, shown: &mut String) {
        match self.pending.find(&[MAIN, METADATA, FENCE]) {
            Err(end) => shown.push_str(self.pending.take(end)),
            Ok((0, MAIN)) => self.enter_main(0),
            Ok((0, METADATA)) => self.enter(Section::Metadata),
            Ok((0, _)) if self.may_be_metadata() => {}
            Ok((0, tag)) => {
                self.fence = Fence::default();
                shown.push_str(self.pending.take(tag.len()));
            }
            Ok((start, _)) => shown.push_str(self.pending.take(start)),
        }
    }

    /// Returns whether the fence at the beginning of the pending text may still be the JSON at the end of the reply.
    fn may_be_metadata(&mut self) -> bool {
        let inside = self.pending.rest().get(FENCE.len()..).unwrap_or_default();
        let search_from = inside.floor_char_boundary(self.fence.bytes_read().saturating_sub(MAIN.len()));
        let tag = first_tag(inside.get(search_from..).unwrap_or_default(), &[MAIN, METADATA, FENCE]);
        // A reply that begins with a fence is itself the answer, and of several fences only the last can be metadata.
        self.has_shown && tag.is_none() && self.fence.may_be_last(inside)
    }

    fn read_main(&mut self, shown: &mut String) {
        loop {
            let found = self.pending.find(&[MAIN_END, METADATA]);
            // Metadata ends the answer unless a closing tag follows, so text that begins with it is not shown yet.
            let is_metadata = self.pending.rest().starts_with(METADATA);
            match found {
                Ok((start, MAIN_END)) => {
                    shown.push_str(self.pending.take(start));
                    return self.enter(Section::End);
                }
                Ok((start, tag)) => {
                    shown.push_str(if is_metadata { "" } else { self.pending.take(start) });
                    self.pending.skip(tag);
                }
                Err(end) => return shown.push_str(if is_metadata { "" } else { self.pending.take(end) }),
            }
        }
    }

    fn enter(&mut self, section: Section) {
        self.section = section;
        self.pending.restart_search();
    }

    fn enter_main(&mut self, start: usize) {
        self.pending.take(start + MAIN.len());
        self.enter(Section::Main);
    }
}
