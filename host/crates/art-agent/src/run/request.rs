//! Builds actions in full. Prompts, schemas and attachments are added only when the driver needs them.

use art_core::pes::TodoItem;
use art_core::prompt::{ArtStandardPrompt, Message};
use art_core::provider::{ModelCapability, ModelRequest, ReplyFormat};
use art_core::stream::{Phase, StepContext};
use art_core::tool::{ParsedToolCall, ToolSchema};

use super::{OpenAction, Run, Stage};
use crate::action::{Action, ActionId, FilePlace};
use crate::attachment;
use crate::file::RunFile;
use crate::taef::is_tool_step;
use crate::{prompt, shortlist};

impl Run {
    /// Returns an open action in full, or `None` if it is not open.
    #[must_use]
    pub fn action(&self, id: ActionId) -> Option<Action> {
        let action = match self.open.get(&id)? {
            OpenAction::Tools { item, calls } => Action::CallTools {
                id,
                item_id: item.clone(),
                calls: calls.iter().map(|call| self.expanded(call)).collect(),
                files: calls.iter().flat_map(|call| self.file_places(call)).collect(),
            },
            model => {
                let (item_id, iteration, mut request) = self.request(model, self.budget_of(id))?;
                request.task = self.task(model);
                Action::CallModel {
                    id,
                    item_id,
                    iteration,
                    request: Box::new(request),
                }
            }
        };
        Some(action)
    }

    fn expanded(&self, call: &ParsedToolCall) -> ParsedToolCall {
        ParsedToolCall {
            arguments: attachment::expand(&call.arguments, &self.start.props.attachments),
            ..call.clone()
        }
    }

    fn file_places(&self, call: &ParsedToolCall) -> Vec<FilePlace> {
        let places = attachment::places(&call.arguments, &self.start.props.attachments, &self.files);
        let place = |(pointer, file): (String, &RunFile)| FilePlace {
            call_id: call.call_id.clone(),
            pointer,
            digest: file.digest.clone(),
        };
        places.into_iter().map(place).collect()
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

    /// Returns the item, the number of the call and the request of `action`, cut to `budget` tokens as far as possible.
    pub(super) fn request(
        &self,
        action: &OpenAction,
        budget: Option<u64>,
    ) -> Option<(Option<String>, u32, ModelRequest)> {
        let (item_id, iteration, mut request) = self.whole_request(action)?;
        if let Some(budget) = budget {
            prompt::fit(&mut request, self.task_place(action), budget);
        }
        Some((item_id, iteration, request))
    }

    /// Returns the index of the message that states the task: after the conversation, before the replies to the task.
    fn task_place(&self, action: &OpenAction) -> usize {
        match (action, &self.stage) {
            (OpenAction::Plan, Stage::Planning { messages, repairs }) => {
                let said_since = usize::try_from(*repairs).unwrap_or(usize::MAX).saturating_mul(2);
                messages.len().saturating_sub(said_since.saturating_add(1))
            }
            (OpenAction::Answer, Stage::Synthesis { messages }) => messages.len().saturating_sub(1),
            _ => 1,
        }
    }

    /// Builds the request of `action` in full length, with the capabilities that it needs (C43).
    fn whole_request(&self, action: &OpenAction) -> Option<(Option<String>, u32, ModelRequest)> {
        let media = attachment::media(&self.start.props.attachments, self.start.vision);
        let vision = (!media.is_empty()).then_some(ModelCapability::Vision);
        let request = |messages: &[Message], phase, capability| ModelRequest {
            required_capabilities: std::iter::once(capability).chain(vision).collect(),
            media,
            params: self.start.params.clone(),
            ..ModelRequest::new(ArtStandardPrompt(messages.to_vec()), phase)
        };
        match (action, &self.stage) {
            (OpenAction::Plan, Stage::Planning { messages, repairs }) => {
                let mut made = request(messages, Phase::Planning, ModelCapability::Reasoning);
                made.reply_format = ReplyFormat::Json;
                Some((None, repairs.saturating_add(1), made))
            }
            (OpenAction::Answer, Stage::Synthesis { messages }) => {
                Some((None, 1, request(messages, Phase::Synthesis, ModelCapability::Text)))
            }
            (OpenAction::Item(id), _) => {
                let (item, live) = (self.item(id)?, self.live.get(id)?);
                let mut made = request(&live.messages, Phase::Execution, ModelCapability::Reasoning);
                if live.native_tools {
                    // The prompt contains the examples, because no provider's format has a field for them.
                    let bare = |tool| ToolSchema {
                        examples: Vec::new(),
                        ..tool
                    };
                    made.tools = self.tools_of(item).into_iter().map(bare).collect();
                    let calls = (!made.tools.is_empty()).then_some(ModelCapability::ToolUse);
                    made.required_capabilities.extend(calls);
                }
                made.step = Some(StepContext {
                    step_id: id.clone(),
                    step_description: item.description.clone(),
                });
                Some((Some(id.clone()), live.iteration, made))
            }
            _ => None,
        }
    }
}
