//! How much memory one call may hold, over all its memories and tables together.

use art_core::limits::Limits;
use wasmtime::ResourceLimiter;

/// Bytes that one element of a table costs the host.
const TABLE_ELEMENT_BYTES: usize = 16;
/// Core instances of one component: the tool's own module and the adapters around it.
const MAX_INSTANCES: usize = 32;
const MAX_MEMORIES: usize = 4;
const MAX_TABLES: usize = 16;

/// Counts what all memories and tables of a store hold and refuses growth past the limit.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    limit: usize,
    table_elements: usize,
    held: usize,
    peak: usize,
    refused: bool,
}

impl MemoryLimiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            limit: usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX),
            table_elements: limits.table_elements as usize,
            held: 0,
            peak: 0,
            refused: false,
        }
    }

    /// Largest number of bytes held at one time.
    pub(crate) fn peak(&self) -> u64 {
        self.peak as u64
    }

    /// Whether growth was refused, which is what a trap that follows is about.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    fn grow(&mut self, current: usize, desired: usize, element_bytes: usize) -> bool {
        let added = desired.saturating_sub(current).saturating_mul(element_bytes);
        let held = self.held.saturating_add(added);
        if held > self.limit {
            self.refused = true;
            return false;
        }
        self.held = held;
        self.peak = self.peak.max(held);
        true
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.grow(current, desired, 1))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.table_elements {
            self.refused = true;
            return Ok(false);
        }
        Ok(self.grow(current, desired, TABLE_ELEMENT_BYTES))
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES
    }

    fn tables(&self) -> usize {
        MAX_TABLES
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES
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
    fn tables_count_as_memory() {
        let mut limiter = limiter(100);
        assert!(limiter.table_growing(0, 6, None).unwrap());
        assert!(!limiter.table_growing(6, 7, None).unwrap());
    }
}
