//! Checks whether stdout was open when the process started. Before `main`, Rust replaces a closed stdout with `/dev/null`, where
//! answers would vanish without an error, so the check runs earlier.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether stdout was closed when the process started. Always false on systems other than Linux, where there is no check.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Makes the loader call `record_if_closed` before `main`.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "the section holds functions that run before `main`; this one reads a flag of a descriptor"
)]
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = record_if_closed;

#[cfg(target_os = "linux")]
extern "C" fn record_if_closed() {
    let is_closed = rustix::io::fcntl_getfd(super::stdout()).is_err();
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Checks that stdout was open when the process started.
///
/// # Errors
/// Fails if it was closed.
pub(super) fn check_was_open() -> std::io::Result<()> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(std::io::Error::other("it is closed"));
    }
    Ok(())
}
