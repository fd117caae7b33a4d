//! Finds the answer in a streamed reply without thoughts, by the rules of [`crate::parse::answer`].

use super::fence::Fence;
use super::held::{Held, first_tag};
use crate::parse::answer::{visible, without_trailing_fence};

const MAIN: &str = "<mainContent>";
const MAIN_END: &str = "</mainContent>";
const METADATA: &str = "<uiMetadata>";
const FENCE: &str = "```json";

/// Characters, not counting white space, after which a reply without a tag counts as the answer itself.
const DECIDED_AFTER: usize = 16;

/// The section of a reply that its current end belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the first tag, in the first characters.
    #[default]
    Start,
    /// In text without a tag.
    Plain,
    /// Behind `<mainContent>`.
    Main,
    /// Behind `<uiMetadata>`, with no `<mainContent>` before it.
    Metadata,
    /// Behind the answer.
    End,
}

/// A reply so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Tags {
    place: Place,
    held: Held,
    /// Characters, not counting white space, while the place was still [`Place::Start`].
    words: usize,
    /// The fence at the beginning of the held text.
    fence: Fence,
    /// Something other than white space was shown.
    shown: bool,
}

impl Tags {
    /// Adds a piece and returns the text to show now.
    pub(super) fn push(&mut self, text: &str) -> String {
        self.held.push(text);
        let mut shown = String::new();
        loop {
            let (place, before) = (self.place, shown.len());
            self.step(&mut shown);
            let visible = shown.get(before..).unwrap_or_default();
            self.shown |= !visible.trim().is_empty();
            if visible.is_empty() && self.place == place {
                return shown;
            }
        }
    }

    /// Ends the reply and returns the held text that is part of the answer.
    pub(super) fn finish(self) -> String {
        let held = self.held.rest();
        match self.place {
            Place::Start => visible(held).to_owned(),
            Place::Plain if self.shown && without_trailing_fence(&format!("x{held}")).is_some() => String::new(),
            Place::Main if held.starts_with(METADATA) => String::new(),
            Place::Plain | Place::Main => held.to_owned(),
            Place::Metadata | Place::End => String::new(),
        }
    }

    fn step(&mut self, shown: &mut String) {
        match self.place {
            Place::Start => self.start(),
            Place::Plain => self.plain(shown),
            Place::Main => self.main(shown),
            Place::Metadata => match self.held.find(&[MAIN]) {
                Ok((at, _)) => self.enter_main(at),
                Err(end) => {
                    self.held.take(end);
                }
            },
            Place::End => {
                self.held.take(usize::MAX);
            }
        }
    }

    fn start(&mut self) {
        let looked = self.held.looked();
        let found = self.held.find(&[MAIN]);
        let end = found.map_or_else(|end| end, |(at, _)| at);
        let before = self.held.rest().get(looked..end).unwrap_or_default();
        self.words += before.chars().filter(|c| !c.is_whitespace()).count();
        match found {
            _ if self.words >= DECIDED_AFTER => self.enter(Place::Plain),
            Ok((at, _)) => self.enter_main(at),
            Err(_) => {}
        }
    }

    fn plain(&mut self, shown: &mut String) {
        match self.held.find(&[MAIN, METADATA, FENCE]) {
            Err(end) => shown.push_str(self.held.take(end)),
            Ok((0, MAIN)) => self.enter_main(0),
            Ok((0, METADATA)) => self.enter(Place::Metadata),
            Ok((0, _)) if self.may_be_metadata() => {}
            Ok((0, tag)) => {
                self.fence = Fence::default();
                shown.push_str(self.held.take(tag.len()));
            }
            Ok((at, _)) => shown.push_str(self.held.take(at)),
        }
    }

    /// Whether the fence at the beginning of the held text may still turn out to be the JSON at the end of the reply.
    fn may_be_metadata(&mut self) -> bool {
        let inside = self.held.rest().get(FENCE.len()..).unwrap_or_default();
        let new = inside.floor_char_boundary(self.fence.read().saturating_sub(MAIN.len()));
        let tag = first_tag(inside.get(new..).unwrap_or_default(), &[MAIN, METADATA, FENCE]);
        // An answer that is nothing but a fence is the answer, and of several fences only the last is metadata.
        self.shown && tag.is_none() && self.fence.may_be_last(inside)
    }

    fn main(&mut self, shown: &mut String) {
        loop {
            let found = self.held.find(&[MAIN_END, METADATA]);
            // Metadata ends the answer unless the closing tag follows.
            let waits = self.held.rest().starts_with(METADATA);
            match found {
                Ok((at, MAIN_END)) => {
                    shown.push_str(self.held.take(at));
                    return self.enter(Place::End);
                }
                Ok((at, tag)) => {
                    shown.push_str(if waits { "" } else { self.held.take(at) });
                    self.held.pass(tag);
                }
                Err(end) => return shown.push_str(if waits { "" } else { self.held.take(end) }),
            }
        }
    }

    fn enter(&mut self, place: Place) {
        self.place = place;
        self.held.look_again();
    }

    fn enter_main(&mut self, at: usize) {
        self.held.take(at + MAIN.len());
        self.enter(Place::Main);
    }
}
