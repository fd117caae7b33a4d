//! Limits the memory of one call: the sum of all its linear memories and tables.

use art_core::limits::Limits;
use wasmtime::ResourceLimiter;

/// Memory of the host for one table element, in bytes.
const TABLE_ELEMENT_BYTES: usize = 16;
/// Maximum number of core instances of one component: the modules of the tool and the adapters around them. A tool in
/// Python has 38.
pub(crate) const MAX_INSTANCES: u32 = 64;
/// Maximum number of linear memories of one component.
pub(crate) const MAX_MEMORIES: u32 = 4;
/// Size in bytes above which a memory is large. Only one memory of a component may be large. A string that one part of a
/// component passes to another has to fit into the memories of both, of which at least one is small, so at most this size is
/// copied without interruption.
const MAX_SMALL_MEMORY_BYTES: usize = 8 << 20;
/// Maximum number of tables of one component.
pub(crate) const MAX_TABLES: u32 = 16;

/// Counts the bytes of all memories and tables of a store, and refuses growth beyond the limit.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    max_bytes: usize,
    max_table_elements: usize,
    /// Size of all memories and tables now.
    bytes: usize,
    peak_bytes: usize,
    /// Whether the last growth was refused.
    refused: bool,
    /// Whether a memory is larger than [`MAX_SMALL_MEMORY_BYTES`].
    has_large_memory: bool,
    /// The last growth that was allowed.
    last_growth: Option<Growth>,
}

/// What is needed to undo a growth that was allowed but that the engine then fails to make.
#[derive(Debug)]
struct Growth {
    added_bytes: usize,
    peak_bytes_before: usize,
    /// Whether the memory was small before and would be large now.
    made_memory_large: bool,
}

impl MemoryLimiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            max_bytes: usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX),
            max_table_elements: limits.table_elements as usize,
            bytes: 0,
            peak_bytes: 0,
            refused: false,
            has_large_memory: false,
            last_growth: None,
        }
    }

    /// Returns the maximum number of bytes that were in use at the same time.
    pub(crate) fn peak(&self) -> u64 {
        self.peak_bytes as u64
    }

    /// Returns whether the last growth was refused. If the guest traps while this is so, the refusal counts as the cause.
    pub(crate) fn refused_last_growth(&self) -> bool {
        self.refused
    }

    /// Counts the growth of a memory or table from `current` to `desired` elements. If the memories and tables
    /// together would exceed the limit, refuses the growth and returns false.
    fn grow(&mut self, current: usize, desired: usize, element_bytes: usize) -> bool {
        let added = desired.saturating_sub(current).saturating_mul(element_bytes);
        let bytes = self.bytes.saturating_add(added);
        if bytes > self.max_bytes {
            self.refuse();
            return false;
        }
        self.last_growth = Some(Growth {
            added_bytes: added,
            peak_bytes_before: self.peak_bytes,
            made_memory_large: false,
        });
        self.refused = false;
        self.bytes = bytes;
        self.peak_bytes = self.peak_bytes.max(bytes);
        true
    }

    fn refuse(&mut self) {
        self.last_growth = None;
        self.refused = true;
    }

    /// Undoes the last growth, which was allowed but failed.
    fn undo_growth(&mut self) {
        if let Some(growth) = self.last_growth.take() {
            self.bytes -= growth.added_bytes;
            self.peak_bytes = growth.peak_bytes_before;
            self.has_large_memory &= !growth.made_memory_large;
        }
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let becomes_large = current <= MAX_SMALL_MEMORY_BYTES && desired > MAX_SMALL_MEMORY_BYTES;
        if becomes_large && self.has_large_memory {
            self.refuse();
            return Ok(false);
        }
        let grows = self.grow(current, desired, 1);
        if let Some(growth) = self.last_growth.as_mut().filter(|_| grows && becomes_large) {
            growth.made_memory_large = true;
            self.has_large_memory = true;
        }
        Ok(grows)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.max_table_elements {
            self.refuse();
            return Ok(false);
        }
        Ok(self.grow(current, desired, TABLE_ELEMENT_BYTES))
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.undo_growth();
        Ok(())
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.undo_growth();
        Ok(())
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES as usize
    }

    fn tables(&self) -> usize {
        MAX_TABLES as usize
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter_of(memory_bytes: u64) -> MemoryLimiter {
        MemoryLimiter::new(&Limits {
            memory_bytes,
            ..Limits::EXECUTE
        })
    }

    #[test]
    fn the_sizes_of_all_memories_are_added() {
        let mut limiter = limiter_of(100);
        assert!(limiter.grow(0, 60, 1));
        assert!(!limiter.grow(0, 60, 1));
        assert!(limiter.refused_last_growth());
        assert_eq!(limiter.peak(), 60);
    }

    #[test]
    fn growth_up_to_the_limit_is_allowed() {
        let mut limiter = limiter_of(100);
        assert!(limiter.grow(0, 60, 1));
        assert!(limiter.grow(60, 100, 1));
        assert!(!limiter.refused_last_growth());
    }

    #[test]
    fn a_growth_that_the_engine_failed_to_make_is_not_counted() {
        let mut limiter = limiter_of(100);
        assert!(limiter.grow(0, 60, 1));
        assert!(limiter.grow(60, 100, 1));
        limiter.memory_grow_failed(wasmtime::Error::msg("no")).unwrap();
        // A second report without a growth in between changes nothing.
        limiter.memory_grow_failed(wasmtime::Error::msg("again")).unwrap();
        assert_eq!(limiter.peak(), 60);
        assert!(limiter.grow(60, 100, 1));
    }

    #[test]
    fn only_one_memory_may_be_large() {
        let mut limiter = limiter_of(100 * MAX_SMALL_MEMORY_BYTES as u64);
        let mut grows = |current, desired| limiter.memory_growing(current, desired, None).unwrap();
        assert!(grows(0, 2 * MAX_SMALL_MEMORY_BYTES));
        assert!(grows(2 * MAX_SMALL_MEMORY_BYTES, 3 * MAX_SMALL_MEMORY_BYTES));
        assert!(grows(0, MAX_SMALL_MEMORY_BYTES));
        assert!(!grows(MAX_SMALL_MEMORY_BYTES, MAX_SMALL_MEMORY_BYTES + 1));
        assert!(!grows(0, 2 * MAX_SMALL_MEMORY_BYTES));
        assert!(limiter.refused_last_growth());
    }

    #[test]
    fn a_memory_that_the_engine_failed_to_make_large_is_small() {
        let mut limiter = limiter_of(100 * MAX_SMALL_MEMORY_BYTES as u64);
        assert!(limiter.memory_growing(0, 3 * MAX_SMALL_MEMORY_BYTES, None).unwrap());
        limiter
            .memory_grow_failed(wasmtime::Error::msg("above the maximum of the memory"))
            .unwrap();
        assert!(limiter.memory_growing(0, 2 * MAX_SMALL_MEMORY_BYTES, None).unwrap());
        assert!(!limiter.memory_growing(0, 2 * MAX_SMALL_MEMORY_BYTES, None).unwrap());
    }

    #[test]
    fn tables_count_as_memory() {
        let mut limiter = limiter_of(100);
        let max_elements = 100 / TABLE_ELEMENT_BYTES;
        assert!(limiter.table_growing(0, max_elements, None).unwrap());
        assert!(!limiter.table_growing(max_elements, max_elements + 1, None).unwrap());
    }
}
