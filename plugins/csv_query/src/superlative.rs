//! Adjectives that compare rows, and the columns that they refer to: `oldest` refers to `age` or `year`, and `heavier` to
//! `weight`.

use art_sdk::args;

use crate::{
    column::Column,
    error::CsvError,
    input::{Operator, Sort},
    table::Table,
};

const AGE: &[&str] = &["age", "ages"];
const BIRTH: &[&str] = &["born", "birth", "birthday", "birthdate", "dob"];
/// Words in the name of a column that says when a thing was made.
const MADE: &[&str] = &[
    "year",
    "built",
    "founded",
    "published",
    "publication",
    "released",
    "release",
    "established",
];
/// The words of [`MADE`], and words for when something happened.
const EVENT: &[&str] = &[
    "year",
    "built",
    "founded",
    "published",
    "publication",
    "released",
    "release",
    "established",
    "date",
    "day",
    "hired",
    "opened",
    "joined",
];
const WEIGHT: &[&str] = &["weight", "mass", "weighs"];
const PRICE: &[&str] = &["price", "cost", "costs", "fee", "fare", "rent"];
const TEMPERATURE: &[&str] = &["temp", "temperature"];
const HEIGHT: &[&str] = &["height", "altitude", "elevation"];
/// Words for lengths in space and in time. A column `finish` has the finish times of a race.
const LENGTH: &[&str] = &["length", "distance", "duration", "runtime", "minutes", "finish"];
/// The words of [`LENGTH`], and also `height`: the shortest person has the smallest height, but the one with the greatest height
/// is not called the longest.
const SHORTNESS: &[&str] = &[
    "length", "distance", "duration", "runtime", "minutes", "finish", "height",
];
const TIME: &[&str] = &["duration", "time", "finish", "minutes", "seconds"];
const SPEED: &[&str] = &["speed", "kmh", "mph", "kph", "knots"];
const DEPTH: &[&str] = &["depth"];
const DISTANCE: &[&str] = &["distance"];
const RAIN: &[&str] = &["rain", "rainfall", "precipitation"];
const WIND: &[&str] = &["wind"];
const PAY: &[&str] = &["salary", "wage", "wages", "pay", "income"];
const RATING: &[&str] = &["rating", "score", "stars"];
const SIZE: &[&str] = &["size", "area", "sqm", "hectares"];
const NO_WORDS: &[&str] = &[];

/// An adjective that puts one row before all others.
#[args]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Superlative {
    Oldest,
    Youngest,
    Newest,
    MostRecent,
    Latest,
    Earliest,
    Heaviest,
    Lightest,
    Cheapest,
    LeastExpensive,
    MostExpensive,
    Priciest,
    Dearest,
    Costliest,
    Coldest,
    Coolest,
    Hottest,
    Warmest,
    Tallest,
    Longest,
    Shortest,
    Fastest,
    Quickest,
    Slowest,
    Deepest,
    Shallowest,
    Farthest,
    Furthest,
    Nearest,
    Closest,
    Wettest,
    Rainiest,
    Driest,
    Windiest,
    BestPaid,
    HighestPaid,
    WorstPaid,
    LowestPaid,
    BestRated,
    TopRated,
    HighestRated,
    WorstRated,
    LowestRated,
}

impl Superlative {
    /// Returns the words for columns whose largest value comes first, and the words for columns whose smallest value comes first.
    const fn column_words(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Oldest => (
                AGE,
                // The words of `MADE` and `BIRTH`.
                &[
                    "year",
                    "built",
                    "founded",
                    "published",
                    "publication",
                    "released",
                    "release",
                    "established",
                    "born",
                    "birth",
                    "birthday",
                    "birthdate",
                    "dob",
                ],
            ),
            Self::Youngest => (BIRTH, AGE),
            Self::Newest | Self::MostRecent | Self::Latest => (EVENT, NO_WORDS),
            Self::Earliest => (NO_WORDS, EVENT),
            Self::Heaviest => (WEIGHT, NO_WORDS),
            Self::Lightest => (NO_WORDS, WEIGHT),
            Self::Cheapest | Self::LeastExpensive => (NO_WORDS, PRICE),
            Self::MostExpensive | Self::Priciest | Self::Dearest | Self::Costliest => (PRICE, NO_WORDS),
            Self::Coldest | Self::Coolest => (NO_WORDS, TEMPERATURE),
            Self::Hottest | Self::Warmest => (TEMPERATURE, NO_WORDS),
            Self::Tallest => (HEIGHT, NO_WORDS),
            Self::Longest => (LENGTH, NO_WORDS),
            Self::Shortest => (NO_WORDS, SHORTNESS),
            Self::Fastest | Self::Quickest => (SPEED, TIME),
            Self::Slowest => (TIME, SPEED),
            Self::Deepest => (DEPTH, NO_WORDS),
            Self::Shallowest => (NO_WORDS, DEPTH),
            Self::Farthest | Self::Furthest => (DISTANCE, NO_WORDS),
            Self::Nearest | Self::Closest => (NO_WORDS, DISTANCE),
            Self::Wettest | Self::Rainiest => (RAIN, NO_WORDS),
            Self::Driest => (NO_WORDS, RAIN),
            Self::Windiest => (WIND, NO_WORDS),
            Self::BestPaid | Self::HighestPaid => (PAY, NO_WORDS),
            Self::WorstPaid | Self::LowestPaid => (NO_WORDS, PAY),
            Self::BestRated | Self::TopRated | Self::HighestRated => (RATING, NO_WORDS),
            Self::WorstRated | Self::LowestRated => (NO_WORDS, RATING),
        }
    }

    /// Returns the only column that the adjective refers to, and the order to sort by, so that for `oldest` the oldest row comes
    /// first. Fails if not exactly one column fits.
    pub(crate) fn resolve(self, table: &Table) -> Result<(&Column, Sort), CsvError> {
        let (descending, ascending) = self.column_words();
        find_only_column(table, descending, Sort::Descending, ascending, Sort::Ascending)
    }
}

/// An adjective that compares a row with a number.
#[args]
#[art_sdk::output]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Comparative {
    Older,
    Younger,
    Newer,
    Heavier,
    Lighter,
    Cheaper,
    MoreExpensive,
    Pricier,
    Dearer,
    Colder,
    Cooler,
    Hotter,
    Warmer,
    Taller,
    Longer,
    Shorter,
    Faster,
    Slower,
    Deeper,
    Bigger,
    Larger,
    Smaller,
}

impl Comparative {
    /// Returns the words for columns whose cells have to be above the number, and the words for columns whose cells have to be
    /// below it.
    const fn column_words(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Older => (AGE, NO_WORDS),
            Self::Younger => (NO_WORDS, AGE),
            Self::Newer => (MADE, NO_WORDS),
            Self::Heavier => (WEIGHT, NO_WORDS),
            Self::Lighter => (NO_WORDS, WEIGHT),
            Self::Cheaper => (NO_WORDS, PRICE),
            Self::MoreExpensive | Self::Pricier | Self::Dearer => (PRICE, NO_WORDS),
            Self::Colder | Self::Cooler => (NO_WORDS, TEMPERATURE),
            Self::Hotter | Self::Warmer => (TEMPERATURE, NO_WORDS),
            Self::Taller => (HEIGHT, NO_WORDS),
            Self::Longer => (LENGTH, NO_WORDS),
            Self::Shorter => (NO_WORDS, SHORTNESS),
            Self::Faster => (SPEED, TIME),
            Self::Slower => (TIME, SPEED),
            Self::Deeper => (DEPTH, NO_WORDS),
            Self::Bigger | Self::Larger => (SIZE, NO_WORDS),
            Self::Smaller => (NO_WORDS, SIZE),
        }
    }

    /// Returns the only column that the adjective refers to, and how its cells are compared with the number. Fails if not exactly
    /// one column fits.
    pub(crate) fn resolve(self, table: &Table) -> Result<(&Column, Operator), CsvError> {
        let (above, below) = self.column_words();
        find_only_column(table, above, Operator::Gt, below, Operator::Lt)
    }
}

/// Returns the only column of numbers or dates that has one of `high_words` or `low_words` in its name. With the column, returns
/// `if_high` for one of `high_words`, and `if_low` for one of `low_words`. Fails if not exactly one column fits.
fn find_only_column<'a, T: Copy>(
    table: &'a Table,
    high_words: &[&str],
    if_high: T,
    low_words: &[&str],
    if_low: T,
) -> Result<(&'a Column, T), CsvError> {
    let number_and_date_columns = table
        .columns
        .iter()
        .filter(|column| column.number_style.is_some() || column.is_date);
    let has_word =
        |column: &&Column, words: &[&str]| words_of_name(&column.name).any(|word| words.contains(&word.as_str()));
    let found = number_and_date_columns.filter_map(|column| {
        if has_word(&column, high_words) {
            Some((column, if_high))
        } else {
            has_word(&column, low_words).then_some((column, if_low))
        }
    });
    match found.collect::<Vec<_>>().as_slice() {
        [one] => Ok(*one),
        none_or_several => Err(CsvError::WhichAdjectiveColumn {
            found: crate::column::list_names(none_or_several.iter().map(|(column, _)| *column)),
        }),
    }
}

/// Returns the words of the name of a column, in lower case.
pub(crate) fn words_of_name(name: &str) -> impl Iterator<Item = String> {
    name.split(|sign: char| !sign.is_alphanumeric()).map(str::to_lowercase)
}
