//! Measures the memory that the work on an input takes. Replaces the global allocator with one that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Returns the peak of the memory in use while `work` runs, less the memory in use before, in bytes.
pub(crate) fn measure_peak(work: impl FnOnce()) -> usize {
    let before = MEMORY.used.load(Ordering::Relaxed);
    MEMORY.peak.store(before, Ordering::Relaxed);
    work();
    MEMORY.peak.load(Ordering::Relaxed).saturating_sub(before)
}
