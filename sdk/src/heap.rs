//! The allocator of a component without WASI. Every call runs in a fresh instance, and growing its memory takes time of
//! that call. So the first part of the heap is a static, which is there from the start, and the rest grows in large steps.

/// Size of a page of linear memory, in bytes.
const PAGE_BYTES: usize = 64 << 10;
/// Maximum number of pages to allocate ahead of need, so that a tool does not reach its memory limit because of memory
/// that it does not use.
const MAX_PAGES_AHEAD: usize = (4 << 20) / PAGE_BYTES;

/// Returns the number of pages to grow by: half of the `current` pages, but at most [`MAX_PAGES_AHEAD`], or `needed` if
/// that is more.
fn pages_to_grow_by(needed: usize, current: usize) -> usize {
    needed.max((current / 2).min(MAX_PAGES_AHEAD))
}

#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "an allocator hands out raw memory; see the safety comments")]
mod component {
    use core::alloc::{GlobalAlloc, Layout};
    use core::arch::wasm32::{memory_grow, memory_size};
    use core::cell::{Cell, UnsafeCell};
    use core::ptr::{null_mut, with_exposed_provenance_mut};

    use dlmalloc::{Allocator, Dlmalloc};

    use super::{PAGE_BYTES, pages_to_grow_by};

    /// Size in bytes of the first part of the heap, which exists from the start. Pages of it that a call does not touch cost
    /// nothing.
    const FIRST_PART_BYTES: usize = 256 << 10;
    /// The flag of dlmalloc for memory that must not be merged with memory beside it: dlmalloc calls it `EXTERN`.
    const NOT_MERGEABLE: u32 = 1;

    #[global_allocator]
    static HEAP: Heap = Heap(UnsafeCell::new(Dlmalloc::new_with_allocator(Memory {
        first_part_used: Cell::new(false),
    })));
    /// Separate from `HEAP`, because a static that is all zero takes no space in the component's file, and `HEAP` is
    /// not all zero.
    static FIRST_PART: FirstPart = FirstPart(UnsafeCell::new([0; FIRST_PART_BYTES]));

    /// The heap of the only thread that a component has.
    struct Heap(UnsafeCell<Dlmalloc<Memory>>);

    // SAFETY: a component has one thread.
    unsafe impl Sync for Heap {}

    // SAFETY: all four functions forward to dlmalloc, which upholds the contract of `GlobalAlloc`. No call is made during
    // another one: there is one thread, and `Memory`, which dlmalloc calls, allocates nothing.
    unsafe impl GlobalAlloc for Heap {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: see the comment above the `impl`.
            unsafe { (*self.0.get()).malloc(layout.size(), layout.align()) }
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: see the comment above the `impl`; `memory` came from this allocator with this layout.
            unsafe { (*self.0.get()).free(memory, layout.size(), layout.align()) }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: see the comment above the `impl`.
            unsafe { (*self.0.get()).calloc(layout.size(), layout.align()) }
        }

        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: see the comment above the `impl`; `memory` came from this allocator with this layout.
            unsafe { (*self.0.get()).realloc(memory, layout.size(), layout.align(), size) }
        }
    }

    #[repr(align(16))]
    struct FirstPart(UnsafeCell<[u8; FIRST_PART_BYTES]>);

    // SAFETY: a component has one thread.
    unsafe impl Sync for FirstPart {}

    /// The source from which the allocator takes the memory of the heap.
    struct Memory {
        first_part_used: Cell<bool>,
    }

    // SAFETY: a component has one thread.
    unsafe impl Send for Memory {}

    // SAFETY: the memory is unused, zeroed and stays in place. The first part is returned once and not used elsewhere;
    // new pages are returned only to the caller that grew the memory.
    unsafe impl Allocator for Memory {
        fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
            if size <= FIRST_PART_BYTES && !self.first_part_used.replace(true) {
                return (FIRST_PART.0.get().cast(), FIRST_PART_BYTES, NOT_MERGEABLE);
            }
            let needed = size.div_ceil(PAGE_BYTES);
            let grown = grow(pages_to_grow_by(needed, memory_size(0))).or_else(|| grow(needed));
            let (memory, bytes) = grown.unwrap_or((null_mut(), 0));
            (memory, bytes, 0)
        }

        fn remap(&self, _memory: *mut u8, _old: usize, _new: usize, _can_move: bool) -> *mut u8 {
            null_mut()
        }

        fn free_part(&self, _memory: *mut u8, _old: usize, _new: usize) -> bool {
            false
        }

        fn free(&self, _memory: *mut u8, _size: usize) -> bool {
            false
        }

        fn can_release_part(&self, _flags: u32) -> bool {
            false
        }

        fn allocates_zeros(&self) -> bool {
            true
        }

        fn page_size(&self) -> usize {
            PAGE_BYTES
        }
    }

    /// Grows the memory and returns the start and the size in bytes of the new part, or `None` if the memory cannot grow.
    fn grow(pages: usize) -> Option<(*mut u8, usize)> {
        let start = match memory_grow(0, pages) {
            usize::MAX => return None,
            before => before * PAGE_BYTES,
        };
        // Leave out the last 16 bytes of the address space, so that the address after the new part fits into a `usize`.
        let bytes = (pages * PAGE_BYTES).min(usize::MAX - 15 - start);
        Some((with_exposed_provenance_mut(start), bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_by_half() {
        let (needed, current) = (1, 20);
        assert_eq!(pages_to_grow_by(needed, current), 10);
    }

    #[test]
    fn memory_grows_by_at_least_the_needed_pages() {
        let (needed, current) = (300, 20);
        assert_eq!(pages_to_grow_by(needed, current), 300);
    }

    #[test]
    fn at_most_four_mebibytes_are_allocated_ahead() {
        let (needed, current) = (1, 1_000);
        assert_eq!(pages_to_grow_by(needed, current) * PAGE_BYTES, 4 << 20);
    }
}
