//! Evaluates tokens while parsing them, by precedence climbing and without a syntax tree. The stack grows with the
//! nesting only, not with the length of a sum.
//!
//! The tokens come from `words`, which has replaced phrases by operators and by words that only this parser knows, such as
//! `is_percent_of`. An *infix* operator stands between two values. A *sentence* is a calculation that starts with a verb, has two
//! values and a joining word between them: `divide 100 by 8`.

use crate::{
    cursor::{self, Cursor},
    error::{EvalError, Reason},
    format, functions,
    lexer::{Token, TokenKind},
    symbols::Symbols,
    value::{self, Value},
    words,
};

/// Maximum depth of nesting; each level uses stack.
const MAX_DEPTH: usize = 64;

// The precedences of operators. A higher one binds tighter. The value on the right of an operator is parsed with a higher minimum
// precedence, so that operators of the same precedence apply from left to right, except for `^`. The minimum precedence 0 admits
// all operators.

/// The precedence of `to 2 decimals` and `to the nearest 10`.
const DECIMALS: u8 = 0;
/// The precedence of `+`, `-`, and words such as `more than` and `rounded to`.
const SUM: u8 = 1;
/// The precedence of `*`, `/`, the remainder, and words such as `of`.
const PRODUCT: u8 = 3;
/// The precedence of a product without `*`, such as `2pi`. It binds tighter than `*` and looser than `^`.
const ADJACENT: u8 = 5;
/// The precedence of the signs in `-2` and `+2`. They bind looser than `^`: `-2^2` is -4.
const PREFIX: u8 = 6;
/// The precedence of `^`.
const POWER: u8 = 7;

/// A value and how it was written.
#[derive(Clone, Copy)]
struct Operand {
    value: Value,
    /// Whether it was written as a percentage, such as `15%`. If it is added to another value, it is a share of that value.
    is_percentage: bool,
}

impl Operand {
    /// Returns the value. If this operand was written as a percentage and `whole` was not, returns this percentage of `whole`: 30
    /// for the `15%` in `200 - 15%`.
    fn share_of(self, whole: Self) -> Value {
        if self.is_percentage && !whole.is_percentage {
            self.value * whole.value
        } else {
            self.value
        }
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        Self {
            value,
            is_percentage: false,
        }
    }
}

/// Evaluates `tokens`, which end with `End`.
pub(crate) fn evaluate(tokens: Vec<Token>, symbols: &Symbols<'_>) -> Result<Value, EvalError> {
    let mut parser = Parser {
        cursor: Cursor::new(tokens),
        depth: 0,
        symbols,
    };
    let operand = parser.parse_expression(0)?;
    let (at, kind) = parser.cursor.take();
    match kind {
        TokenKind::End => Ok(operand.value),
        TokenKind::Punct(',') => Err(syntax_error(
            at,
            "a `,` outside of a function call; write decimals with `.`",
        )),
        other => Err(syntax_error(
            at,
            &format!("an operator such as `+` is missing before {}", cursor::describe(&other)),
        )),
    }
}

struct Parser<'a> {
    cursor: Cursor,
    depth: usize,
    symbols: &'a Symbols<'a>,
}

impl Parser<'_> {
    /// Reads a value and the operators after it whose precedence is at least `min_precedence`, with their values.
    fn parse_expression(&mut self, min_precedence: u8) -> Result<Operand, EvalError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the expression is nested more than {MAX_DEPTH} levels deep");
            return Err(Reason::TooLarge(message).at(self.cursor.at()));
        }
        let mut left = self.parse_operand()?;
        let mut follows_division = false;
        while let Some((precedence, operator)) = self.peek_infix(min_precedence) {
            let at = self.cursor.at();
            // A product without `*` has no token of its own to move past.
            if operator == Infix::Adjacent {
                check_not_ambiguous(follows_division, at)?;
            } else {
                self.cursor.take();
            }
            left = self.apply_infix(left, operator, precedence, at)?;
            follows_division = operator == Infix::Divide;
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Returns the next operator if its precedence is at least `min_precedence`.
    fn peek_infix(&self, min_precedence: u8) -> Option<(u8, Infix)> {
        let (precedence, operator) = match self.cursor.peek() {
            TokenKind::Punct('+') => (SUM, Infix::Add),
            TokenKind::Punct('-') => (SUM, Infix::Subtract),
            TokenKind::Punct('*') => (PRODUCT, Infix::Multiply),
            TokenKind::Punct('/') => (PRODUCT, Infix::Divide),
            TokenKind::Punct('%') => (PRODUCT, Infix::Modulo),
            TokenKind::Punct('^') => (POWER, Infix::Power),
            // A variable or a constant after a value makes a product, even if it has the name of an operator.
            TokenKind::Name(name) if self.symbols.contains(name) => (ADJACENT, Infix::Adjacent),
            TokenKind::Name(name) if name == "of" => (PRODUCT, Infix::Multiply),
            TokenKind::Name(name) if name == "mod" => (PRODUCT, Infix::Modulo),
            // In `50 with 20% off`, no value follows `off`, so `off` is no operator.
            TokenKind::Name(name) if name == "off" && self.cursor.value_follows_next_token() => (PRODUCT, Infix::Off),
            TokenKind::Name(name) if name == "is_percent_of" => (SUM, Infix::IsPercentOf),
            TokenKind::Name(name) if name == "rounded_to" => (SUM, Infix::RoundedTo),
            TokenKind::Name(name) if name == "to_nearest" => (DECIMALS, Infix::ToNearest),
            TokenKind::Name(name) if name == "to" && self.cursor.decimals_follow_next_token() => {
                (DECIMALS, Infix::RoundedTo)
            }
            TokenKind::Name(name) if name == "with" => (SUM, Infix::With),
            TokenKind::Name(name) if name == "more_than" => (SUM, Infix::MoreThan),
            TokenKind::Name(name) if name == "less_than" => (SUM, Infix::LessThan),
            TokenKind::Name(name) if name == "choose" => (PRODUCT, Infix::Choose),
            TokenKind::Name(name) if words::ends_value(name) => return None,
            TokenKind::Name(_) | TokenKind::Punct('(') => (ADJACENT, Infix::Adjacent),
            _ => return None,
        };
        (precedence >= min_precedence).then_some((precedence, operator))
    }

    /// Reads the value on the right of an operator, and applies the operator, which stands at the position `at`.
    fn apply_infix(&mut self, left: Operand, operator: Infix, precedence: u8, at: usize) -> Result<Operand, EvalError> {
        let right = self.parse_expression(match operator {
            // Right-associative, and the exponent may have a sign.
            Infix::Power => PREFIX,
            // Stop before a product without `*`, so that the caller can refuse the product as ambiguous.
            Infix::Divide => PREFIX,
            _ => precedence + 1,
        })?;
        let (a, b) = (left.value, right.value);
        let value = match operator {
            Infix::Add => value::add(a, right.share_of(left)),
            Infix::Subtract => value::add(a, -right.share_of(left)),
            Infix::Multiply | Infix::Adjacent => a * b,
            Infix::Divide => value::divide(a, b).map_err(|reason| reason.at(at))?,
            Infix::Modulo => value::modulo(a, b).map_err(|reason| reason.at(at))?,
            Infix::Power => value::power(a, b).map_err(|reason| reason.at(at))?,
            Infix::Off => value::add(b, -left.share_of(right)),
            Infix::IsPercentOf => percentage(a, b, at)?,
            Infix::MoreThan => value::add(b, left.share_of(right)),
            Infix::LessThan => value::add(b, -left.share_of(right)),
            Infix::With if self.cursor.take_name("off") => value::add(a, -right.share_of(left)),
            Infix::With if self.cursor.take_name("extra") => value::add(a, right.share_of(left)),
            Infix::With => return Err(syntax_error(at, "say whether to add this or to take it off")),
            Infix::RoundedTo => value::call("round", &[a, b]).map_err(|reason| reason.at(at))?,
            Infix::ToNearest => value::round_to_multiple(a, b).map_err(|reason| reason.at(at))?,
            Infix::Choose => value::call("combinations", &[a, b]).map_err(|reason| reason.at(at))?,
        };
        // Skip the last word in `50 plus 20% tax` and `50 minus 20% discount`, since the operator already says whether the share
        // is added or subtracted. `words` has replaced `tax` by `extra`, and `discount` by `off`.
        let _is_skipped = match operator {
            Infix::Add if right.is_percentage => self.cursor.take_name("extra"),
            Infix::Subtract if right.is_percentage => self.cursor.take_name("off"),
            _ => false,
        };
        let is_percentage =
            left.is_percentage && right.is_percentage && matches!(operator, Infix::Add | Infix::Subtract);
        Ok(Operand {
            value: check_finite(value, at)?,
            is_percentage,
        })
    }

    /// Reads one value with the signs before it and the postfix operators after it.
    fn parse_operand(&mut self) -> Result<Operand, EvalError> {
        let (at, kind) = self.cursor.take();
        let value = match kind {
            TokenKind::Punct('-') => {
                let operand = self.parse_expression(PREFIX)?;
                return Ok(Operand {
                    value: -operand.value,
                    ..operand
                });
            }
            TokenKind::Punct('+') => return self.parse_expression(PREFIX),
            TokenKind::Number(value) => Value::of_number(value, None),
            TokenKind::Whole(value) => Value::of_number(value as f64, Some(value)),
            TokenKind::Name(name) => self.parse_name(&name, at)?,
            TokenKind::Punct('(') => self.parse_group(at)?,
            TokenKind::End => return Err(syntax_error(at, "the expression ends where a value is expected")),
            other @ TokenKind::Punct(_) => {
                return Err(syntax_error(
                    at,
                    &format!("expected a value, found {}", cursor::describe(&other)),
                ));
            }
        };
        self.apply_postfix(value.into())
    }

    /// Reads the rest of an expression in parentheses after the `(`, which is at the position `open`.
    fn parse_group(&mut self, open: usize) -> Result<Value, EvalError> {
        let operand = self.parse_expression(0)?;
        self.expect_close(open)?;
        Ok(operand.value)
    }

    fn expect_close(&mut self, open: usize) -> Result<(), EvalError> {
        let (at, kind) = self.cursor.take();
        match kind {
            TokenKind::Punct(')') => Ok(()),
            TokenKind::End => Err(syntax_error(open, "this `(` is never closed")),
            other => Err(syntax_error(
                at,
                &format!("expected `)`, found {}", cursor::describe(&other)),
            )),
        }
    }

    /// Applies `!`, `factorial`, `%` and `degrees` to the value before them. A `%` with a value after it is no percent sign but
    /// the operator for the remainder: `8 % 3` is 2.
    fn apply_postfix(&mut self, mut operand: Operand) -> Result<Operand, EvalError> {
        loop {
            let at = self.cursor.at();
            if self.cursor.take_punct('!') || self.take_postfix_word("factorial") {
                let value = value::call("factorial", &[operand.value]).map_err(|reason| reason.at(at))?;
                operand = check_finite(value, at)?.into();
            } else if self.take_postfix_word("decimals") || self.take_postfix_word("digits") {
                // The word in `2 decimals` is skipped, since the value before it already is the number of decimals.
            } else if self.cursor.take_name("degrees") {
                operand = (operand.value * (std::f64::consts::PI / 180.0)).into();
            } else if *self.cursor.peek() == TokenKind::Punct('%') && !self.cursor.value_follows_next_token() {
                self.cursor.take();
                operand = Operand {
                    value: operand.value / 100.0,
                    is_percentage: true,
                };
            } else {
                return Ok(operand);
            }
        }
    }

    /// Skips the next token if it is this word and no variable. Returns whether it was.
    fn take_postfix_word(&mut self, word: &str) -> bool {
        !self.symbols.contains(word) && self.cursor.take_name(word)
    }

    /// Returns the value of what starts with `name`, which was read already. Reads the values of a sentence or a function, and
    /// nothing more for a variable or a constant.
    fn parse_name(&mut self, name: &str, at: usize) -> Result<Value, EvalError> {
        if self.symbols.contains(name) {
            return self.symbols.get(name, at);
        }
        if let Some(value) = self.parse_sentence(name, at)? {
            return check_finite(value, at);
        }
        let read_arguments = match self.cursor.peek() {
            TokenKind::Punct('(') => Self::parse_arguments,
            TokenKind::Name(word) if word == "of" || word == "between" => Self::parse_values_after_of,
            // `average 4 8 15` and `sqrt 16`.
            TokenKind::Number(_) | TokenKind::Whole(_) if functions::lookup(name).is_ok() => Self::parse_values,
            _ => return self.symbols.get(name, at),
        };
        let function = functions::lookup(name).map_err(|reason| reason.at(at))?;
        let arguments = read_arguments(self)?;
        let value = value::call(function, &arguments).map_err(|reason| reason.at(at))?;
        check_finite(value, at)
    }

    /// Skips the `of` or `between`, and reads the values after it, as in `sum of 4, 8 and 15`.
    fn parse_values_after_of(&mut self) -> Result<Vec<Value>, EvalError> {
        self.cursor.take();
        self.parse_values()
    }

    /// Reads values with commas, `and` or nothing between them. A value ends before each infix operator but `^`, so an operator
    /// after the last value applies to the result of the function: `sqrt 16 + 9` is 13.
    fn parse_values(&mut self) -> Result<Vec<Value>, EvalError> {
        let mut values = Vec::new();
        loop {
            values.push(self.parse_expression(PREFIX)?.value.without_rounding_error());
            if !self.skip_separator() {
                return Ok(values);
            }
        }
    }

    /// Skips what separates two values, and returns whether another value follows.
    fn skip_separator(&mut self) -> bool {
        let comma = self.cursor.take_punct(',');
        let and = self.cursor.take_name("and");
        comma || and || matches!(self.cursor.peek(), TokenKind::Number(_) | TokenKind::Whole(_))
    }

    /// Reads a sentence such as `divide 100 by 8`, whose verb was read already. Returns `None` if `verb` is not one of
    /// [`SENTENCES`], or is the name of a function that is called with parentheses.
    fn parse_sentence(&mut self, verb: &str, at: usize) -> Result<Option<Value>, EvalError> {
        let verb = verb.to_lowercase();
        let is_function_call = *self.cursor.peek() == TokenKind::Punct('(');
        let Some((_, min_precedence, joining_words)) =
            SENTENCES.iter().find(|(known, ..)| *known == verb && !is_function_call)
        else {
            return Ok(None);
        };
        let first = self.parse_expression(*min_precedence)?;
        if *self.cursor.peek() == TokenKind::End {
            match verb.as_str() {
                "round" => {
                    return value::call("round", &[first.value])
                        .map(Some)
                        .map_err(|reason| reason.at(at));
                }
                // In `raise 2 to the power of 10`, `words` has replaced the words between the numbers by `^`, so the first value
                // is already 1024.
                "raise" => return Ok(Some(first.value)),
                _ => {}
            }
        }
        let Some(joining_word) = self.take_joining_word(joining_words) else {
            let expected_word = joining_words.first().copied().unwrap_or_default();
            let expected = format!("expected `{expected_word}` after the first value of `{verb}`");
            return Err(syntax_error(self.cursor.at(), &expected));
        };
        // In `log base 2 of 8 plus 1` the second value is only 8, and 1 is added to the logarithm. But in
        // `subtract 3 from 8 plus 1` the second value is 9.
        let ends_before_operator = matches!(joining_word, "of" | "/");
        let second = self.parse_expression(if ends_before_operator { PREFIX } else { 0 })?;
        // `add 4, 8 and 15` has more than two values. After `to`, as in `add 5 to 12`, there is only one more value.
        if matches!(verb.as_str(), "add" | "multiply") && joining_word != "to" && self.skip_separator() {
            let values = self.parse_values()?.into_iter().chain([first.value, second.value]);
            let values: Vec<Value> = values.collect();
            let name = if verb == "add" { "sum" } else { "product" };
            return value::call(name, &values).map(Some).map_err(|reason| reason.at(at));
        }
        let value = Self::evaluate_sentence(&verb, joining_word, first, second).map_err(|reason| reason.at(at))?;
        Ok(Some(value))
    }

    /// Skips one of the given words or punctuation characters between the two values of a sentence, and returns it.
    fn take_joining_word(&mut self, joining_words: &[&'static str]) -> Option<&'static str> {
        joining_words.iter().copied().find(|joining_word| match *joining_word {
            // Each of these is one punctuation character.
            "/" | "," | "*" => joining_word.chars().all(|punct| self.cursor.take_punct(punct)),
            // `add 3 4 5` has nothing between the values.
            "" => matches!(self.cursor.peek(), TokenKind::Number(_) | TokenKind::Whole(_)),
            word => self.cursor.take_name(word),
        })
    }

    /// Returns the value of a sentence with two values.
    fn evaluate_sentence(verb: &str, joining_word: &str, first: Operand, second: Operand) -> Result<Value, Reason> {
        let (a, b) = (first.value, second.value);
        Ok(match verb {
            "add" => value::add(first.share_of(second), b),
            "subtract" | "take" => value::add(b, -first.share_of(second)),
            "multiply" => a * b,
            "divide" | "split" => value::divide(a, b)?,
            "increase" | "raise" => value::add(a, second.share_of(first)),
            "decrease" => value::add(a, -second.share_of(first)),
            "change_from" => value::divide(value::add(b, -a), a)? * 100.0,
            "drop_from" => value::divide(value::add(a, -b), a)? * 100.0,
            // `what percent is 20 of 80`.
            "percent_is" => value::divide(a, b)? * 100.0,
            "choose" => value::call("combinations", &[b, a])?,
            "log_base" => value::call("log", &[b, a])?,
            "nth_power" => value::power(b, a)?,
            "nth_root" => value::root(b, a)?,
            "remainder" => value::modulo(a, b)?,
            "round" if joining_word == "to_nearest" => value::round_to_multiple(a, b)?,
            "round" => value::call("round", &[a, b])?,
            // The remaining verb is `percent_of`: `what percent of 80 is 20`.
            _ => value::divide(b, a)? * 100.0,
        })
    }

    /// Reads the arguments of a function in parentheses.
    fn parse_arguments(&mut self) -> Result<Vec<Value>, EvalError> {
        let (open, _) = self.cursor.take();
        let mut arguments = Vec::new();
        if self.cursor.take_punct(')') {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.parse_expression(0)?.value.without_rounding_error());
            if !self.cursor.take_punct(',') {
                self.expect_close(open)?;
                return Ok(arguments);
            }
        }
    }
}

/// The verbs that start a sentence, the minimum precedence of the operators in its first value, and the joining words that may
/// follow this value. Some verbs are replacements that `words` makes, such as `log_base` for `log base`. The minimum is high if a
/// joining word is an operator too, like `off` in `take 20% off 50`. Then the first value ends before that word.
const SENTENCES: [(&str, u8, &[&str]); 19] = [
    ("add", 0, &["and", "to", ",", ""]),
    ("subtract", 0, &["from"]),
    ("take", PREFIX, &["from", "off"]),
    ("multiply", 0, &["by", "and", "with", ",", ""]),
    ("divide", 0, &["by", "between", "among", "into"]),
    ("split", 0, &["between", "among", "by", "into"]),
    ("increase", 0, &["by"]),
    ("decrease", 0, &["by"]),
    ("raise", 0, &["by"]),
    ("percent_of", 0, &["is"]),
    ("percent_is", PREFIX, &["of"]),
    ("change_from", 0, &["to"]),
    ("drop_from", 0, &["to"]),
    ("choose", 0, &["from"]),
    ("log_base", PREFIX, &["of"]),
    ("nth_power", PREFIX, &["of"]),
    ("nth_root", PREFIX, &["of"]),
    ("remainder", PREFIX, &["/", "by"]),
    ("round", SUM, &["to", "to_nearest"]),
];

/// An operator between two values. The words in its examples are those that people write; `words` replaces some of them.
#[derive(Clone, Copy, PartialEq)]
enum Infix {
    Add,
    Subtract,
    Multiply,
    /// A product without `*`, as in `2pi`.
    Adjacent,
    Divide,
    Modulo,
    Power,
    /// `20% off 50`.
    Off,
    /// `20 is what percent of 80`.
    IsPercentOf,
    /// `3.14159 rounded to 2 decimals`.
    RoundedTo,
    /// `47 rounded to the nearest 10`.
    ToNearest,
    /// `50 with 20% off`, `50 with a 20% tip`.
    With,
    /// `20% more than 50`, `5 more than 12`.
    MoreThan,
    /// `20% less than 50`, `5 less than 12`.
    LessThan,
    /// `5 choose 2`.
    Choose,
}

/// Fails if a product without `*` at the position `at` follows a division: `6/2(1+2)` is ambiguous.
fn check_not_ambiguous(follows_division: bool, at: usize) -> Result<(), EvalError> {
    if follows_division {
        return Err(syntax_error(
            at,
            "a product without `*` after a division is ambiguous; write `*` or parentheses",
        ));
    }
    Ok(())
}

/// Returns `part` as a percentage of `whole`.
fn percentage(part: Value, whole: Value, at: usize) -> Result<Value, EvalError> {
    let share = value::divide(part, whole).map_err(|reason| reason.at(at))?;
    Ok(share * 100.0)
}

fn check_finite(value: Value, at: usize) -> Result<Value, EvalError> {
    let float = value.float;
    if float.is_finite() {
        return Ok(value);
    }
    let part = if float.re.is_finite() { float.im } else { float.re };
    Err(format::not_finite_reason(part).at(at))
}

fn syntax_error(at: usize, message: &str) -> EvalError {
    Reason::Syntax(message.to_owned()).at(at)
}
