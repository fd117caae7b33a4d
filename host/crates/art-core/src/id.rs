//! Creates identifiers. A model may choose the identifier of its tool call (contract X1). A tool may not choose the
//! identifier of its question to a person: the host creates it. If the tool gives one too, it is only metadata (contract X2).

use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::{ContextV7, Uuid};

/// Returns a random UUID, for example for a suspension.
#[must_use]
pub fn random() -> String {
    Uuid::new_v4().to_string()
}

/// Returns a UUID that sorts by creation time, for messages, observations and runs.
#[must_use]
pub fn time_ordered() -> String {
    // Counts the identifiers of a millisecond.
    static COUNTER: Mutex<ContextV7> = Mutex::new(ContextV7::new());
    // `Uuid::now_v7` panics if the clock is before 1970.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = uuid::Timestamp::from_unix(&COUNTER, now.as_secs(), now.subsec_nanos());
    Uuid::new_v7(now).to_string()
}

/// Returns a random identifier of a trace: 32 lower-case hexadecimal digits.
pub(crate) fn trace_id() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Returns the trace identifier of a run: the 32 digits of `run_id` if it is a UUID, else 32 digits that are derived from it.
pub(crate) fn trace_id_of(run_id: &str) -> String {
    let id = Uuid::parse_str(run_id).unwrap_or_else(|_| Uuid::new_v5(&Uuid::NAMESPACE_OID, run_id.as_bytes()));
    id.simple().to_string()
}

/// Returns a random identifier of a span: 16 lower-case hexadecimal digits. As they contain the variant bits of a UUID, they
/// are never all zeros. (All zeros would mean that there is no span.)
pub(crate) fn span_id() -> String {
    let (_, low) = Uuid::new_v4().as_u64_pair();
    format!("{low:016x}")
}

/// Returns a random identifier of a tool call: `call_` and nine base-36 digits (contract C4).
#[must_use]
pub fn call_id() -> String {
    base36_call_id(Uuid::new_v4())
}

/// Returns an identifier for the `n`th tool call of the run `run_id`. It is the same in every replay of the run.
#[must_use]
pub fn nth_call_id(run_id: &str, n: u64) -> String {
    base36_call_id(Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{run_id}/{n}").as_bytes()))
}

fn base36_call_id(source: Uuid) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut number = source.as_u128();
    let mut id = String::from("call_");
    for _ in 0..9 {
        let digit = usize::try_from(number % 36).unwrap_or_default();
        id.push(DIGITS.get(digit).copied().map_or('0', char::from));
        number /= 36;
    }
    id
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_nth_call_id_of_a_run_is_always_the_same() {
        assert_eq!(super::nth_call_id("run", 1), super::nth_call_id("run", 1));
        assert_ne!(super::nth_call_id("run", 1), super::nth_call_id("run", 2));
    }

    #[test]
    fn a_call_id_has_nine_base_36_digits_after_its_prefix() {
        let id = super::call_id();
        let (prefix, digits) = id.split_at(5);
        assert_eq!(prefix, "call_");
        assert_eq!(digits.len(), 9);
        assert!(digits.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase()));
    }
}
