//! How much memory one call may hold, over all its memories and tables together.

use art_core::limits::Limits;
use wasmtime::ResourceLimiter;

/// Bytes that one element of a table costs the host.
const TABLE_ELEMENT_BYTES: usize = 16;
/// Core instances of one component: the tool's own modules and the adapters around them. A tool in Python has 38.
pub(crate) const MAX_INSTANCES: u32 = 64;
/// Linear memories of one component.
pub(crate) const MAX_MEMORIES: u32 = 4;
/// Bytes that a memory may have beside a larger one. A text that one member of a component passes to another is in both
/// of their memories and is copied at once, without interruption.
const SMALL_MEMORY: usize = 8 << 20;
/// Tables of one component.
pub(crate) const MAX_TABLES: u32 = 16;

/// Counts the bytes of all memories and tables of a store, and refuses growth beyond the limit.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    limit: usize,
    table_elements: usize,
    held: usize,
    peak: usize,
    refused: bool,
    /// Whether there is a memory that is not small.
    has_large: bool,
    /// Size of the last growth, and the peak before it: the engine may still fail to grow.
    last: Option<(usize, usize)>,
}

impl MemoryLimiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            limit: usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX),
            table_elements: limits.table_elements as usize,
            held: 0,
            peak: 0,
            refused: false,
            has_large: false,
            last: None,
        }
    }

    /// Returns the largest number of bytes held at one time.
    pub(crate) fn peak(&self) -> u64 {
        self.peak as u64
    }

    /// Returns whether growth was refused, which explains a trap after it.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    fn grow(&mut self, current: usize, desired: usize, element_bytes: usize) -> bool {
        let added = desired.saturating_sub(current).saturating_mul(element_bytes);
        let held = self.held.saturating_add(added);
        if held > self.limit {
            self.refuse();
            return false;
        }
        self.last = Some((added, self.peak));
        self.refused = false;
        self.held = held;
        self.peak = self.peak.max(held);
        true
    }

    fn refuse(&mut self) {
        self.last = None;
        self.refused = true;
    }

    /// Takes back the growth that was allowed last and did not happen.
    fn undo(&mut self) {
        if let Some((added, peak)) = self.last.take() {
            self.held -= added;
            self.peak = peak;
        }
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let becomes_large = current <= SMALL_MEMORY && desired > SMALL_MEMORY;
        if becomes_large && self.has_large {
            self.refuse();
            return Ok(false);
        }
        let grows = self.grow(current, desired, 1);
        self.has_large |= becomes_large && grows;
        Ok(grows)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.table_elements {
            self.refuse();
            return Ok(false);
        }
        Ok(self.grow(current, desired, TABLE_ELEMENT_BYTES))
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.undo();
        Ok(())
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.undo();
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

    fn limiter(memory_bytes: u64) -> MemoryLimiter {
        MemoryLimiter::new(&Limits {
            memory_bytes,
            ..Limits::EXECUTE
        })
    }

    #[test]
    fn many_small_memories_count_together() {
        let mut limiter = limiter(100);
        assert!(limiter.grow(0, 60, 1));
        assert!(!limiter.grow(0, 60, 1));
        assert!(limiter.refused());
        assert_eq!(limiter.peak(), 60);
    }

    #[test]
    fn growth_up_to_the_limit_is_allowed() {
        let mut limiter = limiter(100);
        assert!(limiter.grow(0, 60, 1));
        assert!(limiter.grow(60, 100, 1));
        assert!(!limiter.refused());
    }

    #[test]
    fn growth_that_failed_later_is_not_counted() {
        let mut limiter = limiter(100);
        assert!(limiter.grow(0, 60, 1));
        assert!(limiter.grow(60, 100, 1));
        limiter.memory_grow_failed(wasmtime::Error::msg("no")).unwrap();
        limiter.memory_grow_failed(wasmtime::Error::msg("told twice")).unwrap();
        assert_eq!(limiter.peak(), 60);
        assert!(limiter.grow(60, 100, 1));
    }

    #[test]
    fn only_one_memory_may_be_large() {
        let mut limiter = limiter(100 * SMALL_MEMORY as u64);
        let mut grows = |current, desired| limiter.memory_growing(current, desired, None).unwrap();
        assert!(grows(0, 2 * SMALL_MEMORY));
        assert!(grows(2 * SMALL_MEMORY, 3 * SMALL_MEMORY));
        assert!(grows(0, SMALL_MEMORY));
        assert!(!grows(SMALL_MEMORY, SMALL_MEMORY + 1));
        assert!(!grows(0, 2 * SMALL_MEMORY));
        assert!(limiter.refused());
    }

    #[test]
    fn tables_count_as_memory() {
        let mut limiter = limiter(100);
        assert!(limiter.table_growing(0, 6, None).unwrap());
        assert!(!limiter.table_growing(6, 7, None).unwrap());
    }
}
