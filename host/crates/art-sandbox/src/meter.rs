//! Meters the calls of a guest into the host.
//!
//! The engine counts fuel only for the guest's own code, and a guest yields only when it uses fuel or waits. So the
//! host counts and charges each call into the host, and makes the guest yield in such a call when its time slice is
//! over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use art_core::limits::Limits;

/// Fuel between two points at which a guest yields to its guard. It lasts for some microseconds, at worst for some
/// milliseconds.
pub(crate) const YIELD_FUEL: u64 = 100_000;
/// Crossings into the host for each read of the clock.
const CROSSINGS_PER_CLOCK_READ: u64 = 8;
/// Price of a call into the host in fuel, in addition to one unit for each byte that the guest passes.
const HOST_CALL_FUEL: u64 = 1_000;
/// Length of a time slice in microseconds, after which a guest lets others on its thread run.
const TIME_SLICE_MICROS: u64 = 250;

/// The time slice of a guest. The guard starts it, and the meter checks it as well.
#[derive(Clone, Debug)]
pub(crate) struct TimeSlice {
    call_start: Instant,
    /// Start of the slice, in microseconds after the start of the call.
    slice_start: Arc<AtomicU64>,
}

impl TimeSlice {
    fn new() -> Self {
        Self {
            call_start: Instant::now(),
            slice_start: Arc::default(),
        }
    }

    /// Returns when the call started.
    pub(crate) fn call_start(&self) -> Instant {
        self.call_start
    }

    /// Starts a new slice.
    pub(crate) fn start(&self) {
        self.slice_start
            .store(self.micros_at(Instant::now()), Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over_at(Instant::now())
    }

    pub(crate) fn is_over_at(&self, now: Instant) -> bool {
        let start = self.slice_start.load(Ordering::Relaxed);
        self.micros_at(now).saturating_sub(start) > TIME_SLICE_MICROS
    }

    fn micros_at(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.call_start).as_micros()).unwrap_or(u64::MAX)
    }
}

/// Counts the calls of one guest into the host and their cost.
#[derive(Debug)]
pub(crate) struct Meter {
    host_calls: u64,
    bytes: u64,
    max_host_calls: u64,
    max_fuel: u64,
    time_slice: TimeSlice,
    /// Crossings into the host, yields included.
    crossings: u64,
}

impl Meter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            host_calls: 0,
            bytes: 0,
            max_host_calls: limits.host_calls,
            max_fuel: limits.fuel,
            time_slice: TimeSlice::new(),
            crossings: 0,
        }
    }

    pub(crate) const fn time_slice(&self) -> &TimeSlice {
        &self.time_slice
    }

    /// Returns the number of calls into the host so far.
    pub(crate) fn host_calls(&self) -> u64 {
        self.host_calls
    }

    /// Returns the fuel that these calls and their bytes cost.
    pub(crate) fn fuel(&self) -> u64 {
        self.host_calls
            .saturating_mul(HOST_CALL_FUEL)
            .saturating_add(self.bytes)
    }

    /// Counts a crossing into the host, and returns whether the time slice is over. It reads the clock once for several crossings,
    /// because the engine also crosses at each yield, where the guard reads the clock.
    pub(crate) fn cross(&mut self) -> bool {
        self.crossings = self.crossings.wrapping_add(1);
        self.crossings.is_multiple_of(CROSSINGS_PER_CLOCK_READ) && self.time_slice.is_over()
    }

    /// Counts a call into the host.
    pub(crate) fn count_call(&mut self) {
        self.host_calls += 1;
    }

    /// Counts bytes that the guest passed to the host.
    pub(crate) fn count_bytes(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    /// Returns whether the guest exceeded the limit of calls into the host, or the limit of fuel, given the fuel that
    /// its calls cost.
    pub(crate) fn is_exceeded(&self, fuel: u64) -> bool {
        self.host_calls > self.max_host_calls || fuel > self.max_fuel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_slice_ends_after_its_length_and_can_be_started_again() {
        let slice = TimeSlice::new();
        slice.start();
        assert!(!slice.is_over());
        std::thread::sleep(std::time::Duration::from_micros(2 * TIME_SLICE_MICROS));
        assert!(slice.is_over());
        slice.start();
        assert!(!slice.is_over());
    }

    fn meter(fuel: u64) -> Meter {
        Meter::new(&Limits {
            fuel,
            ..Limits::EXECUTE
        })
    }

    #[test]
    fn little_fuel_allows_few_calls() {
        let mut meter = meter(5_000);
        (0..5).for_each(|_| meter.count_call());
        assert!(!meter.is_exceeded(meter.fuel()));
        meter.count_call();
        assert!(meter.is_exceeded(meter.fuel()));
    }

    #[test]
    fn bytes_passed_in_a_call_cost_fuel() {
        let mut meter = meter(5_000);
        meter.count_call();
        meter.count_bytes(4_000);
        assert_eq!((meter.fuel(), meter.is_exceeded(meter.fuel())), (5_000, false));
        meter.count_bytes(1);
        assert!(meter.is_exceeded(meter.fuel()));
    }

    #[test]
    fn much_fuel_does_not_allow_more_calls_than_the_limit() {
        let mut meter = meter(u64::MAX);
        (0..=Limits::EXECUTE.host_calls).for_each(|_| meter.count_call());
        assert!(meter.is_exceeded(meter.fuel()));
    }
}
