//! Units of everyday life: mass in kilograms, time in seconds, temperature in kelvins, angle in radians, frequency in
//! hertz, speed in metres per second, fuel economy in kilometres per litre. The comments abbreviate the sources that [`super`]
//! lists.

use std::f64::consts::PI;

use super::{
    Prefixes::Decimal,
    Scale::{Inverse, Offset},
    Unit,
};
use crate::dimension::{ANGLE, FREQUENCY, FUEL, MASS, SPEED, TEMPERATURE, TIME};

/// yard 1959
const POUND: f64 = 0.453_592_37;
const OUNCE: f64 = POUND / 16.0;
/// HB 44: 7000 grains make a pound.
const GRAIN: f64 = 0.000_064_798_91;
const MINUTE: f64 = 60.0;
const HOUR: f64 = 3600.0;
const DAY: f64 = 86_400.0;
/// The Julian year of the IAU: 365.25 days.
const YEAR: f64 = 365.25 * DAY;

pub(super) const UNITS: &[Unit] = &[
    // SI: prefixes are added to the gram, not to the kilogram.
    Unit::new("gram", &["gramme"], &["g"], 0.001, MASS).prefixes(Decimal),
    Unit::new("kilogram", &["kilo", "kilogramme"], &[], 1.0, MASS),
    Unit::new("microgram", &[], &["mcg"], 1e-9, MASS),
    Unit::new("tonne", &["metric ton", "metric tonne"], &["t"], 1000.0, MASS).prefixes(Decimal),
    // SI, table 8; a measured value (CODATA 2018), not exact.
    Unit::new(
        "dalton",
        &["atomic mass unit"],
        &["Da", "u"],
        1.660_539_066_60e-27,
        MASS,
    ),
    // yard 1959
    Unit::new("pound", &[], &["lb", "lbs", "lbm"], POUND, MASS),
    Unit::new("ounce", &[], &["oz"], OUNCE, MASS),
    Unit::new("stone", &[], &["st"], 14.0 * POUND, MASS),
    Unit::new(
        "short ton (US)",
        &["ton", "short ton", "us ton"],
        &[],
        2000.0 * POUND,
        MASS,
    ),
    Unit::new(
        "long ton (UK)",
        &["long ton", "imperial ton", "uk ton"],
        &[],
        2240.0 * POUND,
        MASS,
    ),
    Unit::new("hundredweight (US)", &["hundredweight"], &["cwt"], 100.0 * POUND, MASS),
    Unit::new("grain", &[], &["gr"], GRAIN, MASS),
    Unit::new("troy ounce", &[], &["ozt"], 480.0 * GRAIN, MASS),
    // SP 811
    Unit::new("carat", &[], &["ct"], 0.0002, MASS),
    // One pound-force second squared per foot, with standard gravity.
    Unit::new("slug", &[], &[], POUND * 9.806_65 / 0.3048, MASS),
    // SI, table 8
    Unit::new("second", &["sec"], &["s"], 1.0, TIME).prefixes(Decimal),
    Unit::new("minute", &[], &["min"], MINUTE, TIME),
    Unit::new("hour", &[], &["h", "hr", "hrs"], HOUR, TIME),
    Unit::new("day", &[], &["d"], DAY, TIME),
    Unit::new("week", &[], &["wk"], 7.0 * DAY, TIME),
    Unit::new("fortnight", &[], &[], 14.0 * DAY, TIME),
    Unit::new("month (30.4375 days)", &["month"], &["mo"], YEAR / 12.0, TIME),
    Unit::new("year (365.25 days)", &["year"], &["yr", "a"], YEAR, TIME),
    Unit::new("decade", &[], &[], 10.0 * YEAR, TIME),
    Unit::new("century", &["centurie"], &[], 100.0 * YEAR, TIME), // The alias is for the plural `centuries`.
    Unit::new("millennium", &["millennia"], &[], 1000.0 * YEAR, TIME),
    // SI
    Unit::new("kelvin", &[], &["K"], 1.0, TEMPERATURE),
    Unit::new(
        "degree Celsius",
        &[
            "celsius",
            "celcius",
            "degree celcius",
            "degree celsius",
            "degree c",
            "deg c",
            "centigrade",
            "degree centigrade",
        ],
        &["°C", "℃", "C", "degC"],
        1.0,
        TEMPERATURE,
    )
    .scale(Offset {
        factor: 1.0,
        offset: 273.15,
    }),
    // SP 811
    Unit::new(
        "degree Fahrenheit",
        &[
            "fahrenheit",
            "degree fahrenheit",
            "farenheit",
            "degree farenheit",
            "degree f",
            "deg f",
        ],
        &["°F", "℉", "F", "degF"],
        1.0,
        TEMPERATURE,
    )
    .scale(Offset {
        factor: 5.0 / 9.0,
        offset: 459.67,
    }),
    Unit::new(
        "degree Rankine",
        &["rankine", "degree rankine"],
        &["°R"],
        5.0 / 9.0,
        TEMPERATURE,
    ),
    // SI, table 8
    Unit::new("radian", &[], &["rad"], 1.0, ANGLE).prefixes(Decimal),
    Unit::new("degree", &["arc degree"], &["°", "deg"], PI / 180.0, ANGLE),
    Unit::new(
        "arcminute",
        &["minute of arc", "arc minute"],
        &["arcmin"],
        PI / 10_800.0,
        ANGLE,
    ),
    Unit::new(
        "arcsecond",
        &["second of arc", "arc second"],
        &["arcsec"],
        PI / 648_000.0,
        ANGLE,
    ),
    Unit::new("gradian", &["gon", "grad"], &[], PI / 200.0, ANGLE),
    Unit::new("turn", &["revolution", "full circle"], &["rev"], 2.0 * PI, ANGLE),
    // SI
    Unit::new("hertz", &["cycle per second"], &["Hz"], 1.0, FREQUENCY).prefixes(Decimal),
    // By `mhz` and `MHZ` people mean the megahertz, not the millihertz.
    Unit::new("megahertz", &[], &["mhz", "MHZ"], 1e6, FREQUENCY),
    // Numbers of turns and beats, not angles: 60 rpm are 1 Hz.
    Unit::new("revolution per minute", &[], &["rpm", "RPM"], 1.0 / 60.0, FREQUENCY),
    Unit::new("beat per minute", &[], &["bpm", "BPM"], 1.0 / 60.0, FREQUENCY),
    // SP 811: one nautical mile per hour.
    Unit::new("knot", &[], &["kn", "kt", "kts"], 1852.0 / 3600.0, SPEED),
    Unit::new("mile/hour", &[], &["mph"], 0.447_04, SPEED),
    Unit::new("kilometre/hour", &[], &["kph", "kmh", "kmph"], 1000.0 / 3600.0, SPEED),
    Unit::new("metre/second", &[], &["mps"], 1.0, SPEED),
    Unit::new("foot/second", &[], &["fps"], 0.3048, SPEED),
    // SI. No symbol, because `c` means Celsius.
    Unit::new("speed of light", &[], &[], 299_792_458.0, SPEED),
    // In kilometres per litre, derived from yard 1959 and HB 44 or UK 1985.
    Unit::new(
        "mile per gallon (US)",
        &["mile per gallon", "mile/gallon", "mile per us gallon"],
        &["mpg", "MPG", "mi/gal"],
        1.609_344 / 3.785_411_784,
        FUEL,
    ),
    Unit::new(
        "mile per gallon (imperial)",
        &[
            "mile per imperial gallon",
            "mile per uk gallon",
            "imperial mpg",
            "uk mpg",
            "mpg imperial",
            "mpg uk",
        ],
        &[],
        1.609_344 / 4.546_09,
        FUEL,
    ),
    Unit::new(
        "kilometre per litre",
        &["kilometer per liter", "kilometer per litre", "kilometre/litre"],
        &["km/l", "km/L", "kmpl", "kpl"],
        1.0,
        FUEL,
    ),
    Unit::new(
        "litre per 100 kilometres",
        &[
            "litre per 100 kilometre",
            "litre per 100 km",
            "liter per 100 kilometer",
            "liter per 100 km",
            "l per 100 km",
            "l per 100km",
            "litre per 100km",
            "liter per 100km",
            "litre/100km",
            "liter/100km",
        ],
        &["l/100km", "L/100km", "l/100 km", "L/100 km"],
        1.0,
        FUEL,
    )
    .scale(Inverse(100.0)),
];
