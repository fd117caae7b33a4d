//! The ART host as a library, for programs to embed.
//!
//! A [`Runtime`] answers questions with tools: components that run in a sandbox, and functions of the program itself. A
//! program depends only on this crate and on tokio.
//!
//! ```no_run
//! use art_runtime::prelude::*;
//!
//! #[args]
//! struct City {
//!     /// Name of the city.
//!     city: String,
//! }
//!
//! # async fn embed() -> Result<(), Box<dyn std::error::Error>> {
//! let population = DirectTool::typed(
//!     "city_population",
//!     "Returns how many people live in a city.",
//!     async |input: City| match input.city.as_str() {
//!         "Paris" => Ok(2_048_000),
//!         city => Err(format!("`{city}` is not in the list")),
//!     },
//! );
//! let runtime = Runtime::builder()
//!     .home("/var/lib/my-program") // without this folder everything is kept in memory
//!     .model("openai") // without a model the embedded one is used, which needs no network
//!     .tool(population.example("How many people live in Paris?", json!({"city": "Paris"})))
//!     .build()
//!     .await?;
//! let answer = runtime.ask("How many people live in Paris?").await?;
//! println!("{answer}");
//! # Ok(())
//! # }
//! ```
//!
//! An [`Answer`] displays as its text; its status, steps and files are typed. [`Runtime::ask_watched`] notifies a
//! [`Watcher`] of everything that happens and takes a token that cancels the run.
//!
//! # Debug builds
//!
//! A program that embeds the host needs a profile for its debug builds that optimises the WebAssembly compiler. Without
//! it, the first start with components takes minutes. `examples/embed/README.md` has that profile, and
//! [`RuntimeBuilder::on_compile_progress`] reports the progress of compiling.
//!
//! # Structure
//!
//! [`compose`] creates the tools, the models, the store and the sandbox of a configuration, and `drive.rs` answers a question
//! with them. The crate does not read a command line and does not use a terminal; the program `art` does.
//! `host/ARCHITECTURE.md` describes the whole.

mod ask_person;
mod builder;
pub mod compose;
pub mod config;
pub mod decisions;
pub mod deletion;
mod drive;
pub mod dry_run;
pub mod error;
pub mod export;
pub mod grants;
mod instance;
mod journal;
pub mod learn;
pub mod params;
pub mod planned;
pub mod plugins;
pub mod preview;
pub mod recording;
mod recover;
pub mod reload;
pub mod replay;
mod runtime;
pub mod secrets;
pub mod standing;
#[cfg(test)]
mod testing;

pub use art_sdk_macros::native_args as args;
pub use builder::RuntimeBuilder;
pub use decisions::{SuspendedState, UserSuspension};
pub use drive::{Answer, CallUsage, Question, QuestionSettings, ReplyPiece, Unwatched, UserCall, UserRun, Watcher};
pub use error::RuntimeError;
pub use instance::{
    ArtInstance, ConversationManager, ObservationManager, StateManager, StateSaving, Subscription, ThreadContext,
    create_art_instance,
};
pub use journal::read_journal;
pub use params::read_plan;
pub use planned::{PlanResult, PlanReview};
pub use recording::{Component, Recording};
pub use replay::{Difference, Replay, SkipReason, SkippedCall};
pub use runtime::Runtime;
pub use standing::{StandingApprovals, StoredApproval};

/// The other crates of the host, for programs with a model, a store or a watcher of their own.
pub use {art_agent, art_core, art_model, art_sandbox, art_store, art_tools};
/// Crates whose types appear in the interfaces above.
pub use {futures_util, schemars, serde, serde_json, tokio_util};

/// The items that most programs need, for `use art_runtime::prelude::*;`.
pub mod prelude {
    pub use art_core::agent::RunStatus;
    pub use art_tools::DirectTool;
    pub use serde_json::{Value, json};

    pub use crate::{Answer, Question, Runtime, RuntimeError, Watcher, args};
}
