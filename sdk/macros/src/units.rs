//! Parses numbers, sizes and durations as people write them.

use syn::{Error, Expr, ExprLit, Lit, Result};

/// A unit: its name, and how many bytes or milliseconds it stands for.
type Unit = (&'static str, u64);

const SIZES: [Unit; 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
const DURATIONS: [Unit; 3] = [("ms", 1), ("s", 1000), ("min", 60_000)];

/// Parses a number such as `2_000_000`.
pub(crate) fn count(value: &Expr) -> Result<u64> {
    parse_number(value).ok_or_else(|| Error::new_spanned(value, "expected a number above zero, such as `2_000_000`"))
}

/// Parses a size such as `"16 MiB"`, or a number of bytes.
pub(crate) fn bytes(value: &Expr) -> Result<u64> {
    parse_number(value)
        .or_else(|| parse_with_unit(value, &SIZES))
        .ok_or_else(|| Error::new_spanned(value, "expected a size such as `\"16 MiB\"`, or a number of bytes"))
}

/// Parses a duration such as `"5s"` to milliseconds. A number without a unit is refused as ambiguous.
pub(crate) fn milliseconds(value: &Expr) -> Result<u64> {
    parse_with_unit(value, &DURATIONS)
        .ok_or_else(|| Error::new_spanned(value, "expected a duration such as `\"5s\"`, `\"250ms\"` or `\"1min\"`"))
}

fn parse_number(value: &Expr) -> Option<u64> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number), ..
        }) => number.base10_parse().ok().filter(|number| *number > 0),
        _ => None,
    }
}

fn parse_with_unit(value: &Expr, units: &[Unit]) -> Option<u64> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text), ..
    }) = value
    else {
        return None;
    };
    let text = text.value();
    let number_length = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(number_length)?;
    let (_, scale) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(*scale)
        .filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(bytes(&parse_quote!("16 MiB")).unwrap(), 16 << 20);
        assert_eq!(bytes(&parse_quote!("512KiB")).unwrap(), 512 << 10);
        assert_eq!(bytes(&parse_quote!(65_536)).unwrap(), 65_536);
        for wrong in ["16 MB", "MiB", "16", "-1 B", "0 B", "99999999999 GiB"] {
            assert!(bytes(&parse_quote!(#wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(milliseconds(&parse_quote!("5s")).unwrap(), 5000);
        assert_eq!(milliseconds(&parse_quote!("250ms")).unwrap(), 250);
        assert_eq!(milliseconds(&parse_quote!("2 min")).unwrap(), 120_000);
        assert!(milliseconds(&parse_quote!(5)).is_err());
        assert!(milliseconds(&parse_quote!("5")).is_err());
        assert!(milliseconds(&parse_quote!("5h")).is_err());
    }

    #[test]
    fn a_count_is_above_zero() {
        assert_eq!(count(&parse_quote!(2_000_000)).unwrap(), 2_000_000);
        assert!(count(&parse_quote!(0)).is_err());
        assert!(count(&parse_quote!("7")).is_err());
    }
}
