//! Goes on from earlier turns: "and divided by 3?" means the last result, "what about 50?" asks the last question again.

use art_core::prompt::{Message, Role};
use art_core::provider::ModelRequest;
use serde_json::Value;

use super::prompt;
use super::reading::{Candidate, Reading, Shape};
use super::refer;
use super::token::{Kind, Token, tokens};
use super::words;

/// Characters of a turn that are read.
const TURN: usize = 4_000;

/// What the turns before a query left.
#[derive(Clone, Debug, Default)]
pub(super) struct Earlier {
    /// What was asked last.
    pub(super) asked: Option<String>,
    /// The number that the last answer ended with.
    pub(super) answered: Option<Value>,
}

impl Earlier {
    /// Reads the completed items of the current plan, and the turns of the conversation where it has none.
    pub(super) fn of(request: &ModelRequest, completed: &[Value]) -> Self {
        let turns = prompt::turns(&request.prompt.0);
        let last = |role: Role| {
            turns
                .iter()
                .rev()
                .find(|turn| turn.role == role)
                .map(Message::content_text)
        };
        let done = completed.last().and_then(|item| item.get("description")?.as_str());
        Self {
            asked: done
                .or_else(|| last(Role::User))
                .map(|text| art_core::text::prefix(text, TURN).to_owned()),
            answered: last(Role::Assistant).and_then(result),
        }
    }

    /// `part` with the number of the last answer where it points at that.
    pub(super) fn with_answer(&self, part: &str) -> Option<String> {
        let value = self.answered.as_ref()?;
        let reading = Reading::new(part);
        let points = |candidate: &&Candidate| match candidate.shape {
            Shape::Expression => super::fill::refers(&candidate.value),
            Shape::Reference => true,
            _ => false,
        };
        let pointer = reading.candidates.iter().find(points)?;
        let mut text = match pointer.shape {
            Shape::Expression => pointer.value.clone(),
            _ => Value::from(super::expression::REFERENCE),
        };
        refer::substitute(&mut text, value);
        Some(replaced(&reading, pointer, &super::schema::text_of(&text)))
    }
}

/// The one number at the end of an answer, behind its label.
fn result(answer: &str) -> Option<Value> {
    let text = answer
        .char_indices()
        .rev()
        .nth(TURN)
        .map_or(answer, |(at, _)| answer.get(at..).unwrap_or_default());
    let line = text
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty() && !line.starts_with("Sources:"))?;
    let value = line.rsplit_once(": ").map_or(line, |(_, value)| value);
    let numbers = tokens(value).into_iter().filter_map(|token| match token.kind {
        Kind::Number(number) => Some(number.value),
        _ => None,
    });
    match numbers.collect::<Vec<_>>().as_slice() {
        [number] if !line.starts_with(super::plan::CANNOT) => Some(super::reading::number_value(*number)),
        _ => None,
    }
}

/// `asked` with the one value of `part` in place of the only one of its kind: "what about 50?".
pub(super) fn again(asked: &str, part: &str) -> Option<String> {
    let reading = Reading::new(part);
    let (start, lead) = opening(&reading)?;
    let end = reading
        .tokens
        .iter()
        .rposition(|token| !token.is_any(&["?", ".", "!"]))?
        + 1;
    let whole = |candidate: &&Candidate| candidate.from == start && (candidate.to == end || is_number(candidate));
    let new = reading
        .candidates
        .iter()
        .filter(whole)
        .min_by_key(|candidate| order(&candidate.shape))?;
    let old = Reading::new(asked);
    let unit = stems(&reading, new.to, end);
    let fits = |candidate: &&Candidate| {
        is_alike(new, candidate, lead.is_some())
            && stems(&old, candidate.to, candidate.to + unit.len()) == unit
            && lead.as_ref().is_none_or(|lead| *lead == lead_of(&old, candidate))
    };
    let mut fitting: Vec<&Candidate> = old.candidates.iter().filter(fits).collect();
    fitting.sort_by_key(|candidate| (candidate.from, candidate.to));
    fitting.dedup_by_key(|candidate| (candidate.from, candidate.to));
    let outer = |candidate: &&&Candidate| !fitting.iter().any(|other| contains(other, candidate));
    match fitting.iter().filter(outer).collect::<Vec<_>>().as_slice() {
        [place] => Some(replaced(&old, place, reading.slice(new.from, new.to))),
        _ => None,
    }
}

/// Where the value stands behind "what about" and the like, and the preposition before it.
fn opening(reading: &Reading) -> Option<(usize, Option<String>)> {
    let mut at = 0;
    let is = |at: usize, words: &[&str]| reading.token(at).is_some_and(|token| token.is_any(words));
    while is(at, &["and", "now", "ok", "okay", "so", "then", ","]) {
        at += 1;
    }
    let asks = is(at, &["what", "how"]) && is(at + 1, &["about"]) || is(at, &["same"]) && is(at + 1, &["for", "with"]);
    at += if asks { 2 } else { 0 };
    let lead = reading
        .token(at)
        .filter(|token| token.is_any(&["in", "for", "to", "at", "on", "from", "with", "of"]));
    (asks || lead.is_some()).then(|| (at + usize::from(lead.is_some()), lead.map(Token::lower)))
}

const fn is_number(candidate: &Candidate) -> bool {
    matches!(candidate.shape, Shape::Number(_))
}

/// The firm shapes first: a name may also be read as a phrase.
const fn order(shape: &Shape) -> u8 {
    match shape {
        Shape::Date | Shape::Span(_) => 0,
        Shape::Phrase => 3,
        Shape::Name => 2,
        _ => 1,
    }
}

/// Phrases are everywhere, so one stands for another only behind the same preposition.
fn is_alike(new: &Candidate, old: &Candidate, led: bool) -> bool {
    match (&new.shape, &old.shape) {
        (Shape::Number(new), Shape::Number(old)) => new.percent == old.percent && !old.looks_like_a_year(),
        (Shape::Expression | Shape::Reference | Shape::Rest, _) => false,
        (Shape::Phrase, Shape::Name | Shape::Phrase) | (Shape::Name, Shape::Phrase) => led,
        (new, old) => std::mem::discriminant(new) == std::mem::discriminant(old),
    }
}

fn contains(outer: &Candidate, inner: &Candidate) -> bool {
    outer != inner && outer.from <= inner.from && inner.to <= outer.to
}

fn stems(reading: &Reading, from: usize, to: usize) -> Vec<String> {
    let tokens = reading
        .tokens
        .get(from..to.min(reading.tokens.len()))
        .unwrap_or_default();
    tokens.iter().map(|token| words::stem(&token.lower())).collect()
}

fn lead_of(reading: &Reading, candidate: &Candidate) -> String {
    let article = matches!(reading.before(candidate.from, 1).as_str(), "the" | "a" | "an");
    reading.before(candidate.from, if article { 2 } else { 1 })
}

fn replaced(reading: &Reading, place: &Candidate, new: &str) -> String {
    let start = reading.token(place.from).map_or(0, |token| token.start);
    let end = start + reading.slice(place.from, place.to).len();
    let (head, tail) = (reading.text.get(..start), reading.text.get(end..));
    format!("{}{new}{}", head.unwrap_or_default(), tail.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_the_place_of_the_only_one_of_its_kind() {
        for (asked, part, text) in [
            ("Convert 5 km to miles", "What about 50?", "Convert 50 km to miles"),
            ("Convert 5 km to miles", "how about 50 km", "Convert 50 km to miles"),
            ("Convert 5 km to miles", "and to feet?", "Convert 5 km to feet"),
            ("What is 17.5% of 2340?", "what about 20%?", "What is 20% of 2340?"),
            (
                "Weather in Rome, please",
                "And in New York?",
                "Weather in New York, please",
            ),
            (
                "Weather in Austin, Texas on 2026-01-02",
                "what about 2026-01-03",
                "Weather in Austin, Texas on 2026-01-03",
            ),
        ] {
            assert_eq!(again(asked, part).as_deref(), Some(text), "{asked} {part}");
        }
    }

    #[test]
    fn a_value_that_could_take_several_places_or_none_takes_none() {
        for (asked, part) in [
            ("What is 12 times 3?", "what about 50?"),
            ("Convert 5 km to miles", "what about 50 kg?"),
            ("Convert 5 km to miles", "what about 20%?"),
            ("Convert 5 km to miles", "what about the weather in Rome?"),
            ("Convert 5 km to miles", "what about feet?"),
            ("Weather in Rome", "50?"),
        ] {
            assert_eq!(again(asked, part), None, "{asked} {part}");
        }
    }

    #[test]
    fn an_answer_ends_with_one_number() {
        assert_eq!(
            result("17.5% of 2340: 409.5\n\nSources: a 3")
                .map(|value| value.to_string())
                .as_deref(),
            Some("409.5")
        );
        assert_eq!(result("It is 7."), Some(Value::from(7)));
        assert_eq!(result("Between 3 and 4"), None);
        assert_eq!(result("No tool fits \"42\"."), None);
        assert_eq!(result(""), None);
    }

    #[test]
    fn what_points_back_becomes_the_number() {
        let earlier = Earlier {
            answered: Some(Value::from(-3)),
            ..Earlier::default()
        };
        assert_eq!(
            earlier.with_answer("and divided by 3?").as_deref(),
            Some("and (-3) / 3?")
        );
        assert_eq!(
            earlier.with_answer("convert it to feet").as_deref(),
            Some("convert -3 to feet")
        );
        assert_eq!(earlier.with_answer("convert 5 km to feet"), None);
        assert_eq!(Earlier::default().with_answer("and divided by 3?"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_pair_of_texts_is_read(asked in ".{0,60}", part in "(what about |in |é|50|km|Rome|\"|, |\\?){0,8}") {
            again(&asked, &part);
            again(&part, &asked);
            Earlier { answered: result(&asked), ..Earlier::default() }.with_answer(&part);
        }
    }
}
