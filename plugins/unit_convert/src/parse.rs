//! Parses a unit, which may be a compound of units such as `kg/m^3` or `feet per second squared`.

use crate::{
    dimension::Dimension,
    error::ConvertError,
    lookup::{self, Lookup, Measure},
    tokens::{self, Token},
    units::Scale,
};

/// Maximum length of a unit, in characters.
const MAX_CHARS: usize = 100;
/// Maximum nesting depth of products of units. The product outside of all parentheses has the depth 1, so there may be four
/// levels of parentheses.
const MAX_DEPTH: usize = 5;
/// Maximum number of words in the name of a unit.
const MAX_WORDS: usize = 5;
/// Maximum absolute value of a power.
const MAX_POWER: i16 = 9;
/// The error for a power that is out of range or not a whole number.
const INVALID_POWER: &str = "a power must be a whole number from -9 to 9";

/// Parses the unit `text`. Errors name `field`, the field of the tool's input from which the text comes.
pub(crate) fn parse(field: &'static str, text: &str) -> Result<Measure, ConvertError> {
    let text = text.trim();
    if let Lookup::Unit(measure) = lookup::find(text) {
        return Ok(measure);
    }
    let rewritten = rewrite_speech(text);
    let text = rewritten.as_str();
    let parser = Parser {
        field,
        text,
        tokens: Vec::new(),
        next: 0,
        depth: 0,
    };
    if text.chars().count() > MAX_CHARS {
        return Err(parser.syntax_error("it is longer than 100 characters"));
    }
    if let Lookup::Unit(measure) = lookup::find(text) {
        return Ok(measure);
    }
    let tokens = tokens::tokenize(text).ok_or_else(|| parser.syntax_error(INVALID_POWER))?;
    let mut parser = Parser { tokens, ..parser };
    let product = parser.parse_product()?;
    if parser.next < parser.tokens.len() {
        return Err(parser.syntax_error("a `)` has no `(`"));
    }
    Ok(product.into_measure())
}

/// Rewrites everyday speech: `kilometres an hour` to `kilometres per hour`, `a mile` to `mile`, `oz.` to `oz`.
fn rewrite_speech(text: &str) -> String {
    let text = text.replace(" an ", " per ").replace(" a ", " per ");
    let articles = ["a ", "an "].into_iter();
    let bare = articles
        .filter_map(|article| text.strip_prefix(article))
        .next()
        .unwrap_or(&text);
    bare.trim_end_matches('.').to_owned()
}

/// What `from` holds of two quantities such as `5 feet 11 inches`: the unit of the first, whose number is in `value`, and the
/// whole second quantity.
pub(crate) struct UnitAndSecondQuantity<'a> {
    pub(crate) unit: &'a str,
    pub(crate) second_number: f64,
    pub(crate) second_unit: &'a str,
}

/// Splits `feet 11 inches` or `'11"`, with or without an `and` or a comma before the number. Returns `None` for other texts, such
/// as `m2`: a number directly after a unit is a power.
pub(crate) fn split_at_second_quantity(text: &str) -> Option<UnitAndSecondQuantity<'_>> {
    let (unit, rest) = text.split_at_checked(text.find(|c: char| c.is_ascii_digit())?)?;
    let number_length = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let (second_number, second_unit) = rest.split_at_checked(number_length)?;
    let is_foot = unit.ends_with(['\'', '′', '’']);
    // In `'11`, the rest of `5'11`, the second unit is omitted.
    let second_unit = if second_unit.is_empty() && is_foot {
        "inch"
    } else {
        second_unit
    };
    let is_separate = is_foot || unit.ends_with(char::is_whitespace);
    let unit = unit.trim().trim_end_matches(',').trim_end_matches(" and").trim();
    let second_number = second_number
        .parse()
        .ok()
        .filter(|_| is_separate && !second_unit.is_empty())?;
    Some(UnitAndSecondQuantity {
        unit,
        second_number,
        second_unit: second_unit.trim(),
    })
}

/// A product of powers of units.
struct Product {
    /// Empty for the product of no units.
    name: String,
    factor: f64,
    dimension: Dimension,
    /// Set while the product is a single unit, whose scale may have an offset.
    single_unit: Option<Measure>,
}

impl Product {
    /// Returns the product of no units.
    fn one() -> Self {
        Self {
            name: String::new(),
            factor: 1.0,
            dimension: Dimension::default(),
            single_unit: None,
        }
    }

    fn into_measure(self) -> Measure {
        let (name, scale, dimension) = (self.name, Scale::Factor(self.factor), self.dimension);
        self.single_unit.unwrap_or(Measure { name, scale, dimension })
    }
}

struct Parser<'a> {
    field: &'static str,
    text: &'a str,
    tokens: Vec<Token>,
    /// Index of the next token.
    next: usize,
    /// Nesting depth of the product that is being parsed: 1 for the outermost, 0 before parsing begins.
    depth: usize,
}

impl Parser<'_> {
    fn syntax_error(&self, reason: &'static str) -> ConvertError {
        ConvertError::Syntax {
            field: self.field,
            text: self.text.chars().take(60).collect(),
            reason,
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    /// Skips the next token if it is the punctuation `expected`. Returns whether it was.
    fn take_punctuation(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(&Token::Punctuation(expected));
        self.next += usize::from(found);
        found
    }

    /// Skips the next token if it is one of `words`, in any letter case. Returns whether it was.
    fn take_word(&mut self, words: &[&str]) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(word)) if words.contains(&word.to_lowercase().as_str()));
        self.next += usize::from(found);
        found
    }

    fn parse_product(&mut self) -> Result<Product, ConvertError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.syntax_error("it has more than 4 levels of parentheses"));
        }
        let mut product = Product::one();
        // The sign of the power of the next unit: 1 in the numerator, -1 in the denominator.
        let mut power_sign = 1;
        loop {
            let (term, power) = self.parse_term()?;
            // A 1, as in `1/s`, changes nothing.
            if !term.name.is_empty() {
                product = self.multiply(&product, term, power_sign * power)?;
            }
            if self.take_punctuation('*') {
                power_sign = 1;
            } else if self.take_punctuation('/') {
                power_sign = -1;
            } else if matches!(self.peek(), None | Some(Token::Punctuation(')'))) {
                self.depth -= 1;
                return Ok(product);
            }
            // Without an operator the next unit stays in the numerator or in the denominator: `J/kg K` is `J/(kg K)`.
        }
    }

    /// Parses a unit or a group in parentheses, and the power that it is raised to.
    fn parse_term(&mut self) -> Result<(Product, i16), ConvertError> {
        let mut power = match () {
            () if self.take_word(&["square", "sq", "sq."]) => 2,
            () if self.take_word(&["cubic", "cu", "cu."]) => 3,
            () => 1,
        };
        let term = match self.peek().cloned() {
            Some(Token::Punctuation('(')) => self.parse_group()?,
            Some(Token::Word(_)) => self.parse_unit()?,
            // The 1 in `1/s`.
            Some(Token::Number(1)) => {
                self.next += 1;
                Product::one()
            }
            Some(Token::Number(_)) => {
                return Err(self.syntax_error("a number is allowed only as a power: put it into `value`"));
            }
            _ => return Err(self.syntax_error("a unit is missing")),
        };
        if self.take_word(&["squared"]) {
            power *= 2;
        } else if self.take_word(&["cubed"]) {
            power *= 3;
        } else if self.take_punctuation('^') {
            power *= self.parse_power()?;
        }
        Ok((term, power))
    }

    fn parse_power(&mut self) -> Result<i16, ConvertError> {
        match self.peek() {
            Some(Token::Number(power)) if (-MAX_POWER..=MAX_POWER).contains(power) => {
                let power = *power;
                self.next += 1;
                Ok(power)
            }
            _ => Err(self.syntax_error(INVALID_POWER)),
        }
    }

    fn parse_group(&mut self) -> Result<Product, ConvertError> {
        self.next += 1;
        let product = self.parse_product()?;
        if !self.take_punctuation(')') {
            return Err(self.syntax_error("a `(` is never closed"));
        }
        let name = match product.name.as_str() {
            "" => String::new(),
            name => format!("({name})"),
        };
        Ok(Product { name, ..product })
    }

    /// Parses the longest run of words that is the name of a unit.
    fn parse_unit(&mut self) -> Result<Product, ConvertError> {
        let words: Vec<String> = self.words().take(MAX_WORDS).map(str::to_owned).collect();
        for length in (1..=words.len()).rev() {
            let written = words.get(..length).unwrap_or_default().join(" ");
            match lookup::find(&written) {
                Lookup::Unit(measure) => {
                    self.next += length;
                    // An inverse scale has no factor. NaN makes `multiply` refuse the unit in a compound.
                    let factor = if let Scale::Offset { factor, .. } | Scale::Factor(factor) = measure.scale {
                        factor
                    } else {
                        f64::NAN
                    };
                    let (name, dimension) = (measure.name.clone(), measure.dimension);
                    return Ok(Product {
                        name,
                        factor,
                        dimension,
                        single_unit: Some(measure),
                    });
                }
                Lookup::Ambiguous(names) => {
                    let choice = names
                        .iter()
                        .map(|name| format!("`{name}`"))
                        .collect::<Vec<_>>()
                        .join(" or ");
                    return Err(ConvertError::Ambiguous {
                        field: self.field,
                        unit: written,
                        choice,
                    });
                }
                Lookup::None => {}
            }
        }
        let unit: String = words.join(" ").chars().take(60).collect();
        let suggestion = lookup::suggest_similar(&unit);
        Err(ConvertError::Unknown {
            field: self.field,
            unit,
            suggestion,
        })
    }

    /// Returns the words from the next token on, up to the next number or punctuation.
    fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.tokens.iter().skip(self.next);
        words.map_while(|token| {
            if let Token::Word(word) = token {
                Some(word.as_str())
            } else {
                None
            }
        })
    }

    /// Multiplies `product` by `term` to the power `power`.
    fn multiply(&self, product: &Product, term: Product, power: i16) -> Result<Product, ConvertError> {
        let is_first = product.name.is_empty();
        if is_first && power == 1 {
            return Ok(term);
        }
        // Only a check: `parse_unit` gives the factor NaN to a unit with an inverse scale, and NaN on either side makes this NaN.
        let combined = term.factor * product.factor;
        if combined.is_nan() {
            return Err(self.syntax_error("this unit cannot be part of a compound"));
        }
        let exponent = if power.abs() == 1 {
            String::new()
        } else {
            format!("^{}", power.abs())
        };
        let operator = if power < 0 { "/" } else { "·" };
        let left_operand = if is_first && power < 0 { "1" } else { &product.name };
        let name = if is_first && power > 0 {
            format!("{}{exponent}", term.name)
        } else {
            format!("{left_operand}{operator}{}{exponent}", term.name)
        };
        let dimension = product.dimension.times_power(term.dimension, power);
        let dimension = dimension.ok_or_else(|| self.syntax_error("its powers are too large"))?;
        Ok(Product {
            name,
            factor: product.factor * term.factor.powi(i32::from(power)),
            dimension,
            single_unit: None,
        })
    }
}
