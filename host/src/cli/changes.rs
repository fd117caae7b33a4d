//! `art changes`. What a tool writes can be staged: kept apart from the files until a person commits or drops it. The staged
//! changes of a call are kept in change sets.

use std::path::PathBuf;

use clap::Subcommand;

/// Subcommands of `art changes`.
#[derive(Debug, Subcommand)]
pub enum ChangesCommand {
    /// List the changes that tools want to make to files and that are not committed yet
    List,
    /// Show what would change, as a diff
    #[command(after_help = "Examples:\n  art changes show\n  art changes show 0192f1c2 notes/todo.txt")]
    Show {
        /// Run or change set: its identifier, a unique prefix of it, or `last`; default: all changes that are not committed yet
        #[arg(value_name = "RUN_OR_SET")]
        run_or_set: Option<String>,
        /// Only these files
        files: Vec<PathBuf>,
    },
    /// Make the changes
    ///
    /// The chosen changes of one change set are made together or not at all; a run can have several change sets. A file that was
    /// changed by somebody else in the meantime is never overwritten.
    #[command(after_help = "Examples:\n  art changes commit last\n  art changes commit 0192f1c2 notes/todo.txt")]
    Commit {
        /// Run or change set: its identifier, a unique prefix of it, or `last`
        #[arg(value_name = "RUN_OR_SET")]
        run_or_set: String,
        /// Only these files
        files: Vec<PathBuf>,
    },
    /// Forget the changes
    #[command(after_help = "Examples:\n  art changes drop 0192f1c2\n  art changes drop 0192f1c2 notes/todo.txt")]
    Drop {
        /// Run or change set: its identifier, a unique prefix of it, or `last`
        #[arg(value_name = "RUN_OR_SET")]
        run_or_set: String,
        /// Only these files
        files: Vec<PathBuf>,
    },
}
