//! The forms of all secrets as one automaton.

use std::collections::HashMap;

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind, PatternID};

pub(super) use aho_corasick::automaton::StateID;

use super::encodings::{Form, forms};
use super::escapes::begins_escape;
use super::{RedactorError, Secret};

/// The forms of all secrets, as one automaton.
pub(super) struct Patterns {
    automaton: NFA,
    start: StateID,
    /// What is known of each state, at the index of its identifier.
    states: Vec<State>,
    /// For each form, the name of its secret if it is a canary.
    canaries: Vec<Option<String>>,
    /// For each byte, whether it begins neither a form nor an escape.
    begins_nothing: [bool; 256],
}

/// What is known of a state, which stands for the beginning of a form.
#[derive(Clone, Copy)]
struct State {
    /// Length of this beginning.
    depth: usize,
    /// The state after a separator that is to be ignored, which stands for the longest end of this beginning with which an
    /// encoded form begins.
    after_separator: StateID,
}

impl Patterns {
    /// Prepares the search for these secrets. Returns `None` if there are none.
    ///
    /// # Errors
    /// Fails if the search would not find each form of each secret.
    pub(super) fn new<'a>(secrets: impl Iterator<Item = &'a Secret>) -> Result<Option<Self>, RedactorError> {
        let (mut all_forms, mut canaries) = (Vec::new(), Vec::new());
        for secret in secrets {
            for form in forms(secret.expose()) {
                all_forms.push(form);
                canaries.push(secret.is_canary().then(|| secret.name().to_owned()));
            }
        }
        if all_forms.is_empty() {
            return Ok(None);
        }
        let automaton = build(all_forms.iter())?;
        Self::with_automaton(automaton, &all_forms, canaries).map(Some)
    }

    fn with_automaton(automaton: NFA, forms: &[Form], canaries: Vec<Option<String>>) -> Result<Self, RedactorError> {
        let start = automaton.start_state(Anchored::No)?;
        let encoded_forms = || forms.iter().filter(|form| form.is_encoded);
        let encoded = build(encoded_forms())?;
        let encoded_start = encoded.start_state(Anchored::No)?;
        let mut same_state = HashMap::new();
        for form in encoded_forms() {
            same_state.extend(walk(&encoded, encoded_start, form).zip(walk(&automaton, start, form)));
        }
        let mut states = Vec::new();
        for (index, form) in forms.iter().enumerate() {
            let mut last = start;
            let walks = walk(&automaton, start, form).zip(walk(&encoded, encoded_start, form));
            for (depth, (state, encoded_state)) in walks.enumerate() {
                if states.len() <= state.as_usize() {
                    states.resize(
                        state.as_usize() + 1,
                        State {
                            depth: 0,
                            after_separator: start,
                        },
                    );
                }
                if let Some(known) = states.get_mut(state.as_usize()) {
                    known.depth = depth + 1;
                    known.after_separator = same_state.get(&encoded_state).copied().unwrap_or(start);
                }
                last = state;
            }
            if !matches_at(&automaton, last).any(|found| found.as_usize() == index) {
                return Err(RedactorError::FormNotFound);
            }
        }
        let begins_nothing = std::array::from_fn(|byte| {
            u8::try_from(byte)
                .is_ok_and(|byte| !begins_escape(byte) && automaton.next_state(Anchored::No, start, byte) == start)
        });
        Ok(Self {
            automaton,
            start,
            states,
            canaries,
            begins_nothing,
        })
    }

    pub(super) const fn start(&self) -> StateID {
        self.start
    }

    /// Returns the state that follows `state` after a character.
    #[inline]
    pub(super) fn next(&self, state: StateID, character: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, character)
    }

    /// Returns how many bytes at the beginning of a text leave the automaton in its first state and begin no escape.
    pub(super) fn len_of_nothing(&self, bytes: &[u8]) -> usize {
        let begins_something = |byte: &u8| {
            !self
                .begins_nothing
                .get(usize::from(*byte))
                .is_some_and(|nothing| *nothing)
        };
        bytes.iter().position(begins_something).unwrap_or(bytes.len())
    }

    /// Returns how many of the last characters are the beginning of a form.
    pub(super) fn depth(&self, state: StateID) -> usize {
        self.states.get(state.as_usize()).map_or(0, |known| known.depth)
    }

    /// Returns the state that follows `state` if a separator is ignored.
    #[inline]
    pub(super) fn after_separator(&self, state: StateID) -> StateID {
        self.states
            .get(state.as_usize())
            .map_or(self.start, |known| known.after_separator)
    }

    /// Returns whether a form ends in this state.
    #[inline]
    pub(super) fn is_match(&self, state: StateID) -> bool {
        self.automaton.is_match(state)
    }

    /// Returns the forms that end in this state: the length of each, and the name of its secret if it is a canary.
    pub(super) fn matches(&self, state: StateID) -> impl Iterator<Item = (usize, Option<&str>)> {
        matches_at(&self.automaton, state).map(|form| {
            let canary = self.canaries.get(form.as_usize()).and_then(Option::as_deref);
            (self.automaton.pattern_len(form), canary)
        })
    }
}

/// Builds the automaton of some forms. An automaton with a table for each state would take a hundred times the memory of the
/// secrets.
fn build<'a>(forms: impl Iterator<Item = &'a Form>) -> Result<NFA, RedactorError> {
    let automaton = NFA::builder()
        .match_kind(MatchKind::Standard)
        .prefilter(false)
        .build(forms.map(|form| &form.text))?;
    Ok(automaton)
}

/// Returns the states after each character of a form.
fn walk<'a>(automaton: &'a NFA, start: StateID, form: &'a Form) -> impl Iterator<Item = StateID> + 'a {
    form.text.bytes().scan(start, |state, character| {
        *state = automaton.next_state(Anchored::No, *state, character);
        Some(*state)
    })
}

/// Returns the forms that end in a state.
fn matches_at(automaton: &NFA, state: StateID) -> impl Iterator<Item = PatternID> + '_ {
    let count = if automaton.is_match(state) {
        automaton.match_len(state)
    } else {
        0
    };
    (0..count).map(move |index| automaton.match_pattern(state, index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_automaton_that_misses_a_form_is_refused() {
        let known = forms("hunter2hunter2");
        let (first, others) = known.split_first().unwrap();
        let incomplete = build(others.iter()).unwrap();
        let result = Patterns::with_automaton(incomplete, &[std::slice::from_ref(first), others].concat(), Vec::new());
        assert!(matches!(result, Err(RedactorError::FormNotFound)));
    }
}
