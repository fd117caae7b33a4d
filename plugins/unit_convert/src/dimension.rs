//! The dimension of a unit, as powers of base quantities.

/// The power of each base quantity in a unit: a speed has `length` 1 and `time` -1. Angles and data are dimensionless in the SI;
/// here they are separate quantities, so that radians do not convert to bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Dimension {
    pub(crate) length: i16,
    pub(crate) mass: i16,
    pub(crate) time: i16,
    pub(crate) temperature: i16,
    pub(crate) angle: i16,
    pub(crate) data: i16,
    /// Distance per volume of fuel. It is a separate quantity, so that `mile per gallon` can be converted to
    /// `litre per kilometre` and back: as powers of `length` they would have two dimensions, `length^-2` and `length^2`.
    pub(crate) fuel: i16,
}

const NONE: Dimension = Dimension {
    length: 0,
    mass: 0,
    time: 0,
    temperature: 0,
    angle: 0,
    data: 0,
    fuel: 0,
};

pub(crate) const LENGTH: Dimension = Dimension { length: 1, ..NONE };
pub(crate) const AREA: Dimension = Dimension { length: 2, ..NONE };
pub(crate) const VOLUME: Dimension = Dimension { length: 3, ..NONE };
pub(crate) const MASS: Dimension = Dimension { mass: 1, ..NONE };
pub(crate) const TIME: Dimension = Dimension { time: 1, ..NONE };
pub(crate) const TEMPERATURE: Dimension = Dimension { temperature: 1, ..NONE };
pub(crate) const ANGLE: Dimension = Dimension { angle: 1, ..NONE };
pub(crate) const DATA: Dimension = Dimension { data: 1, ..NONE };
pub(crate) const FUEL: Dimension = Dimension { fuel: 1, ..NONE };
pub(crate) const FREQUENCY: Dimension = Dimension { time: -1, ..NONE };
pub(crate) const SPEED: Dimension = Dimension {
    length: 1,
    time: -1,
    ..NONE
};
pub(crate) const FORCE: Dimension = Dimension {
    length: 1,
    mass: 1,
    time: -2,
    ..NONE
};
pub(crate) const PRESSURE: Dimension = Dimension {
    length: -1,
    mass: 1,
    time: -2,
    ..NONE
};
pub(crate) const ENERGY: Dimension = Dimension {
    length: 2,
    mass: 1,
    time: -2,
    ..NONE
};
pub(crate) const POWER: Dimension = Dimension {
    length: 2,
    mass: 1,
    time: -3,
    ..NONE
};
const ACCELERATION: Dimension = Dimension {
    length: 1,
    time: -2,
    ..NONE
};
const DENSITY: Dimension = Dimension {
    length: -3,
    mass: 1,
    ..NONE
};
const FLOW: Dimension = Dimension {
    length: 3,
    time: -1,
    ..NONE
};
const DATA_RATE: Dimension = Dimension {
    data: 1,
    time: -1,
    ..NONE
};
const ANGULAR_SPEED: Dimension = Dimension {
    angle: 1,
    time: -1,
    ..NONE
};

const NAMES: [(Dimension, &str); 20] = [
    (LENGTH, "length"),
    (AREA, "area"),
    (VOLUME, "volume"),
    (MASS, "mass"),
    (TIME, "time"),
    (TEMPERATURE, "temperature"),
    (ANGLE, "angle"),
    (DATA, "data"),
    (FUEL, "fuel economy"),
    (FREQUENCY, "frequency"),
    (SPEED, "speed"),
    (FORCE, "force"),
    (PRESSURE, "pressure"),
    (ENERGY, "energy"),
    (POWER, "power"),
    (ACCELERATION, "acceleration"),
    (DENSITY, "density"),
    (FLOW, "flow rate"),
    (DATA_RATE, "data rate"),
    (ANGULAR_SPEED, "angular speed"),
];

impl Dimension {
    /// Returns the dimension of `self · other^power`, or `None` on overflow.
    pub(crate) fn times_power(self, other: Self, power: i16) -> Option<Self> {
        let add = |a: i16, b: i16| a.checked_add(b.checked_mul(power)?);
        Some(Self {
            length: add(self.length, other.length)?,
            mass: add(self.mass, other.mass)?,
            time: add(self.time, other.time)?,
            temperature: add(self.temperature, other.temperature)?,
            angle: add(self.angle, other.angle)?,
            data: add(self.data, other.data)?,
            fuel: add(self.fuel, other.fuel)?,
        })
    }

    /// Returns the name of the dimension, such as `speed`, or its powers, such as `length^2 time^-3`, if it has no
    /// name.
    pub(crate) fn name(self) -> String {
        if let Some((_, name)) = NAMES.iter().find(|(dimension, _)| *dimension == self) {
            return (*name).to_owned();
        }
        let powers = [
            (self.length, "length"),
            (self.mass, "mass"),
            (self.time, "time"),
            (self.temperature, "temperature"),
            (self.angle, "angle"),
            (self.data, "data"),
            (self.fuel, "fuel economy"),
        ];
        let parts: Vec<String> = powers
            .iter()
            .filter(|(power, _)| *power != 0)
            .map(|(power, name)| format_power(*power, name))
            .collect();
        if parts.is_empty() {
            "a plain number".to_owned()
        } else {
            parts.join(" ")
        }
    }
}

fn format_power(power: i16, name: &str) -> String {
    if power == 1 {
        name.to_owned()
    } else {
        format!("{name}^{power}")
    }
}
