//! Finds secrets in a text, however their characters are written.
//!
//! A text can be read in several ways: `\u0041` is six characters or an `A`, and a line break may belong to base64. The scanner
//! follows all readings at the same time, and an escape or a separator begins a new one. A reading ends as soon as it has nothing to
//! do with the beginning of a secret any more. So nothing before or after a secret can hide it, and the time is linear.

use std::collections::VecDeque;

use super::encodings::is_separator;
use super::escapes::{Incomplete, MAX_LAYERS, Written, begins_escape, read_character};
use super::patterns::{Patterns, StateID};

/// Maximum number of readings besides the plain one. Only a text that is made of a secret has more; those that have found the
/// least of a secret are dropped.
const MAX_READINGS: usize = 16;
/// Maximum length of the separators between two characters of a secret, in bytes.
const MAX_GAP: usize = 128;

/// The place of a secret in a text, and its name if it is a canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundSecret<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) canary: Option<&'a str>,
}

/// Finds secrets in a text that may arrive in parts. Positions count from the first byte that was not forgotten.
pub(super) struct Scanner {
    /// The next byte.
    position: usize,
    /// State of the plain reading, in which each byte is a character.
    state: StateID,
    /// The readings with escapes or separators in the beginning of a secret.
    readings: Vec<Reading>,
}

/// One way to read a text.
#[derive(Clone)]
struct Reading {
    /// The next byte of this reading. It is after the position of the scanner while the scanner is within an escape.
    position: usize,
    state: StateID,
    /// Number of characters so far.
    characters: usize,
    /// Where the beginning of the secret has more bytes than characters.
    gaps: VecDeque<Gap>,
}

/// Bytes beyond one for each character.
#[derive(Clone, Copy)]
struct Gap {
    /// Number of characters up to here.
    characters: usize,
    bytes: usize,
}

impl Scanner {
    pub(super) const fn new(patterns: &Patterns) -> Self {
        Self {
            position: 0,
            state: patterns.start(),
            readings: Vec::new(),
        }
    }

    /// Reads `bytes` on from the position so far, and adds the secrets that it finds, in the order of their ends. Unless
    /// `is_complete` is set, it stops before an escape that has not arrived as a whole.
    pub(super) fn scan<'a>(
        &mut self,
        patterns: &'a Patterns,
        bytes: &[u8],
        is_complete: bool,
        found: &mut Vec<FoundSecret<'a>>,
    ) {
        loop {
            if self.readings.is_empty() {
                self.read_plain(patterns, bytes, found);
            }
            let rest = bytes.get(self.position..).unwrap_or_default();
            let Some(byte) = rest.first() else { return };
            let Ok(ways) = ways_to_read(*byte, rest, is_complete) else {
                return;
            };
            self.read_on(patterns, *byte, &ways, found);
        }
    }

    /// Reads bytes that can be read in one way only.
    fn read_plain<'a>(&mut self, patterns: &'a Patterns, bytes: &[u8], found: &mut Vec<FoundSecret<'a>>) {
        let mut state = self.state;
        while let Some(byte) = bytes.get(self.position) {
            if state == patterns.start() {
                let skipped = patterns.len_of_nothing(bytes.get(self.position..).unwrap_or_default());
                self.position += skipped;
                if skipped > 0 {
                    continue;
                }
            }
            let may_be_ignored = is_separator(*byte) && patterns.after_separator(state) != patterns.start();
            if begins_escape(*byte) || may_be_ignored {
                break;
            }
            state = patterns.next(state, *byte);
            self.position += 1;
            if patterns.is_match(state) {
                report(patterns, state, self.position, |length| length, found);
            }
        }
        self.state = state;
    }

    /// Reads one byte in the plain reading, and what begins with it in all others.
    fn read_on<'a>(&mut self, patterns: &'a Patterns, byte: u8, ways: &Ways, found: &mut Vec<FoundSecret<'a>>) {
        let ways = ways.as_slice();
        let plain = Reading {
            position: self.position,
            state: self.state,
            characters: patterns.depth(self.state),
            gaps: VecDeque::new(),
        };
        let mut forks = Vec::new();
        let here = |reading: &&mut Reading| reading.position == plain.position;
        for reading in self
            .readings
            .iter()
            .filter(|reading| reading.position == plain.position)
            .chain([&plain])
        {
            forks.extend(
                ways.iter()
                    .filter(|way| way.len > 1)
                    .filter_map(|way| reading.with_character(patterns, *way)),
            );
            let separators = ways.iter().filter(|way| is_separator(way.character));
            forks.extend(separators.filter_map(|way| reading.with_separator(patterns, *way)));
        }
        for reading in self.readings.iter_mut().filter(here) {
            reading.read(
                patterns,
                Written {
                    character: byte,
                    len: 1,
                },
            );
        }
        self.state = patterns.next(self.state, byte);
        self.position += 1;
        report(patterns, self.state, self.position, |length| length, found);
        let unchanged = self.readings.len();
        self.readings.extend(forks);
        for (index, reading) in self.readings.iter().enumerate() {
            if index >= unchanged || reading.position == self.position {
                report(
                    patterns,
                    reading.state,
                    reading.position,
                    |length| reading.len_of(length),
                    found,
                );
            }
        }
        self.drop_needless_readings(patterns);
    }

    /// Drops readings that can find nothing that another reading does not find.
    fn drop_needless_readings(&mut self, patterns: &Patterns) {
        // A reading without a gap is the plain one.
        self.readings.retain(|reading| !reading.gaps.is_empty());
        if self.readings.len() < 2 {
            return;
        }
        let depth = |reading: &Reading| patterns.depth(reading.state);
        // Of two readings in the same state, the one that began earlier comes first.
        self.readings.sort_by_key(|reading| {
            (
                reading.position,
                reading.state,
                std::cmp::Reverse(reading.len_of(depth(reading))),
            )
        });
        self.readings.dedup_by_key(|reading| (reading.position, reading.state));
        if self.readings.len() > MAX_READINGS {
            self.readings.sort_by_key(|reading| std::cmp::Reverse(depth(reading)));
            self.readings.truncate(MAX_READINGS);
        }
    }

    /// Returns where the first beginning of a secret starts. No secret will be found that starts before this position.
    pub(super) fn first_open(&self, patterns: &Patterns) -> usize {
        let plain = self.position.saturating_sub(patterns.depth(self.state));
        let starts = self.readings.iter().map(|reading| {
            let length = reading.len_of(patterns.depth(reading.state));
            reading.position.saturating_sub(length)
        });
        starts.fold(plain, usize::min)
    }

    /// Forgets the first bytes, before [`first_open`](Self::first_open).
    pub(super) fn forget(&mut self, bytes: usize) {
        self.position = self.position.saturating_sub(bytes);
        for reading in &mut self.readings {
            reading.position = reading.position.saturating_sub(bytes);
        }
    }
}

impl Reading {
    /// Returns the reading that goes on with a character, or `None` if it has nothing of a secret then: the plain reading finds
    /// what begins after this character.
    fn with_character(&self, patterns: &Patterns, way: Written) -> Option<Self> {
        if patterns.next(self.state, way.character) == patterns.start() {
            return None;
        }
        let mut reading = self.clone();
        reading.read(patterns, way);
        Some(reading)
    }

    /// Returns the reading that ignores a separator, or `None` if it is not within an encoded form.
    fn with_separator(&self, patterns: &Patterns, way: Written) -> Option<Self> {
        let state = patterns.after_separator(self.state);
        if state == patterns.start() {
            return None;
        }
        let mut reading = self.clone();
        reading.state = state;
        reading.add_gap(way.len);
        reading.position += way.len;
        reading.drop_old_gaps(patterns);
        let is_short = reading.gaps.back().is_some_and(|gap| gap.bytes <= MAX_GAP);
        is_short.then_some(reading)
    }

    fn read(&mut self, patterns: &Patterns, way: Written) {
        self.state = patterns.next(self.state, way.character);
        self.characters += 1;
        self.position += way.len;
        if way.len > 1 {
            self.add_gap(way.len - 1);
        }
        self.drop_old_gaps(patterns);
    }

    fn add_gap(&mut self, bytes: usize) {
        let characters = self.characters;
        match self.gaps.back_mut().filter(|gap| gap.characters == characters) {
            Some(gap) => gap.bytes += bytes,
            None => self.gaps.push_back(Gap { characters, bytes }),
        }
    }

    /// Drops gaps before the beginning of the secret.
    fn drop_old_gaps(&mut self, patterns: &Patterns) {
        let start = self.characters.saturating_sub(patterns.depth(self.state));
        while self.gaps.front().is_some_and(|gap| gap.characters <= start) {
            self.gaps.pop_front();
        }
    }

    /// Returns how many bytes the last characters take.
    fn len_of(&self, characters: usize) -> usize {
        let start = self.characters.saturating_sub(characters);
        let within = self.gaps.iter().rev().take_while(|gap| gap.characters > start);
        characters + within.map(|gap| gap.bytes).sum::<usize>()
    }
}

/// The ways to read a character, of which the plain one is the first.
struct Ways {
    ways: [Written; MAX_LAYERS + 1],
    count: usize,
}

impl Ways {
    fn as_slice(&self) -> &[Written] {
        self.ways.get(..self.count).unwrap_or_default()
    }
}

/// Returns the ways to read the character at the start of `rest`, which begins with `byte`.
fn ways_to_read(byte: u8, rest: &[u8], is_complete: bool) -> Result<Ways, Incomplete> {
    let plain = Written {
        character: byte,
        len: 1,
    };
    let mut found = Ways {
        ways: [plain; MAX_LAYERS + 1],
        count: 1,
    };
    if !begins_escape(byte) {
        return Ok(found);
    }
    for layers in 1..=MAX_LAYERS {
        let way = read_character(rest, layers, is_complete)?;
        let is_new = |way: &Written| found.as_slice().last() != Some(way);
        if let (Some(way), Some(place)) = (way.filter(is_new), found.ways.get_mut(found.count)) {
            *place = way;
            found.count += 1;
        }
    }
    Ok(found)
}

/// Adds the secrets whose forms end in a state. `len_of` returns the number of bytes of the last characters.
fn report<'a>(
    patterns: &'a Patterns,
    state: StateID,
    end: usize,
    len_of: impl Fn(usize) -> usize,
    found: &mut Vec<FoundSecret<'a>>,
) {
    found.extend(patterns.matches(state).map(|(length, canary)| FoundSecret {
        start: end.saturating_sub(len_of(length)),
        end,
        canary,
    }));
}
