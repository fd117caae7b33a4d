//! Counts the memory of the host that the objects of one call take: those which the guest fills through calls into the host, such
//! as the headers and the method of a request, the list of a directory, and the changes that wait for a person.
//!
//! An object has a [`Charge`] for its bytes. It gives them back when it becomes smaller, and when it is dropped. A call into the
//! host passes few megabytes at most, so it is carried out, and the [hook](crate::crossing) ends the call when it returns to a guest
//! that has too much. What an operation on files needs is charged before the guest gets it, and the operation fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Maximum memory of the host for the objects of one call, in bytes. A tool with four open requests takes about 100 KiB.
pub(crate) const MAX_HOST_MEMORY_BYTES: usize = 16 << 20;

/// The objects of the guest take too much memory of the host.
#[derive(Debug, thiserror::Error)]
#[error("the objects of the tool take more than {MAX_HOST_MEMORY_BYTES} bytes of memory of the host")]
pub(crate) struct HostMemoryExhausted;

/// The account of one call. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostMemory(Arc<Account>);

#[derive(Debug, Default)]
struct Account {
    bytes: AtomicUsize,
    /// Whether a charge was refused.
    has_refused: AtomicBool,
}

impl HostMemory {
    /// Charges `bytes` until the returned charge is dropped.
    pub(crate) fn charge(&self, bytes: usize) -> Charge {
        let mut charge = Charge {
            memory: self.clone(),
            bytes: 0,
        };
        charge.set(bytes);
        charge
    }

    /// Same as [`charge`](Self::charge), but charges nothing and returns `None` if the limit would be exceeded.
    pub(crate) fn try_charge(&self, bytes: usize) -> Option<Charge> {
        let charge = self.charge(bytes);
        if self.check().is_err() {
            self.0.has_refused.store(true, Ordering::Relaxed);
            return None;
        }
        Some(charge)
    }

    /// Returns whether [`try_charge`](Self::try_charge) has refused a charge.
    pub(crate) fn has_refused(&self) -> bool {
        self.0.has_refused.load(Ordering::Relaxed)
    }

    /// Fails if all charges together exceed [`MAX_HOST_MEMORY_BYTES`].
    pub(crate) fn check(&self) -> Result<(), HostMemoryExhausted> {
        match self.bytes() > MAX_HOST_MEMORY_BYTES {
            true => Err(HostMemoryExhausted),
            false => Ok(()),
        }
    }

    fn bytes(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }
}

/// The memory of one object. It is given back to the account when this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    memory: HostMemory,
    bytes: usize,
}

impl Charge {
    /// Changes the charge to `bytes`.
    pub(crate) fn set(&mut self, bytes: usize) {
        let account = &self.memory.0.bytes;
        if bytes > self.bytes {
            account.fetch_add(bytes - self.bytes, Ordering::Relaxed);
        } else {
            account.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }

    /// Raises the charge to `bytes`, for an object that keeps its memory when its content becomes smaller.
    pub(crate) fn raise_to(&mut self, bytes: usize) {
        self.set(self.bytes.max(bytes));
    }

    /// Charges the same for a copy of the object.
    pub(crate) fn for_copy(&self) -> Self {
        self.memory.charge(self.bytes)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_dropped_or_becomes_smaller_is_given_back() {
        let memory = HostMemory::default();
        let (mut one, other) = (memory.charge(10), memory.charge(5));
        let copy = one.for_copy();
        assert_eq!(memory.bytes(), 25);
        one.set(3);
        one.raise_to(2);
        drop(other);
        assert_eq!(memory.bytes(), 13);
        drop((one, copy));
        assert_eq!(memory.bytes(), 0);
    }

    #[test]
    fn the_maximum_is_allowed_and_a_byte_more_is_not() {
        let memory = HostMemory::default();
        let most = memory.charge(MAX_HOST_MEMORY_BYTES);
        memory.check().unwrap();
        let more = memory.charge(1);
        memory.check().unwrap_err();
        drop(more);
        assert!(memory.try_charge(1).is_none() && memory.has_refused());
        memory.check().unwrap();
        drop(most);
        assert!(memory.try_charge(1).is_some());
    }

    proptest! {
        #[test]
        fn the_account_is_the_sum_of_all_charges(sizes in prop::collection::vec((0_usize..100, 0_usize..1_000), 0..50)) {
            let memory = HostMemory::default();
            let mut charges: Vec<_> = (0..10).map(|_| memory.charge(0)).collect();
            for (index, bytes) in sizes {
                charges[index % 10].set(bytes);
                prop_assert_eq!(memory.bytes(), charges.iter().map(|charge| charge.bytes).sum::<usize>());
            }
        }
    }
}
