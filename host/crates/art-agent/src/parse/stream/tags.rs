//! Finds the answer in a reply that arrives in pieces, from which the thoughts are already removed. The rules are those of
//! [`crate::parse::parse_answer`], which reads a whole reply.

use art_core::text::prefix;

use super::fence::Fence;
use super::pending::{PendingText, first_tag};
use crate::parse::answer::{answer_text, text_before_metadata_fence};
use crate::parse::json::MARKER_START;
use crate::parse::planning::begins_like_json;

/// Opening and closing tag of the answer.
const ANSWER_TAG: &str = "<mainContent>";
const ANSWER_CLOSING_TAG: &str = "</mainContent>";
/// Opening tag of the metadata.
const METADATA_TAG: &str = "<uiMetadata>";
/// Opening of a fence, which may have metadata in it.
const FENCE_START: &str = "```json";

/// Number of characters, not counting white space, after which a reply without `<mainContent>` is shown as the answer itself.
const MAX_START_CHARS: usize = 16;

/// The section of the reply that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    /// The first characters of the reply. `<mainContent>` was not found yet.
    #[default]
    Start,
    /// The answer, in a reply that did not begin with `<mainContent>`.
    Untagged,
    /// The answer, after `<mainContent>`.
    Tagged,
    /// After `<uiMetadata>`, without a `<mainContent>` before it.
    Metadata,
    /// The rest of the reply after the answer, or a whole plan. This text is not shown.
    Ignored,
}

/// Finds the answer in the pieces of a reply.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerFinder {
    section: Section,
    /// Whether the reply is one of the planner, so that it may be a plan.
    of_planner: bool,
    pending: PendingText,
    /// Number of characters that [`Section::Start`] has so far, not counting white space.
    start_chars: usize,
    /// What was read of the fence at the beginning of the pending text, if there is one.
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

    /// Forgets all text so far, because it was thoughts. The reply begins with the text that follows.
    pub(super) fn restart(&mut self) {
        *self = Self {
            of_planner: self.of_planner,
            ..Self::default()
        };
    }

    /// Adds a piece of the reply, and returns the text that can be shown now.
    pub(super) fn push(&mut self, text: &str) -> String {
        self.pending.push(text);
        let mut shown = String::new();
        loop {
            let (section, length_before) = (self.section, shown.len());
            self.read_section(&mut shown);
            let newly_shown = shown.get(length_before..).unwrap_or_default();
            self.has_shown |= !newly_shown.trim().is_empty();
            if newly_shown.is_empty() && self.section == section {
                return shown;
            }
        }
    }

    /// Ends the reply, and returns the pending text if it is part of the answer.
    pub(super) fn finish(self) -> String {
        let pending = self.pending.rest();
        match self.section {
            Section::Start if self.begins_like_plan() => String::new(),
            Section::Start => answer_text(pending).to_owned(),
            // Metadata in a fence is not part of the answer. A fence counts as metadata only if there is text before it, so `x`
            // stands for the text that was already shown.
            Section::Untagged if self.has_shown && text_before_metadata_fence(&format!("x{pending}")).is_some() => {
                String::new()
            }
            Section::Tagged if pending.starts_with(METADATA_TAG) => String::new(),
            Section::Untagged | Section::Tagged => pending.to_owned(),
            Section::Metadata | Section::Ignored => String::new(),
        }
    }

    /// Reads pending text by the rules of the current section, which may change. Appends the text that can be shown now to
    /// `shown`.
    fn read_section(&mut self, shown: &mut String) {
        match self.section {
            Section::Start => self.read_start(),
            Section::Untagged => self.read_untagged(shown),
            Section::Tagged => self.read_tagged(shown),
            Section::Metadata => match self.pending.find(&[ANSWER_TAG]) {
                Ok((start, _)) => self.enter_tagged(start),
                Err(end) => {
                    self.pending.take(end);
                }
            },
            Section::Ignored => {
                self.pending.take(usize::MAX);
            }
        }
    }

    fn read_start(&mut self) {
        let searched = self.pending.searched();
        let found = self.pending.find(&[ANSWER_TAG]);
        let end = found.map_or_else(|end| end, |(start, _)| start);
        let before = self.pending.rest().get(searched..end).unwrap_or_default();
        self.start_chars += before.chars().filter(|c| !c.is_whitespace()).count();
        match found {
            _ if self.start_chars >= MAX_START_CHARS && self.begins_like_plan() => self.enter(Section::Ignored),
            _ if self.start_chars >= MAX_START_CHARS => self.enter(Section::Untagged),
            Ok((start, _)) => self.enter_tagged(start),
            Err(_) => {}
        }
    }

    /// Returns whether the reply is one of the planner and begins like a plan.
    fn begins_like_plan(&self) -> bool {
        let text = self.pending.rest().trim_start();
        // `Section::Start` may end after this many characters, before the rest of the marker has arrived.
        let marker = prefix(MARKER_START, MAX_START_CHARS);
        self.of_planner && (begins_like_json(text) || text.starts_with(marker))
    }

    fn read_untagged(&mut self, shown: &mut String) {
        match self.pending.find(&[ANSWER_TAG, METADATA_TAG, FENCE_START]) {
            Err(end) => shown.push_str(self.pending.take(end)),
            Ok((0, ANSWER_TAG)) => self.enter_tagged(0),
            Ok((0, METADATA_TAG)) => self.enter(Section::Metadata),
            // The fence is not shown until it is known whether it is metadata.
            Ok((0, _)) if self.fence_may_be_metadata() => {}
            Ok((0, tag)) => {
                self.fence = Fence::default();
                shown.push_str(self.pending.take(tag.len()));
            }
            Ok((start, _)) => shown.push_str(self.pending.take(start)),
        }
    }

    /// Returns whether the fence at the beginning of the pending text may still be metadata at the end of the reply.
    fn fence_may_be_metadata(&mut self) -> bool {
        let inside = self.pending.rest().get(FENCE_START.len()..).unwrap_or_default();
        // What was read may end with the beginning of a tag, so the search begins earlier by the length of the longest
        // tag, `<mainContent>`.
        let search_from = inside.floor_char_boundary(self.fence.bytes_read().saturating_sub(ANSWER_TAG.len()));
        let tag = first_tag(
            inside.get(search_from..).unwrap_or_default(),
            &[ANSWER_TAG, METADATA_TAG, FENCE_START],
        );
        // If the reply begins with a fence, the fence is the answer. Of several fences, only the last can be metadata.
        self.has_shown && tag.is_none() && self.fence.may_be_metadata(inside)
    }

    fn read_tagged(&mut self, shown: &mut String) {
        loop {
            let found = self.pending.find(&[ANSWER_CLOSING_TAG, METADATA_TAG]);
            // Metadata ends the answer, unless `</mainContent>` follows. Until this is known, the text from `<uiMetadata>` on is
            // not shown.
            let begins_with_metadata = self.pending.rest().starts_with(METADATA_TAG);
            match found {
                Ok((start, ANSWER_CLOSING_TAG)) => {
                    shown.push_str(self.pending.take(start));
                    return self.enter(Section::Ignored);
                }
                Ok((start, tag)) => {
                    shown.push_str(if begins_with_metadata {
                        ""
                    } else {
                        self.pending.take(start)
                    });
                    self.pending.skip(tag);
                }
                Err(end) => {
                    return shown.push_str(if begins_with_metadata {
                        ""
                    } else {
                        self.pending.take(end)
                    });
                }
            }
        }
    }

    fn enter(&mut self, section: Section) {
        self.section = section;
        self.pending.restart_search();
    }

    fn enter_tagged(&mut self, start: usize) {
        self.pending.take(start + ANSWER_TAG.len());
        self.enter(Section::Tagged);
    }
}
