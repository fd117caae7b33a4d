//! Units of force, pressure, energy and power, in SI units. The comments abbreviate the sources that [`super`] lists.

use super::{Prefixes::Decimal, Unit};
use crate::dimension::{ENERGY, FORCE, POWER, PRESSURE};

/// Standard gravity in m/s² (SP 811).
const GRAVITY: f64 = 9.806_65;
/// SP 811: the weight of the pound of 1959 in standard gravity, in newtons.
const POUND_FORCE: f64 = 4.448_221_615_260_5;
/// SP 811: the British thermal unit of the International Table, in joules.
const BTU: f64 = 1_055.055_852_62;

pub(super) const UNITS: &[Unit] = &[
    // SI
    Unit::new("newton", &[], &["N"], 1.0, FORCE).prefixes(Decimal),
    // SP 811
    Unit::new("dyne", &[], &["dyn"], 1e-5, FORCE),
    Unit::new(
        "kilogram-force",
        &["kilogram force", "kilopond"],
        &["kgf", "kp"],
        GRAVITY,
        FORCE,
    ),
    Unit::new("pound-force", &["pound force"], &["lbf"], POUND_FORCE, FORCE),
    // SI
    Unit::new("pascal", &[], &["Pa"], 1.0, PRESSURE).prefixes(Decimal),
    // SP 811
    Unit::new("bar", &[], &["bar"], 1e5, PRESSURE).prefixes(Decimal),
    Unit::new("standard atmosphere", &["atmosphere"], &["atm"], 101_325.0, PRESSURE),
    Unit::new("technical atmosphere", &[], &["at"], 98_066.5, PRESSURE),
    // SP 811: 1/760 of a standard atmosphere.
    Unit::new("torr", &[], &["Torr"], 101_325.0 / 760.0, PRESSURE),
    // SP 811, conventional values.
    Unit::new(
        "millimetre of mercury",
        &["millimeter of mercury"],
        &["mmHg"],
        133.322_387_415,
        PRESSURE,
    ),
    Unit::new("inch of mercury", &[], &["inHg"], 3_386.388_640_341, PRESSURE),
    // SP 811: pound-force per square inch.
    Unit::new(
        "pound-force per square inch",
        &[
            "pound per square inch",
            "pound force per square inch",
            "lb per square inch",
        ],
        &["psi", "PSI", "lbf/in^2", "lb/in^2"],
        POUND_FORCE / (0.0254 * 0.0254),
        PRESSURE,
    ),
    Unit::new(
        "thousand psi",
        &[],
        &["ksi"],
        1000.0 * POUND_FORCE / (0.0254 * 0.0254),
        PRESSURE,
    ),
    // SI
    Unit::new("joule", &[], &["J"], 1.0, ENERGY).prefixes(Decimal),
    Unit::new("electronvolt", &["electron volt"], &["eV"], 1.602_176_634e-19, ENERGY).prefixes(Decimal),
    // One watt for one hour.
    Unit::new("watt-hour", &["watt hour", "watthour"], &["Wh"], 3600.0, ENERGY).prefixes(Decimal),
    // SP 811
    Unit::new("erg", &[], &[], 1e-7, ENERGY),
    // SP 811: the thermochemical calorie.
    Unit::new("calorie", &["small calorie"], &["cal"], 4.184, ENERGY).prefixes(Decimal),
    Unit::new(
        "food calorie (kilocalorie)",
        &["food calorie", "large calorie"],
        &["Cal"],
        4184.0,
        ENERGY,
    ),
    Unit::new(
        "British thermal unit",
        &["british thermal unit"],
        &["BTU", "Btu"],
        BTU,
        ENERGY,
    ),
    // SP 811: 100 000 Btu of the International Table.
    Unit::new("therm", &[], &["thm"], 100_000.0 * BTU, ENERGY),
    Unit::new(
        "foot-pound",
        &["foot pound", "foot pound force"],
        &["ftlb", "ft-lb", "ft lb", "ft·lbf"],
        0.3048 * POUND_FORCE,
        ENERGY,
    ),
    // SP 811
    Unit::new("ton of TNT", &["ton of tnt"], &[], 4.184e9, ENERGY),
    // SI
    Unit::new("watt", &[], &["W"], 1.0, POWER).prefixes(Decimal),
    // SP 811: 550 foot-pounds a second.
    Unit::new(
        "horsepower",
        &["mechanical horsepower"],
        &["hp", "HP"],
        550.0 * 0.3048 * POUND_FORCE,
        POWER,
    ),
    // SP 811: 75 kilogram-force metres a second.
    Unit::new("metric horsepower", &[], &["PS", "cv"], 75.0 * GRAVITY, POWER),
    // SP 811: 12 000 Btu an hour.
    Unit::new("ton of refrigeration", &[], &[], 12_000.0 * BTU / 3600.0, POWER),
];
