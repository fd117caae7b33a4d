//! Meters the calls of a guest into the host: their fuel, and the time that they may keep the thread.
//!
//! A guest uses fuel only in its own code, and yields only when it uses fuel or waits. So each call into the host is
//! counted and charged, and a guest whose turn is over yields before the host does more for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use art_core::limits::Limits;

/// Fuel between two points at which a guest gives control back to its guard: some microseconds, or some milliseconds at worst.
pub(crate) const YIELD_FUEL: u64 = 100_000;
/// Fuel for each call into the host, in addition to one unit for each byte that it passes.
const HOST_CALL_FUEL: u64 = 1_000;
/// Length of a turn, after which a guest lets others run.
const TURN_MICROS: u64 = 250;

/// When the guest last got its turn. Shared by the guard, which gives it, and the meter.
#[derive(Clone, Debug)]
pub(crate) struct TurnClock {
    zero: Instant,
    began: Arc<AtomicU64>,
}

impl TurnClock {
    fn new() -> Self {
        Self {
            zero: Instant::now(),
            began: Arc::default(),
        }
    }

    /// Returns when the call began.
    pub(crate) fn zero(&self) -> Instant {
        self.zero
    }

    /// Begins a turn.
    pub(crate) fn begin(&self) {
        self.began.store(self.micros_at(Instant::now()), Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over_at(Instant::now())
    }

    pub(crate) fn is_over_at(&self, now: Instant) -> bool {
        let began = self.began.load(Ordering::Relaxed);
        self.micros_at(now).saturating_sub(began) > TURN_MICROS
    }

    fn micros_at(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.zero).as_micros()).unwrap_or(u64::MAX)
    }
}

/// Counts the calls of one guest into the host.
#[derive(Debug)]
pub(crate) struct Meter {
    host_calls: u64,
    bytes: u64,
    most_host_calls: u64,
    most_fuel: u64,
    turn: TurnClock,
}

impl Meter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            host_calls: 0,
            bytes: 0,
            most_host_calls: limits.host_calls,
            most_fuel: limits.fuel,
            turn: TurnClock::new(),
        }
    }

    pub(crate) const fn turn(&self) -> &TurnClock {
        &self.turn
    }

    /// Calls into the host so far.
    pub(crate) fn host_calls(&self) -> u64 {
        self.host_calls
    }

    /// Returns the fuel that these calls cost.
    pub(crate) fn fuel(&self) -> u64 {
        self.host_calls
            .saturating_mul(HOST_CALL_FUEL)
            .saturating_add(self.bytes)
    }

    pub(crate) fn count(&mut self) {
        self.host_calls += 1;
    }

    /// Counts bytes that the guest has passed to the host.
    pub(crate) fn count_bytes(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    /// Returns whether the guest has called more often, or at a higher cost, than it may.
    pub(crate) fn is_over(&self, fuel: u64) -> bool {
        self.host_calls > self.most_host_calls || fuel > self.most_fuel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_over_after_its_time_and_begins_again() {
        let turn = TurnClock::new();
        turn.begin();
        assert!(!turn.is_over());
        std::thread::sleep(std::time::Duration::from_micros(2 * TURN_MICROS));
        assert!(turn.is_over());
        turn.begin();
        assert!(!turn.is_over());
    }

    fn meter(fuel: u64) -> Meter {
        Meter::new(&Limits {
            fuel,
            ..Limits::EXECUTE
        })
    }

    #[test]
    fn little_fuel_means_few_calls() {
        let mut meter = meter(5_000);
        (0..5).for_each(|_| meter.count());
        assert!(!meter.is_over(meter.fuel()));
        meter.count();
        assert!(meter.is_over(meter.fuel()));
    }

    #[test]
    fn what_a_call_hands_over_costs_fuel() {
        let mut meter = meter(5_000);
        meter.count();
        meter.count_bytes(4_000);
        assert_eq!((meter.fuel(), meter.is_over(meter.fuel())), (5_000, false));
        meter.count_bytes(1);
        assert!(meter.is_over(meter.fuel()));
    }

    #[test]
    fn much_fuel_means_no_more_calls_than_the_limit() {
        let mut meter = meter(u64::MAX);
        (0..=Limits::EXECUTE.host_calls).for_each(|_| meter.count());
        assert!(meter.is_over(meter.fuel()));
    }
}
