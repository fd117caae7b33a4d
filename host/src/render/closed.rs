//! Whether stdout was open when the process began. Rust opens `/dev/null` in place of a closed one before `main` begins, where
//! answers would vanish without an error, so it is asked earlier.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Called by the system before `main`.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "the section holds functions that run before `main`; this one reads a flag of a descriptor"
)]
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

#[cfg(target_os = "linux")]
extern "C" fn look() {
    let is_closed = rustix::io::fcntl_getfd(super::stdout()).is_err();
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// # Errors
/// Fails if it was closed.
pub(super) fn was_open() -> std::io::Result<()> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(std::io::Error::other("it is closed"));
    }
    Ok(())
}
