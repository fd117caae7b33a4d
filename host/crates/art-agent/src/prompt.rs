//! Builds prompts. Untrusted text is quoted line by line or written as JSON on one line, so only the host can write a
//! line that begins with `## ` (contract B25): a question, a tool or an earlier reply cannot forge a section.

mod example;
mod execution;
mod fit;
mod fragment;
mod guidance;
mod manager;
mod planning;
mod quote;
mod step;
mod submit;
mod synthesis;
mod system;
mod template;
mod tools;

pub(crate) use execution::{
    continue_message, missing_tools_message, problem_message, rejection_message, step_messages, tool_message,
    unmade_call_text, unmade_planned_calls_message,
};
pub(crate) use fit::{byte_tokens, cut_to_fit, max_request_tokens, reply_tokens, request_tokens, text_tokens};
pub use manager::PromptManager;
pub(crate) use planning::{PlannerConversation, planner_conversation, planner_message, repair_text};
pub(crate) use quote::sanitize;
pub(crate) use submit::{SUBMIT_PLAN, plan_schema, submit_plan};
pub(crate) use synthesis::{answer_request_text, result_listing};
pub use system::resolve_system_prompt;
pub(crate) use template::{UnsetVariables, render, variable_names};
