//! Places at which a test stops the process, to check what a crash leaves behind.
//!
//! Each place calls [`FailPoint::reach`], which does nothing unless the program [installed](install) a hook. The program `art`
//! never does; the programs of crash tests do.

use std::sync::OnceLock;

/// A place in a store, or in a host that uses one, at which a crash must do no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailPoint {
    /// The file of a new database is complete and is about to get its name.
    BeforeRename,
    /// A migration to the next format was run and is not committed yet.
    BeforeMigrationCommit,
    /// A store registers as a holder of leases: the file whose lock will show that the store is open was created and is not
    /// locked yet.
    BeforeHolderLock,
    /// The writer thread of a store has run a group of writes and has not committed it yet.
    BeforeCommit,
    /// The writer thread has committed a group of writes and has not told the callers yet.
    AfterCommit,
    /// A host has the lease of a thread and has committed nothing of its new run yet.
    LeaseAcquired,
    /// A host takes over an interrupted run: it has the lease of the thread and has committed nothing yet.
    TakenOver,
    /// The host is about to commit the intents of tool calls: the journal entries that announce the calls.
    BeforeIntents,
    /// The intents of tool calls are committed, and the calls are not made yet.
    AfterIntents,
    /// Tool calls have ended, and their ends are not committed yet.
    BeforeToolEnds,
    /// The ends of tool calls are committed, and the host has not used them yet.
    AfterToolEnds,
    /// The decision about a suspended call is made and not stored yet.
    BeforeDecision,
    /// The decision about a suspended call is stored, and the run has not used it yet.
    AfterDecision,
    /// A run has ended, and its end is not committed yet.
    BeforeRunEnd,
    /// The end of a run is committed, and nobody was told yet.
    AfterRunEnd,
}

/// The hook of the process, if it has one.
static HOOK: OnceLock<fn(FailPoint)> = OnceLock::new();

/// Installs the function that is called at each place. If one is installed already, it stays.
pub fn install(hook: fn(FailPoint)) {
    HOOK.get_or_init(|| hook);
}

impl FailPoint {
    /// All places.
    pub const ALL: [Self; 15] = [
        Self::BeforeRename,
        Self::BeforeMigrationCommit,
        Self::BeforeHolderLock,
        Self::BeforeCommit,
        Self::AfterCommit,
        Self::LeaseAcquired,
        Self::TakenOver,
        Self::BeforeIntents,
        Self::AfterIntents,
        Self::BeforeToolEnds,
        Self::AfterToolEnds,
        Self::BeforeDecision,
        Self::AfterDecision,
        Self::BeforeRunEnd,
        Self::AfterRunEnd,
    ];

    /// Returns the name of the place.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforeRename => "before_rename",
            Self::BeforeMigrationCommit => "before_migration_commit",
            Self::BeforeHolderLock => "before_holder_lock",
            Self::BeforeCommit => "before_commit",
            Self::AfterCommit => "after_commit",
            Self::LeaseAcquired => "lease_acquired",
            Self::TakenOver => "taken_over",
            Self::BeforeIntents => "before_intents",
            Self::AfterIntents => "after_intents",
            Self::BeforeToolEnds => "before_tool_ends",
            Self::AfterToolEnds => "after_tool_ends",
            Self::BeforeDecision => "before_decision",
            Self::AfterDecision => "after_decision",
            Self::BeforeRunEnd => "before_run_end",
            Self::AfterRunEnd => "after_run_end",
        }
    }

    /// Calls the hook, if one is installed.
    pub fn reach(self) {
        if let Some(hook) = HOOK.get() {
            hook(self);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_place_has_a_name_of_its_own() {
        let names: BTreeSet<_> = FailPoint::ALL.iter().map(|point| point.name()).collect();
        assert_eq!(names.len(), FailPoint::ALL.len());
    }

    #[test]
    fn every_place_can_be_reached_without_a_hook() {
        FailPoint::ALL.iter().for_each(|point| point.reach());
    }
}
