//! The digest chain of a journal, which is the list of the events of a run.
//!
//! The digest of an entry covers everything that is stored of the entry, and the digest of the entry before it. A change of one
//! entry changes the digests of all later ones, so the last digest of a run stands for its whole journal.

use art_core::Timestamp;

use crate::error::StoreError;
use crate::record::{JournalEntry, RunRecord};

/// The beginning of all hashed data here, so that these digests differ from digests of other data.
const DOMAIN: &[u8] = b"art journal 1\0";

/// Returns the digest of a run without entries, from which the digest of its first entry is computed.
pub(crate) fn initial_digest(trace_id: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(DOMAIN);
    hasher.update(trace_id.as_bytes());
    digest_text(&hasher)
}

/// Returns the digest of an entry. `previous` is the digest of the entry before it. `kind` and `payload` are the stored texts,
/// as bytes because a text that was changed in the database may not be valid UTF-8.
pub(crate) fn next_digest(previous: &str, sequence: u64, timestamp: Timestamp, kind: &[u8], payload: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(DOMAIN);
    // The length before each value of variable length makes the input unambiguous.
    for value in [previous.as_bytes(), kind, payload] {
        hasher.update(&(value.len() as u64).to_le_bytes());
        hasher.update(value);
    }
    hasher.update(&sequence.to_le_bytes());
    hasher.update(&timestamp.to_le_bytes());
    digest_text(&hasher)
}

/// Verifies the digests of the whole journal of a run.
///
/// # Errors
/// Fails with [`StoreError::BrokenChain`] if an entry, the identifier of the run or its last digest was changed, or if an entry
/// is missing.
pub fn verify_journal(run: &RunRecord, entries: &[JournalEntry]) -> Result<(), StoreError> {
    let broken_at = |sequence| StoreError::BrokenChain {
        trace_id: run.trace_id.clone(),
        sequence,
    };
    let mut last_digest = initial_digest(&run.trace_id);
    for (sequence, entry) in (1..).zip(entries) {
        let (kind, payload) = (entry.kind.as_bytes(), entry.payload.as_bytes());
        last_digest = next_digest(&last_digest, sequence, entry.timestamp, kind, payload);
        if entry.sequence != sequence || entry.digest != last_digest {
            return Err(broken_at(sequence));
        }
    }
    // The entries fit together, so the first wrong place is after the last entry.
    if run.head != last_digest || run.last_sequence != entries.len() as u64 {
        return Err(broken_at(entries.len() as u64 + 1));
    }
    Ok(())
}

fn digest_text(hasher: &blake3::Hasher) -> String {
    format!("blake3:{}", hasher.finalize().to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_an_entry_changes_its_digest() {
        // The parts are the digest of the previous entry, and the sequence, the timestamp, the kind and the payload.
        let digest = next_digest("p", 1, 2, b"kind", b"payload");
        assert_eq!(digest, next_digest("p", 1, 2, b"kind", b"payload"));
        for other in [
            next_digest("q", 1, 2, b"kind", b"payload"),
            next_digest("p", 2, 2, b"kind", b"payload"),
            next_digest("p", 1, 3, b"kind", b"payload"),
            next_digest("p", 1, 2, b"kinds", b"payload"),
            next_digest("p", 1, 2, b"kind", b"payloads"),
        ] {
            assert_ne!(digest, other);
        }
    }

    #[test]
    fn a_byte_that_moves_from_one_part_to_the_next_changes_the_digest() {
        assert_ne!(next_digest("p", 1, 2, b"ab", b"c"), next_digest("p", 1, 2, b"a", b"bc"));
        assert_ne!(next_digest("pa", 1, 2, b"b", b"c"), next_digest("p", 1, 2, b"ab", b"c"));
    }

    /// Returns a run and its journal of three entries.
    fn run_with_three_entries() -> (RunRecord, Vec<JournalEntry>) {
        let new = crate::NewRun {
            trace_id: "r".to_owned(),
            ..crate::NewRun::default()
        };
        let mut run = crate::check::initial_run(&new, 0);
        let mut entries = Vec::new();
        let timestamp = 7;
        for sequence in 1..=3 {
            let (kind, payload) = ("kind".to_owned(), format!("[{sequence}]"));
            run.head = next_digest(&run.head, sequence, timestamp, kind.as_bytes(), payload.as_bytes());
            run.last_sequence = sequence;
            entries.push(JournalEntry {
                sequence,
                timestamp,
                kind,
                payload,
                digest: run.head.clone(),
            });
        }
        (run, entries)
    }

    #[test]
    fn an_unchanged_journal_is_verified() {
        let (run, entries) = run_with_three_entries();
        assert!(verify_journal(&run, &entries).is_ok());
    }

    #[test]
    fn a_change_of_a_journal_is_reported_at_the_first_wrong_entry() {
        let broken_at = |change: fn(&mut RunRecord, &mut Vec<JournalEntry>)| {
            let (mut run, mut entries) = run_with_three_entries();
            change(&mut run, &mut entries);
            match verify_journal(&run, &entries) {
                Err(StoreError::BrokenChain { sequence, .. }) => Some(sequence),
                _ => None,
            }
        };
        assert_eq!(broken_at(|_, entries| entries[1].payload.push(' ')), Some(2));
        assert_eq!(broken_at(|_, entries| entries[1].kind.push('s')), Some(2));
        assert_eq!(broken_at(|_, entries| entries[1].timestamp += 1), Some(2));
        assert_eq!(broken_at(|_, entries| entries[1].digest.push('0')), Some(2));
        assert_eq!(broken_at(|_, entries| drop(entries.remove(0))), Some(1));
        assert_eq!(broken_at(|_, entries| drop(entries.pop())), Some(3));
        assert_eq!(broken_at(|run, _| run.head.push('0')), Some(4));
        assert_eq!(broken_at(|run, _| run.trace_id.push('0')), Some(1));
    }

    #[test]
    fn the_initial_digest_depends_on_the_run() {
        assert_eq!(initial_digest("r"), initial_digest("r"));
        assert_ne!(initial_digest("r"), initial_digest("s"));
    }
}
