//! Units of data, in bits, and of data rates, in bits per second. `IEC` is a source that [`super`] lists.

use super::{Prefixes::DecimalAndBinary, Unit};
use crate::dimension::{DATA, Dimension};

const DATA_RATE: Dimension = Dimension { time: -1, ..DATA };

pub(super) const UNITS: &[Unit] = &[
    // IEC
    Unit::new("bit", &[], &["b", "bit"], 1.0, DATA).prefixes(DecimalAndBinary),
    Unit::new("byte", &["octet"], &["B"], 8.0, DATA).prefixes(DecimalAndBinary),
    Unit::new("nibble", &[], &[], 4.0, DATA),
    // By `kb`, `KB`, `mb`, `gb`, `tb` and `pb` people mean bytes, not bits, and by `m` in `mbit` and `mb` mega, not milli.
    Unit::new("kilobyte", &[], &["kb", "KB"], 8e3, DATA),
    Unit::new("megabit", &[], &["mbit"], 1e6, DATA),
    Unit::new("megabyte", &["meg"], &["mb"], 8e6, DATA),
    Unit::new("gigabyte", &["gig"], &["gb"], 8e9, DATA),
    Unit::new("terabyte", &[], &["tb"], 8e12, DATA),
    Unit::new("petabyte", &[], &["pb"], 8e15, DATA),
    // In data rates such as `mbps`, a `b` in lower case means bits.
    Unit::new("bit/second", &[], &["bps"], 1.0, DATA_RATE),
    Unit::new("kilobit/second", &[], &["kbps", "Kbps"], 1e3, DATA_RATE),
    Unit::new("megabit/second", &[], &["mbps", "Mbps"], 1e6, DATA_RATE),
    Unit::new("gigabit/second", &[], &["gbps", "Gbps"], 1e9, DATA_RATE),
    Unit::new("kilobyte/second", &[], &["kBps", "KBps"], 8e3, DATA_RATE),
    Unit::new("megabyte/second", &[], &["MBps"], 8e6, DATA_RATE),
    Unit::new("gigabyte/second", &[], &["GBps"], 8e9, DATA_RATE),
];
