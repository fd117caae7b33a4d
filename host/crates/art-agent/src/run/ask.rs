//! Opens model calls, makes those whose requests fit (M09), and counts what they use (M12).

use art_core::Timestamp;
use art_core::error::{ModelError, ModelErrorCode};
use art_core::observation::ObservationType;
use art_core::pes::TodoItemStatus;
use art_core::provider::ModelRequest;
use art_core::stream::{LlmMetadata, ModelReply, PartialReply};
use art_core::usage::{ModelUsage, ModelWork};
use serde_json::json;

use super::streams::parent_id;
use super::{OpenAction, Run};
use crate::action::{ActionId, ModelCall};
use crate::effect::{Effect, Outbox};
use crate::event::{CallRefusal, RunEvent};
use crate::prompt;

/// The model calls to make, with the events that announce them or say why they cannot be made.
#[derive(Debug, Default)]
pub struct AskedModels {
    /// The events. They are already applied to the run, and have to be committed before any call is made.
    pub events: Vec<RunEvent>,
    /// What to commit together with the events.
    pub effects: Vec<Effect>,
    /// The calls.
    pub calls: Vec<ModelCall>,
}

impl Run {
    /// Opens a model call, unless a budget is used up. [`Run::ask_models`] makes it.
    pub(super) fn open_model_call(&mut self, action: OpenAction) -> Result<(), CallRefusal> {
        if self.check_budget() {
            return Err(CallRefusal::BudgetSpent);
        }
        self.usage.llm_calls_opened += 1;
        self.open_action(action);
        Ok(())
    }

    /// Applies an event for each open model call that was not made yet. The event says that the model is asked, or why it cannot be
    /// asked. The call of an item waits if other calls have reserved the rest of a budget. `digest` computes the digest of a
    /// request, and `at` is the time of the events. Requests are built only here, so the events, and not the wording of prompts,
    /// decide which calls are made.
    pub fn ask_models(&mut self, at: Timestamp, digest: impl Fn(&ModelRequest) -> String) -> AskedModels {
        let mut asked = AskedModels::default();
        while let Some((event, call)) = self.next_request(at, &digest) {
            // The event fits, because the call is open.
            let Ok(effects) = self.apply(&event) else { break };
            asked.effects.extend(effects);
            asked.events.push(event);
            asked.calls.extend(call);
        }
        asked
    }

    /// Returns an open model call that was not made yet, with its request in the wording of the current prompts, or `None` if the
    /// call cannot be made.
    #[must_use]
    pub fn next_call(&self, id: ActionId) -> Option<ModelCall> {
        let action = self.open.get(&id).filter(|_| !self.asked.contains_key(&id))?;
        self.prepare(id, action).ok().map(|(call, _)| call)
    }

    /// Returns the event for the next open model call that was not made yet, and the call if it can be made.
    fn next_request(
        &self,
        at: Timestamp,
        digest: impl Fn(&ModelRequest) -> String,
    ) -> Option<(RunEvent, Option<ModelCall>)> {
        let is_budget_reserved = self.is_budget_reserved();
        let may_ask = |(id, action): &(&ActionId, &OpenAction)| match action {
            OpenAction::Tools(_) => false,
            OpenAction::Item(_) => !is_budget_reserved && !self.asked.contains_key(id),
            OpenAction::Plan | OpenAction::Answer => !self.asked.contains_key(id),
        };
        let (id, action) = self.open.iter().find(may_ask)?;
        let id = *id;
        Some(match self.prepare(id, action) {
            Ok((call, tokens)) => {
                let request = digest(&call.request);
                let event = RunEvent::ModelAsked {
                    at,
                    action: id,
                    item_id: call.item_id.clone(),
                    tokens,
                    request,
                };
                (event, Some(call))
            }
            Err(refusal) => (
                RunEvent::ModelNotAsked {
                    at,
                    action: id,
                    refusal,
                },
                None,
            ),
        })
    }

    /// Returns an open model call with its request, and the number of tokens of the request. Fails if the prompt is invalid (M36),
    /// the request does not fit the context window, or a budget was used up while the call waited.
    fn prepare(&self, id: ActionId, action: &OpenAction) -> Result<(ModelCall, u64), CallRefusal> {
        // A call that was interrupted and is made again counts twice, so the number of calls may be used up as well.
        let too_many = self.usage.llm_calls_opened > self.config().max_model_calls;
        if too_many || self.spent_tokens_or_cost().is_some() {
            return Err(CallRefusal::BudgetSpent);
        }
        let refused_tokens = self.shortened.get(&id).copied();
        let budget = refused_tokens.map(|tokens| tokens / 2).or_else(|| self.token_budget());
        let call = self
            .model_call(id, action, budget)
            .ok_or_else(|| CallRefusal::TooLong {
                reason: "its step is not in progress".to_owned(),
            })?;
        prompt::PromptManager::validate_prompt(&call.request.prompt).map_err(|error| CallRefusal::Invalid { error })?;
        let Some(budget) = budget else {
            return Ok((call, 0));
        };
        let tokens = prompt::request_tokens(&call.request);
        match refused_tokens {
            Some(refused_tokens) if tokens >= refused_tokens => Err(CallRefusal::NotShorter),
            None if tokens > budget => Err(too_long_refusal(tokens, budget)),
            _ => Ok((call, tokens)),
        }
    }

    /// Notes that a model call is made.
    pub(super) fn note_model_call(&mut self, id: ActionId, tokens: u64, out: &mut Outbox) {
        let Some(action) = self.open.get(&id) else { return };
        let content = json!({"phase": self.stream_phase(action)});
        out.observe(ObservationType::LlmStreamStart, parent_id(action), content);
        let reservation = self.reservation(action, tokens);
        self.asked.insert(id, tokens);
        self.reserved.extend(reservation.map(|reservation| (id, reservation)));
    }

    /// Ends the planning, step or answer whose model call cannot be made.
    pub(super) fn handle_refusal(&mut self, id: ActionId, refusal: &CallRefusal, out: &mut Outbox) {
        let Some(action) = self.close_action(id) else { return };
        self.usage.llm_calls_opened = self.usage.llm_calls_opened.saturating_sub(1);
        if self.start.version == 1 && id.0 == self.action_count {
            // Such a call had no number in journals of version 1.
            self.action_count -= 1;
        }
        match refusal {
            CallRefusal::BudgetSpent => {
                self.check_budget();
                self.end_unasked(action, refusal, out);
            }
            CallRefusal::NotShorter => {
                let error = self.model_error.as_ref().map(ToString::to_string).unwrap_or_default();
                self.fail_asked(action, &error, out);
            }
            CallRefusal::Invalid { .. } | CallRefusal::TooLong { .. } => self.end_unasked(action, refusal, out),
        }
    }

    /// Ends the planning, step or answer whose model call was not made.
    fn end_unasked(&mut self, action: OpenAction, refusal: &CallRefusal, out: &mut Outbox) {
        match action {
            OpenAction::Plan => self.end_unasked_planning(refusal, out),
            OpenAction::Item(id) => {
                self.end_unopened_item(&id, refusal, out);
                self.advance(out);
            }
            OpenAction::Answer => self.end_unasked_answer(refusal, out),
            OpenAction::Tools(_) => {}
        }
    }

    /// Fails the planning, step or answer whose model call failed with `error`.
    pub(super) fn fail_asked(&mut self, action: OpenAction, error: &str, out: &mut Outbox) {
        let reason = format!("the model could not be asked: {error}");
        match action {
            OpenAction::Plan => self.fail_planning(&reason, out),
            OpenAction::Item(id) => self.fail_item(&id, &reason, out),
            OpenAction::Answer => self.end_after_failed_answer(&reason, out),
            OpenAction::Tools(_) => {}
        }
    }

    /// Opens a call again whose request with `tokens` tokens was too long for the provider. The new request is cut to half of that.
    /// Returns false if the request was already shortened or a budget is used up.
    pub(super) fn retry_shorter(&mut self, action: &OpenAction, tokens: u64, was_shortened: bool) -> bool {
        if was_shortened || self.check_budget() {
            return false;
        }
        self.usage.llm_calls_opened += 1;
        let id = self.open_action(action.clone());
        self.shortened.insert(id, tokens);
        true
    }

    /// Makes the open model calls of a journal of version 1, which has no events for that. The current prompts decide which calls
    /// can be made.
    pub(super) fn ask_if_version_1(&mut self) {
        if self.start.version == 1 {
            self.ask_models(self.now, |_| String::new());
        }
    }

    /// Sets an item to pending for a later run, and keeps the results of its calls.
    pub(super) fn requeue(&mut self, id: &str, out: &mut Outbox) {
        self.keep_results(id, &[]);
        if let Some(item) = self.item_mut(id) {
            item.error = Some("the budget of the run was used up before it was finished".to_owned());
        }
        if self.state.current_step_id.as_deref() == Some(id) {
            self.state.current_step_id = self.running.keys().next().cloned();
        }
        self.set_status(id, TodoItemStatus::Pending, out);
    }

    /// Counts the reply to a request with `tokens` tokens. If the context is limited and the provider reports no token counts, they are
    /// estimated.
    pub(super) fn count_reply(&mut self, action: &OpenAction, tokens: u64, reply: &ModelReply) {
        let mut metadata = reply.metadata.clone();
        let has_no_counts = metadata.input_tokens.is_none() && metadata.output_tokens.is_none();
        if has_no_counts && !self.start.context.is_unbounded() {
            let output_tokens = prompt::text_tokens(&reply.text) + prompt::text_tokens(&reply.thinking);
            metadata = LlmMetadata {
                input_tokens: Some(tokens),
                output_tokens: Some(output_tokens),
                estimated: true,
                ..metadata
            };
        }
        self.usage.llm_calls += 1;
        self.count_usage(action, metadata);
    }

    /// Counts a failed call, and its tokens if the provider may have read the request before the failure (M12).
    pub(super) fn count_failed_call(
        &mut self,
        action: &OpenAction,
        tokens: u64,
        error: &ModelError,
        received: &PartialReply,
    ) {
        self.usage.llm_calls += 1;
        if may_have_read(error) || !received.is_empty() {
            self.count_partial_reply(action, tokens, received);
        }
    }

    /// Closes a model call that was interrupted, and counts it if it was made (M12).
    pub(super) fn interrupt_model_call(&mut self, id: ActionId, received: &PartialReply) {
        let tokens = self.asked.get(&id).copied();
        if let (Some(tokens), Some(model)) = (tokens, self.close_action(id)) {
            self.usage.llm_calls += 1;
            self.count_partial_reply(&model, tokens, received);
        }
    }

    /// Counts a call whose reply did not arrive completely: the tokens of its request, and of the reply those that had arrived.
    /// Counts that the provider did not report are estimated. Nothing is counted for a model with an unbounded context.
    pub(super) fn count_partial_reply(&mut self, action: &OpenAction, tokens: u64, received: &PartialReply) {
        if self.start.context.is_unbounded() {
            return;
        }
        let reported = &received.metadata;
        let output_tokens = || prompt::byte_tokens(received.bytes);
        let metadata = LlmMetadata {
            input_tokens: Some(reported.input_tokens.unwrap_or(tokens)),
            output_tokens: Some(reported.output_tokens.unwrap_or_else(output_tokens)),
            estimated: true,
            ..reported.clone()
        };
        self.count_usage(action, metadata);
    }

    /// Adds the usage of a call. If it was estimated and has no cost, its cost follows from the price of the model.
    fn count_usage(&mut self, action: &OpenAction, mut metadata: LlmMetadata) {
        let is_cost = |cost: &f64| cost.is_finite() && *cost >= 0.0;
        let estimate = || self.start.price.filter(|_| metadata.estimated)?.cost(&metadata, 0);
        metadata.cost_usd = metadata.cost_usd.filter(is_cost).or_else(estimate);
        self.usage.estimated_calls += u32::from(metadata.estimated);
        self.usage.tokens += metadata.usage();
        self.usage.unpriced |= metadata.cost_usd.is_none();
        self.usage.llm.add(&metadata);
        let used = ModelUsage {
            model_calls: 1,
            input_tokens: metadata.input_tokens.unwrap_or_default(),
            output_tokens: metadata.output_tokens.unwrap_or_default(),
        };
        self.usage.last_call = used;
        if let OpenAction::Item(id) = action
            && let Some(item_run) = self.running.get_mut(id)
        {
            item_run.used += used;
        }
    }

    /// Records what the model used for a piece of work, for the estimates of later runs.
    pub(super) fn record_work(&mut self, work: ModelWork, used: ModelUsage) {
        if used.model_calls > 0 && !self.start.context.is_unbounded() {
            self.work.push((work, used));
        }
    }

    /// Returns the maximum number of tokens of a request, or `None` if the context is unlimited.
    pub(super) fn token_budget(&self) -> Option<u64> {
        self.start.context.tokens().map(prompt::request_budget)
    }
}

fn too_long_refusal(tokens: u64, budget: u64) -> CallRefusal {
    CallRefusal::TooLong {
        reason: format!(
            "the request is too long for the model: it has about {tokens} tokens at its shortest, and there is room for \
             {budget}; ask for less at a time, or use a model with a larger context"
        ),
    }
}

/// Returns whether the model may have read a request that failed. With all other error codes, the provider refused the request
/// without reading it.
const fn may_have_read(error: &ModelError) -> bool {
    use ModelErrorCode::{InvalidResponse, NetworkError, Timeout, Unknown};
    !error.unread && matches!(error.code, NetworkError | Timeout | InvalidResponse | Unknown)
}

#[cfg(test)]
mod tests;
