//! Everything that a guest learns from outside of its sandbox. It is recorded in an [`Intake`], and a replayed call gets it from
//! this record.
//!
//! Whenever the guest asks for something from outside, such as the time or a part of a file, what it gets is the answer. A
//! [`Crossing`] is an entry of the record: an answer, and how often it was given in a row. (In the module
//! [`crossing`](crate::crossing), the word means any passing of execution between guest and host.) Of the random numbers only the
//! seed is recorded. If a replayed call asks other questions than its record answers, the first difference is the divergence.

use art_core::capability::{Capability, Denial};
use art_core::intake::{
    Answer, Crossing, CrossingKind, Divergence, DivergenceReason, FileAnswer, GivenByOperator, Intake, Seed,
};
use art_core::secret::{RedactedStream, Redactor};
use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;

use crate::denials::Denials;

/// The source of the answers and random numbers that one call gets from outside of its sandbox.
#[derive(Default)]
pub(crate) struct Outside {
    recorder: Recorder,
    /// The record that answers instead of the machine, if the call is replayed.
    player: Option<Box<Player>>,
    /// Created when the guest first draws a random number, since most tools never do.
    random: Option<Box<ChaCha20Rng>>,
    /// The denials of files and addresses that the guest was not allowed to use.
    denials: Denials,
    /// Whether the record of a replay has denials of files.
    has_recorded_file_denials: bool,
}

impl Outside {
    /// Creates a source that answers from a record.
    pub(crate) fn replay(mut recorded: Intake) -> Self {
        let is_of_file = |denial: &Denial| denial.capability == Capability::Fs;
        let mut outside = Self {
            has_recorded_file_denials: recorded.denials.iter().any(is_of_file),
            ..Self::default()
        };
        // The denials of a replay come from the record too.
        for denial in recorded.denials.drain(..) {
            outside.denials.push(denial);
        }
        outside.player = Some(Box::new(Player::new(recorded)));
        outside
    }

    /// Returns whether the answers come from a record.
    pub(crate) const fn is_replay(&self) -> bool {
        self.player.is_some()
    }

    /// Records the next answer and returns its value. The answer comes from `live`, or from the record if the call is a replay.
    /// `value_of` returns the value of an answer, or `None` if the answer is of another kind than `kind`.
    pub(crate) fn ask<T>(
        &mut self,
        kind: CrossingKind,
        live: impl FnOnce() -> Answer,
        value_of: impl FnOnce(&Answer) -> Option<T>,
    ) -> wasmtime::Result<T> {
        let answer = match self.next_recorded(kind)? {
            Some(answer) => answer,
            None => live(),
        };
        let value =
            value_of(&answer).ok_or_else(|| wasmtime::Error::msg(format!("`{answer:?}` does not answer `{kind}`")));
        self.record(answer);
        value
    }

    /// Returns the next answer of the record. `None` if the call is not a replay.
    pub(crate) fn next_recorded(&mut self, kind: CrossingKind) -> wasmtime::Result<Option<Answer>> {
        match &mut self.player {
            Some(player) => Ok(Some(player.next(kind)?)),
            None => Ok(None),
        }
    }

    /// Records an answer that the guest gets.
    pub(crate) fn record(&mut self, answer: Answer) {
        self.recorder.push(answer);
    }

    /// Returns why files could not be stored at the end of the recorded call. `None` if they were, or if the call is not a replay.
    pub(crate) fn recorded_write_failure(&mut self) -> Option<String> {
        let player = self.player.as_mut()?;
        while player.crossings.next_if(|crossing| crossing.count == 0).is_some() {}
        let Some(Answer::File(FileAnswer::NotWritten(_))) = player.crossings.peek().map(|crossing| &crossing.answer)
        else {
            return None;
        };
        let answer = player.next(CrossingKind::File).ok()?;
        self.record(answer.clone());
        match answer {
            Answer::File(FileAnswer::NotWritten(reason)) => Some(reason),
            _ => None,
        }
    }

    /// Returns the error for an answer that does not fit the question. If the answer comes from a record, stores the error as the
    /// divergence.
    pub(crate) fn unfit_answer_error(&mut self, asked: CrossingKind) -> wasmtime::Error {
        match &mut self.player {
            Some(player) => player.unfit_answer_error(asked).into(),
            None => wasmtime::Error::msg(format!("the host's answer to `{asked}` does not fit")),
        }
    }

    /// Returns the random generator of the call.
    pub(crate) fn random(&mut self) -> wasmtime::Result<&mut ChaCha20Rng> {
        if self.random.is_none() {
            let seed = match &mut self.player {
                Some(player) => player.seed()?,
                None => new_seed()?,
            };
            self.recorder.intake.seed = Some(seed);
            self.random = Some(Box::new(ChaCha20Rng::from_seed(seed.0)));
        }
        self.random
            .as_deref_mut()
            .ok_or_else(|| wasmtime::Error::msg("there is no random generator"))
    }

    /// Notes what the guest was not allowed to do with files or addresses.
    pub(crate) fn note_denial(&mut self, denial: Denial) {
        self.denials.push(denial);
    }

    /// Notes what the guest was not allowed to do with files because no file is granted. In a replay, the record has these denials too,
    /// with the words of the host on which it was made, unless an earlier version of the host has made it.
    pub(crate) fn note_denial_by_stub(&mut self, denial: Denial) {
        if !self.has_recorded_file_denials {
            self.denials.push(denial);
        }
    }

    /// Returns the record of the call with `given`, which is what the operator gave to the call, and clears it. The denials are
    /// only copied, so that [`take_denials`](Self::take_denials) can still return them. If the record contains a secret, it is
    /// returned without its answers, its denials and `given`.
    pub(crate) fn take_intake(&mut self, given: GivenByOperator, redactor: &Redactor) -> Intake {
        let mut intake = std::mem::take(&mut self.recorder).intake;
        intake.denials = self.denials.clone().take();
        intake.given = Some(given);
        if has_secret(&intake, redactor) {
            intake.withhold();
        }
        intake
    }

    /// Returns the denials, and clears them.
    pub(crate) fn take_denials(&mut self) -> Vec<Denial> {
        self.denials.take()
    }

    /// Returns the first difference between a replay that has ended and its record. `None` if there is none, or if the call is
    /// not a replay.
    pub(crate) fn divergence(&self) -> Option<Divergence> {
        self.player.as_deref().and_then(Player::divergence_at_end)
    }
}

fn new_seed() -> wasmtime::Result<Seed> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| wasmtime::Error::msg(format!("the operating system returned no random numbers: {error}")))?;
    Ok(Seed(seed))
}

/// Returns whether the record of a call contains a secret, even one that is split between several answers. The secret may be in
/// an environment variable, in what the call was denied, or in the bodies of the answers, which are the bytes that came from files and
/// from the network.
fn has_secret(intake: &Intake, redactor: &Redactor) -> bool {
    if redactor.is_empty() {
        return false;
    }
    let variables = intake.given.iter().flat_map(|given| &given.env);
    let is_in_variable = variables
        .into_iter()
        .any(|(_, value)| redactor.finds_secret_in(value.as_bytes()));
    let is_in_denial = intake.denials.iter().any(|denial| {
        let texts = [Some(&denial.resource), Some(&denial.reason), denial.command.as_ref()];
        let mut texts = texts.into_iter().flatten();
        texts.any(|text| redactor.finds_secret_in(text.as_bytes()))
    });
    let mut stream = RedactedStream::new(redactor.clone());
    let mut is_in_body = false;
    // The stream passes bytes on with a delay, and replaces those of a secret. `held` has the bytes that the stream
    // got and has not passed on yet. If what it passes on next differs from the start of `held`, there was a secret.
    let mut held = Vec::new();
    for body in intake
        .crossings
        .iter()
        .flat_map(|crossing| crossing.answer.outside_content())
    {
        held.extend_from_slice(body);
        let passed = stream.push(body);
        is_in_body |= !held.starts_with(&passed);
        held.drain(..passed.len().min(held.len()));
    }
    is_in_variable || is_in_denial || is_in_body || stream.finish() != held
}

/// Records the answers of a call, up to the maximum size.
#[derive(Default)]
struct Recorder {
    intake: Intake,
    /// Upper bound of the size of the crossings as JSON, without the text of the bodies.
    bytes: usize,
    /// Number of bytes of the bodies.
    body_bytes: usize,
}

impl Recorder {
    fn push(&mut self, answer: Answer) {
        if self.intake.truncated {
            return;
        }
        match self.intake.crossings.last_mut() {
            Some(last) if last.answer == answer && answer.outside_content().is_empty() => {
                // A count of 1 is not written.
                if last.count == 1 {
                    self.bytes += Crossing::MAX_COUNT_BYTES;
                }
                last.count = last.count.saturating_add(1);
            }
            _ => {
                let crossing = Crossing { answer, count: 1 };
                self.bytes += crossing.max_bytes_without_base64();
                self.body_bytes += crossing.answer.body_bytes();
                self.intake.crossings.push(crossing);
            }
        }
        if self.bytes > Intake::MAX_BYTES || self.body_bytes > Intake::MAX_BODY_BYTES {
            self.intake.truncate();
        }
    }
}

/// Answers the guest from a record.
struct Player {
    seed: Option<Seed>,
    /// The answers that are left, each with the number of times that it is still to be given.
    crossings: std::iter::Peekable<std::vec::IntoIter<Crossing>>,
    /// Number of answers that the guest got so far.
    answered: u64,
    has_drawn_random: bool,
    divergence: Option<Divergence>,
}

impl Player {
    fn new(recorded: Intake) -> Self {
        Self {
            seed: recorded.seed,
            crossings: recorded.crossings.into_iter().peekable(),
            answered: 0,
            has_drawn_random: false,
            divergence: None,
        }
    }

    /// Returns the next answer of the record. Fails if no answer is left, or if the next one answers another kind of question.
    fn next(&mut self, asked: CrossingKind) -> Result<Answer, Divergence> {
        while self.crossings.next_if(|crossing| crossing.count == 0).is_some() {}
        let Some(crossing) = self.crossings.peek_mut() else {
            return Err(self.diverge(self.answered + 1, DivergenceReason::Exhausted { asked }));
        };
        let recorded = crossing.answer.kind();
        if recorded != asked {
            return Err(self.diverge(self.answered + 1, DivergenceReason::OtherKind { asked, recorded }));
        }
        crossing.count -= 1;
        self.answered += 1;
        Ok(crossing.answer.clone())
    }

    /// Returns the recorded seed of the random numbers.
    fn seed(&mut self) -> Result<Seed, Divergence> {
        let asked = CrossingKind::Random;
        self.has_drawn_random = true;
        self.seed
            .ok_or_else(|| self.diverge(self.answered + 1, DivergenceReason::Exhausted { asked }))
    }

    /// Stores and returns the divergence for the answer that the guest got last.
    fn unfit_answer_error(&mut self, asked: CrossingKind) -> Divergence {
        self.diverge(self.answered, DivergenceReason::Unfit { asked })
    }

    /// Stores a divergence unless an earlier one is stored, and returns the first.
    fn diverge(&mut self, number: u64, reason: DivergenceReason) -> Divergence {
        *self.divergence.get_or_insert(Divergence { number, reason })
    }

    /// Returns the divergence of a call that has ended: the first one that was stored, or else what the record has and the
    /// guest did not ask for.
    fn divergence_at_end(&self) -> Option<Divergence> {
        let mut unused = self.crossings.clone().filter(|crossing| crossing.count > 0);
        let unused_answer = unused.next().map(|crossing| crossing.answer.kind());
        let unused_seed = (self.seed.is_some() && !self.has_drawn_random).then_some(CrossingKind::Random);
        let unused = unused_answer.or(unused_seed).map(|recorded| Divergence {
            number: self.answered + 1,
            reason: DivergenceReason::Unused { recorded },
        });
        self.divergence.or(unused)
    }
}

#[cfg(test)]
mod tests {
    use art_core::capability::LinkSet;
    use art_core::intake::Body;
    use art_core::limits::Limits;
    use art_core::secret::{Secret, Secrets};
    use chacha20::rand_core::Rng;
    use proptest::prelude::*;

    use super::*;

    /// Asks whether the call is cancelled. `live_answer` is the answer in a call that is not a replay.
    fn ask_cancelled(outside: &mut Outside, live_answer: bool) -> wasmtime::Result<bool> {
        let read = |answer: &Answer| match answer {
            Answer::Cancelled(is_cancelled) => Some(*is_cancelled),
            _ => None,
        };
        outside.ask(CrossingKind::Cancelled, || Answer::Cancelled(live_answer), read)
    }

    /// Asks for the time. `live_answer` is the answer in a call that is not a replay.
    fn ask_time(outside: &mut Outside, live_answer: u64) -> wasmtime::Result<u64> {
        let read = |answer: &Answer| match answer {
            Answer::MonotonicClock(nanoseconds) => Some(*nanoseconds),
            _ => None,
        };
        let live = || Answer::MonotonicClock(live_answer);
        outside.ask(CrossingKind::MonotonicClock, live, read)
    }

    /// Returns the record of a call that asks these questions.
    fn record(ask: impl FnOnce(&mut Outside)) -> Intake {
        let mut outside = Outside::default();
        ask(&mut outside);
        take_intake(&mut outside)
    }

    /// Returns the record of a call, without what the operator gave to it.
    fn take_intake(outside: &mut Outside) -> Intake {
        let given = GivenByOperator {
            limits: Limits::EXECUTE,
            links: LinkSet::by_default(),
            env: Vec::new(),
        };
        let intake = outside.take_intake(given, Secrets::none().redactor());
        Intake { given: None, ..intake }
    }

    fn divergence(number: u64, reason: DivergenceReason) -> Option<Divergence> {
        Some(Divergence { number, reason })
    }

    #[test]
    fn a_call_that_asks_nothing_has_an_empty_record() {
        assert!(record(|_| ()).is_empty());
    }

    #[test]
    fn consecutive_equal_answers_are_one_entry() {
        let intake = record(|outside| {
            for _ in 0..100_000 {
                ask_cancelled(outside, false).unwrap();
            }
            ask_cancelled(outside, true).unwrap();
        });
        let counts: Vec<_> = intake.crossings.iter().map(|crossing| crossing.count).collect();
        assert_eq!(counts, [100_000, 1]);
    }

    #[test]
    fn a_record_that_grows_too_large_is_truncated() {
        let intake = record(|outside| {
            (0..100_000).for_each(|nanoseconds| {
                ask_time(outside, nanoseconds).unwrap();
            })
        });
        assert!(intake.truncated && intake.crossings.is_empty());
    }

    /// Creates the `Outside` of a call that has read a file in these parts and asked for the time after each.
    fn after_reading_parts(parts: &[&str]) -> Outside {
        let mut outside = Outside::default();
        for part in parts {
            let body = Body(part.as_bytes().to_vec());
            outside.record(Answer::File(FileAnswer::Read(body, false)));
            ask_time(&mut outside, 1).unwrap();
        }
        outside
    }

    #[test]
    fn a_record_with_more_bytes_of_files_than_allowed_is_truncated() {
        let (half, byte) = ("x".repeat(Intake::MAX_BODY_BYTES / 2), "x");
        assert!(!take_intake(&mut after_reading_parts(&[&half, &half])).truncated);
        assert!(take_intake(&mut after_reading_parts(&[&half, &half, byte])).truncated);
    }

    #[test]
    fn a_record_is_withheld_if_a_secret_is_read_whole_or_in_parts_or_is_in_a_variable() {
        let secret = Secret::new("key", &"s3cretvalue".into(), false).unwrap();
        let secrets = Secrets::new(vec![secret]).unwrap();
        let given = || GivenByOperator {
            limits: Limits::EXECUTE,
            links: LinkSet::by_default(),
            env: Vec::new(),
        };
        let record_parts = |parts: &[&str]| after_reading_parts(parts).take_intake(given(), secrets.redactor());
        for parts in [
            &["a s3cretvalue b"][..],
            &["s3cret", "value"],
            &["a s", "3cretvalu", "e", "b"],
        ] {
            let intake = record_parts(parts);
            assert!(intake.secret && intake.crossings.is_empty(), "{parts:?}");
        }
        // The secret is not in these parts, since a space separates its two halves. The record has an answer for each of the
        // three parts, and one for the time after each.
        let intake = record_parts(&["s3cret", " value", "s3"]);
        assert!(!intake.secret && intake.crossings.len() == 2 * 3, "{intake:?}");
        let env = vec![("KEY".to_owned(), "s3cretvalue".to_owned())];
        let intake = Outside::default().take_intake(GivenByOperator { env, ..given() }, secrets.redactor());
        assert_eq!((intake.secret, intake.given), (true, None));
    }

    #[test]
    fn each_call_draws_other_random_numbers() {
        let draw = || Outside::default().random().unwrap().next_u64();
        assert_ne!(draw(), draw());
    }

    #[test]
    fn a_replay_draws_the_random_numbers_of_the_record() {
        let mut live = Outside::default();
        let drawn = live.random().unwrap().next_u64();
        let mut replay = Outside::replay(take_intake(&mut live));
        assert_eq!(replay.random().unwrap().next_u64(), drawn);
        assert_eq!(replay.divergence(), None);
    }

    #[test]
    fn a_replay_diverges_where_it_asks_another_kind_of_question() {
        let recorded = record(|outside| {
            ask_cancelled(outside, false).unwrap();
            ask_cancelled(outside, false).unwrap();
        });
        let mut replay = Outside::replay(recorded);
        assert!(!ask_cancelled(&mut replay, true).unwrap());
        ask_time(&mut replay, 0).unwrap_err();
        let (asked, recorded) = (CrossingKind::MonotonicClock, CrossingKind::Cancelled);
        assert_eq!(
            replay.divergence(),
            divergence(2, DivergenceReason::OtherKind { asked, recorded })
        );
    }

    #[test]
    fn a_replay_that_asks_more_diverges_after_the_end_of_the_record() {
        let recorded = record(|outside| {
            ask_time(outside, 7).unwrap();
        });
        let mut replay = Outside::replay(recorded);
        assert_eq!(ask_time(&mut replay, 0).unwrap(), 7);
        ask_time(&mut replay, 0).unwrap_err();
        let asked = CrossingKind::MonotonicClock;
        assert_eq!(
            replay.divergence(),
            divergence(2, DivergenceReason::Exhausted { asked })
        );
    }

    #[test]
    fn a_replay_that_asks_less_diverges_at_its_end() {
        let recorded = record(|outside| {
            ask_time(outside, 7).unwrap();
            outside.random().unwrap();
        });
        let mut replay = Outside::replay(recorded);
        let unused = |recorded| DivergenceReason::Unused { recorded };
        assert_eq!(replay.divergence(), divergence(1, unused(CrossingKind::MonotonicClock)));
        ask_time(&mut replay, 0).unwrap();
        assert_eq!(replay.divergence(), divergence(2, unused(CrossingKind::Random)));
        replay.random().unwrap();
        assert_eq!(replay.divergence(), None);
    }

    #[test]
    fn a_replay_without_a_recorded_seed_draws_no_random_number() {
        let mut replay = Outside::replay(Intake::default());
        replay.random().unwrap_err();
        let asked = CrossingKind::Random;
        assert_eq!(
            replay.divergence(),
            divergence(1, DivergenceReason::Exhausted { asked })
        );
    }

    #[test]
    fn only_the_first_divergence_is_reported() {
        let mut replay = Outside::replay(Intake::default());
        replay.random().unwrap_err();
        ask_cancelled(&mut replay, false).unwrap_err();
        let asked = CrossingKind::Random;
        assert_eq!(
            replay.divergence(),
            divergence(1, DivergenceReason::Exhausted { asked })
        );
    }

    proptest! {
        #[test]
        fn a_replay_answers_as_the_record_and_records_the_same(
            questions in prop::collection::vec((any::<bool>(), 0_u64..3), 0..40),
        ) {
            const WRONG_TIME: u64 = 9;
            let ask_all = |outside: &mut Outside, is_live: bool| -> wasmtime::Result<Vec<u64>> {
                // A replay must not use the live answers, so it is given others: `WRONG_TIME`, and always "not cancelled".
                let ask_one = |(asks_time, value): &(bool, u64)| match asks_time {
                    true => ask_time(outside, if is_live { *value } else { WRONG_TIME }),
                    false => ask_cancelled(outside, is_live && *value == 1).map(u64::from),
                };
                questions.iter().map(ask_one).collect()
            };
            let mut live = Outside::default();
            let answers = ask_all(&mut live, true).unwrap();
            let recorded = take_intake(&mut live);
            let mut replay = Outside::replay(recorded.clone());
            prop_assert_eq!(ask_all(&mut replay, false).unwrap(), answers);
            prop_assert_eq!(replay.divergence(), None);
            prop_assert_eq!(take_intake(&mut replay), recorded);
        }

        #[test]
        fn no_record_is_larger_than_the_maximum(values in prop::collection::vec(any::<u64>(), 0..6_000)) {
            let intake = record(|outside| values.iter().for_each(|value| {
                ask_time(outside, *value).unwrap();
            }));
            let text = serde_json::to_string(&intake.crossings).unwrap();
            prop_assert!(text.len() <= Intake::MAX_BYTES + "[]".len());
        }
    }
}
