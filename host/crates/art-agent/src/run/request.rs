//! Open steps made whole: prompts, schemas and attachments are put in only when a step is asked for.

use art_core::pes::TodoItem;
use art_core::prompt::{ArtStandardPrompt, Message};
use art_core::provider::{ModelCapability, ModelRequest, StepContext};
use art_core::stream::Phase;
use art_core::tool::{ParsedToolCall, ToolSchema};

use super::{OpenStep, Run, Stage};
use crate::attachment;
use crate::step::{Step, StepId};
use crate::taef::is_tool_step;

impl Run {
    /// One open step.
    #[must_use]
    pub fn step(&self, id: StepId) -> Option<Step> {
        let step = match self.open.get(&id)? {
            OpenStep::Tools { item, calls } => Step::CallTools {
                id,
                item_id: item.clone(),
                calls: calls.iter().map(|call| self.expanded(call)).collect(),
            },
            model => {
                let (item_id, iteration, request) = self.request(model)?;
                Step::CallModel {
                    id,
                    item_id,
                    iteration,
                    request: Box::new(request),
                }
            }
        };
        Some(step)
    }

    fn expanded(&self, call: &ParsedToolCall) -> ParsedToolCall {
        ParsedToolCall {
            arguments: attachment::expand(&call.arguments, &self.start.props.attachments),
            ..call.clone()
        }
    }

    /// The full schemas a step sees: those of its required tools only, or all when it names none (P44).
    pub(super) fn tools_of(&self, item: &TodoItem) -> Vec<ToolSchema> {
        if !is_tool_step(item) {
            return Vec::new();
        }
        let wanted = |tool: &&ToolSchema| item.required_tools.is_empty() || item.required_tools.contains(&tool.name);
        self.start.tools.iter().filter(wanted).cloned().collect()
    }

    fn request(&self, step: &OpenStep) -> Option<(Option<String>, u32, ModelRequest)> {
        let request = |messages: &[Message], phase, capability| ModelRequest {
            prompt: ArtStandardPrompt(messages.to_vec()),
            tools: Vec::new(),
            phase,
            step: None,
            required_capabilities: vec![capability],
            params: self.start.params.clone(),
        };
        match (step, &self.stage) {
            (OpenStep::Plan, Stage::Planning { messages, repaired }) => {
                let made = request(messages, Phase::Planning, ModelCapability::Reasoning);
                Some((None, 1 + u32::from(*repaired), made))
            }
            (OpenStep::Answer, Stage::Synthesis { messages }) => {
                Some((None, 1, request(messages, Phase::Synthesis, ModelCapability::Text)))
            }
            (OpenStep::Item(id), _) => {
                let (item, live) = (self.item(id)?, self.live.get(id)?);
                let mut made = request(&live.messages, Phase::Execution, ModelCapability::Reasoning);
                made.tools = self.tools_of(item);
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
