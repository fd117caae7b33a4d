//! The table of units.
//!
//! In the tables of the submodules, a comment names the source of the units below it, up to the next comment: `SI` is the SI
//! Brochure (BIPM, 9th edition, 2019); `yard 1959` is the International Yard and Pound agreement, 1 yd = 0.9144 m and
//! 1 lb = 0.45359237 kg, both exact; `SP 811` is NIST Special Publication 811 (2008), appendix B; `HB 44` is NIST Handbook 44,
//! appendix C; `UK 1985` is the Weights and Measures Act 1985 of the United Kingdom; `IAU` is the resolution B2 of 2012 or the
//! style manual of the International Astronomical Union; `IEC` is IEC 80000-13. Factors are exact unless the comment says
//! otherwise.

mod everyday;
mod geometry;
mod information;
mod mechanics;

use crate::dimension::Dimension;

/// The prefixes that a unit can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Prefixes {
    None,
    /// The decimal prefixes: `kilo` and so on.
    Decimal,
    /// The decimal and the binary prefixes: `kilo`, `kibi` and so on.
    DecimalAndBinary,
}

/// How a value in the unit is converted to the base unit of its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Multiply by the factor.
    Factor(f64),
    /// Add the offset, then multiply by the factor: a temperature scale.
    Offset { factor: f64, offset: f64 },
    /// Divide this number by the value: fuel economy as volume per distance.
    Inverse(f64),
}

/// One unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    /// The full name in the singular.
    pub(crate) name: &'static str,
    /// Other names in lower case, of one or more words: singulars, and plurals that are irregular.
    pub(crate) aliases: &'static [&'static str],
    /// Symbols, which are case-sensitive: `mW` is not `MW`.
    pub(crate) symbols: &'static [&'static str],
    pub(crate) scale: Scale,
    pub(crate) dimension: Dimension,
    pub(crate) prefixes: Prefixes,
}

impl Unit {
    const fn new(
        name: &'static str,
        aliases: &'static [&'static str],
        symbols: &'static [&'static str],
        factor: f64,
        dimension: Dimension,
    ) -> Self {
        Self {
            name,
            aliases,
            symbols,
            scale: Scale::Factor(factor),
            dimension,
            prefixes: Prefixes::None,
        }
    }

    /// Sets the scale, which replaces the factor given to `new`.
    const fn scale(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    const fn prefixes(self, prefixes: Prefixes) -> Self {
        Self { prefixes, ..self }
    }
}

/// Returns every unit.
pub(crate) fn all() -> impl Iterator<Item = &'static Unit> {
    [geometry::UNITS, everyday::UNITS, mechanics::UNITS, information::UNITS]
        .into_iter()
        .flatten()
}

/// A prefix: name, symbol, factor.
pub(crate) type Prefix = (&'static str, &'static str, f64);

/// The decimal prefixes of SI, table 7, down to `femto`. `micro` has two symbols.
pub(crate) const DECIMAL: [Prefix; 20] = [
    ("quetta", "Q", 1e30),
    ("ronna", "R", 1e27),
    ("yotta", "Y", 1e24),
    ("zetta", "Z", 1e21),
    ("exa", "E", 1e18),
    ("peta", "P", 1e15),
    ("tera", "T", 1e12),
    ("giga", "G", 1e9),
    ("mega", "M", 1e6),
    ("kilo", "k", 1e3),
    ("hecto", "h", 1e2),
    ("deca", "da", 1e1),
    ("deci", "d", 1e-1),
    ("centi", "c", 1e-2),
    ("milli", "m", 1e-3),
    ("micro", "µ", 1e-6),
    ("micro", "u", 1e-6),
    ("nano", "n", 1e-9),
    ("pico", "p", 1e-12),
    ("femto", "f", 1e-15),
];

/// The binary prefixes: IEC.
pub(crate) const BINARY: [Prefix; 6] = [
    ("kibi", "Ki", 1024.0),
    ("mebi", "Mi", 1_048_576.0),
    ("gibi", "Gi", 1_073_741_824.0),
    ("tebi", "Ti", 1_099_511_627_776.0),
    ("pebi", "Pi", 1_125_899_906_842_624.0),
    ("exbi", "Ei", 1_152_921_504_606_846_976.0),
];
