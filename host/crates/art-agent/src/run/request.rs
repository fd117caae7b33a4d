//! Builds actions in full. Prompts, schemas and attachments are added only when the driver needs them.

use art_core::pes::TodoItem;
use art_core::prompt::{ArtStandardPrompt, Message};
use art_core::provider::{ModelCapability, ModelRequest, ReplyFormat, ToolChoice};
use art_core::stream::{Phase, StepContext};
use art_core::tool::{ParsedToolCall, ToolSchema};

use super::{OpenAction, Run};
use crate::action::{ActionId, FileArgument, ModelCall};
use crate::attachment::{self, Places};
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
    /// Returns a model call with its request, cut to `budget` tokens as far as possible. Returns `None` for tool calls, and for an item
    /// that is not in progress.
    pub(super) fn model_call(&self, id: ActionId, action: &OpenAction, budget: Option<u64>) -> Option<ModelCall> {
        let mut call = self.request(action, budget)?;
        call.request.task = self.task(action);
        Some(ModelCall {
            id,
            item_id: call.item_id,
            iteration: call.iteration,
            may_answer: self.may_answer(action),
            request: Box::new(call.request),
        })
    }

    /// Returns whether the text of a reply may be the answer. A planner without function calls writes plans as text, and its answers
    /// inside JSON.
    const fn may_answer(&self, action: &OpenAction) -> bool {
        match action {
            OpenAction::Plan => self.start.native_tools,
            OpenAction::Answer => true,
            OpenAction::Item(_) | OpenAction::Tools(_) => false,
        }
    }

    /// Replaces the names of the question's attachments in the arguments by their contents.
    pub(super) fn expand_attachments(&self, item_id: &str, call: &ParsedToolCall) -> ParsedToolCall {
        ParsedToolCall {
            arguments: attachment::expand(
                &call.arguments,
                &self.places(item_id, call),
                &self.start.props.attachments,
            ),
            ..call.clone()
        }
    }

    /// Returns where the arguments of a call of an item may name files.
    fn places(&self, item_id: &str, call: &ParsedToolCall) -> Places {
        let item_run = self.running.get(item_id);
        item_run.map_or(Places::NONE, |item_run| item_run.file_places(&call.call_id))
    }

    /// Returns the arguments that name files of earlier calls.
    pub(super) fn file_arguments(&self, item_id: &str, call: &ParsedToolCall) -> Vec<FileArgument> {
        let (places, attachments) = (self.places(item_id, call), &self.start.props.attachments);
        let mut arguments = Vec::new();
        for (pointer, file) in attachment::file_arguments(&call.arguments, &places, attachments, &self.files) {
            arguments.push(FileArgument {
                pointer,
                digest: file.digest.clone(),
            });
        }
        arguments
    }

    /// Returns the tools whose complete schemas a step gets: its required tools; if it names none, the tools most
    /// similar to its description, or all tools if the context is unlimited.
    pub(super) fn step_tools(&self, item: &TodoItem) -> Vec<ToolSchema> {
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
        shortlist::for_step(&self.start, item).into_iter().cloned().collect()
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
    const fn task_index(&self, action: &OpenAction) -> usize {
        match action {
            OpenAction::Plan | OpenAction::Answer => self.conversation.task,
            // An item has a system message, and then its task.
            _ => 1,
        }
    }

    /// Builds the request of `action` in full length, with the capabilities that it needs (C43).
    fn full_request(&self, action: &OpenAction) -> Option<PreparedCall> {
        match action {
            OpenAction::Plan => Some(self.plan_request()),
            OpenAction::Answer => Some(self.answer_request()),
            OpenAction::Item(id) => self.item_request(id),
            OpenAction::Tools(_) => None,
        }
    }

    /// Builds a request from its messages and the tools in the provider's format.
    pub(super) fn build_request(&self, messages: &[Message], phase: Phase, tools: Vec<ToolSchema>) -> ModelRequest {
        use ModelCapability::{Reasoning, Text, ToolUse, Vision};
        let media = attachment::media(&self.start.props.attachments, self.start.vision);
        let needed = if phase == Phase::Synthesis { Text } else { Reasoning };
        let calls = (!tools.is_empty()).then_some(ToolUse);
        let vision = (!media.is_empty()).then_some(Vision);
        ModelRequest {
            required_capabilities: std::iter::once(needed).chain(vision).chain(calls).collect(),
            media,
            tools,
            params: self.start.params.clone(),
            ..ModelRequest::new(ArtStandardPrompt(messages.to_vec()), phase)
        }
    }

    /// Returns the tools that the planner may call: the function that submits a plan, and the tools whose schemas it is shown.
    pub(super) fn planner_tools(&self) -> Vec<ToolSchema> {
        if !self.start.native_tools {
            return Vec::new();
        }
        let shown = self
            .start
            .tools
            .iter()
            .filter(|tool| tool.name != prompt::SUBMIT_PLAN && self.conversation.tools.contains(&tool.name));
        let mut tools: Vec<_> = shown.cloned().map(without_examples).collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        std::iter::once(prompt::submit_plan()).chain(tools).collect()
    }

    fn plan_request(&self) -> PreparedCall {
        let mut request = self.build_request(&self.conversation.messages, Phase::Planning, self.planner_tools());
        if !self.start.native_tools {
            request.reply_format = ReplyFormat::Json;
            request.reply_schema = Some(prompt::plan_schema());
        }
        PreparedCall {
            item_id: None,
            iteration: self.repairs.saturating_add(1),
            request,
        }
    }

    /// Builds the request for the answer. It has the same tools as the request for the plan, because tools are part of what
    /// providers cache, but none may be called.
    fn answer_request(&self) -> PreparedCall {
        let mut request = self.build_request(&self.conversation.messages, Phase::Synthesis, self.planner_tools());
        request.tool_choice = ToolChoice::None;
        PreparedCall {
            item_id: None,
            iteration: 1,
            request,
        }
    }

    fn item_request(&self, id: &str) -> Option<PreparedCall> {
        let (item, item_run) = (self.item(id)?, self.running.get(id)?);
        let tools = if item_run.native_tools {
            // The prompt contains the examples, because no provider's format has a field for them.
            self.step_tools(item).into_iter().map(without_examples).collect()
        } else {
            Vec::new()
        };
        let mut request = self.build_request(&item_run.messages, Phase::Execution, tools);
        if item_run.must_call(item) {
            request.tool_choice = ToolChoice::Required;
        }
        request.step = Some(StepContext {
            step_id: id.to_owned(),
            step_description: item.description.clone(),
        });
        Some(PreparedCall {
            item_id: Some(id.to_owned()),
            iteration: item_run.iteration,
            request,
        })
    }
}

fn without_examples(tool: ToolSchema) -> ToolSchema {
    ToolSchema {
        examples: Vec::new().into(),
        ..tool
    }
}
