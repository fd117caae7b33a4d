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
/// Words for when a thing was made.
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
const LENGTH: &[&str] = &["length", "distance", "duration", "runtime", "minutes", "finish"];
/// The words of [`LENGTH`] and `height`, since a person can be short, but cannot be long.
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
const NONE: &[&str] = &[];

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
            Self::Newest | Self::MostRecent | Self::Latest => (EVENT, NONE),
            Self::Earliest => (NONE, EVENT),
            Self::Heaviest => (WEIGHT, NONE),
            Self::Lightest => (NONE, WEIGHT),
            Self::Cheapest | Self::LeastExpensive => (NONE, PRICE),
            Self::MostExpensive | Self::Priciest | Self::Dearest | Self::Costliest => (PRICE, NONE),
            Self::Coldest | Self::Coolest => (NONE, TEMPERATURE),
            Self::Hottest | Self::Warmest => (TEMPERATURE, NONE),
            Self::Tallest => (HEIGHT, NONE),
            Self::Longest => (LENGTH, NONE),
            Self::Shortest => (NONE, SHORTNESS),
            Self::Fastest | Self::Quickest => (SPEED, TIME),
            Self::Slowest => (TIME, SPEED),
            Self::Deepest => (DEPTH, NONE),
            Self::Shallowest => (NONE, DEPTH),
            Self::Farthest | Self::Furthest => (DISTANCE, NONE),
            Self::Nearest | Self::Closest => (NONE, DISTANCE),
            Self::Wettest | Self::Rainiest => (RAIN, NONE),
            Self::Driest => (NONE, RAIN),
            Self::Windiest => (WIND, NONE),
            Self::BestPaid | Self::HighestPaid => (PAY, NONE),
            Self::WorstPaid | Self::LowestPaid => (NONE, PAY),
            Self::BestRated | Self::TopRated | Self::HighestRated => (RATING, NONE),
            Self::WorstRated | Self::LowestRated => (NONE, RATING),
        }
    }

    /// Returns the only column that the adjective refers to, and the order that puts the described row first. Fails if not
    /// exactly one column fits.
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
            Self::Older => (AGE, NONE),
            Self::Younger => (NONE, AGE),
            Self::Newer => (MADE, NONE),
            Self::Heavier => (WEIGHT, NONE),
            Self::Lighter => (NONE, WEIGHT),
            Self::Cheaper => (NONE, PRICE),
            Self::MoreExpensive | Self::Pricier | Self::Dearer => (PRICE, NONE),
            Self::Colder | Self::Cooler => (NONE, TEMPERATURE),
            Self::Hotter | Self::Warmer => (TEMPERATURE, NONE),
            Self::Taller => (HEIGHT, NONE),
            Self::Longer => (LENGTH, NONE),
            Self::Shorter => (NONE, SHORTNESS),
            Self::Faster => (SPEED, TIME),
            Self::Slower => (TIME, SPEED),
            Self::Deeper => (DEPTH, NONE),
            Self::Bigger | Self::Larger => (SIZE, NONE),
            Self::Smaller => (NONE, SIZE),
        }
    }

    /// Returns the only column that the adjective refers to, and how its cells are compared with the number. Fails if not exactly
    /// one column fits.
    pub(crate) fn resolve(self, table: &Table) -> Result<(&Column, Operator), CsvError> {
        let (above, below) = self.column_words();
        find_only_column(table, above, Operator::Gt, below, Operator::Lt)
    }
}

/// Returns the only column of numbers or dates whose name has a word of `high` or `low`, with `if_high` or `if_low` respectively.
/// Fails if not exactly one column fits.
fn find_only_column<'a, T: Copy>(
    table: &'a Table,
    high: &[&str],
    if_high: T,
    low: &[&str],
    if_low: T,
) -> Result<(&'a Column, T), CsvError> {
    let ordered = table
        .columns
        .iter()
        .filter(|column| column.style.is_some() || column.is_date);
    let fits = |column: &&Column, known: &[&str]| words(&column.name).any(|word| known.contains(&word.as_str()));
    let found = ordered.filter_map(|column| {
        if fits(&column, high) {
            Some((column, if_high))
        } else {
            fits(&column, low).then_some((column, if_low))
        }
    });
    match found.collect::<Vec<_>>().as_slice() {
        [one] => Ok(*one),
        several => Err(CsvError::Adjective {
            found: crate::column::list_names(several.iter().map(|(column, _)| *column)),
        }),
    }
}

/// Returns the words of the name of a column, in lower case.
pub(crate) fn words(name: &str) -> impl Iterator<Item = String> {
    name.split(|sign: char| !sign.is_alphanumeric()).map(str::to_lowercase)
}
