//! What a sandboxed call takes in from outside: the record from which the call can be run again with the same result.
//!
//! A guest asks the host for example for the time, for the content of a file, or for the response to a request. Each answer of
//! the host crosses the border of the sandbox and is recorded as a crossing, in the order of the questions. In a replay, the
//! guest gets the recorded answers instead of new ones. If it asks for something else, the replay diverges from the record.

mod taken;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use taken::{Body, FileAnswer, FileStatus, HttpFailure, ResponseAnswer, StreamAnswer};

use crate::capability::{Capability, Denial, LinkSet};
use crate::limits::Limits;
use crate::outcome::Outcome;

/// Everything that a guest learned from outside during a call, apart from its input.
///
/// A record is as confidential as the output of the call: whoever reads its [seed](Self::seed) can compute the random numbers
/// of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Intake {
    /// Seed of the random generator; `None` if the guest drew no random number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// The answers of the host, in the order in which the guest asked. Equal consecutive answers without [content of
    /// files or of the network](Answer::outside_content) share one crossing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<Crossing>,
    /// Whether the record was too large: it outgrew [`MAX_BYTES`](Self::MAX_BYTES) or [`MAX_BODY_BYTES`](Self::MAX_BODY_BYTES),
    /// or left too little room for the results of its run. It then has no crossings, and the call cannot be replayed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The capability by which the guest took in something that is not recorded, such as the contents of a file. Such a call
    /// cannot be replayed. Always `None` in new records, as only earlier versions of the host left answers unrecorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<Capability>,
    /// Whether the guest took in a secret of the host. Secrets are never recorded, so the record has no crossings, and the call
    /// cannot be replayed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// The limits, interfaces and variables that the operator gave to the call. `None` in records of earlier versions of the
    /// host, and if `secret` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<GivenByOperator>,
    /// The denials of files and addresses that the guest was not allowed to use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
}

/// The limits, interfaces and variables that the operator gave to a call, as far as the guest can notice them. A replay
/// gives the same, whatever the operator grants now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GivenByOperator {
    /// The limits; absent in JSON if they are the default.
    #[serde(default = "default_limits", skip_serializing_if = "are_default_limits")]
    pub limits: Limits,
    /// The linked interfaces; absent in JSON if they are the default.
    #[serde(default = "LinkSet::by_default", skip_serializing_if = "are_default_links")]
    pub links: LinkSet,
    /// The names and values of the environment variables that the guest can read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
}

const fn default_limits() -> Limits {
    Limits::EXECUTE
}

fn are_default_limits(limits: &Limits) -> bool {
    *limits == Limits::EXECUTE
}

fn are_default_links(links: &LinkSet) -> bool {
    *links == LinkSet::by_default()
}

impl Intake {
    /// Maximum size of the crossings of a record, in bytes of compact JSON without the base64 text of each [`Body`].
    pub const MAX_BYTES: usize = 1 << 20;
    /// Maximum number of bytes that a record has of [content of files and of the network](Answer::outside_content).
    pub const MAX_BODY_BYTES: usize = 4 << 20;

    /// Returns whether the record is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns an upper bound of the size of the crossings, with the base64 text of each [`Body`], in bytes of compact JSON.
    #[must_use]
    pub fn max_encoded_bytes(&self) -> usize {
        let bytes =
            |crossing: &Crossing| crossing.max_bytes_without_base64() + max_base64_bytes(crossing.answer.body_bytes());
        self.crossings.iter().map(bytes).sum()
    }

    /// Drops the crossings, and marks the record as one that was too large.
    pub fn truncate(&mut self) {
        self.crossings = Vec::new();
        self.truncated = true;
    }

    /// Drops the crossings, the denials and what was given, and marks the record as that of a call that took in a secret.
    pub fn withhold(&mut self) {
        self.crossings = Vec::new();
        self.denials = Vec::new();
        self.given = None;
        self.secret = true;
    }

    /// Returns whether the record is larger than any that a host makes. It then comes from a file that somebody wrote.
    fn exceeds_limits(&self) -> bool {
        let bytes: usize = self.crossings.iter().map(Crossing::max_bytes_without_base64).sum();
        let body_bytes: usize = self.crossings.iter().map(|crossing| crossing.answer.body_bytes()).sum();
        bytes > Self::MAX_BYTES || body_bytes > Self::MAX_BODY_BYTES
    }

    /// Returns why the record is incomplete and thus cannot be replayed, or `None` if it is complete.
    #[must_use]
    pub fn why_incomplete(&self) -> Option<DivergenceReason> {
        let secret = self.secret.then_some(DivergenceReason::Secret);
        let truncated = (self.truncated || self.exceeds_limits()).then_some(DivergenceReason::Truncated);
        let unrecorded = self
            .unrecorded
            .map(|capability| DivergenceReason::Unrecorded { capability });
        secret.or(truncated).or(unrecorded)
    }
}

/// An answer of the host, and how many times in a row the guest got it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Crossing {
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
    /// How many times in a row the guest got the answer; absent in JSON if it is 1.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub count: u64,
}

impl Crossing {
    /// Maximum size of the JSON text of the field `count`: the 9 bytes of `,"count":` and at most 20 digits.
    pub const MAX_COUNT_BYTES: usize = 29;

    /// Returns an upper bound of the size of this crossing as compact JSON, with a comma after it, but without the base64 text of
    /// each [`Body`].
    #[must_use]
    pub fn max_bytes_without_base64(&self) -> usize {
        let value_bytes = match &self.answer {
            Answer::WallClock(seconds, nanoseconds) => {
                "[,]".len() + digit_count(*seconds) + digit_count(u64::from(*nanoseconds))
            }
            Answer::MonotonicClock(nanoseconds) => digit_count(*nanoseconds),
            Answer::Polled(ready) => {
                let bytes_with_commas = ready.iter().map(|index| digit_count(u64::from(*index)) + 1);
                "[]".len() + bytes_with_commas.sum::<usize>()
            }
            Answer::Waited => 0,
            Answer::Ready(_) | Answer::Cancelled(_) => "false".len(),
            Answer::File(answer) => answer.max_bytes_without_base64(),
            Answer::Stream(answer) => answer.max_bytes_without_base64(),
            Answer::Response(answer) => answer.max_bytes_without_base64(),
        };
        let kind_bytes = self.answer.kind().name().len();
        let count_bytes = if self.count == 1 { 0 } else { Self::MAX_COUNT_BYTES };
        r#"{"kind":"","value":},"#.len() + kind_bytes + value_bytes + count_bytes
    }
}

/// Returns the size in base64 of a single body of `bytes` bytes. Several bodies of this total size can need more, because each of
/// them is padded: `max_bytes_without_base64` of an answer contains the additional padding.
const fn max_base64_bytes(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

fn digit_count(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |digits| digits as usize + 1)
}

const fn once() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_once(count: &u64) -> bool {
    *count == 1
}

/// What the host answered when the guest asked for something outside of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "value")]
pub enum Answer {
    /// Time since the Unix epoch: seconds and nanoseconds.
    WallClock(u64, u32),
    /// Nanoseconds since the start of the call.
    MonotonicClock(u64),
    /// The indexes of the entries that were ready in a list of pollables (`poll` of `wasi:io`).
    Polled(Vec<u32>),
    /// Whether a single pollable was ready.
    Ready(bool),
    /// The end of waiting for a single pollable.
    Waited,
    /// Whether the call was cancelled.
    Cancelled(bool),
    /// What an operation on files returned.
    File(FileAnswer),
    /// What an operation on a stream of a file or of a request returned.
    Stream(StreamAnswer),
    /// What the guest learned about a request that it sent.
    Response(ResponseAnswer),
}

impl Answer {
    /// Returns everything in the answer that comes from files or from the network: each [`Body`], and texts such as the name of a
    /// header or the target of a link.
    #[must_use]
    pub fn outside_content(&self) -> Vec<&[u8]> {
        match self {
            Self::File(answer) => answer.outside_content(),
            Self::Stream(answer) => answer.outside_content(),
            Self::Response(answer) => answer.outside_content(),
            _ => Vec::new(),
        }
    }

    /// Returns the total size of the [outside content](Self::outside_content), in bytes.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        self.outside_content().iter().map(|body| body.len()).sum()
    }

    /// Returns what the guest asked for.
    #[must_use]
    pub const fn kind(&self) -> CrossingKind {
        match self {
            Self::WallClock(..) => CrossingKind::WallClock,
            Self::MonotonicClock(_) => CrossingKind::MonotonicClock,
            Self::Polled(_) => CrossingKind::Polled,
            Self::Ready(_) => CrossingKind::Ready,
            Self::Waited => CrossingKind::Waited,
            Self::Cancelled(_) => CrossingKind::Cancelled,
            Self::File(_) => CrossingKind::File,
            Self::Stream(_) => CrossingKind::Stream,
            Self::Response(_) => CrossingKind::Response,
        }
    }
}

/// What a guest asked the host for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the answers of the same names are documented")]
pub enum CrossingKind {
    WallClock,
    MonotonicClock,
    Polled,
    Ready,
    Waited,
    Cancelled,
    File,
    Stream,
    Response,
    /// The first random number. The record contains the seed instead of an answer.
    Random,
}

impl CrossingKind {
    /// Returns the name of this kind in messages and, unless it is `Random`, in the record.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WallClock => "wallClock",
            Self::MonotonicClock => "monotonicClock",
            Self::Polled => "polled",
            Self::Ready => "ready",
            Self::Waited => "waited",
            Self::Cancelled => "cancelled",
            Self::File => "file",
            Self::Stream => "stream",
            Self::Response => "response",
            Self::Random => "random",
        }
    }
}

impl fmt::Display for CrossingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The seed of the random generator of one call. JSON has it in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Seed(pub [u8; 32]);

impl fmt::Debug for Seed {
    /// Writes no digit of the seed, since debug texts reach logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

impl From<Seed> for String {
    fn from(seed: Seed) -> Self {
        seed.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The error for a seed whose text is not 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the seed of a recorded call is not 64 hexadecimal digits; the record is damaged, so run the call again")]
pub struct InvalidSeed;

impl TryFrom<String> for Seed {
    type Error = InvalidSeed;

    fn try_from(text: String) -> Result<Self, InvalidSeed> {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let mut seed = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != seed.len() || !rest.is_empty() {
            return Err(InvalidSeed);
        }
        for (byte, [high, low]) in seed.iter_mut().zip(pairs) {
            *byte = digit(*high)
                .zip(digit(*low))
                .map(|(high, low)| high << 4 | low)
                .ok_or(InvalidSeed)?;
        }
        Ok(Self(seed))
    }
}

/// The result of running a recorded call again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The outcome. If the guest was stopped because it asked for what the record cannot answer, the call ends with
    /// [`HostError`](crate::outcome::Ending::HostError).
    pub outcome: Outcome,
    /// The first difference from the record; `None` if the guest asked exactly what the record answers.
    pub divergence: Option<Divergence>,
}

/// The first crossing at which a replayed call differs from its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the replay differs from the record at crossing {number}: {reason}")]
pub struct Divergence {
    /// Number of the answer that differs, counted from 1. A crossing counts as often as its answer was given
    /// ([`Crossing::count`]). Random numbers are not counted.
    pub number: u64,
    /// The difference.
    pub reason: DivergenceReason,
}

/// How a replayed call differs from its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DivergenceReason {
    /// The guest asked something else.
    #[error("the guest asked `{asked}`, the record has `{recorded}`")]
    OtherKind {
        /// What the guest asked.
        asked: CrossingKind,
        /// What the record answers.
        recorded: CrossingKind,
    },
    /// The guest asked for more than the record answers.
    #[error("the guest asked `{asked}`, the record has nothing more")]
    Exhausted {
        /// What the guest asked.
        asked: CrossingKind,
    },
    /// The guest ended before it had asked for everything that the record answers.
    #[error("the guest ended, the record has `{recorded}`")]
    Unused {
        /// What the record answers next.
        recorded: CrossingKind,
    },
    /// The recorded answer does not fit the question. For example, it has an index beyond the end of the polled list.
    #[error("the recorded answer to `{asked}` does not fit what the guest asked")]
    Unfit {
        /// What the guest asked.
        asked: CrossingKind,
    },
    /// The record was truncated, so the guest was not run.
    #[error("the record is truncated, so the call cannot be replayed")]
    Truncated,
    /// The guest took in a secret, which is never recorded, so the guest was not run.
    #[error("the call took in a secret, which is not recorded, so it cannot be replayed")]
    Secret,
    /// The guest took in something that is not recorded, so the guest was not run.
    #[error("what the call took in by `{capability}` is not recorded, so it cannot be replayed")]
    Unrecorded {
        /// The capability by which the guest took it in.
        capability: Capability,
    },
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn answer() -> impl Strategy<Value = Answer> {
        prop_oneof![
            any::<(u64, u32)>().prop_map(|(seconds, nanoseconds)| Answer::WallClock(seconds, nanoseconds)),
            any::<u64>().prop_map(Answer::MonotonicClock),
            vec(any::<u32>(), 0..5).prop_map(Answer::Polled),
            any::<bool>().prop_map(Answer::Ready),
            Just(Answer::Waited),
            any::<bool>().prop_map(Answer::Cancelled),
            file_answer().prop_map(Answer::File),
            stream_answer().prop_map(Answer::Stream),
            response_answer().prop_map(Answer::Response),
        ]
    }

    fn body() -> impl Strategy<Value = Body> {
        vec(any::<u8>(), 0..40).prop_map(Body)
    }

    fn file_answer() -> impl Strategy<Value = FileAnswer> {
        let times = any::<[Option<(u64, u32)>; 3]>();
        prop_oneof![
            Just(FileAnswer::Done),
            Just(FileAnswer::Opened),
            Just(FileAnswer::End),
            any::<String>().prop_map(FileAnswer::Failed),
            any::<u64>().prop_map(FileAnswer::Written),
            (body(), any::<bool>()).prop_map(|(body, is_end)| FileAnswer::Read(body, is_end)),
            (any::<String>(), any::<u64>(), any::<u64>(), times).prop_map(|(r#type, links, size, times)| {
                FileAnswer::Status(FileStatus {
                    r#type,
                    links,
                    size,
                    times,
                })
            }),
            any::<(u64, u64)>().prop_map(|(lower, upper)| FileAnswer::Hash(lower, upper)),
            any::<String>().prop_map(FileAnswer::Type),
            any::<(bool, bool, bool)>().prop_map(|(read, write, change)| FileAnswer::Rights(read, write, change)),
            any::<String>().prop_map(FileAnswer::Link),
            any::<(String, String)>().prop_map(|(kind, name)| FileAnswer::Entry(kind, name)),
            any::<bool>().prop_map(FileAnswer::Same),
            any::<String>().prop_map(FileAnswer::Noted),
            any::<u64>().prop_map(FileAnswer::Worked),
            any::<String>().prop_map(FileAnswer::NotWritten),
        ]
    }

    fn stream_answer() -> impl Strategy<Value = StreamAnswer> {
        prop_oneof![
            Just(StreamAnswer::Done),
            Just(StreamAnswer::Closed),
            body().prop_map(StreamAnswer::Read),
            any::<u64>().prop_map(StreamAnswer::Bytes),
            any::<(String, Option<String>)>().prop_map(|(text, code)| StreamAnswer::Failed(text, code)),
        ]
    }

    fn response_answer() -> impl Strategy<Value = ResponseAnswer> {
        let fields = || vec((any::<String>(), body()), 0..5);
        prop_oneof![
            Just(ResponseAnswer::NotReady),
            Just(ResponseAnswer::Taken),
            Just(ResponseAnswer::Done),
            any::<(String, Option<String>, Option<u64>)>()
                .prop_map(|(code, text, number)| ResponseAnswer::Failed(HttpFailure { code, text, number })),
            (any::<u16>(), fields()).prop_map(|(status, fields)| ResponseAnswer::Head(status, fields)),
            fields().prop_map(ResponseAnswer::Trailers),
        ]
    }

    fn crossing() -> impl Strategy<Value = Crossing> {
        (answer(), prop_oneof![Just(1), any::<u64>()]).prop_map(|(answer, count)| Crossing { answer, count })
    }

    proptest! {
        #[test]
        fn a_record_is_read_back_from_its_json_text(
            seed in any::<Option<[u8; 32]>>(),
            crossings in vec(crossing(), 0..8),
            truncated in any::<bool>(),
            unrecorded in prop_oneof![Just(None), Just(Some(Capability::Fs)), Just(Some(Capability::Http))],
        ) {
            let intake = Intake { seed: seed.map(Seed), crossings, truncated, unrecorded, ..Intake::default() };
            let text = serde_json::to_string(&intake)?;
            prop_assert_eq!(serde_json::from_str::<Intake>(&text)?, intake);
        }

        #[test]
        fn the_json_of_a_crossing_is_smaller_than_the_computed_maximum(crossing in crossing()) {
            let text = serde_json::to_string(&crossing)?;
            let maximum = crossing.max_bytes_without_base64() + max_base64_bytes(crossing.answer.body_bytes());
            prop_assert!(text.len() < maximum, "{}", text);
        }

        #[test]
        fn a_seed_of_the_wrong_length_is_refused(text in ".{0,80}") {
            prop_assume!(text.len() != 64);
            prop_assert_eq!(Seed::try_from(text), Err(InvalidSeed));
        }
    }

    #[test]
    fn the_json_of_a_record_leaves_out_default_values() {
        let answered_once = |answer| Crossing { answer, count: 1 };
        let intake = Intake {
            seed: Some(Seed([0xa5; 32])),
            crossings: vec![
                answered_once(Answer::WallClock(1, 2)),
                answered_once(Answer::Polled(vec![0, 2])),
                answered_once(Answer::Waited),
                Crossing {
                    answer: Answer::Cancelled(false),
                    count: 100_000,
                },
            ],
            ..Intake::default()
        };
        let expected = json!({
            "seed": "a5".repeat(32),
            "crossings": [
                {"kind": "wallClock", "value": [1, 2]},
                {"kind": "polled", "value": [0, 2]},
                {"kind": "waited"},
                {"kind": "cancelled", "value": false, "count": 100_000},
            ],
        });
        assert_eq!(serde_json::to_value(&intake).unwrap(), expected);
    }

    #[test]
    fn an_empty_record_is_an_empty_object() {
        assert_eq!(serde_json::to_value(Intake::default()).unwrap(), json!({}));
        assert!(serde_json::from_str::<Intake>("{}").unwrap().is_empty());
    }

    #[test]
    fn a_record_that_has_only_a_seed_is_not_empty() {
        let intake = Intake {
            seed: Some(Seed([0; 32])),
            ..Intake::default()
        };
        assert!(!intake.is_empty());
    }

    #[test]
    fn the_seed_is_not_in_the_debug_text() {
        assert_eq!(format!("{:?}", Seed([7; 32])), "Seed(..)");
    }

    #[test]
    fn the_bytes_of_a_body_are_not_in_the_debug_text_and_are_base64_in_json() {
        assert_eq!(format!("{:?}", Body(b"abc".to_vec())), "Body(3 bytes)");
        assert_eq!(serde_json::to_value(Body(b"abc".to_vec())).unwrap(), json!("YWJj"));
        assert!(serde_json::from_value::<Body>(json!("?")).is_err());
    }

    #[test]
    fn default_limits_and_interfaces_are_left_out_of_the_json() {
        let given = GivenByOperator {
            limits: Limits::EXECUTE,
            links: LinkSet::by_default(),
            env: Vec::new(),
        };
        assert_eq!(serde_json::to_value(&given).unwrap(), json!({}));
        assert_eq!(serde_json::from_value::<GivenByOperator>(json!({})).unwrap(), given);
    }

    #[test]
    fn a_record_that_is_withheld_keeps_nothing_that_was_taken_in() {
        let crossing = Crossing {
            answer: Answer::File(FileAnswer::Link("secret".to_owned())),
            count: 1,
        };
        let mut intake = Intake {
            crossings: vec![crossing],
            ..Intake::default()
        };
        intake.withhold();
        assert_eq!(serde_json::to_value(&intake).unwrap(), json!({"secret": true}));
        assert_eq!(intake.why_incomplete(), Some(DivergenceReason::Secret));
    }

    #[test]
    fn a_seed_has_only_hexadecimal_digits_in_either_case() {
        assert_eq!(Seed::try_from("g".repeat(64)), Err(InvalidSeed));
        assert_eq!(Seed::try_from("0F".repeat(32)), Ok(Seed([0x0f; 32])));
    }

    #[test]
    fn the_name_of_each_kind_is_its_name_in_the_record() {
        let answers = [
            Answer::WallClock(0, 0),
            Answer::MonotonicClock(0),
            Answer::Polled(Vec::new()),
            Answer::Ready(true),
            Answer::Waited,
            Answer::Cancelled(true),
            Answer::File(FileAnswer::Done),
            Answer::Stream(StreamAnswer::Done),
            Answer::Response(ResponseAnswer::Done),
        ];
        for answer in answers {
            assert_eq!(serde_json::to_value(&answer).unwrap()["kind"], answer.kind().name());
        }
    }
}
