//! Builds actions in full. Prompts, schemas and attachments are added only when the driver needs them.

use art_core::pes::TodoItem;
use art_core::prompt::{ArtStandardPrompt, Message};
use art_core::provider::{ModelCapability, ModelRequest, ReplyFormat};
use art_core::stream::{Phase, StepContext};
use art_core::tool::{ParsedToolCall, ToolSchema};

use super::{OpenAction, Run, Stage};
use crate::action::{Action, ActionId, FileArgument};
use crate::attachment;
use crate::taef::is_tool_step;
use crate::{prompt, shortlist};

/// A model call with its request.
pub(super) struct PreparedCall {
    /// The plan item that makes the call; `None` for planning and synthesis.
    pub(super) item_id: Option<String>,
    /// Number of the call within its phase or item, from 1.
    pub(super) iteration: u32,
    pub(super) request: ModelRequest,
}

impl Run {
    /// Returns an open action in full, or `None` if it is not open.
    #[must_use]
    pub fn action(&self, id: ActionId) -> Option<Action> {
        let action = match self.open.get(&id)? {
            OpenAction::Tools { item, calls } => Action::CallTools {
                id,
                item_id: item.clone(),
                calls: calls.iter().map(|call| self.expand_attachments(call)).collect(),
                files: calls.iter().flat_map(|call| self.file_arguments(call)).collect(),
            },
            model => {
                let mut call = self.request(model, self.token_budget_of(id))?;
                call.request.task = self.task(model);
                Action::CallModel {
                    id,
                    item_id: call.item_id,
                    iteration: call.iteration,
                    request: Box::new(call.request),
                }
            }
        };
        Some(action)
    }

    /// Replaces the names of the question's attachments in the arguments by their contents.
    fn expand_attachments(&self, call: &ParsedToolCall) -> ParsedToolCall {
        ParsedToolCall {
            arguments: attachment::expand(&call.arguments, &self.start.props.attachments),
            ..call.clone()
        }
    }

    /// Returns the arguments that name files of earlier calls.
    fn file_arguments(&self, call: &ParsedToolCall) -> Vec<FileArgument> {
        let mut arguments = Vec::new();
        for (pointer, file) in attachment::file_arguments(&call.arguments, &self.start.props.attachments, &self.files) {
            arguments.push(FileArgument {
                call_id: call.call_id.clone(),
                pointer,
                digest: file.digest.clone(),
            });
        }
        arguments
    }

    /// Returns the tools whose complete schemas a step gets: its required tools; if it names none, the tools most
    /// similar to its description, or all tools if the context is unlimited.
    pub(super) fn tools_of(&self, item: &TodoItem) -> Vec<ToolSchema> {
        if !is_tool_step(item) {
            return Vec::new();
        }
        let required = |tool: &&ToolSchema| item.required_tools.contains(&tool.name);
        if !item.required_tools.is_empty() {
            return self.start.tools.iter().filter(required).cloned().collect();
        }
        if self.start.context.is_unbounded() {
            return self.start.tools.clone();
        }
        shortlist::for_step(&self.start, item)
            .tools
            .into_iter()
            .cloned()
            .collect()
    }

    /// Returns the model call of `action`, with its request cut to `budget` tokens as far as possible. Returns `None` for tool
    /// calls.
    pub(super) fn request(&self, action: &OpenAction, budget: Option<u64>) -> Option<PreparedCall> {
        let mut call = self.full_request(action)?;
        if let Some(budget) = budget {
            prompt::fit(&mut call.request, self.task_index(action), budget);
        }
        Some(call)
    }

    /// Returns the index of the message that states the task: after the conversation, before the replies to the task.
    fn task_index(&self, action: &OpenAction) -> usize {
        match (action, &self.stage) {
            (OpenAction::Plan, Stage::Planning { messages, repairs }) => {
                // Each repair adds the reply and its problems.
                let later_messages = usize::try_from(*repairs).unwrap_or(usize::MAX).saturating_mul(2);
                messages.len().saturating_sub(later_messages.saturating_add(1))
            }
            (OpenAction::Answer, Stage::Synthesis { messages }) => messages.len().saturating_sub(1),
            // An item has a system message, and then its task.
            _ => 1,
        }
    }

    /// Builds the request of `action` in full length, with the capabilities that it needs (C43).
    fn full_request(&self, action: &OpenAction) -> Option<PreparedCall> {
        let media = attachment::media(&self.start.props.attachments, self.start.vision);
        let vision = (!media.is_empty()).then_some(ModelCapability::Vision);
        let build = |messages: &[Message], phase, capability| ModelRequest {
            required_capabilities: std::iter::once(capability).chain(vision).collect(),
            media,
            params: self.start.params.clone(),
            ..ModelRequest::new(ArtStandardPrompt(messages.to_vec()), phase)
        };
        match (action, &self.stage) {
            (OpenAction::Plan, Stage::Planning { messages, repairs }) => {
                let mut request = build(messages, Phase::Planning, ModelCapability::Reasoning);
                request.reply_format = ReplyFormat::Json;
                Some(PreparedCall {
                    item_id: None,
                    iteration: repairs.saturating_add(1),
                    request,
                })
            }
            (OpenAction::Answer, Stage::Synthesis { messages }) => Some(PreparedCall {
                item_id: None,
                iteration: 1,
                request: build(messages, Phase::Synthesis, ModelCapability::Text),
            }),
            (OpenAction::Item(id), _) => {
                let (item, item_run) = (self.item(id)?, self.running.get(id)?);
                let mut request = build(&item_run.messages, Phase::Execution, ModelCapability::Reasoning);
                if item_run.native_tools {
                    // The prompt contains the examples, because no provider's format has a field for them.
                    let without_examples = |tool| ToolSchema {
                        examples: Vec::new(),
                        ..tool
                    };
                    request.tools = self.tools_of(item).into_iter().map(without_examples).collect();
                    let calls = (!request.tools.is_empty()).then_some(ModelCapability::ToolUse);
                    request.required_capabilities.extend(calls);
                }
                request.step = Some(StepContext {
                    step_id: id.clone(),
                    step_description: item.description.clone(),
                });
                Some(PreparedCall {
                    item_id: Some(id.clone()),
                    iteration: item_run.iteration,
                    request,
                })
            }
            _ => None,
        }
    }
}
