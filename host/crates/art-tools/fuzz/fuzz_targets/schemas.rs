//! Checks that no schema of a tool and no value takes more than 100 ms or 64 MiB to admit, fill in and check.
//!
//! The corpus is replayed by the tests of the crate. In `host/crates/art-tools`:
//! `cargo +nightly fuzz run -O --sanitizer none schemas -- -max_len=4096 -max_total_time=3600`. A sanitizer or debug assertions
//! make everything several times as slow, so the time is asserted only without them. It is the processor time of the thread,
//! so that a busy machine causes no false alarm.

#![no_main]

#[path = "../cases.rs"]
mod cases;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;

const MAX_TIME: Duration = Duration::from_millis(100);
const MAX_BYTES: usize = 64 << 20;

/// The system allocator, which also counts the bytes in use and their maximum.
struct CountingAllocator {
    used: AtomicUsize,
    peak: AtomicUsize,
}

// SAFETY: every allocation is made by the system allocator; this code only counts bytes.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = self.used.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        self.peak.fetch_max(used, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of this function, which is the same as that of the called one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.used.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator {
    used: AtomicUsize::new(0),
    peak: AtomicUsize::new(0),
};

/// Returns the processor time of this thread. Works only on Linux.
fn processor_time() -> Duration {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(schedstat.split(' ').next().unwrap().parse().unwrap())
}

fuzz_target!(|bytes: &[u8]| {
    let (schema, value) = cases::schema_and_value(bytes);
    let before = MEMORY.used.load(Ordering::Relaxed);
    MEMORY.peak.store(before, Ordering::Relaxed);
    let start = processor_time();
    cases::apply(&schema, value);
    let (time, peak) = (processor_time() - start, MEMORY.peak.load(Ordering::Relaxed) - before);
    assert!(
        cfg!(debug_assertions) || time <= MAX_TIME,
        "{time:?}: {:.2000}",
        schema.to_string()
    );
    assert!(peak <= MAX_BYTES, "{peak} bytes: {:.2000}", schema.to_string());
});
