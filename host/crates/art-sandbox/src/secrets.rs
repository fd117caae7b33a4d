//! Where a sandbox gets the secrets that it adds to requests, and whom it tells about a canary that was seen.
//!
//! A canary is a decoy among the secrets. No tool is ever given it, so a tool that sends, returns or logs it has found it in a
//! place where it should not look.

use std::fmt::Debug;
use std::sync::Arc;

use art_core::outcome::Ending;
use art_core::secret::Secrets;

/// The place from which a sandbox gets the secrets of the host.
pub trait SecretSource: Debug + Send + Sync {
    /// Returns all secrets. Called once for each call of a tool. `call_uses_secrets` says whether a grant of the call names a
    /// secret. If so, the result has to include secrets that were stored just before the call. Otherwise the secrets are needed
    /// only for redaction, and the newest may be missing.
    fn secrets(&self, call_uses_secrets: bool) -> Arc<Secrets>;

    /// Notes that the component with this digest sent, returned or logged the canary with this name, so that it is not loaded
    /// again.
    fn quarantine(&self, digest: &str, tool: &str, canary: &str);
}

/// Returns the ending of a call in which a canary was seen. All later calls of the component end in the same way.
pub(crate) fn quarantine_ending(canary: &str) -> Ending {
    Ending::Denied {
        message: format!(
            "is in quarantine: the secret `{canary}`, a decoy that no tool is given, was in what it sent, returned or logged"
        ),
    }
}
