//! Counts its calls in a static and leaks memory. The next call sees neither, since it has a fresh instance.

#![cfg(target_family = "wasm")]

use std::sync::atomic::{AtomicU32, Ordering};

use art_sdk::prelude::*;

#[output]
struct Out {
    calls: u32,
    /// Number of bytes that an earlier call has left in new memory.
    old_bytes: usize,
}

static CALLS: AtomicU32 = AtomicU32::new(0);

/// Counts its own calls.
#[tool]
fn counter(_: NoArgs) -> Result<Out> {
    let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    let mut buffer = vec![0_u8; 1 << 20];
    // New memory is zero, unless bytes of an earlier call are left in it.
    let old_bytes = buffer.iter().filter(|byte| **byte != 0).count();
    buffer.fill(0xAA);
    std::hint::black_box(buffer.leak());
    Ok(Out { calls, old_bytes })
}
