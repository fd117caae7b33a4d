//! No schema of a tool and no value costs the host more than 100 ms or 64 MiB to admit, fill in and check.
//!
//! The corpus is replayed by the tests of the crate. In `host/crates/art-tools`:
//! `cargo +nightly fuzz run -O --sanitizer none schemas -- -max_len=4096 -max_total_time=3600`. With a sanitizer or assertions everything takes
//! several times as long, so the time is asserted only without one. What counts is the processor time of the thread, so that a
//! busy machine finds nothing.

#![no_main]

#[path = "../cases.rs"]
mod cases;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;

const MOST_TIME: Duration = Duration::from_millis(100);
const MOST_BYTES: usize = 64 << 20;

/// The allocator of the system, with a count of what is in use and of the most that was.
struct Counting {
    used: AtomicUsize,
    most: AtomicUsize,
}

// SAFETY: everything is done by the allocator of the system; only numbers are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = self.used.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        self.most.fetch_max(used, Ordering::Relaxed);
        // SAFETY: the caller keeps to the contract of this function, which is that of the other.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.used.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static MEMORY: Counting = Counting {
    used: AtomicUsize::new(0),
    most: AtomicUsize::new(0),
};

/// Returns the processor time of this thread, from Linux.
fn processor_time() -> Duration {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(schedstat.split(' ').next().unwrap().parse().unwrap())
}

fuzz_target!(|bytes: &[u8]| {
    let (schema, value) = cases::read(bytes);
    let before = MEMORY.used.load(Ordering::Relaxed);
    MEMORY.most.store(before, Ordering::Relaxed);
    let start = processor_time();
    cases::apply(&schema, value);
    let (time, most) = (processor_time() - start, MEMORY.most.load(Ordering::Relaxed) - before);
    assert!(
        cfg!(debug_assertions) || time <= MOST_TIME,
        "{time:?}: {:.2000}",
        schema.to_string()
    );
    assert!(most <= MOST_BYTES, "{most} bytes: {:.2000}", schema.to_string());
});
