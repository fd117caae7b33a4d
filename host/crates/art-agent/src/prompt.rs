//! Builds prompts. Untrusted text is quoted line by line or written as JSON on one line, so only the host can write a
//! line that begins with `## ` (B25): a question, a tool or an earlier reply cannot forge a section.

mod example;
mod execution;
mod fit;
mod fragment;
mod guidance;
mod manager;
mod planning;
mod quote;
mod synthesis;
mod system;
mod template;

pub(crate) use execution::{
    begin_step, continue_message, earlier_items, enforcement, problem_message, tool_message, unresolved,
};
pub(crate) use fit::{budget, fit, request_tokens, text_tokens};
pub use manager::PromptManager;
pub(crate) use planning::{planning, repair};
pub(crate) use quote::sanitize;
pub(crate) use synthesis::{result_listing, synthesis};
pub use system::resolve_system_prompt;
