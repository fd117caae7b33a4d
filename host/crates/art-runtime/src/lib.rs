//! The ART host as a library: what a program embeds.
//!
//! A [`Runtime`] answers questions with tools: components that run in a sandbox, and functions of the program itself. This
//! crate is all that a program depends on beside tokio.
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
//!     .home("/var/lib/my-program") // without a home nothing is kept
//!     .model("openai") // without a name the embedded model is asked, which needs no network
//!     .tool(population.example("How many people live in Paris?", json!({"city": "Paris"})))
//!     .build()
//!     .await?;
//! let answer = runtime.ask("How many people live in Paris?").await?;
//! println!("{answer}");
//! # Ok(())
//! # }
//! ```
//!
//! An [`Answer`] displays as its text; its status, steps and files are typed. [`Runtime::ask_watched`] tells a [`Watcher`] what
//! happens on the way and takes a token that cancels the run.
//!
//! # Debug builds
//!
//! A program that embeds it needs a profile for its debug builds, in which the compiler of components is optimised: without it
//! the first start with components takes minutes. `examples/embed/README.md` has that profile, and
//! [`RuntimeBuilder::on_compiled`] hears of what is compiled.
//!
//! # Inside
//!
//! [`compose`] puts the parts together, and the one loop of `drive.rs` takes a question through them. The crate knows no command line and no
//! terminal; the program `art` is built on it. `host/ARCHITECTURE.md` has the whole picture.

mod builder;
pub mod compose;
pub mod config;
mod drive;
pub mod error;
pub mod plugins;
mod recover;
pub mod rehearse;
mod runtime;

pub use art_sdk_macros::native_args as args;
pub use builder::RuntimeBuilder;
pub use drive::{Answer, CallCost, CallSettings, Question, Streamed, Unwatched, Watcher};
pub use error::RuntimeError;
pub use runtime::Runtime;

/// The crates below, for programs with a model, a store or a watcher of their own.
pub use {art_agent, art_core, art_model, art_sandbox, art_store, art_tools};
/// What types of these crates are made of.
pub use {futures_util, schemars, serde, serde_json, tokio_util};

/// What most programs need, for `use art_runtime::prelude::*;`.
pub mod prelude {
    pub use art_core::agent::RunStatus;
    pub use art_tools::DirectTool;
    pub use serde_json::{Value, json};

    pub use crate::{Answer, Question, Runtime, RuntimeError, Watcher, args};
}
