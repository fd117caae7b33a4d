//! Counts the calls of a guest into the host and what they cost, and limits how long a guest computes without a pause.
//!
//! The engine counts fuel only for the guest's own code, so the host counts and charges each call into the host. A *crossing* is
//! each time that execution passes from the guest to the host: in a call of the guest, or because the engine calls the host.
//!
//! The *tool call* is the call of the guest by the host.
//!
//! Guests on one thread take turns, which are called time slices. The engine does not read the clock, so the fuel of a guest is
//! also divided into intervals: the engine calls the host at the end of each. The meter then reads the clock and makes the
//! guest yield if its time slice is over. An interval that lasted longer than a time slice is followed by one with less fuel.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use art_core::limits::Limits;

/// Maximum fuel of an interval, after which the clock is read. A guest uses it up in some microseconds, or in up to 50
/// milliseconds if each access to memory misses the processor's cache.
pub(crate) const MAX_INTERVAL_FUEL: u64 = 150_000;
/// Minimum fuel of an interval.
const MIN_INTERVAL_FUEL: u64 = 1_000;
/// Number of crossings into the host after which the clock is read even before the end of an interval.
const CROSSINGS_PER_CLOCK_READ: u64 = 8;
/// Price of a call into the host in fuel, in addition to one unit for each byte that the guest passes or gets.
pub(crate) const HOST_CALL_FUEL: u64 = 1_000;
/// Number of bytes that the host reads or copies for one unit of fuel.
const WORK_BYTES_PER_FUEL: u64 = 16;
/// Length of a time slice in microseconds, after which a guest lets others on its thread run. If all threads are busy, a new call
/// waits for the rest of one slice; the end of a slice costs about 1 microsecond.
const TIME_SLICE_MICROS: u64 = 100;

/// The current time slice of a guest. The [guard](crate::guard) starts it, and the meter checks whether it is over.
#[derive(Clone, Debug)]
pub(crate) struct TimeSlice {
    call_start: Instant,
    /// Start of the current slice, in microseconds after the start of the tool call.
    slice_start: Arc<AtomicU64>,
}

impl TimeSlice {
    fn new() -> Self {
        Self {
            call_start: Instant::now(),
            slice_start: Arc::default(),
        }
    }

    /// Returns when the tool call started.
    pub(crate) fn call_start(&self) -> Instant {
        self.call_start
    }

    /// Starts a new slice.
    pub(crate) fn start(&self) {
        self.slice_start
            .store(self.micros_at(Instant::now()), Ordering::Relaxed);
    }

    fn start_micros(&self) -> u64 {
        self.slice_start.load(Ordering::Relaxed)
    }

    /// Returns whether the slice is over at the time `micros`, which counts microseconds from the start of the call.
    fn is_over_at(&self, micros: u64) -> bool {
        micros.saturating_sub(self.start_micros()) > TIME_SLICE_MICROS
    }

    /// Returns a time in microseconds after the start of the call.
    fn micros_at(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.call_start).as_micros()).unwrap_or(u64::MAX)
    }
}

/// Counts the calls of one guest into the host and their cost.
#[derive(Debug)]
pub(crate) struct Meter {
    host_calls: u64,
    /// Number of bytes that the guest passed to the host or got from it.
    bytes: u64,
    max_host_calls: u64,
    max_fuel: u64,
    time_slice: TimeSlice,
    /// Number of crossings into the host: calls of the guest, and calls of the engine at the end of an interval.
    crossings: u64,
    /// Fuel of the current interval or, when that is over, of the next.
    interval_fuel: u64,
    /// Fuel that the guest has left when the current interval ends.
    fuel_left_at_interval_end: u64,
    /// Time for which the guest ran in the current interval until the clock was read last, in microseconds.
    interval_micros: u64,
    /// When the clock was read last, in microseconds after the start of the call.
    last_clock_micros: u64,
    /// Fuel of the intervals in a test, which must not depend on the clock.
    #[cfg(test)]
    pub(crate) test_intervals: Option<std::iter::Cycle<std::vec::IntoIter<u64>>>,
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
            interval_fuel: MAX_INTERVAL_FUEL,
            // Equal to all of the fuel, so that this interval is over at once and the next one starts when the guest starts.
            fuel_left_at_interval_end: limits.fuel,
            interval_micros: 0,
            last_clock_micros: 0,
            #[cfg(test)]
            test_intervals: None,
        }
    }

    pub(crate) const fn time_slice(&self) -> &TimeSlice {
        &self.time_slice
    }

    /// Returns the number of calls into the host so far.
    pub(crate) fn host_calls(&self) -> u64 {
        self.host_calls
    }

    /// Returns the fuel that the calls into the host and their bytes cost so far.
    pub(crate) fn host_fuel(&self) -> u64 {
        self.host_calls
            .saturating_mul(HOST_CALL_FUEL)
            .saturating_add(self.bytes)
    }

    /// Counts a crossing into the host, and returns whether the time slice is over. Reads the clock at the end of an
    /// interval, and otherwise once for several crossings. Returns false for a crossing at which the clock is not read.
    pub(crate) fn count_crossing(&mut self, fuel_left: u64) -> bool {
        self.crossings = self.crossings.wrapping_add(1);
        let interval_is_over = self.is_interval_over(fuel_left);
        if !interval_is_over && !self.crossings.is_multiple_of(CROSSINGS_PER_CLOCK_READ) {
            return false;
        }
        let now = self.time_slice.micros_at(Instant::now());
        // The guest did not run between two time slices.
        let running_since = self.last_clock_micros.max(self.time_slice.start_micros());
        self.interval_micros += now.saturating_sub(running_since);
        self.last_clock_micros = now;
        if interval_is_over {
            let micros = std::mem::take(&mut self.interval_micros);
            self.interval_fuel = next_interval_fuel(self.interval_fuel, micros);
        }
        self.time_slice.is_over_at(now)
    }

    /// Returns whether the interval of fuel is over.
    pub(crate) fn is_interval_over(&self, fuel_left: u64) -> bool {
        fuel_left <= self.fuel_left_at_interval_end
    }

    /// Starts an interval and returns its fuel.
    pub(crate) fn start_interval(&mut self, fuel_left: u64) -> u64 {
        #[cfg(test)]
        if let Some(fuel) = self.test_intervals.as_mut().and_then(Iterator::next) {
            self.interval_fuel = fuel;
        }
        self.fuel_left_at_interval_end = fuel_left.saturating_sub(self.interval_fuel);
        self.interval_fuel
    }

    /// Counts a call into the host.
    pub(crate) fn count_call(&mut self) {
        self.host_calls += 1;
    }

    /// Counts bytes that the guest passed to the host or got from it.
    pub(crate) fn count_bytes(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    /// Counts bytes that the host read or copied for an operation on a file.
    pub(crate) fn count_work(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes / WORK_BYTES_PER_FUEL);
    }

    /// Returns whether the guest made too many calls into the host, or calls that cost more than its limit of fuel.
    /// `total_host_fuel` is the cost of the calls that the meter counts, and of the bytes written to stdout and stderr, which it
    /// does not count.
    pub(crate) fn exceeds_limits(&self, total_host_fuel: u64) -> bool {
        self.host_calls > self.max_host_calls || total_host_fuel > self.max_fuel
    }
}

/// Returns the fuel of the next interval, after an interval with `fuel` lasted for `micros`. If the guest goes on at the same
/// speed, the next one lasts for one time slice. Its fuel is at most a quarter more than `fuel`, because a guest that is fast
/// now may be slow again.
fn next_interval_fuel(fuel: u64, micros: u64) -> u64 {
    let fuel_per_slice = fuel.saturating_mul(TIME_SLICE_MICROS) / micros.max(1);
    fuel_per_slice
        .min(fuel.saturating_add(fuel / 4))
        .clamp(MIN_INTERVAL_FUEL, MAX_INTERVAL_FUEL)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const FUEL: u64 = 1_000_000;
    const TWO_TIME_SLICES: Duration = Duration::from_micros(2 * TIME_SLICE_MICROS);

    #[test]
    fn a_guest_yields_at_the_end_of_an_interval_after_its_time_slice_is_over() {
        let mut meter = meter_with_fuel(FUEL);
        let goes_on_after_start = |meter: &mut Meter| {
            meter.time_slice().start();
            !meter.count_crossing(FUEL - MAX_INTERVAL_FUEL)
        };
        meter.start_interval(FUEL);
        // The test itself may be interrupted for longer than a time slice.
        assert!((0..1_000).any(|_| goes_on_after_start(&mut meter)));
        std::thread::sleep(TWO_TIME_SLICES);
        assert!(meter.count_crossing(FUEL - MAX_INTERVAL_FUEL));
        assert!((0..1_000).any(|_| goes_on_after_start(&mut meter)));
    }

    #[test]
    fn a_guest_that_calls_the_host_yields_after_its_time_slice_is_over() {
        let mut meter = meter_with_fuel(FUEL);
        meter.start_interval(FUEL);
        std::thread::sleep(TWO_TIME_SLICES);
        assert!((0..CROSSINGS_PER_CLOCK_READ).any(|_| meter.count_crossing(FUEL)));
    }

    #[test]
    fn an_interval_is_over_when_its_fuel_is_used() {
        let mut meter = meter_with_fuel(FUEL);
        let fuel = meter.start_interval(FUEL);
        assert!(!meter.is_interval_over(FUEL - fuel + 1));
        assert!(meter.is_interval_over(FUEL - fuel));
        // If the guest has less fuel left than an interval, the interval ends when the guest has none left.
        meter.start_interval(10);
        assert!(!meter.is_interval_over(1));
        assert!(meter.is_interval_over(0));
    }

    #[test]
    fn a_slow_interval_is_followed_by_one_with_less_fuel() {
        let mut meter = meter_with_fuel(FUEL);
        let fuel = meter.start_interval(FUEL);
        std::thread::sleep(TWO_TIME_SLICES);
        meter.count_crossing(FUEL - fuel);
        assert!(meter.start_interval(FUEL - fuel) <= MAX_INTERVAL_FUEL / 2);
    }

    #[test]
    fn the_next_interval_fits_a_time_slice_and_has_at_most_a_quarter_more_fuel() {
        assert_eq!(
            next_interval_fuel(MAX_INTERVAL_FUEL, 20 * TIME_SLICE_MICROS),
            MAX_INTERVAL_FUEL / 20
        );
        assert_eq!(next_interval_fuel(5_000, TIME_SLICE_MICROS), 5_000);
        assert_eq!(next_interval_fuel(5_000, 0), 6_250);
        assert_eq!(next_interval_fuel(MAX_INTERVAL_FUEL, 0), MAX_INTERVAL_FUEL);
        assert_eq!(next_interval_fuel(MAX_INTERVAL_FUEL, u64::MAX), MIN_INTERVAL_FUEL);
    }

    fn meter_with_fuel(fuel: u64) -> Meter {
        Meter::new(&Limits {
            fuel,
            ..Limits::EXECUTE
        })
    }

    #[test]
    fn little_fuel_allows_few_calls() {
        let mut meter = meter_with_fuel(5 * HOST_CALL_FUEL);
        (0..5).for_each(|_| meter.count_call());
        assert!(!meter.exceeds_limits(meter.host_fuel()));
        meter.count_call();
        assert!(meter.exceeds_limits(meter.host_fuel()));
    }

    #[test]
    fn bytes_passed_in_a_call_cost_fuel() {
        let bytes = 4_000;
        let max_fuel = HOST_CALL_FUEL + bytes as u64;
        let mut meter = meter_with_fuel(max_fuel);
        meter.count_call();
        meter.count_bytes(bytes);
        assert_eq!(meter.host_fuel(), max_fuel);
        assert!(!meter.exceeds_limits(meter.host_fuel()));
        meter.count_bytes(1);
        assert!(meter.exceeds_limits(meter.host_fuel()));
    }

    #[test]
    fn much_fuel_does_not_allow_more_calls_than_the_limit() {
        let mut meter = meter_with_fuel(u64::MAX);
        (0..=Limits::EXECUTE.host_calls).for_each(|_| meter.count_call());
        assert!(meter.exceeds_limits(meter.host_fuel()));
    }
}
