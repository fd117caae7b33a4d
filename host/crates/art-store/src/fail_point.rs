//! Places at which a test stops the process, to check what a crash leaves behind.
//!
//! Each place calls [`FailPoint::reach`], which does nothing unless the program [installed](install) a hook. The program `art` never
//! does; the programs of crash tests do.

use std::sync::OnceLock;

/// A place in a store, or in a host that uses one, at which a crash must do no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailPoint {
    /// A new database is complete and does not have its name yet.
    BeforeRename,
    /// A step of a migration was made and is not committed.
    BeforeMigration,
    /// The file of a new holder of leases exists and is not locked.
    BeforeHolder,
    /// The writer has run a group of writes and not committed it.
    BeforeCommit,
    /// The writer has committed a group of writes and told no caller.
    AfterCommit,
    /// A host has the lease of a thread and has committed nothing of its new run.
    LeaseAcquired,
    /// A host has the lease of the thread whose interrupted run it takes over, and has committed nothing.
    TakenOver,
    /// Announcements of tool calls are not committed.
    BeforeIntents,
    /// Announcements of tool calls are committed, and the calls are not made.
    AfterIntents,
    /// Tool calls have ended, and their ends are not committed.
    BeforeToolEnds,
    /// The ends of tool calls are committed, and nothing was done with them.
    AfterToolEnds,
    /// The decision about a suspended call is not stored.
    BeforeDecision,
    /// The decision about a suspended call is stored, and its run has not taken it.
    AfterDecision,
    /// The end of a run is not committed.
    BeforeRunEnd,
    /// The end of a run is committed, and nobody was told.
    AfterRunEnd,
}

/// The hook of the process, if it has one.
static HOOK: OnceLock<fn(FailPoint)> = OnceLock::new();

/// Installs the function that is called at each place. A second call has no effect.
pub fn install(hook: fn(FailPoint)) {
    HOOK.get_or_init(|| hook);
}

impl FailPoint {
    /// All places.
    pub const ALL: [Self; 15] = [
        Self::BeforeRename,
        Self::BeforeMigration,
        Self::BeforeHolder,
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
            Self::BeforeMigration => "before_migration",
            Self::BeforeHolder => "before_holder",
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
