//! The tokio runtime of a command.

use tokio::runtime::{Builder, Runtime};

use crate::error::CommandError;

/// Creates a single-threaded executor for I/O. The code of components never runs on it.
pub(crate) fn new_executor() -> Result<Runtime, CommandError> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| CommandError::Failed(format!("failed to start tokio: {error}")))
}
