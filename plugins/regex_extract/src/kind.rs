//! Kinds of texts that a call can name, such as e-mail addresses or dates, and the patterns that find them.

use core::net::Ipv6Addr;
use std::ops::Range;
use std::sync::LazyLock;

use art_sdk::args;
use regex::Regex;

/// What to find, by name. Some kinds have several names, because people use all of them.
#[args]
#[derive(Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Email,
    EmailAddress,
    PhoneNumber,
    Url,
    Link,
    WebAddress,
    Date,
    Time,
    Hashtag,
    Mention,
    Handle,
    IpAddress,
    Postcode,
    ZipCode,
    Price,
    Amount,
    Percentage,
    Number,
    CapitalisedWord,
    CapitalizedWord,
    Acronym,
    HexColour,
    HexColor,
    Uuid,
}

const DATE: &str = r"(?i)\b(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:,? \d{4})?|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?)\b";
const TIME: &str = r"(?i)\b(?:(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?[ap]m)?|(?:1[0-2]|0?[1-9]) ?[ap]m)\b";
const PRICE: &str = r"(?i)(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)) ?(?:\d+(?:[.,]\d+)*|\.\d+)|\b\d+(?:[.,]\d+)* ?(?:[$€£¥₹]|(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds|cents?)\b)";

/// A path may end with brackets, as in `https://en.wikipedia.org/wiki/Set_(mathematics)`, but the bracket after a whole address in
/// brackets is no part of it.
const URL: &str = r#"(?:https?://|\bwww\.)(?:(?:[^\s<>"]*?\([^\s<>"()]*\))+(?:[^\s<>"]*[\w/])?|[^\s<>"]*[\w/])"#;
/// What may be an address of version 6, or an address of version 4. [`Kind::accepts`] parses both.
const IP_ADDRESS: &str = r"[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:(?:\.\d{1,3}){3})?|\b(?:\d{1,3}\.){3}\d{1,3}\b";
/// A number may begin with its point if no word precedes it, as in `No.5`. The dots of `10..20` are no points.
const NUMBER: &str = r"(?:\.{2,})?([-−]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\b{start-half}\.\d+)(?:[eE][-+−]?\d+)?)";
const PERCENTAGE: &str = r"(?i)(?:\.{2,})?([-−]?(?:\d+(?:[.,]\d+)*|\b{start-half}\.\d+) ?(?:%|per ?cent\b))";

/// [`DATE`] in compiled form. Never `None`, because the pattern is valid.
static DATE_REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(DATE).ok());

impl Kind {
    /// Returns the regular expression of the kind. If the expression has a capture group, the text of the first group is returned
    /// to the caller, otherwise the whole match.
    pub(crate) fn pattern(self) -> &'static str {
        match self {
            Self::Email | Self::EmailAddress => r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
            Self::PhoneNumber => r"(?:\+|\(|\b)\d[\d ()./-]{5,}\d\b",
            Self::Url | Self::Link | Self::WebAddress => URL,
            Self::Date => DATE,
            Self::Time => TIME,
            Self::Hashtag => r"#\w*\p{L}\w*",
            Self::Mention | Self::Handle => r"(?:^|[^\w.@])(@\w+(?:\.\w+)*)",
            Self::IpAddress => IP_ADDRESS,
            Self::Postcode => r"\b(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d{5}(?:-\d{4})?)\b",
            Self::ZipCode => r"\b\d{5}(?:-\d{4})?\b",
            Self::Price | Self::Amount => PRICE,
            Self::Percentage => PERCENTAGE,
            Self::Number => NUMBER,
            Self::CapitalisedWord | Self::CapitalizedWord => r"\b\p{Lu}[\p{L}\p{M}'’-]*\b",
            Self::Acronym => r"\b\p{Lu}{2,}\b",
            Self::HexColour | Self::HexColor => r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b",
            Self::Uuid => r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
        }
    }

    /// Returns whether the text at `range`, which matches the pattern, really is of the kind.
    pub(crate) fn accepts(self, text: &str, range: Range<usize>) -> bool {
        let (before, after) = (text.get(..range.start), text.get(range.end..));
        let is_in_longer_number = || {
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            let ends_with_digit = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
            let starts_with_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
            before.strip_suffix('.').is_some_and(ends_with_digit)
                || after.strip_prefix('.').is_some_and(starts_with_digit)
        };
        let found = text.get(range.clone()).unwrap_or_default();
        // `db::connect` begins with what looks like an address of version 6.
        let is_in_word = || {
            let is_joined = |sign: char| sign.is_alphanumeric() || sign == '_' || (sign == ':' && found.contains(':'));
            before.is_some_and(|text| text.ends_with(is_joined))
                || after.is_some_and(|text| text.starts_with(is_joined))
        };
        match self {
            Self::PhoneNumber => is_phone_number(found),
            Self::IpAddress => is_ip_address(found) && !is_in_longer_number() && !is_in_word(),
            // `10.0.0.12` contains what looks like a date.
            Self::Date => !is_in_longer_number(),
            _ => true,
        }
    }
}

fn is_ip_address(text: &str) -> bool {
    let is_version_4 = text.split('.').all(|part| part.parse::<u8>().is_ok());
    is_version_4 || text.parse::<Ipv6Addr>().is_ok_and(|address| !address.is_unspecified())
}

/// Returns whether a text can be a phone number, and not a date, an IP address or a plain number, which look similar. Phone
/// numbers have at most 15 digits (ITU-T E.164), and hardly ever fewer than 7. Digits without any other character are taken for
/// a plain number if there are fewer than 9 of them and the first is not 0.
fn is_phone_number(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let date_regex = DATE_REGEX.as_ref();
    let is_date = date_regex.is_some_and(|regex| regex.find(text).is_some_and(|found| found.len() == text.len()));
    let is_ip_address = text.split('.').count() == 4 && is_ip_address(text);
    let is_plain_number = digits == text.len() && !text.starts_with('0') && digits < 9;
    (7..=15).contains(&digits) && !is_date && !is_ip_address && !is_plain_number
}
