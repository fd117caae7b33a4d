//! Units of length, area and volume, in powers of the metre. The comments abbreviate the sources that [`super`] lists.

use super::{Prefixes::Decimal, Unit};
use crate::dimension::{AREA, LENGTH, VOLUME};

/// yard 1959
const FOOT: f64 = 0.3048;
const INCH: f64 = 0.0254;
const YARD: f64 = 0.9144;
const MILE: f64 = 1609.344;
/// HB 44: 231 cubic inches.
const GALLON: f64 = 0.003_785_411_784;
/// UK 1985.
const IMPERIAL_GALLON: f64 = 0.004_546_09;

pub(super) const UNITS: &[Unit] = &[
    // SI
    Unit::new("metre", &["meter"], &["m"], 1.0, LENGTH).prefixes(Decimal),
    Unit::new("micron", &[], &[], 1e-6, LENGTH),
    Unit::new("ångström", &["angstrom"], &["Å"], 1e-10, LENGTH),
    // yard 1959
    Unit::new("inch", &[], &["in", "\"", "″"], INCH, LENGTH),
    Unit::new("foot", &["feet"], &["ft", "'", "′"], FOOT, LENGTH),
    Unit::new("yard", &[], &["yd"], YARD, LENGTH),
    Unit::new("mile", &["statute mile", "land mile"], &["mi"], MILE, LENGTH),
    Unit::new("thousandth of an inch", &["thou", "mil"], &[], INCH / 1000.0, LENGTH),
    Unit::new("hand", &[], &[], 4.0 * INCH, LENGTH),
    Unit::new("fathom", &[], &[], 6.0 * FOOT, LENGTH),
    Unit::new("chain", &[], &[], 66.0 * FOOT, LENGTH),
    Unit::new("furlong", &[], &[], 660.0 * FOOT, LENGTH),
    Unit::new("league", &[], &[], 3.0 * MILE, LENGTH),
    // The point of desktop publishing: 1/72 inch.
    Unit::new("point", &["typographic point"], &[], INCH / 72.0, LENGTH),
    // SP 811
    Unit::new("nautical mile", &["sea mile"], &["nmi", "NM"], 1852.0, LENGTH),
    // IAU
    Unit::new("astronomical unit", &[], &["au", "AU"], 149_597_870_700.0, LENGTH),
    Unit::new(
        "light-year",
        &["light year", "lightyear"],
        &["ly"],
        9_460_730_472_580_800.0,
        LENGTH,
    ),
    // IAU: 648000/pi astronomical units, rounded.
    Unit::new("parsec", &[], &["pc"], 3.085_677_581_491_367e16, LENGTH).prefixes(Decimal),
    // SP 811
    Unit::new("are", &[], &[], 100.0, AREA),
    // SI and yard 1959
    Unit::new("square metre", &["square meter", "sqm"], &[], 1.0, AREA),
    Unit::new("square kilometre", &["square kilometer", "sqkm"], &[], 1e6, AREA),
    Unit::new("square centimetre", &["square centimeter", "sqcm"], &[], 1e-4, AREA),
    Unit::new("square inch", &["sqin"], &[], INCH * INCH, AREA),
    Unit::new("square foot", &["square feet", "sqft"], &[], FOOT * FOOT, AREA),
    Unit::new("square yard", &["sqyd"], &[], YARD * YARD, AREA),
    Unit::new("square mile", &["sqmi"], &[], MILE * MILE, AREA),
    Unit::new("hectare", &[], &["ha"], 10_000.0, AREA),
    Unit::new("barn", &[], &[], 1e-28, AREA),
    // yard 1959: 4840 square yards.
    Unit::new("acre", &[], &["ac"], 4_046.856_422_4, AREA),
    // SI
    Unit::new("litre", &["liter"], &["l", "L", "ℓ"], 0.001, VOLUME).prefixes(Decimal),
    Unit::new("cubic metre", &["cubic meter", "cbm"], &[], 1.0, VOLUME),
    Unit::new("cubic inch", &[], &[], INCH * INCH * INCH, VOLUME),
    Unit::new("cubic foot", &["cubic feet", "cuft"], &[], FOOT * FOOT * FOOT, VOLUME),
    Unit::new("cubic yard", &[], &[], YARD * YARD * YARD, VOLUME),
    Unit::new("cubic centimetre", &["cubic centimeter"], &["cc", "ccm"], 1e-6, VOLUME),
    // HB 44, liquid measure
    Unit::new(
        "gallon (US)",
        &["gallon", "us gallon", "us liquid gallon"],
        &["gal"],
        GALLON,
        VOLUME,
    ),
    Unit::new("quart (US)", &["quart", "us quart"], &["qt"], GALLON / 4.0, VOLUME),
    Unit::new("pint (US)", &["pint", "us pint"], &["pt"], GALLON / 8.0, VOLUME),
    Unit::new("cup (US)", &["cup", "us cup"], &[], GALLON / 16.0, VOLUME),
    Unit::new("gill (US)", &["gill", "us gill"], &[], GALLON / 32.0, VOLUME),
    Unit::new(
        "fluid ounce (US)",
        &["fluid ounce", "us fluid ounce", "fl oz", "floz"],
        &[],
        GALLON / 128.0,
        VOLUME,
    ),
    Unit::new(
        "tablespoon (US)",
        &["tablespoon", "us tablespoon"],
        &["tbsp", "Tbsp"],
        GALLON / 256.0,
        VOLUME,
    ),
    Unit::new(
        "teaspoon (US)",
        &["teaspoon", "us teaspoon"],
        &["tsp"],
        GALLON / 768.0,
        VOLUME,
    ),
    // HB 44: 42 gallons.
    Unit::new(
        "barrel of oil",
        &["barrel", "oil barrel"],
        &["bbl"],
        42.0 * GALLON,
        VOLUME,
    ),
    // HB 44: 2150.42 cubic inches.
    Unit::new(
        "bushel (US)",
        &["bushel", "us bushel"],
        &["bu"],
        0.035_239_070_166_88,
        VOLUME,
    ),
    // UK 1985
    Unit::new(
        "gallon (imperial)",
        &["imperial gallon", "uk gallon"],
        &[],
        IMPERIAL_GALLON,
        VOLUME,
    ),
    Unit::new(
        "quart (imperial)",
        &["imperial quart", "uk quart"],
        &[],
        IMPERIAL_GALLON / 4.0,
        VOLUME,
    ),
    Unit::new(
        "pint (imperial)",
        &["imperial pint", "uk pint"],
        &[],
        IMPERIAL_GALLON / 8.0,
        VOLUME,
    ),
    Unit::new(
        "fluid ounce (imperial)",
        &["imperial fluid ounce", "uk fluid ounce", "imperial fl oz", "uk fl oz"],
        &[],
        IMPERIAL_GALLON / 160.0,
        VOLUME,
    ),
];
