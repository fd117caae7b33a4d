//! Circuit breaker of one provider (contract Q2): while the provider is down, calls fail immediately.

use std::time::Duration;

use tokio::time::Instant;

/// Number of consecutive failures that open the circuit.
const FAILURES_TO_OPEN: u32 = 5;
/// How long the circuit stays open.
const OPEN_FOR: Duration = Duration::from_secs(60);
/// Maximum number of concurrent test calls while the circuit is half open.
const MAX_PROBES: u32 = 3;
/// Number of successful calls that close a half-open circuit.
const SUCCESSES_TO_CLOSE: u32 = 2;

/// A circuit breaker. It reads no clock: callers pass the time.
#[derive(Debug)]
pub(crate) struct Breaker {
    state: State,
    /// Number of state changes. Outcomes of calls that started in an earlier state are ignored.
    generation: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Calls are admitted. `failures` counts the consecutive failures.
    Closed { failures: u32 },
    /// Calls are refused.
    Open { until: Instant },
    /// A few test calls, the probes, are admitted. `probes` counts those in progress, `successes` those that succeeded.
    HalfOpen { probes: u32, successes: u32 },
}

/// Proof that a call was admitted. It is returned to [`Breaker::record`] with the outcome of the call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    generation: u64,
}

/// What one call shows about the health of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    /// The provider answered.
    Success,
    /// The provider failed: it was unreachable, too slow or overloaded.
    Failure,
    /// The call shows nothing about the health: it was dropped, it hit a rate limit, or it failed with an error that is not
    /// retried.
    Unknown,
}

impl Breaker {
    pub(crate) const fn new() -> Self {
        let state = State::Closed { failures: 0 };
        Self { state, generation: 0 }
    }

    /// Admits a call. Fails with the remaining time for which calls are refused. This time is zero while the maximum number of
    /// test calls is in progress.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<Ticket, Duration> {
        self.check(now)?;
        if let State::Open { .. } = self.state {
            self.change(State::HalfOpen {
                probes: 0,
                successes: 0,
            });
        }
        if let State::HalfOpen { probes, .. } = &mut self.state {
            *probes = probes.saturating_add(1);
        }
        Ok(Ticket {
            generation: self.generation,
        })
    }

    /// Checks whether [`Breaker::admit`] would admit a call.
    pub(crate) fn check(&self, now: Instant) -> Result<(), Duration> {
        match self.state {
            State::Open { until } if now < until => Err(until.duration_since(now)),
            State::HalfOpen { probes, .. } if probes >= MAX_PROBES => Err(Duration::ZERO),
            _ => Ok(()),
        }
    }

    /// Records the outcome of a call. Each ticket must be returned once.
    pub(crate) fn record(&mut self, ticket: Ticket, outcome: CallOutcome, now: Instant) {
        if ticket.generation != self.generation {
            return;
        }
        match (&mut self.state, outcome) {
            (State::Closed { failures }, CallOutcome::Failure) => {
                *failures = failures.saturating_add(1);
                if *failures >= FAILURES_TO_OPEN {
                    self.open(now);
                }
            }
            (State::Closed { failures }, CallOutcome::Success) => *failures = 0,
            (State::HalfOpen { .. }, CallOutcome::Failure) => self.open(now),
            (State::HalfOpen { probes, successes }, outcome) => {
                *probes = probes.saturating_sub(1);
                *successes = successes.saturating_add(u32::from(outcome == CallOutcome::Success));
                if *successes >= SUCCESSES_TO_CLOSE {
                    self.change(State::Closed { failures: 0 });
                }
            }
            (State::Closed { .. }, CallOutcome::Unknown) | (State::Open { .. }, _) => {}
        }
    }

    fn open(&mut self, now: Instant) {
        self.change(State::Open { until: now + OPEN_FOR });
    }

    const fn change(&mut self, state: State) {
        self.state = state;
        self.generation = self.generation.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Admits a call and records its outcome.
    fn call(breaker: &mut Breaker, outcome: CallOutcome, now: Instant) {
        let ticket = breaker.admit(now).unwrap();
        breaker.record(ticket, outcome, now);
    }

    /// Returns a breaker whose circuit opened at `now`.
    fn open_breaker(now: Instant) -> Breaker {
        let mut breaker = Breaker::new();
        for _ in 0..FAILURES_TO_OPEN {
            call(&mut breaker, CallOutcome::Failure, now);
        }
        breaker
    }

    #[test]
    fn five_consecutive_failures_open_the_circuit_for_a_minute() {
        let now = Instant::now();
        let mut breaker = open_breaker(now);
        assert_eq!(breaker.admit(now).unwrap_err(), OPEN_FOR);
        assert!(breaker.admit(now + OPEN_FOR).is_ok());
    }

    #[test]
    fn a_success_between_failures_keeps_the_circuit_closed() {
        let now = Instant::now();
        let mut breaker = Breaker::new();
        for _ in 0..3 {
            for _ in 0..FAILURES_TO_OPEN - 1 {
                call(&mut breaker, CallOutcome::Failure, now);
            }
            call(&mut breaker, CallOutcome::Success, now);
        }
        assert!(breaker.check(now).is_ok());
    }

    #[test]
    fn an_unknown_outcome_does_not_change_the_number_of_failures() {
        let now = Instant::now();
        let mut breaker = Breaker::new();
        for _ in 0..FAILURES_TO_OPEN - 1 {
            call(&mut breaker, CallOutcome::Failure, now);
            call(&mut breaker, CallOutcome::Unknown, now);
        }
        assert!(breaker.check(now).is_ok());
        call(&mut breaker, CallOutcome::Failure, now);
        assert!(breaker.check(now).is_err());
    }

    #[test]
    fn a_half_open_circuit_admits_three_probes_at_a_time() {
        let opened = Instant::now();
        let later = opened + OPEN_FOR;
        let mut breaker = open_breaker(opened);
        let tickets: Vec<_> = (0..MAX_PROBES).map(|_| breaker.admit(later).unwrap()).collect();
        assert_eq!(breaker.admit(later).unwrap_err(), Duration::ZERO);
        breaker.record(tickets[0], CallOutcome::Unknown, later);
        assert!(breaker.admit(later).is_ok());
    }

    #[test]
    fn two_successful_probes_close_the_circuit() {
        let opened = Instant::now();
        let later = opened + OPEN_FOR;
        let mut breaker = open_breaker(opened);
        call(&mut breaker, CallOutcome::Success, later);
        assert!(matches!(breaker.state, State::HalfOpen { .. }));
        call(&mut breaker, CallOutcome::Success, later);
        assert_eq!(breaker.state, State::Closed { failures: 0 });
    }

    #[test]
    fn a_failed_probe_opens_the_circuit_again() {
        let opened = Instant::now();
        let later = opened + OPEN_FOR;
        let mut breaker = open_breaker(opened);
        call(&mut breaker, CallOutcome::Failure, later);
        assert_eq!(breaker.admit(later).unwrap_err(), OPEN_FOR);
    }

    #[test]
    fn a_call_from_before_the_opening_does_not_count_as_a_probe() {
        let opened = Instant::now();
        let later = opened + OPEN_FOR;
        let mut breaker = Breaker::new();
        let before_opening = breaker.admit(opened).unwrap();
        for _ in 0..FAILURES_TO_OPEN {
            call(&mut breaker, CallOutcome::Failure, opened);
        }
        let probe = breaker.admit(later).unwrap();
        breaker.record(before_opening, CallOutcome::Failure, later);
        assert!(matches!(breaker.state, State::HalfOpen { probes: 1, .. }));
        breaker.record(probe, CallOutcome::Success, later);
        assert!(matches!(
            breaker.state,
            State::HalfOpen {
                probes: 0,
                successes: 1
            }
        ));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Admit,
        /// Records the outcome of the admitted call at this position.
        Record(usize, CallOutcome),
        /// Waits for this number of seconds.
        Wait(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let outcome = prop_oneof![
            Just(CallOutcome::Success),
            Just(CallOutcome::Failure),
            Just(CallOutcome::Unknown)
        ];
        prop_oneof![
            3 => Just(Step::Admit),
            3 => (0..8_usize, outcome).prop_map(|(position, outcome)| Step::Record(position, outcome)),
            1 => (0..90_u64).prop_map(Step::Wait),
        ]
    }

    proptest! {
        #[test]
        fn refusal_times_and_probes_stay_within_their_bounds(
            steps in prop::collection::vec(step(), 0..200)
        ) {
            let mut now = Instant::now();
            let mut breaker = Breaker::new();
            let mut in_flight: Vec<Ticket> = Vec::new();
            for step in steps {
                match step {
                    Step::Admit => match breaker.admit(now) {
                        Ok(ticket) => in_flight.push(ticket),
                        Err(wait) => prop_assert!(wait <= OPEN_FOR),
                    },
                    Step::Record(position, outcome) if position < in_flight.len() => {
                        breaker.record(in_flight.swap_remove(position), outcome, now);
                    }
                    Step::Record(..) => {}
                    Step::Wait(seconds) => now += Duration::from_secs(seconds),
                }
                // Outcomes of calls from before the last change of the state are ignored.
                let current_calls = in_flight.iter().filter(|ticket| ticket.generation == breaker.generation).count();
                match breaker.state {
                    State::HalfOpen { probes, successes } => {
                        prop_assert!(probes <= MAX_PROBES && successes < SUCCESSES_TO_CLOSE);
                        prop_assert_eq!(current_calls, probes as usize);
                    }
                    State::Closed { failures } => prop_assert!(failures < FAILURES_TO_OPEN),
                    State::Open { .. } => prop_assert_eq!(current_calls, 0),
                }
            }
            for ticket in in_flight {
                breaker.record(ticket, CallOutcome::Unknown, now);
            }
            prop_assert!(breaker.admit(now + OPEN_FOR).is_ok());
        }
    }
}
