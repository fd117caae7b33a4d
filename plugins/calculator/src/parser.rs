//! Evaluates tokens while parsing them, by precedence climbing and without a syntax tree. The stack grows with the
//! nesting only, not with the length of a sum.

use num_complex::Complex64;

use crate::{
    cursor::{self, Cursor},
    error::{EvalError, Reason},
    format, functions,
    lexer::{Kind, Token},
    symbols::Symbols,
    words,
};

/// Maximum depth of nesting; each level uses stack.
const MAX_DEPTH: usize = 64;

const SUM: u8 = 1;
const PRODUCT: u8 = 3;
/// `2pi` binds tighter than `*`, looser than `^`.
const ADJACENT: u8 = 5;
const PREFIX: u8 = 6;
const POWER: u8 = 7;

/// A value and how it was written.
#[derive(Clone, Copy)]
struct Operand {
    value: Complex64,
    /// Whether it was written as `n%`. When added to a value, it is a share of that value.
    percent: bool,
}

impl Operand {
    /// Returns the value, or the share of `whole` when only this one was written as a percentage.
    fn share_of(self, whole: Self) -> Complex64 {
        if self.percent && !whole.percent {
            self.value * whole.value
        } else {
            self.value
        }
    }
}

impl From<Complex64> for Operand {
    fn from(value: Complex64) -> Self {
        Self { value, percent: false }
    }
}

/// Evaluates `tokens`, which end with `End`.
pub(crate) fn evaluate(tokens: Vec<Token>, symbols: &Symbols<'_>) -> Result<Complex64, EvalError> {
    let mut parser = Parser {
        cursor: Cursor::new(tokens),
        depth: 0,
        symbols,
    };
    let operand = parser.expression(0)?;
    let (at, kind) = parser.cursor.take();
    match kind {
        Kind::End => Ok(operand.value),
        Kind::Sign(',') => Err(syntax(at, "a `,` outside of a function call; write decimals with `.`")),
        other => Err(syntax(
            at,
            &format!("expected an operator, found {}", cursor::describe(&other)),
        )),
    }
}

struct Parser<'a> {
    cursor: Cursor,
    depth: usize,
    symbols: &'a Symbols<'a>,
}

impl Parser<'_> {
    fn expression(&mut self, min: u8) -> Result<Operand, EvalError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the expression is nested more than {MAX_DEPTH} levels deep");
            return Err(Reason::TooLarge(message).at(self.cursor.at()));
        }
        let mut left = self.operand()?;
        let mut divided = false;
        while let Some((power, operator)) = self.infix(min) {
            let at = self.cursor.at();
            if operator == Infix::Adjacent {
                check_not_ambiguous(divided, at)?;
            } else {
                self.cursor.take();
            }
            left = self.apply(left, operator, power, at)?;
            divided = operator == Infix::Divide;
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Returns the next operator if its precedence is at least `min`.
    fn infix(&self, min: u8) -> Option<(u8, Infix)> {
        let (power, operator) = match self.cursor.peek() {
            Kind::Sign('+') => (SUM, Infix::Add),
            Kind::Sign('-') => (SUM, Infix::Subtract),
            Kind::Sign('*') => (PRODUCT, Infix::Multiply),
            Kind::Sign('/') => (PRODUCT, Infix::Divide),
            Kind::Sign('%') => (PRODUCT, Infix::Modulo),
            Kind::Sign('^') => (POWER, Infix::Power),
            Kind::Name(name) if name == "of" && !self.symbols.contains("of") => (PRODUCT, Infix::Multiply),
            Kind::Name(name) if name == "mod" => (PRODUCT, Infix::Modulo),
            Kind::Name(name) if name == "off" => (PRODUCT, Infix::Off),
            Kind::Name(name) if name == "is_percent_of" => (SUM, Infix::PercentOf),
            Kind::Name(name) if name == "rounded_to" => (SUM, Infix::RoundedTo),
            Kind::Name(name) if words::ends_value(name) && !self.symbols.contains(name) => return None,
            Kind::Name(_) | Kind::Sign('(') => (ADJACENT, Infix::Adjacent),
            _ => return None,
        };
        (power >= min).then_some((power, operator))
    }

    fn apply(&mut self, left: Operand, operator: Infix, power: u8, at: usize) -> Result<Operand, EvalError> {
        let right = self.expression(match operator {
            // Right-associative, and the exponent may have a sign.
            Infix::Power => PREFIX,
            // Stop before a product without a sign, so that the caller refuses it as ambiguous.
            Infix::Divide => PREFIX,
            _ => power + 1,
        })?;
        let (a, b) = (left.value, right.value);
        let value = match operator {
            Infix::Add => functions::add(a, right.share_of(left)),
            Infix::Subtract => functions::add(a, -right.share_of(left)),
            Infix::Multiply | Infix::Adjacent => a * b,
            Infix::Divide => functions::divide(a, b).map_err(|reason| reason.at(at))?,
            Infix::Modulo => functions::modulo(a, b).map_err(|reason| reason.at(at))?,
            Infix::Power => functions::power(a, b).map_err(|reason| reason.at(at))?,
            Infix::Off => functions::add(b, -(a * b)),
            Infix::PercentOf => percentage(a, b, at)?,
            Infix::RoundedTo => functions::call("round", &[a, b]).map_err(|reason| reason.at(at))?,
        };
        let both = left.percent && right.percent && matches!(operator, Infix::Add | Infix::Subtract);
        Ok(Operand {
            value: finite(value, at)?,
            percent: both,
        })
    }

    fn operand(&mut self) -> Result<Operand, EvalError> {
        let (at, kind) = self.cursor.take();
        let value = match kind {
            Kind::Sign('-') => {
                let operand = self.expression(PREFIX)?;
                return Ok(Operand {
                    value: -operand.value,
                    ..operand
                });
            }
            Kind::Sign('+') => return self.expression(PREFIX),
            Kind::Number(value) => Complex64::new(value, 0.0),
            Kind::Name(name) => self.named(&name, at)?,
            Kind::Sign('(') => self.group(at)?,
            Kind::End => return Err(syntax(at, "the expression ends where a value is expected")),
            other @ Kind::Sign(_) => {
                return Err(syntax(
                    at,
                    &format!("expected a value, found {}", cursor::describe(&other)),
                ));
            }
        };
        self.postfix(value.into())
    }

    fn group(&mut self, open: usize) -> Result<Complex64, EvalError> {
        let operand = self.expression(0)?;
        self.close(open)?;
        Ok(operand.value)
    }

    fn close(&mut self, open: usize) -> Result<(), EvalError> {
        let (at, kind) = self.cursor.take();
        match kind {
            Kind::Sign(')') => Ok(()),
            Kind::End => Err(syntax(open, "this `(` is never closed")),
            other => Err(syntax(at, &format!("expected `)`, found {}", cursor::describe(&other)))),
        }
    }

    /// Applies `!`, `%` and `degrees` to the value before them. A `%` before a value is the remainder: `8 % 3` is 2.
    fn postfix(&mut self, mut operand: Operand) -> Result<Operand, EvalError> {
        loop {
            let at = self.cursor.at();
            if self.cursor.take_sign('!') || self.cursor.take_name("factorial") {
                let value = functions::call("factorial", &[operand.value]).map_err(|reason| reason.at(at))?;
                operand = finite(value, at)?.into();
            } else if operand.percent && !self.cursor.value_follows() && self.cursor.take_name("off") {
                // `50 with 20% off` is a subtraction already.
            } else if self.cursor.take_name("degrees") {
                operand = (operand.value * (std::f64::consts::PI / 180.0)).into();
            } else if *self.cursor.peek() == Kind::Sign('%') && !self.cursor.value_follows() {
                self.cursor.take();
                operand = Operand {
                    value: operand.value / 100.0,
                    percent: true,
                };
            } else {
                return Ok(operand);
            }
        }
    }

    fn named(&mut self, name: &str, at: usize) -> Result<Complex64, EvalError> {
        if self.symbols.contains(name) {
            return self.symbols.get(name, at);
        }
        if let Some(value) = self.sentence(name, at)? {
            return finite(value, at);
        }
        let arguments = match self.cursor.peek() {
            Kind::Sign('(') => Self::arguments,
            Kind::Name(of) if of == "of" || of == "between" => Self::named_values,
            _ => return self.symbols.get(name, at),
        };
        let function = functions::lookup(name).map_err(|reason| reason.at(at))?;
        let arguments = arguments(self)?;
        let value = functions::call(function, &arguments).map_err(|reason| reason.at(at))?;
        finite(value, at)
    }

    /// Reads the values in `sum of 4, 8 and 15`. An operator after the last value applies to the result of the
    /// function.
    fn named_values(&mut self) -> Result<Vec<Complex64>, EvalError> {
        self.cursor.take();
        let mut values = Vec::new();
        loop {
            values.push(format::drop_rounding_error(self.expression(PREFIX)?.value));
            let comma = self.cursor.take_sign(',');
            if !(self.cursor.take_name("and") || comma) {
                return Ok(values);
            }
        }
    }

    /// Reads a calculation that starts with a verb, such as `divide 100 by 8`. Returns `None` if `verb` is not one.
    fn sentence(&mut self, verb: &str, at: usize) -> Result<Option<Complex64>, EvalError> {
        let verb = verb.to_lowercase();
        // An operand that is followed by an operator of the sentence ends before it.
        let (power, joins): (u8, &[&str]) = match verb.as_str() {
            "add" => (0, &["to", "and"]),
            "subtract" => (0, &["from"]),
            "multiply" => (0, &["by", "and"]),
            "divide" | "increase" | "decrease" => (0, &["by"]),
            "percent_of" => (0, &["is"]),
            "change_from" => (0, &["to"]),
            "choose" => (0, &["from"]),
            "log_base" => (PREFIX, &["of"]),
            "remainder" => (PREFIX, &["/"]),
            "round" if *self.cursor.peek() != Kind::Sign('(') => (0, &["to"]),
            _ => return Ok(None),
        };
        let first = self.expression(power)?;
        let is_joined = joins
            .iter()
            .any(|join| self.cursor.take_name(join) || (*join == "/" && self.cursor.take_sign('/')));
        if !is_joined {
            let expected = format!("expected `{}` after the first value of `{verb}`", joins.join("` or `"));
            return Err(syntax(self.cursor.at(), &expected));
        }
        let second = self.expression(0)?;
        let (a, b) = (first.value, second.value);
        let call = |name, arguments: [Complex64; 2]| functions::call(name, &arguments).map_err(|reason| reason.at(at));
        let value = match verb.as_str() {
            "add" => functions::add(a, b),
            "subtract" => functions::add(b, -a),
            "multiply" => a * b,
            "divide" => functions::divide(a, b).map_err(|reason| reason.at(at))?,
            "increase" => functions::add(a, second.share_of(first)),
            "decrease" => functions::add(a, -second.share_of(first)),
            "change_from" => percentage(functions::add(b, -a), a, at)?,
            "choose" => call("combinations", [b, a])?,
            "log_base" => call("log", [b, a])?,
            "remainder" => call("mod", [a, b])?,
            "round" => call("round", [a, b])?,
            _ => percentage(b, a, at)?,
        };
        Ok(Some(value))
    }

    fn arguments(&mut self) -> Result<Vec<Complex64>, EvalError> {
        let (open, _) = self.cursor.take();
        let mut arguments = Vec::new();
        if self.cursor.take_sign(')') {
            return Ok(arguments);
        }
        loop {
            arguments.push(format::drop_rounding_error(self.expression(0)?.value));
            if !self.cursor.take_sign(',') {
                self.close(open)?;
                return Ok(arguments);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Infix {
    Add,
    Subtract,
    Multiply,
    /// A product without a sign, as in `2pi`.
    Adjacent,
    Divide,
    Modulo,
    Power,
    /// `20% off 50`.
    Off,
    /// `20 is what percent of 80`.
    PercentOf,
    /// `3.14159 rounded to 2 decimals`.
    RoundedTo,
}

/// Refuses a product without a sign after a division: `6/2(1+2)` is ambiguous.
fn check_not_ambiguous(divided: bool, at: usize) -> Result<(), EvalError> {
    if divided {
        return Err(syntax(
            at,
            "a product without `*` after a division is ambiguous; write `*` or parentheses",
        ));
    }
    Ok(())
}

/// Returns `part` as a percentage of `whole`.
fn percentage(part: Complex64, whole: Complex64, at: usize) -> Result<Complex64, EvalError> {
    let share = functions::divide(part, whole).map_err(|reason| reason.at(at))?;
    Ok(share * 100.0)
}

fn finite(value: Complex64, at: usize) -> Result<Complex64, EvalError> {
    if value.is_finite() {
        return Ok(value);
    }
    let part = if value.re.is_finite() { value.im } else { value.re };
    Err(format::unsupported(part).at(at))
}

fn syntax(at: usize, message: &str) -> EvalError {
    Reason::Syntax(message.to_owned()).at(at)
}
