//! Decides whether a failed attempt of a call is retried, and after which delay.
//!
//! Only rate limits, network errors and timeouts are retried, by default at most 3 times (contract C88). The delay
//! doubles with each retry up to a maximum, and varies at random (contract R1), unless the provider requests a delay
//! (contract R2).

use std::time::{Duration, SystemTime};

use art_core::error::ModelError;
use reqwest::header::HeaderMap;

use crate::settings::EngineLimits;

/// Maximum delay that is read from a header. A longer one is shortened to it, so that a time does not overflow. Whether a call
/// waits that long is another question: see [`EngineLimits::max_retry_after_ms`].
const MAX_REQUESTED_DELAY: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Whether a failed attempt is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryDecision {
    /// Retry after this delay.
    Retry(Duration),
    /// Do not retry: the call fails with the error of the attempt.
    Fail,
}

/// Decides whether to retry an attempt that failed with `error` after `retries` retries. `random`, from `0.0..1.0`,
/// varies the delay.
pub(crate) fn decide(limits: &EngineLimits, error: &ModelError, retries: u32, random: f64) -> RetryDecision {
    if !error.code.is_retryable() || retries >= limits.max_retries {
        return RetryDecision::Fail;
    }
    match error.retry_after_ms {
        // The provider has said that it refuses what comes earlier. The error says when it accepts requests again (contract M01).
        Some(requested) if requested > limits.max_retry_after_ms => RetryDecision::Fail,
        Some(requested) => RetryDecision::Retry(Duration::from_millis(requested)),
        None => RetryDecision::Retry(backoff(limits, retries, random)),
    }
}

/// Returns the usual delay: it doubles with each retry and is varied by up to 20 %, so that many programs do not retry at the same
/// time, but is never above `retry_cap_ms`.
fn backoff(limits: &EngineLimits, retries: u32, random: f64) -> Duration {
    let doubled_ms = limits.retry_base_ms.saturating_mul(1_u64 << retries.min(32));
    let cap = Duration::from_millis(limits.retry_cap_ms);
    Duration::from_millis(doubled_ms.min(limits.retry_cap_ms))
        .mul_f64(0.8 + 0.4 * random.clamp(0.0, 1.0))
        .min(cap)
        .max(Duration::from_millis(1))
}

/// Returns the delay that the headers request: `retry-after-ms`, or `retry-after` in seconds or as a date. A delay under a
/// millisecond is ignored.
pub(crate) fn requested_delay(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(delay) = header("retry-after-ms").and_then(|value| parse_delay(value, 1000.0)) {
        return Some(delay);
    }
    let value = header("retry-after")?;
    parse_delay(value, 1.0).or_else(|| delay_until(value, now))
}

/// Parses a positive number as a delay. `units_per_second` is 1 for seconds and 1000 for milliseconds.
fn parse_delay(text: &str, units_per_second: f64) -> Option<Duration> {
    let seconds = text.parse::<f64>().ok()? / units_per_second;
    if !seconds.is_finite() || seconds <= 0.0 {
        return None;
    }
    unless_below_a_millisecond(Duration::from_secs_f64(seconds.min(MAX_REQUESTED_DELAY.as_secs_f64())))
}

/// Returns the delay from `now` to an HTTP date.
fn delay_until(text: &str, now: SystemTime) -> Option<Duration> {
    let delay = httpdate::parse_http_date(text).ok()?.duration_since(now).ok()?;
    unless_below_a_millisecond(delay.min(MAX_REQUESTED_DELAY))
}

/// Returns `delay`, or `None` if it is shorter than a millisecond. Such delays would cause a flood of retries.
fn unless_below_a_millisecond(delay: Duration) -> Option<Duration> {
    (delay.as_millis() > 0).then_some(delay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::error::ModelErrorCode;
    use proptest::prelude::*;
    use std::time::UNIX_EPOCH;

    fn error_with_code(code: ModelErrorCode, retry_after_ms: Option<u64>) -> ModelError {
        ModelError {
            code,
            message: String::new(),
            retry_after_ms,
            request_not_read: false,
        }
    }

    fn retry_in_ms(ms: u64) -> RetryDecision {
        RetryDecision::Retry(Duration::from_millis(ms))
    }

    fn decision_after(retries: u32, random: f64) -> RetryDecision {
        let limits = EngineLimits {
            max_retries: 9,
            ..EngineLimits::default()
        };
        decide(
            &limits,
            &error_with_code(ModelErrorCode::NetworkError, None),
            retries,
            random,
        )
    }

    #[test]
    fn the_delay_doubles_up_to_ten_seconds() {
        let decisions: Vec<_> = (0..6).map(|retries| decision_after(retries, 0.5)).collect();
        let expected = [1000, 2000, 4000, 8000, 10_000, 10_000].map(retry_in_ms);
        assert_eq!(decisions, expected);
    }

    #[test]
    fn a_delay_varies_by_at_most_20_percent() {
        assert_eq!(
            [decision_after(0, 0.0), decision_after(0, 1.0)],
            [retry_in_ms(800), retry_in_ms(1200)]
        );
        // The longest delay is not exceeded.
        assert_eq!(
            [decision_after(5, 0.0), decision_after(5, 1.0)],
            [retry_in_ms(8_000), retry_in_ms(10_000)]
        );
    }

    // Retries never follow without a delay (contracts A85, R1).
    #[test]
    fn a_delay_is_at_least_a_millisecond() {
        for retry_base_ms in [0, 1] {
            let limits = EngineLimits {
                retry_base_ms,
                ..EngineLimits::default()
            };
            assert_eq!(backoff(&limits, 0, 0.0), Duration::from_millis(1));
        }
    }

    #[test]
    fn only_three_error_codes_are_retried() {
        use ModelErrorCode as Code;
        let decide = |code| decide(&EngineLimits::default(), &error_with_code(code, None), 0, 0.5);
        for code in [Code::RateLimited, Code::NetworkError, Code::Timeout] {
            assert_eq!(decide(code), retry_in_ms(1000), "{code:?}");
        }
        let others = [
            Code::ProviderNotConfigured,
            Code::ProviderNotSupported,
            Code::AuthenticationError,
            Code::ModelNotFound,
            Code::ContextLengthExceeded,
            Code::InvalidResponse,
            Code::ToolsNotSupported,
            Code::Unknown,
        ];
        for code in others {
            assert_eq!(decide(code), RetryDecision::Fail, "{code:?}");
        }
    }

    #[test]
    fn a_call_is_retried_at_most_as_often_as_configured() {
        let error = error_with_code(ModelErrorCode::Timeout, None);
        let limits = EngineLimits::default();
        assert!(matches!(decide(&limits, &error, 2, 0.5), RetryDecision::Retry(_)));
        assert_eq!(decide(&limits, &error, 3, 0.5), RetryDecision::Fail);
        let limits = EngineLimits {
            max_retries: 0,
            ..limits
        };
        assert_eq!(decide(&limits, &error, 0, 0.5), RetryDecision::Fail);
    }

    #[test]
    fn a_requested_delay_is_waited_for_if_it_is_at_most_a_minute() {
        let limits = EngineLimits::default();
        let decide = |ms| decide(&limits, &error_with_code(ModelErrorCode::RateLimited, Some(ms)), 0, 0.5);
        assert_eq!(decide(60_000), retry_in_ms(60_000));
        assert_eq!(decide(60_001), RetryDecision::Fail);
    }

    /// Returns the delay that a header requests, at 08:49:37 UTC on 6 November 1994.
    fn delay_in_header(name: &'static str, value: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        requested_delay(&headers, now)
    }

    #[test]
    fn retry_after_is_read_as_seconds_decimals_and_dates() {
        let seconds = |text| delay_in_header("retry-after", text).map(|delay| delay.as_secs_f64());
        assert_eq!(seconds("7"), Some(7.0));
        assert_eq!(seconds(" 1.5 "), Some(1.5));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:47 GMT"), Some(10.0));
        assert_eq!(seconds("1e9"), Some(MAX_REQUESTED_DELAY.as_secs_f64()));
        assert_eq!(
            delay_in_header("retry-after-ms", "250"),
            Some(Duration::from_millis(250))
        );
    }

    #[test]
    fn an_invalid_delay_or_a_date_in_the_past_is_ignored() {
        for text in [
            "0",
            "-1",
            "soon",
            "",
            "NaN",
            "inf",
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1990 08:49:37 GMT",
        ] {
            assert_eq!(delay_in_header("retry-after", text), None, "{text}");
        }
    }

    #[test]
    fn a_requested_delay_under_a_millisecond_is_ignored() {
        for (name, text, expected) in [
            ("retry-after", "0.0009", None),
            ("retry-after-ms", "0.9", None),
            ("retry-after", "0.001", Some(Duration::from_millis(1))),
            ("retry-after-ms", "1", Some(Duration::from_millis(1))),
        ] {
            assert_eq!(delay_in_header(name, text), expected, "{name}: {text}");
        }
    }

    #[test]
    fn a_valid_delay_in_milliseconds_takes_precedence_over_one_in_seconds() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "3".parse().unwrap());
        headers.insert("retry-after-ms", "20".parse().unwrap());
        assert_eq!(requested_delay(&headers, UNIX_EPOCH), Some(Duration::from_millis(20)));
        headers.insert("retry-after-ms", "x".parse().unwrap());
        assert_eq!(requested_delay(&headers, UNIX_EPOCH), Some(Duration::from_secs(3)));
    }

    proptest! {
        #[test]
        fn a_requested_delay_is_bounded(text in "[ -~]{0,40}", number in any::<f64>(), now in 0..1_u64 << 40) {
            for text in [text, number.to_string()] {
                let mut headers = HeaderMap::new();
                if let Ok(value) = text.parse() {
                    headers.insert("retry-after", value);
                }
                let delay = requested_delay(&headers, UNIX_EPOCH + Duration::from_secs(now));
                prop_assert!(delay.is_none_or(|delay| delay <= MAX_REQUESTED_DELAY));
            }
        }

        #[test]
        fn a_backoff_is_within_its_bounds(retries in 0..100_u32, random in 0.0..1.0) {
            let delay = backoff(&EngineLimits::default(), retries, random);
            // 1 s less 20 % and 10 s plus 20 %.
            prop_assert!(delay >= Duration::from_millis(800) && delay <= Duration::from_secs(12));
        }
    }
}
