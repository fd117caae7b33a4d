//! Builds the request of a model call and the arguments of a tool call. They are built only when the call is made, because the
//! open actions, which are the calls that the run waits for, contain neither prompts nor schemas nor contents of attachments.

use art_core::pes::TodoItem;
use art_core::prompt::{ArtStandardPrompt, Message};
use art_core::provider::{ModelCapability, ModelRequest, ReplyFormat, ToolChoice};
use art_core::stream::{Phase, StepContext};
use art_core::tool::{ParsedToolCall, ToolSchema};

use super::{OpenAction, Run};
use crate::action::{ActionId, FileArgument, ModelCall};
use crate::attachment::{self, FileNamePointers};
use crate::prompt::PlannerConversation;
use crate::required_tools::is_tool_step;
use crate::{prompt, shortlist};

/// The request of a model call, with the item and the number of the call.
pub(super) struct PreparedCall {
    /// The plan item that makes the call; `None` for planning and synthesis.
    pub(super) item_id: Option<String>,
    /// Number of the call among the model calls of its item, from 1. In planning, one more than the number of repairs before it.
    pub(super) iteration: u32,
    pub(super) request: ModelRequest,
}

impl Run {
    /// Returns the model call of `action` for the driver, which sends the request. The request is cut to `max_tokens` tokens as
    /// far as possible. Returns `None` for tool calls, and for an item that is not in progress.
    pub(super) fn model_call(&self, id: ActionId, action: &OpenAction, max_tokens: Option<u64>) -> Option<ModelCall> {
        let mut call = self.cut_call(action, max_tokens)?;
        call.request.task = self.task(action);
        Some(ModelCall {
            id,
            item_id: call.item_id,
            iteration: call.iteration,
            may_answer: self.may_answer(action),
            request: Box::new(call.request),
        })
    }

    /// Returns whether the text of a reply may be the answer to the question. Returns false for a planner without function calls,
    /// which is told to write JSON that contains its plan or its answer.
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
            arguments: attachment::insert_contents(
                &call.arguments,
                &self.file_name_pointers(item_id, call),
                &self.start.props.attachments,
            ),
            ..call.clone()
        }
    }

    /// Returns where the arguments of a call of an item may name files.
    fn file_name_pointers(&self, item_id: &str, call: &ParsedToolCall) -> FileNamePointers {
        let item_run = self.running.get(item_id);
        item_run.map_or(FileNamePointers::NONE, |item_run| {
            item_run.file_name_pointers(&call.call_id)
        })
    }

    /// Returns the arguments that name files of earlier calls, whose contents are in the store.
    pub(super) fn file_arguments(&self, item_id: &str, call: &ParsedToolCall) -> Vec<FileArgument> {
        let (pointers, attachments) = (self.file_name_pointers(item_id, call), &self.start.props.attachments);
        let mut arguments = Vec::new();
        for (pointer, file) in attachment::file_arguments(&call.arguments, &pointers, attachments, &self.files) {
            arguments.push(FileArgument {
                pointer,
                digest: file.digest.clone(),
            });
        }
        arguments
    }

    /// Returns the tools whose complete schemas the model gets for a step: the required tools of the step; or, if it names none,
    /// the tools most similar to its description, or all tools if the context is unlimited.
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

    /// Returns the request of `action`, cut to `max_tokens` tokens as far as possible. Its field `task` is not set yet. Returns
    /// `None` for tool calls, and for an item that is not in progress.
    fn cut_call(&self, action: &OpenAction, max_tokens: Option<u64>) -> Option<PreparedCall> {
        let mut call = self.uncut_call(action)?;
        if let Some(max_tokens) = max_tokens {
            prompt::cut_to_fit(&mut call.request, self.task_index(action), max_tokens);
        }
        Some(call)
    }

    /// Returns the index of the message with the question or the step that the model has to work on. Before it are the
    /// instructions and the earlier messages of the thread, and after it the replies to it.
    const fn task_index(&self, action: &OpenAction) -> usize {
        match action {
            OpenAction::Plan | OpenAction::Answer => self.conversation.question_index,
            // The messages of an item begin with a system message, and the second one describes the step.
            _ => 1,
        }
    }

    /// Returns the request of `action` in full length.
    fn uncut_call(&self, action: &OpenAction) -> Option<PreparedCall> {
        match action {
            OpenAction::Plan => Some(self.plan_call()),
            OpenAction::Answer => Some(self.answer_call()),
            OpenAction::Item(id) => self.item_call(id),
            OpenAction::Tools(_) => None,
        }
    }

    /// Builds a request from its messages and its tools. The request names the capabilities that the model needs for it
    /// (contract C43).
    pub(super) fn build_request(&self, messages: &[Message], phase: Phase, tools: Vec<ToolSchema>) -> ModelRequest {
        use ModelCapability::{Reasoning, Text, ToolUse, Vision};
        let media = attachment::media(&self.start.props.attachments, self.start.vision);
        let needed = if phase == Phase::Synthesis { Text } else { Reasoning };
        let tool_use = (!tools.is_empty()).then_some(ToolUse);
        let vision = (!media.is_empty()).then_some(Vision);
        ModelRequest {
            required_capabilities: std::iter::once(needed).chain(vision).chain(tool_use).collect(),
            media,
            tools,
            params: self.start.params.clone(),
            ..ModelRequest::new(ArtStandardPrompt(messages.to_vec()), phase)
        }
    }

    /// Returns what the planner may call as functions: the function that submits a plan, and the tools whose schemas
    /// `conversation` shows. Returns nothing if the model does not support function calls.
    pub(super) fn planner_tools(&self, conversation: &PlannerConversation) -> Vec<ToolSchema> {
        if !self.start.native_tools {
            return Vec::new();
        }
        let shown = self
            .start
            .tools
            .iter()
            .filter(|tool| tool.name != prompt::SUBMIT_PLAN && conversation.shown_tools.contains(&tool.name));
        let mut tools: Vec<_> = shown.cloned().map(without_examples).collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        std::iter::once(prompt::submit_plan()).chain(tools).collect()
    }

    fn plan_call(&self) -> PreparedCall {
        let mut request = self.build_request(
            &self.conversation.messages,
            Phase::Planning,
            self.planner_tools(&self.conversation),
        );
        if !self.start.native_tools {
            request.reply_format = ReplyFormat::Json;
            request.reply_schema = Some(prompt::plan_schema());
        }
        PreparedCall {
            item_id: None,
            iteration: self.repair_count.saturating_add(1),
            request,
        }
    }

    /// Returns the call for the answer. Its request has the same tools as the request for the plan, because tools are part of
    /// what providers cache, but none may be called.
    fn answer_call(&self) -> PreparedCall {
        let mut request = self.build_request(
            &self.conversation.messages,
            Phase::Synthesis,
            self.planner_tools(&self.conversation),
        );
        request.tool_choice = ToolChoice::None;
        PreparedCall {
            item_id: None,
            iteration: 1,
            request,
        }
    }

    fn item_call(&self, id: &str) -> Option<PreparedCall> {
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
