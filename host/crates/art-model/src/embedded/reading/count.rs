//! Numbers in words: `two tickets`, `two hundred and five`, `half a million`.

use super::super::measure::Unit;
use super::super::token::{Kind, Number, Token};
use super::super::words;
use super::{Candidate, Reading, Shape, number_value};

impl Reading {
    pub(super) fn number_words(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut index = 0;
        while index < self.tokens.len() {
            let Some((value, end)) = self.spelled_number(index).or_else(|| self.single_unit(index)) else {
                index += 1;
                continue;
            };
            if self.is_single(index) || self.is_amount(index, end) {
                let number = Number {
                    value,
                    ..Number::default()
                };
                found.push(Candidate {
                    shape: Shape::Number(number),
                    value: number_value(value),
                    from: index,
                    to: end,
                });
            }
            index = end;
        }
        found
    }

    /// The one of "the next week" and "an hour".
    fn single_unit(&self, index: usize) -> Option<(f64, usize)> {
        self.is_single(index).then_some((1.0, index + 1))
    }

    /// Whether the word at `index` means one of the unit of time behind it, which only a parameter that counts in such
    /// units takes.
    pub(in super::super) fn is_single(&self, index: usize) -> bool {
        let counts = self
            .token(index)
            .is_some_and(|token| token.is_any(&["a", "an", "next", "past", "last", "coming", "following"]));
        counts && self.unit_after(index + 1).is_some_and(Unit::is_time)
    }

    /// `one` is rarely an amount without a noun, `the two` points back, and `Ocean's Eleven` is a name.
    fn is_amount(&self, from: usize, to: usize) -> bool {
        let counts_listed = |distance: usize| self.token(to + distance).is_some_and(|next| next.is_any(LISTED));
        let given = self.token(to).is_some_and(Token::is_function_word);
        if counts_listed(0) || given && counts_listed(1) {
            return false;
        }
        let noun = self
            .token(to)
            .is_some_and(|next| next.is_word() && !words::is_empty(&next.lower()));
        let points_back = matches!(self.before(from, 1).as_str(), "the" | "these" | "those" | "no");
        let named = !self.is_sentence_start(from) && self.token(from).is_some_and(Token::is_capitalised);
        let alone = to == from + 1 && self.token(from).is_some_and(|token| token.is("one"));
        let goes_on = self
            .token(to)
            .is_none_or(|next| !next.is_word() || next.is_any(FOLLOWERS));
        noun || (goes_on && !points_back && !named && !alone)
    }

    /// The number that is spelled from token `index` on, and the token behind it.
    pub(in super::super) fn spelled_number(&self, index: usize) -> Option<(f64, usize)> {
        let first = self.token(index)?;
        let mut spelled = Spelled::default();
        let mut at = index;
        if first.is_any(&["half", "a", "an"]) {
            let half = first.is("half");
            at += if half && self.token(index + 1)?.is_any(&["a", "an"]) {
                2
            } else {
                1
            };
            spelled.open(if half { 0.5 } else { 1.0 });
            let scale = self.token(at).and_then(|token| atom(&token.lower()))?;
            matches!(scale, Atom::Hundred | Atom::Dozen | Atom::Scale(_)).then_some(())?;
        }
        while let Some(next) = self.token(at).and_then(|token| spelled.with(token)) {
            (spelled, at) = (next, at + 1);
            if let Some(end) = self.joined_number(index, at, &spelled) {
                (spelled, at) = end;
            }
        }
        (at > index).then_some((spelled.total + spelled.group, at))
    }

    /// "and five" behind a hundred or a thousand, where nothing says that two numbers are listed.
    fn joined_number(&self, start: usize, at: usize, spelled: &Spelled) -> Option<(Spelled, usize)> {
        let lists = matches!(
            self.before(start, 1).as_str(),
            "between" | "of" | "add" | "from" | "both"
        );
        if lists || !spelled.is_round() || !self.token(at)?.is("and") {
            return None;
        }
        let next = spelled.with(self.token(at + 1)?)?;
        // The hundred behind "one hundred and two" belongs to another number.
        let behind = self.token(at + 2);
        let counted = behind.is_some_and(|token| atom(&token.lower()).is_some());
        let goes_on = behind.is_some_and(|token| next.with(token).is_some());
        (!counted || goes_on).then_some((next, at + 2))
    }
}

/// What "two numbers: 40 and 50" counts.
const LISTED: &[&str] = &["numbers", "integers", "values", "digits", "figures", "coordinates"];

/// Words without content that may follow a number; "two given numbers" holds no amount.
const FOLLOWERS: &[&str] = &[
    "and", "or", "to", "from", "of", "in", "into", "by", "at", "on", "for", "with", "as", "please", "then",
];

/// A number as far as it is read: thousands that are complete, and the group below them.
#[derive(Clone, Copy, Debug, Default)]
struct Spelled {
    total: f64,
    group: f64,
    scale: Option<f64>,
    last: Last,
}

/// What was read last, which decides what may follow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Last {
    #[default]
    Nothing,
    Unit,
    Tens,
    Hundred,
    Scale,
    Dozen,
}

#[derive(Clone, Copy, Debug)]
enum Atom {
    Unit(f64),
    Tens(f64),
    Hundred,
    Scale(f64),
    Dozen,
}

impl Spelled {
    const fn open(&mut self, group: f64) {
        (self.group, self.last) = (group, Last::Unit);
    }

    fn is_round(&self) -> bool {
        matches!(self.last, Last::Hundred | Last::Scale)
    }

    /// The number with the words of `token`, which may be joined by hyphens.
    fn with(self, token: &Token) -> Option<Self> {
        if token.kind != Kind::Word {
            return None;
        }
        let lower = token.lower();
        lower
            .split('-')
            .try_fold(self, |spelled, word| spelled.and(atom(word)?))
    }

    fn and(mut self, atom: Atom) -> Option<Self> {
        use Last::{Dozen, Hundred, Nothing, Scale, Tens, Unit};
        let opens = matches!(self.last, Nothing | Hundred | Scale);
        let counted = matches!(self.last, Unit | Tens);
        match atom {
            Atom::Unit(n) if opens || (self.last == Tens && (1.0..10.0).contains(&n)) => {
                (self.group, self.last) = (self.group + n, Unit);
            }
            Atom::Tens(n) if opens => (self.group, self.last) = (self.group + n, Tens),
            Atom::Hundred if self.last == Nothing => (self.group, self.last) = (100.0, Hundred),
            Atom::Hundred if counted && self.group < 100.0 => {
                (self.group, self.last) = (self.group * 100.0, Hundred);
            }
            Atom::Scale(scale) if self.last != Scale && self.scale.is_none_or(|before| scale < before) => {
                let group = if self.last == Nothing { 1.0 } else { self.group };
                (self.total, self.group, self.scale, self.last) = (self.total + group * scale, 0.0, Some(scale), Scale);
            }
            Atom::Dozen if self.last == Nothing => (self.group, self.last) = (12.0, Dozen),
            Atom::Dozen if counted => (self.group, self.last) = (self.group * 12.0, Dozen),
            _ => return None,
        }
        Some(self)
    }
}

fn atom(word: &str) -> Option<Atom> {
    #[rustfmt::skip]
    const UNITS: [&str; 20] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ];
    const TENS: [&str; 8] = [
        "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    let index = |names: &[&str]| {
        let at = names.iter().position(|name| *name == word)?;
        u32::try_from(at).ok()
    };
    match word {
        "hundred" => Some(Atom::Hundred),
        "thousand" => Some(Atom::Scale(1e3)),
        "million" => Some(Atom::Scale(1e6)),
        "dozen" => Some(Atom::Dozen),
        _ => index(&UNITS)
            .map(|at| Atom::Unit(f64::from(at)))
            .or_else(|| index(&TENS).map(|at| Atom::Tens(f64::from((at + 2) * 10)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<f64> {
        let reading = Reading::new(text);
        let value = |candidate: &Candidate| match &candidate.shape {
            Shape::Number(number) => Some(number.value),
            _ => None,
        };
        reading.candidates.iter().filter_map(value).collect()
    }

    #[test]
    fn numbers_up_to_a_million_are_read() {
        for (text, value) in [
            ("twenty-five", 25.0),
            ("two hundred and five", 205.0),
            ("nine hundred ninety-nine thousand nine hundred ninety-nine", 999_999.0),
            ("a hundred", 100.0),
            ("three thousand and twenty-one", 3_021.0),
            ("half a million", 500_000.0),
            ("a dozen", 12.0),
            ("one million", 1e6),
            ("5 hundred", 500.0),
        ] {
            assert_eq!(numbers(&format!("take {text} apples")), [value], "{text}");
        }
    }

    #[test]
    fn two_numbers_in_a_list_are_not_one() {
        assert_eq!(
            numbers("pick between one hundred and two hundred apples"),
            [100.0, 200.0]
        );
        assert_eq!(numbers("the sum of one hundred and five"), [100.0, 5.0]);
        assert_eq!(numbers("one hundred and two hundred apples"), [100.0, 200.0]);
        assert_eq!(numbers("take three, five and seven"), [3.0, 5.0, 7.0]);
    }

    #[test]
    fn words_that_only_look_like_numbers_are_none() {
        assert!(numbers("which one is it, and who has the two of them in Ocean's Eleven").is_empty());
        assert!(numbers("a person asks for a half").is_empty());
    }

    /// `n` in English words, with "and" and hyphens where people put them.
    fn spelled(n: u32) -> String {
        const UNITS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
             sixteen seventeen eighteen nineteen";
        const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";
        let word = |words: &str, at: u32| words.split_whitespace().nth(at as usize).unwrap().to_owned();
        let rest = |n: u32, joint: &str| {
            if n == 0 {
                String::new()
            } else {
                format!("{joint}{}", spelled(n))
            }
        };
        match n {
            0..20 => word(UNITS, n),
            20..100 => word(TENS, n / 10 - 2) + &rest(n % 10, "-"),
            100..1_000 => word(UNITS, n / 100) + " hundred" + &rest(n % 100, " and "),
            1_000..1_000_000 if n % 1_000 < 100 => spelled(n / 1_000) + " thousand" + &rest(n % 1_000, " and "),
            1_000..1_000_000 => spelled(n / 1_000) + " thousand" + &rest(n % 1_000, " "),
            _ => "one million".to_owned(),
        }
    }

    proptest::proptest! {
        #[test]
        fn any_number_up_to_a_million_reads_as_it_is_spelled(n in 2_u32..=1_000_000) {
            proptest::prop_assert_eq!(numbers(&format!("take {} apples", spelled(n))), [f64::from(n)]);
        }
    }
}
