//! Where a sandbox gets the secrets that it adds to requests, and whom it tells about a canary.

use std::fmt::Debug;
use std::sync::Arc;

use art_core::outcome::Ending;
use art_core::secret::Secrets;

/// The secrets of the host.
pub trait SecretSource: Debug + Send + Sync {
    /// Returns the secrets. Called once for each call of a tool. `are_used` says whether a grant of the call names a secret. If
    /// so, the result has to include secrets that were stored just before.
    fn secrets(&self, are_used: bool) -> Arc<Secrets>;

    /// Notes that a component sent, returned or logged a canary, so that it is not loaded again.
    fn quarantine(&self, digest: &str, tool: &str, canary: &str);
}

/// Returns the ending of a call in which a canary was seen, and of all later calls of the component.
pub(crate) fn quarantine_ending(canary: &str) -> Ending {
    Ending::Denied {
        message: format!(
            "is in quarantine: the secret `{canary}`, a decoy that no tool is given, was in what it sent, returned or logged"
        ),
    }
}
