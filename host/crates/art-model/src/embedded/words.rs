//! Words as the router compares them: stems, words without content, and words that mean the same.

use rust_stemmers::{Algorithm, Stemmer};

/// Words that say nothing about what is wanted.
const EMPTY: &[&str] = &[
    "a",
    "able",
    "about",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "he",
    "her",
    "here",
    "hers",
    "hey",
    "hi",
    "hello",
    "him",
    "his",
    "how",
    "i",
    "if",
    "i'd",
    "i'm",
    "i've",
    "i'll",
    "in",
    "into",
    "is",
    "it",
    "its",
    "it's",
    "just",
    "kindly",
    "let",
    "let's",
    "like",
    "may",
    "me",
    "might",
    "mine",
    "much",
    "must",
    "my",
    "need",
    "of",
    "off",
    "ok",
    "on",
    "one",
    "or",
    "our",
    "out",
    "please",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "such",
    "than",
    "thank",
    "thanks",
    "that",
    "that's",
    "the",
    "their",
    "them",
    "then",
    "there",
    "there's",
    "these",
    "they",
    "this",
    "those",
    "to",
    "too",
    "up",
    "upon",
    "us",
    "very",
    "want",
    "was",
    "we",
    "were",
    "what",
    "what's",
    "when",
    "where",
    "which",
    "while",
    "who",
    "who's",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
    "using",
    "use",
    "used",
    "via",
    "per",
    "if",
    "not",
    "no",
    "yes",
    "now",
    "well",
    "only",
    "many",
    "given",
    "without",
    "within",
    "following",
    "between",
    "want",
    "wanna",
    "e.g",
    "eg",
    "i.e",
    "etc",
    "optional",
    "default",
    "required",
    "specified",
    "specific",
    "particular",
    "certain",
    "based",
    "each",
    "both",
    "other",
    "another",
    "more",
    "most",
    "over",
    "under",
    "after",
    "before",
    "during",
];

/// Verbs of wanting and getting: every tool gets, finds or makes something.
const GENERIC: &[&str] = &[
    "find",
    "get",
    "give",
    "show",
    "tell",
    "fetch",
    "retrieve",
    "provide",
    "return",
    "display",
    "know",
    "look",
    "see",
    "help",
    "make",
    "perform",
    "do",
    "take",
    "work",
    "obtain",
    "determine",
    "identify",
    "calculate",
    "compute",
    "check",
    "list",
    "information",
    "info",
    "detail",
    "details",
    "data",
    "value",
    "result",
    "function",
    "tool",
    "user",
    "string",
    "number",
    "integer",
    "float",
    "boolean",
    "parameter",
    "format",
    "name",
    "type",
    "run",
    "go",
    "come",
    "say",
    "think",
    "allow",
    "enable",
    "support",
    "input",
    "output",
    "set",
    "put",
    "thing",
    "something",
    "anything",
    "good",
    "new",
    "turn",
    "write",
];

/// Sets of words that mean much the same, as stems.
const ALIKE: &[&[&str]] = &[
    &["price", "cost", "fee", "charg", "expens", "cheap", "fare"],
    &["buy", "purchas", "order", "shop"],
    &["movi", "film", "cinema"],
    &["car", "vehicl", "automobil", "auto"],
    &["pictur", "imag", "photo", "photograph"],
    &["convert", "convers", "transform", "chang", "translat"],
    &[
        "largest", "biggest", "highest", "maximum", "max", "greatest", "top", "descend",
    ],
    &["smallest", "lowest", "minimum", "min", "least", "ascend"],
    &["averag", "mean", "avg"],
    &["sum", "total", "add", "addit"],
    &["multipli", "multipl", "product", "time"],
    &["subtract", "differ", "minus"],
    &["divid", "divis", "quotient"],
    &["email", "mail", "e-mail"],
    &["reserv", "book"],
    &["begin", "start"],
    &["end", "finish", "stop"],
    &["delet", "remov", "eras"],
    &["creat", "generat", "build", "add", "schedul", "set"],
    &["updat", "modifi", "edit", "chang", "adjust"],
    &["search", "find", "look", "locat", "discov", "recommend", "suggest"],
    &["doctor", "physician"],
    &["hotel", "accommod", "lodg", "stay", "room"],
    &["restaur", "dine", "eat", "food", "meal"],
    &["recip", "cook", "dish", "bake"],
    &["song", "music", "track", "tune", "play"],
    &["stock", "share", "trade"],
    &[
        "weather",
        "temperatur",
        "forecast",
        "rain",
        "climat",
        "snow",
        "sunni",
        "cold",
        "hot",
        "warm",
        "humid",
    ],
    &["far", "distanc"],
    &["tall", "height", "high"],
    &["old", "age"],
    &["heavi", "weight", "weigh", "mass"],
    &["latest", "recent", "newest", "current"],
    &["fast", "speed", "veloc", "quick"],
    &["rout", "direct", "navig", "travel", "drive"],
    &["trip", "travel", "journey"],
    &["lawyer", "attorney", "legal"],
    &["compani", "busi", "corpor", "firm"],
    &["job", "employ", "career", "occup"],
    &["articl", "news", "headlin"],
    &["calori", "nutrit", "nutrient"],
    &["loan", "mortgag"],
    &["root", "sqrt", "squar"],
    &["percent", "percentag"],
    &["probabl", "chanc", "odd", "likelihood"],
    &["area", "surfac"],
    &["nearbi", "near", "nearest", "closest", "close", "around"],
    &["gcd", "divisor"],
    &["factori", "factorial"],
    &["friend", "contact"],
    &["remind", "remem"],
    &["summar", "summari", "short", "shorten"],
    &["gener", "produc"],
    &["compar", "comparison", "versus", "differ"],
    &["shoe", "sneaker"],
    &["cloth", "outfit", "wear"],
    &["wage", "salari", "pay", "earn", "incom"],
    &["population", "popul", "inhabit", "resid"],
    &["evalu", "calcul", "comput", "arithmet", "math", "expression"],
    &["analyz", "analysi", "analys"],
    &["currenc", "money", "exchang"],
    &["captur", "take"],
    &["sort", "order", "rank", "arrang"],
    &["messag", "text", "sms"],
    &["period", "durat", "long"],
    &["solv", "solut"],
    &["match", "game", "fixtur"],
    &["win", "winner", "won", "champion"],
    &["citi", "town"],
    &["countri", "nation"],
    &["phone", "telephon", "call"],
    &["flight", "fli", "airlin", "plane"],
    &["countdown", "timer", "alarm"],
    &["appoint", "meet", "event", "calendar", "schedul"],
    &["photosynthesi", "photosynthet"],
    &["biolog", "biologi"],
    &["random", "rand"],
    &["letter", "character"],
];

/// The stem of one lower-case word.
pub(super) fn stem(word: &str) -> String {
    let word = word.trim_end_matches("'s").trim_end_matches("’s");
    Stemmer::create(Algorithm::English).stem(word).into_owned()
}

/// Whether the lower-case `word` says nothing about what is wanted.
pub(super) fn is_empty(word: &str) -> bool {
    EMPTY.contains(&word)
}

/// Whether the lower-case `word` fits every tool.
pub(super) fn is_generic(word: &str) -> bool {
    GENERIC.contains(&word) || GENERIC.contains(&word.trim_end_matches('s'))
}

/// The words of a text or of an identifier (`snake_case`, `camelCase`, `dotted.names`), in lower case.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let boundary = c.is_uppercase() && before.is_lowercase();
        if boundary || !(c.is_alphanumeric() || c == '\'' || c == '’') {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The stems of the words of `text` that have content.
pub(super) fn stems(text: &str) -> Vec<String> {
    split(text)
        .iter()
        .filter(|word| !is_empty(word))
        .map(|word| stem(word))
        .collect()
}

/// How alike two stems are: 1 for the same word, less for words that mean much the same or share a long beginning.
pub(super) fn likeness(a: &str, b: &str) -> f32 {
    if a == b {
        return 1.0;
    }
    if ALIKE.iter().any(|set| set.contains(&a) && set.contains(&b)) {
        return 0.7;
    }
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.len() >= 4 && long.starts_with(short) {
        return 0.6;
    }
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if common >= 5 && common + 4 >= a.len().max(b.len()) {
        0.6
    } else {
        0.0
    }
}

/// The best likeness of `word` to any of `words`.
pub(super) fn best_likeness<'a>(word: &str, words: impl IntoIterator<Item = &'a String>) -> f32 {
    words.into_iter().map(|other| likeness(word, other)).fold(0.0, f32::max)
}

/// The stems that mean much the same as `stem`.
pub(super) fn alike(stem: &str) -> impl Iterator<Item = &'static str> {
    ALIKE
        .iter()
        .filter(move |set| set.contains(&stem))
        .flat_map(|set| set.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_sentences_split_alike() {
        assert_eq!(split("get_stockPrice.byDate"), ["get", "stock", "price", "by", "date"]);
        assert_eq!(split("What's the price?"), ["whats", "the", "price"]);
    }

    #[test]
    fn words_that_mean_the_same_are_alike() {
        assert!(likeness("price", "cost") > 0.5);
        assert!(likeness("translat", "translation") > 0.5);
        assert!(likeness("price", "princ") < 0.1);
    }
}
