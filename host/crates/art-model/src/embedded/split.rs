//! Splits a query into parts that are asked for on their own.

#[cfg(test)]
mod tests;

use super::measure;
use super::reading::Reading;
use super::token::{Kind, Token, tokens};
use super::words;

/// Parts that are looked at; what comes after them belongs to the last.
const PARTS: usize = 12;

/// One part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    /// It opens with a question word or a verb, so it can stand alone.
    pub(super) request: bool,
    /// It opens with a question word.
    pub(super) question: bool,
}

/// The parts of `query`, in order.
pub(super) fn parts(query: &str) -> Vec<Part> {
    let tokens = tokens(query);
    let mut starts = vec![0];
    for index in 1..tokens.len() {
        if starts.len() < PARTS && is_boundary(query, &tokens, index) && !is_content(&tokens, index) {
            starts.push(index);
        }
    }
    let ends = starts.iter().skip(1).copied().chain(std::iter::once(tokens.len()));
    starts
        .iter()
        .zip(ends)
        .filter_map(|(from, to)| part(query, &tokens, *from, to))
        .collect()
}

fn part(query: &str, tokens: &[Token], mut from: usize, mut to: usize) -> Option<Part> {
    let joint = |token: &Token| {
        token.is_any(&[
            "and",
            "then",
            ",",
            ";",
            ".",
            "also",
            "next",
            "finally",
            "-",
            "•",
            "*",
            "plus",
            "afterwards",
            "lastly",
            "additionally",
            "furthermore",
            "moreover",
            "firstly",
            "secondly",
            "thirdly",
            "!",
            "?",
        ])
    };
    let marker = |at: usize| {
        let number = tokens
            .get(at)
            .is_some_and(|token| matches!(token.kind, Kind::Number(_)));
        number
            && from_line_start(query, tokens, at)
            && tokens.get(at + 1).is_some_and(|token| token.is_any(&[".", ")"]))
    };
    loop {
        if from < to && (marker(from) || follows_up(tokens, from)) {
            from += 2;
        } else if from < to && tokens.get(from).is_some_and(joint) && !is_sign(tokens, from) {
            from += 1;
        } else {
            break;
        }
    }
    let ending = |token: &Token| token.is_any(&[",", ";", ".", "and", "then", "!"]);
    let has_content = tokens
        .get(from..to)?
        .iter()
        .position(|token| token.is(":"))
        .is_some_and(|at| from + at + 2 < to);
    while !has_content
        && from < to
        && tokens.get(to - 1).is_some_and(ending)
        && !(to >= 2 && is_factorial(tokens, to - 1))
    {
        to -= 1;
    }
    let text = query.get(tokens.get(from)?.start..tokens.get(to.checked_sub(1)?)?.end)?;
    if from >= to || !tokens.get(from..to)?.iter().any(|token| token.kind != Kind::Punct) {
        return None;
    }
    let asked = tokens.get(to - 1).is_some_and(|token| token.is("?"));
    let question = tokens.get(from).is_some_and(is_question)
        || (asked && tokens.get(from..from + 3).unwrap_or_default().iter().any(is_question));
    let request = question || asked || opens_request(tokens, from);
    Some(Part {
        text: text.to_owned(),
        request,
        question,
    })
}

/// A minus of what follows without a space, and no list marker.
fn is_sign(tokens: &[Token], at: usize) -> bool {
    matches!(tokens.get(at..at + 2), Some([sign, next]) if sign.is("-") && sign.end == next.start)
}

/// "After that", which points at no result.
fn follows_up(tokens: &[Token], at: usize) -> bool {
    matches!(tokens.get(at..at + 2), Some([first, second]) if first.is_any(&["after", "besides", "following"]) && second.is_any(&["that", "this"]))
}

fn from_line_start(query: &str, tokens: &[Token], at: usize) -> bool {
    at == 0 || starts_line(query, tokens, at)
}

fn is_question(token: &Token) -> bool {
    const WORDS: &[&str] = &[
        "what", "what's", "whats", "which", "who", "who's", "whose", "when", "where", "where's", "why", "how", "how's",
    ];
    token.is_any(WORDS)
}

fn opens_request(tokens: &[Token], from: usize) -> bool {
    let polite = [
        "please", "can", "could", "would", "will", "you", "kindly", "i", "want", "need", "to", "like", "me", "let's",
        "let", "us", "help", "i'd", "also", "then", "next",
    ];
    let first =
        (from..tokens.len().min(from + 7)).find(|at| !tokens.get(*at).is_some_and(|token| token.is_any(&polite)));
    first
        .and_then(|at| tokens.get(at))
        .is_some_and(|token| words::is_imperative(&token.lower()) || is_question(token))
}

/// A list marker or a line of its own.
fn starts_line(query: &str, tokens: &[Token], index: usize) -> bool {
    let (Some(before), Some(token)) = (index.checked_sub(1).and_then(|at| tokens.get(at)), tokens.get(index)) else {
        return false;
    };
    query.get(before.end..token.start).is_some_and(|gap| gap.contains('\n'))
}

fn is_boundary(query: &str, tokens: &[Token], index: usize) -> bool {
    let at = |offset: usize| tokens.get(index + offset);
    let Some(token) = at(0) else { return false };
    let Some(before) = tokens.get(index - 1) else {
        return false;
    };
    if before.is("?")
        || (before.is(";") && (opens_request(tokens, index) || !ends_row(tokens, index - 1)))
        || (before.is_any(&[".", "!"]) && !is_factorial(tokens, index - 1) && ends_sentence(query, before, token))
    {
        return true;
    }
    if starts_line(query, tokens, index) {
        return matches!(token.kind, Kind::Number(_)) && at(1).is_some_and(|next| next.is_any(&[".", ")"]))
            || token.is_any(&["-", "•", "*"])
            || opens_request(tokens, index);
    }
    let asks = token.is_any(&["what", "how"]) && at(1).is_some_and(Token::is_function_word);
    if before.is(",") && asks {
        return true;
    }
    if token.is("then") && (before.is(",") || before.is("and")) {
        let earlier = index.checked_sub(2).and_then(|at| tokens.get(at));
        return before.is(",") || !earlier.is_some_and(|token| token.is(","));
    }
    if token.is("and") && (starts_shift(tokens, index + 1) || joins_percentages(tokens, index)) {
        return true;
    }
    token.is_any(&["and", "also", "plus", "then"])
        && at(1).is_some_and(|next| next.is("then") || starts_request(tokens, index + 1, before.is(",")))
}

/// "3 weeks after that": a day on its own.
fn starts_shift(tokens: &[Token], index: usize) -> bool {
    matches!(tokens.get(index..index + 4), Some([_, unit, side, base])
        if measure::named(&unit.text).is_some_and(measure::Unit::is_time)
            && side.is_any(&["after", "before"])
            && base.is_any(&["that", "it", "this"]))
}

/// "What is 30% of 90 and 20% of 50": two amounts of which nothing is made, such as their sum.
fn joins_percentages(tokens: &[Token], and: usize) -> bool {
    let starts = |at: usize| {
        let percent = matches!(tokens.get(at).map(|token| &token.kind), Some(Kind::Number(number)) if number.percent);
        percent && tokens.get(at + 1).is_some_and(|token| token.is("of"))
    };
    let Some(first) = and.checked_sub(3).filter(|at| starts(*at) && starts(and + 1)) else {
        return false;
    };
    let lead = first.checked_sub(1).and_then(|at| tokens.get(at));
    lead.is_none_or(|token| token.is_any(&["is", "are", "and", "calculate", "compute", "what's", ",", "."]))
}

/// After "and": a question word, or a verb that is no noun here.
fn starts_request(tokens: &[Token], index: usize, comma: bool) -> bool {
    let skip = (index..tokens.len()).find(|at| {
        !tokens
            .get(*at)
            .is_some_and(|token| token.is_any(&["also", "then", "please", "finally", "can", "could", "you"]))
    });
    let Some(at) = skip else { return false };
    let Some(token) = tokens.get(at) else { return false };
    if is_question(token) {
        return true;
    }
    let verb = words::is_imperative(&token.lower()) && !token.is_capitalised();
    let object = tokens.get(at + 1).is_some_and(|next| {
        !matches!(next.kind, Kind::Punct)
            && (words::is_empty(&next.lower()) && !next.is_any(&["of", "for", "in", "to", "and", "or"])
                || !next.is_word()
                || comma
                || next.is_capitalised()
                || at > index
                || NEVER_NOUNS.contains(&token.lower().as_str()))
    });
    verb && object
}

const NEVER_NOUNS: &[&str] = &[
    "find",
    "get",
    "give",
    "tell",
    "calculate",
    "compute",
    "convert",
    "translate",
    "send",
    "create",
    "generate",
    "determine",
    "evaluate",
    "provide",
    "identify",
    "recommend",
    "retrieve",
    "remind",
    "fetch",
    "sort",
    "predict",
    "summarize",
    "analyze",
    "check",
    "list",
    "show",
    "book",
    "reserve",
    "add",
    "search",
    "play",
    "solve",
    "set",
    "turn",
    "multiply",
    "divide",
    "subtract",
    "estimate",
    "suggest",
];

/// "apple 3; pear 5": what stands before the semicolon at `index` is a row of a list, which goes on.
fn ends_row(tokens: &[Token], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|at| tokens.get(at));
    before.is_some_and(|token| matches!(token.kind, Kind::Number(_)) || token.is(")"))
}

/// A dot ends a sentence before a capital letter, a digit or a line end, and not inside an abbreviation.
fn ends_sentence(query: &str, dot: &Token, next: &Token) -> bool {
    let gap = query.get(dot.end..next.start).unwrap_or_default();
    let before = query.get(..dot.start).unwrap_or_default();
    let word = before
        .rsplit(|c: char| !c.is_alphanumeric() && c != '.')
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let abbreviation = [
        "dr", "mr", "mrs", "ms", "st", "vs", "e.g", "i.e", "no", "inc", "ltd", "jr", "prof", "approx",
    ]
    .contains(&word.as_str())
        || word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    let list_number = word.chars().all(|c| c.is_ascii_digit())
        && !word.is_empty()
        && before
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .trim_end_matches(' ')
            .ends_with(['\n']);
    !gap.is_empty() && !abbreviation && !list_number
}

/// `5!` is a factorial, not the end of a sentence.
fn is_factorial(tokens: &[Token], index: usize) -> bool {
    let glued = index
        .checked_sub(1)
        .and_then(|at| tokens.get(at))
        .is_some_and(|before| {
            matches!(before.kind, Kind::Number(_)) && tokens.get(index).is_some_and(|token| token.start == before.end)
        });
    glued && tokens.get(index).is_some_and(|token| token.is("!"))
}

/// Everything behind a colon is content of the request before it, unless the colon opens a list of requests.
fn is_content(tokens: &[Token], index: usize) -> bool {
    let colon = tokens
        .get(..index)
        .unwrap_or_default()
        .iter()
        .position(|token| token.is(":"));
    colon.is_some_and(|at| {
        let listed = tokens
            .get(at + 1)
            .is_some_and(|token| matches!(token.kind, Kind::Number(_)) || token.is_any(&["-", "•", "*"]))
            && tokens
                .get(at + 2)
                .is_some_and(|token| token.is_any(&[".", ")"]) || words::is_imperative(&token.lower()));
        at > 1 && !listed && !tokens.get(at + 1).is_some_and(is_question) && !opens_request(tokens, at + 1)
    })
}

/// "How are you today?", which asks for nothing.
pub(super) fn is_small_talk(reading: &Reading) -> bool {
    const PHRASES: &[&[&str]] = &[
        &["how", "are", "you"],
        &["how", "do", "you", "do"],
        &["how", "is", "it", "going"],
        &["how's", "it", "going"],
        &["what's", "up"],
        &["nice", "to", "meet", "you"],
    ];
    const AROUND: &[&str] = &[
        "hello", "hi", "hey", "there", "good", "morning", "evening", "today", "doing", "then", "so", "and", "?", "!",
        ",", ".",
    ];
    let rest: Vec<&Token> = reading.tokens.iter().filter(|token| !token.is_any(AROUND)).collect();
    PHRASES
        .iter()
        .any(|phrase| phrase.len() == rest.len() && rest.iter().zip(*phrase).all(|(token, word)| token.is(word)))
}

/// Whether a part stands on its own words: it points at nothing and opens with no ellipsis.
pub(super) fn points_back(reading: &Reading) -> bool {
    reading.tokens.iter().any(|token| {
        token.is_any(&[
            "it", "them", "they", "ones", "there", "those", "these", "its", "their", "that", "this",
        ])
    })
}
