//! Bounds the memory of the resident programs, which are those that are loaded or being loaded. A folder may have many more
//! tools than fit in memory, since most are never called while a host runs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::LoadError;
use crate::program::Program;

/// Maximum memory of all resident programs together, in bytes and without their compiled code: enough for some hundred ordinary
/// tools.
pub(crate) const MAX_BYTES: u64 = 256 << 20;

/// The programs that are loaded or being loaded, the oldest first.
#[derive(Default)]
pub(crate) struct ResidentPrograms(Mutex<VecDeque<Weak<Program>>>);

impl ResidentPrograms {
    /// Makes room for a program that is going to be loaded: unloads the oldest programs that no call uses. They are loaded
    /// again when they are called. From now on, the memory of the new program counts.
    ///
    /// # Errors
    /// Fails if the other programs take too much memory and cannot be unloaded, because calls use them or they are being
    /// loaded.
    pub(crate) fn make_room_for(&self, program: &Arc<Program>) -> Result<(), LoadError> {
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_other_and_resident = |other: &Weak<Program>| {
            let other = other.upgrade();
            other.is_some_and(|other| !Arc::ptr_eq(&other, program) && other.is_resident())
        };
        programs.retain(is_other_and_resident);
        let others: Vec<_> = programs.iter().filter_map(Weak::upgrade).collect();
        let mut total = others.iter().map(|other| other.bytes()).sum::<u64>() + program.bytes();
        for other in &others {
            if total <= MAX_BYTES {
                break;
            }
            if other.unload_if_idle() {
                total -= other.bytes();
            }
        }
        if total > MAX_BYTES {
            return Err(LoadError::NoMemory { limit: MAX_BYTES });
        }
        programs.push_back(Arc::downgrade(program));
        Ok(())
    }

    /// Returns the memory of the programs that are loaded or being loaded, in bytes and without their compiled code.
    pub(crate) fn bytes(&self) -> u64 {
        let programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let resident = programs.iter().filter_map(Weak::upgrade);
        resident
            .filter(|program| program.is_resident())
            .map(|program| program.bytes())
            .sum()
    }
}
