//! What is known about the values of an expression before a query runs.

use graphitesql::sql::ast::{BinaryOp, Expr, Literal, UnaryOp};

use crate::affinity::Affinity;

/// Where the values of an expression come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A column of a table.
    Table,
    /// A column of a subquery, a common table expression or a view.
    Derived,
    /// A column of a function such as `json_each`, which the engine takes for a column of type text.
    Function,
    /// Anything that is no column.
    Expression,
}

/// How the texts of a column are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Collation {
    #[default]
    Binary,
    NoCase,
    RTrim,
    Unknown,
}

impl Collation {
    pub(crate) fn of_name(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "binary" => Self::Binary,
            "nocase" => Self::NoCase,
            "rtrim" => Self::RTrim,
            _ => Self::Unknown,
        }
    }
}

/// What is known about the values of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) origin: Origin,
    /// The affinity in SQLite, or `None` if it is not known.
    pub(crate) affinity: Option<Affinity>,
    /// Whether values may be numbers.
    pub(crate) number: bool,
    /// Whether values may be texts that look like numbers.
    pub(crate) text: bool,
    pub(crate) collation: Collation,
}

impl Shape {
    pub(crate) const NUMBER: Self = Self::expression(true, false);
    pub(crate) const TEXT: Self = Self::expression(false, true);
    pub(crate) const NULL: Self = Self::expression(false, false);
    pub(crate) const ANY: Self = Self::expression(true, true);

    const fn expression(number: bool, text: bool) -> Self {
        Self {
            origin: Origin::Expression,
            affinity: Some(Affinity::Blob),
            number,
            text,
            collation: Collation::Binary,
        }
    }

    /// Returns the shape of a column of a table, whose values have been converted to its type.
    pub(crate) fn of_column(affinity: Affinity) -> Self {
        Self {
            origin: Origin::Table,
            affinity: Some(affinity),
            number: affinity != Affinity::Text,
            text: matches!(affinity, Affinity::Text | Affinity::Blob),
            collation: Collation::Binary,
        }
    }

    /// Returns the shape of the same values as those of an expression that is no column.
    pub(crate) fn without_affinity(self) -> Self {
        Self::expression(self.number, self.text)
    }

    /// Returns the shape of the same values as those of a column of a subquery.
    pub(crate) fn derived(self) -> Self {
        Self {
            origin: Origin::Derived,
            ..self
        }
    }

    /// Returns the shape of the values of either of two expressions.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            origin: self.origin,
            affinity: self.affinity.filter(|_| self.affinity == other.affinity),
            number: self.number || other.number,
            text: self.text || other.text,
            collation: self.collation,
        }
    }

    /// Returns whether SQLite may convert a value to compare these two.
    pub(crate) fn may_be_converted_with(&self, other: &Self) -> bool {
        let is_mixed = (self.number || other.number) && (self.text || other.text);
        let (Some(one), Some(two)) = (self.affinity, other.affinity) else {
            return is_mixed;
        };
        let takes_for_text = |shape: &Self| shape.origin == Origin::Function && !shape.number;
        if takes_for_text(self) && other.number || takes_for_text(other) && self.number {
            return true;
        }
        let is_numeric = |affinity| matches!(affinity, Affinity::Numeric | Affinity::Real);
        match (one, two) {
            _ if is_numeric(one) && is_numeric(two) => false,
            _ if is_numeric(one) => other.text,
            _ if is_numeric(two) => self.text,
            (Affinity::Text, Affinity::Blob) => other.number,
            (Affinity::Blob, Affinity::Text) => self.number,
            _ => false,
        }
    }
}

/// Returns the shape of an expression, if it does not depend on a column or a subquery, for which `inner` is called.
pub(crate) fn shape_of(expr: &Expr, inner: &dyn Fn(&Expr) -> Shape) -> Shape {
    let either = |exprs: &mut dyn Iterator<Item = &Expr>| {
        let shapes = exprs.map(|expr| inner(expr).without_affinity());
        shapes.reduce(Shape::or).unwrap_or(Shape::NULL)
    };
    match expr {
        Expr::Literal(literal) => of_literal(literal),
        Expr::Unary {
            op: UnaryOp::Identity,
            expr,
        } => inner(expr).without_affinity(),
        Expr::Paren(expr) => inner(expr),
        Expr::Collate { expr, collation } => Shape {
            collation: Collation::of_name(collation),
            ..inner(expr)
        },
        Expr::Binary { op, .. } => of_operator(*op),
        Expr::Unary { .. }
        | Expr::IsNull { .. }
        | Expr::InList { .. }
        | Expr::InSelect { .. }
        | Expr::Between { .. }
        | Expr::Exists { .. } => Shape::NUMBER,
        Expr::Cast { type_name, .. } => Shape {
            origin: Origin::Expression,
            ..Shape::of_column(Affinity::of_type(type_name))
        },
        Expr::Case {
            when_then, else_result, ..
        } => either(&mut when_then.iter().map(|(_, then)| then).chain(else_result.as_deref())),
        Expr::Function { name, args, .. } => {
            let name = name.to_ascii_lowercase();
            let arguments = if name == "iif" || name == "if" {
                args.get(1..)
            } else {
                Some(&args[..])
            };
            of_function(&name).unwrap_or_else(|| either(&mut arguments.unwrap_or_default().iter()))
        }
        Expr::Parameter(_) | Expr::Column { .. } | Expr::RowValue(_) | Expr::Subquery(_) => Shape::ANY,
    }
}

fn of_literal(literal: &Literal) -> Shape {
    match literal {
        Literal::Null | Literal::Blob(_) => Shape::NULL,
        Literal::Integer(_) | Literal::Real(_) | Literal::Boolean(_) => Shape::NUMBER,
        Literal::Str(_) => Shape::TEXT,
    }
}

fn of_operator(operator: BinaryOp) -> Shape {
    match operator {
        BinaryOp::Concat | BinaryOp::JsonExtract => Shape::TEXT,
        BinaryOp::JsonExtractText => Shape::ANY,
        _ => Shape::NUMBER,
    }
}

/// Returns the shape of the results of a function, or `None` if they are among its arguments.
fn of_function(name: &str) -> Option<Shape> {
    match name {
        "coalesce" | "ifnull" | "nullif" | "iif" | "if" | "min" | "max" | "likely" | "unlikely" | "likelihood"
        | "first_value" | "last_value" | "nth_value" | "lag" | "lead" => None,
        "date" | "time" | "datetime" | "strftime" | "timediff" | "upper" | "lower" | "trim" | "ltrim" | "rtrim"
        | "substr" | "substring" | "replace" | "printf" | "format" | "hex" | "quote" | "char" | "concat"
        | "concat_ws" | "typeof" | "group_concat" | "string_agg" | "json_array" | "json_object"
        | "json_group_array" | "json_group_object" | "json" | "json_type" | "json_quote" | "soundex" => {
            Some(Shape::TEXT)
        }
        "count" | "sum" | "avg" | "total" | "abs" | "length" | "octet_length" | "round" | "instr" | "unicode"
        | "sign" | "julianday" | "unixepoch" | "random" | "row_number" | "rank" | "dense_rank" | "percent_rank"
        | "cume_dist" | "ntile" | "like" | "glob" | "json_valid" | "json_array_length" | "ceil" | "ceiling"
        | "floor" | "trunc" | "sqrt" | "pow" | "power" | "mod" | "exp" | "ln" | "log" | "log2" | "log10" => {
            Some(Shape::NUMBER)
        }
        _ => Some(Shape::ANY),
    }
}
