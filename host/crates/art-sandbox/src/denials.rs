//! Collects what a call was not allowed to do.

use art_core::capability::{Denial, MAX_DENIALS};

/// The denials of one call. Equal denials are kept once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Denials(Vec<Denial>);

impl Denials {
    /// Adds a denial. Drops it if an equal one was added before, or if there are already [`MAX_DENIALS`].
    pub(crate) fn push(&mut self, denial: Denial) {
        if self.0.len() < MAX_DENIALS && !self.0.contains(&denial) {
            self.0.push(denial);
        }
    }

    /// Returns the denials, and clears them.
    pub(crate) fn take(&mut self) -> Vec<Denial> {
        std::mem::take(&mut self.0)
    }
}
