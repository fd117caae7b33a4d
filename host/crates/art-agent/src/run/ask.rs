//! Model calls: opens them when the run needs a reply, makes those whose requests fit the context window (contract
//! M09), and counts what they use (contract M12). To make a call is to build its request and to announce it by an
//! event; the driver then sends it.

use art_core::Timestamp;
use art_core::error::{ModelError, ModelErrorCode};
use art_core::observation::ObservationType;
use art_core::pes::TodoItemStatus;
use art_core::provider::ModelRequest;
use art_core::stream::{LlmMetadata, ModelReply, PartialReply};
use art_core::usage::{ModelUsage, ModelWork};
use serde_json::json;

use super::streams::item_id_of;
use super::{OpenAction, RefusedRequest, Run};
use crate::action::{ActionId, ModelCall};
use crate::effect::{Effect, Outbox};
use crate::event::{CallRefusal, RunEvent};
use crate::prompt;

/// The model calls to send, with the events that announce them, and the events that say why other calls cannot be made.
#[derive(Debug, Default)]
pub struct ModelCallsToSend {
    /// The events. They are already applied to the run, and have to be committed before any request is sent.
    pub events: Vec<RunEvent>,
    /// What to commit together with the events.
    pub effects: Vec<Effect>,
    /// The calls whose requests the driver sends next.
    pub calls: Vec<ModelCall>,
}

impl Run {
    /// Opens a model call, which [`Run::ask_models`] makes later. Fails if a budget is used up.
    pub(super) fn open_model_call(&mut self, action: OpenAction) -> Result<(), CallRefusal> {
        if self.record_if_budget_spent() {
            return Err(CallRefusal::BudgetSpent);
        }
        self.usage.llm_calls_opened += 1;
        self.open_action(action);
        Ok(())
    }

    /// Makes the open model calls that were not made yet: applies an event for each, which says that the model is asked, or why
    /// it cannot be asked. The call of an item waits if other calls have reserved the rest of a budget. `digest` computes the
    /// digest of a request, and `at` is the time of the events. Requests are built only here and not when events are applied,
    /// so in a replay the events, and not the wording of the current prompts, decide which calls are made.
    pub fn ask_models(&mut self, at: Timestamp, digest: impl Fn(&ModelRequest) -> String) -> ModelCallsToSend {
        let mut asked = ModelCallsToSend::default();
        while let Some((event, call)) = self.next_unmade_call(at, &digest) {
            // Applying the event cannot fail, because the call is open.
            let Ok(effects) = self.apply(&event) else { break };
            asked.effects.extend(effects);
            asked.events.push(event);
            asked.calls.extend(call);
        }
        asked
    }

    /// Returns the model call of the action `id`, with its request in the wording of the current prompts. Returns `None` if the
    /// call is not open, was already made, or cannot be made.
    #[must_use]
    pub fn next_call(&self, id: ActionId) -> Option<ModelCall> {
        let action = self
            .open_actions
            .get(&id)
            .filter(|_| !self.model_calls_in_progress.contains_key(&id))?;
        self.prepare_call(id, action).ok().map(|(call, _)| call)
    }

    /// Returns the event for the next open model call that was not made yet, and the call if it can be made.
    fn next_unmade_call(
        &self,
        at: Timestamp,
        digest: impl Fn(&ModelRequest) -> String,
    ) -> Option<(RunEvent, Option<ModelCall>)> {
        let is_rest_of_budget_reserved = self.is_rest_of_budget_reserved();
        let may_ask = |(id, action): &(&ActionId, &OpenAction)| match action {
            OpenAction::Tools(_) => false,
            OpenAction::Item(_) => !is_rest_of_budget_reserved && !self.model_calls_in_progress.contains_key(id),
            OpenAction::Plan | OpenAction::Answer => !self.model_calls_in_progress.contains_key(id),
        };
        let (id, action) = self.open_actions.iter().find(may_ask)?;
        let id = *id;
        Some(match self.prepare_call(id, action) {
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

    /// Returns an open model call with its request, and the estimated tokens of the request: 0 if the context is unbounded. Fails
    /// if the prompt is invalid (contract M36), the request does not fit the context window, it is not shorter than an
    /// earlier one that the provider refused as too long, or a budget was used up while the call waited.
    fn prepare_call(&self, id: ActionId, action: &OpenAction) -> Result<(ModelCall, u64), CallRefusal> {
        // The number of calls was checked when this call was opened. But a call that is made again after an interruption counts
        // twice, so the number may be above its maximum now.
        let has_too_many_calls = self.usage.llm_calls_opened > self.config().max_model_calls;
        if has_too_many_calls || self.spent_tokens_or_cost().is_some() {
            return Err(CallRefusal::BudgetSpent);
        }
        // If the provider refused the request as too long, the new request is cut to half of that size, or as far as possible.
        let refused_tokens = self.refused_requests.get(&id).map(|refused| refused.tokens);
        let max_tokens = refused_tokens
            .map(|tokens| tokens / 2)
            .or_else(|| self.max_request_tokens());
        let call = self
            .model_call(id, action, max_tokens)
            // `CallRefusal` has no variant for a step that is not in progress. `TooLong` can give this as its reason in words.
            .ok_or_else(|| CallRefusal::TooLong {
                reason: "its step is not in progress".to_owned(),
            })?;
        prompt::PromptManager::validate_prompt(&call.request.prompt).map_err(|error| CallRefusal::Invalid { error })?;
        let Some(max_tokens) = max_tokens else {
            return Ok((call, 0));
        };
        let tokens = prompt::request_tokens(&call.request);
        match refused_tokens {
            Some(refused_tokens) if tokens >= refused_tokens => Err(CallRefusal::NotShorter),
            None if tokens > max_tokens => Err(too_long_refusal(tokens, max_tokens)),
            _ => Ok((call, tokens)),
        }
    }

    /// Records that a model call was made with a request of `tokens` tokens.
    pub(super) fn note_model_call(&mut self, id: ActionId, tokens: u64, out: &mut Outbox) {
        let Some(action) = self.open_actions.get(&id) else {
            return;
        };
        let content = json!({"phase": self.observed_phase(action)});
        out.observe(ObservationType::LlmStreamStart, item_id_of(action), content);
        let reservation = self.reservation(action, tokens);
        self.model_calls_in_progress.insert(id, tokens);
        self.reservations
            .extend(reservation.map(|reservation| (id, reservation)));
    }

    /// Closes a model call that cannot be made, and ends what it was for: the planning, an item or the answer.
    pub(super) fn handle_model_call_refusal(&mut self, id: ActionId, refusal: &CallRefusal, out: &mut Outbox) {
        let refused = self.refused_requests.get(&id);
        let refused_error = refused.map(|refused| refused.error.to_string()).unwrap_or_default();
        let Some(action) = self.close_action(id) else { return };
        self.usage.llm_calls_opened = self.usage.llm_calls_opened.saturating_sub(1);
        if self.start.version == 1 && id.0 == self.action_count {
            // In journals of version 1, a call that could not be made used up no action number.
            self.action_count -= 1;
        }
        match refusal {
            CallRefusal::BudgetSpent => {
                self.record_if_budget_spent();
                self.end_action_after_refusal(action, refusal, out);
            }
            CallRefusal::NotShorter => self.fail_after_model_error(action, &refused_error, out),
            CallRefusal::Invalid { .. } | CallRefusal::TooLong { .. } => {
                self.end_action_after_refusal(action, refusal, out);
            }
        }
    }

    /// Ends what a model call was for, after the call was closed without being made: the planning, an item or the answer.
    fn end_action_after_refusal(&mut self, action: OpenAction, refusal: &CallRefusal, out: &mut Outbox) {
        match action {
            OpenAction::Plan => self.end_planning_after_refusal(refusal, out),
            OpenAction::Item(id) => {
                self.end_item_after_refusal(&id, refusal, out);
                self.advance(out);
            }
            OpenAction::Answer => self.end_answer_after_refusal(refusal, out),
            OpenAction::Tools(_) => {}
        }
    }

    /// Lets the planning, an item or the answer fail, because its model call failed with `error`.
    pub(super) fn fail_after_model_error(&mut self, action: OpenAction, error: &str, out: &mut Outbox) {
        let reason = format!("the model could not be asked: {error}");
        match action {
            OpenAction::Plan => self.fail_planning(&reason, out),
            OpenAction::Item(id) => self.fail_item(&id, &reason, out),
            OpenAction::Answer => self.end_after_failed_answer(&reason, out),
            OpenAction::Tools(_) => {}
        }
    }

    /// Opens again a call whose request was too long for the provider. The new request is cut to half of the tokens of the
    /// refused one. Returns false if the refused request was already cut in this way or a budget is used up.
    pub(super) fn retry_shorter(&mut self, action: &OpenAction, refused: RefusedRequest, was_shortened: bool) -> bool {
        if was_shortened || self.record_if_budget_spent() {
            return false;
        }
        self.usage.llm_calls_opened += 1;
        let id = self.open_action(action.clone());
        self.refused_requests.insert(id, refused);
        true
    }

    /// Makes the open model calls if the run has a journal of version 1, in which no event announces them. The current prompts
    /// decide which calls can be made.
    pub(super) fn ask_models_if_version_1(&mut self) {
        if self.start.version == 1 {
            self.ask_models(self.now, |_| String::new());
        }
    }

    /// Stops an item because the budget is used up: sets it to pending, so that a later run starts it again, and keeps the
    /// results of its calls.
    pub(super) fn postpone_item(&mut self, id: &str, out: &mut Outbox) {
        self.stop_item_and_keep_results(id, &[]);
        if let Some(item) = self.item_mut(id) {
            item.error = Some("the budget of the run was used up before it was finished".to_owned());
        }
        if self.state.current_step_id.as_deref() == Some(id) {
            self.state.current_step_id = self.running.keys().next().cloned();
        }
        self.set_status(id, TodoItemStatus::Pending, out);
    }

    /// Counts a reply. If the context is bounded and the provider reports no token counts, they are estimated.
    pub(super) fn count_reply(&mut self, action: &OpenAction, request_tokens: u64, reply: &ModelReply) {
        let mut metadata = reply.metadata.clone();
        let has_no_counts = metadata.input_tokens.is_none() && metadata.output_tokens.is_none();
        if has_no_counts && !self.start.context.is_unbounded() {
            let output_tokens = prompt::text_tokens(&reply.text) + prompt::text_tokens(&reply.thinking);
            metadata = LlmMetadata {
                input_tokens: Some(request_tokens),
                output_tokens: Some(output_tokens),
                estimated: true,
                ..metadata
            };
        }
        self.usage.llm_calls += 1;
        self.count_usage(action, metadata);
    }

    /// Counts a failed call, and its tokens if the provider may have read the request before the failure (contract
    /// M12).
    pub(super) fn count_failed_call(
        &mut self,
        action: &OpenAction,
        request_tokens: u64,
        error: &ModelError,
        received: &PartialReply,
    ) {
        self.usage.llm_calls += 1;
        if may_have_read(error) || !received.is_empty() {
            self.count_partial_reply(action, request_tokens, received);
        }
    }

    /// Closes a model call that was interrupted, and counts it if it was made (contract M12).
    pub(super) fn interrupt_model_call(&mut self, id: ActionId, received: &PartialReply) {
        let tokens = self.model_calls_in_progress.get(&id).copied();
        if let (Some(tokens), Some(action)) = (tokens, self.close_action(id)) {
            self.usage.llm_calls += 1;
            self.count_partial_reply(&action, tokens, received);
        }
    }

    /// Counts the tokens of a call whose reply did not arrive completely: those of its request, and those of the reply that had
    /// arrived. Counts that the provider did not report are estimated. Nothing is counted for a model with an unbounded context.
    pub(super) fn count_partial_reply(&mut self, action: &OpenAction, request_tokens: u64, received: &PartialReply) {
        if self.start.context.is_unbounded() {
            return;
        }
        let reported = &received.metadata;
        let output_tokens = || prompt::byte_tokens(received.bytes);
        let metadata = LlmMetadata {
            input_tokens: Some(reported.input_tokens.unwrap_or(request_tokens)),
            output_tokens: Some(reported.output_tokens.unwrap_or_else(output_tokens)),
            estimated: true,
            ..reported.clone()
        };
        self.count_usage(action, metadata);
    }

    /// Adds the usage of a call. If it was estimated and has no cost, its cost follows from the price of the model.
    fn count_usage(&mut self, action: &OpenAction, mut metadata: LlmMetadata) {
        let is_valid = |cost: &f64| cost.is_finite() && *cost >= 0.0;
        let estimated_cost = || {
            // How many tokens were written to the provider's cache is unknown for an estimated call.
            let cache_written = 0;
            let price = self.start.price.filter(|_| metadata.estimated)?;
            price.cost(&metadata, cache_written)
        };
        metadata.cost_usd = metadata.cost_usd.filter(is_valid).or_else(estimated_cost);
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
            item_run.model_usage += used;
        }
    }

    /// Records what the model used for a step or the answer, for the estimates of later runs.
    pub(super) fn record_model_work(&mut self, work: ModelWork, used: ModelUsage) {
        if used.model_calls > 0 && !self.start.context.is_unbounded() {
            self.model_work.push((work, used));
        }
    }

    /// Returns the maximum number of tokens of a request, or `None` if the context is unbounded.
    pub(super) fn max_request_tokens(&self) -> Option<u64> {
        self.start.context.tokens().map(prompt::max_request_tokens)
    }
}

fn too_long_refusal(tokens: u64, max_tokens: u64) -> CallRefusal {
    CallRefusal::TooLong {
        reason: format!(
            "the request is too long for the model: it has about {tokens} tokens at its shortest, and there is room for \
             {max_tokens}; ask for less at a time, or use a model with a larger context"
        ),
    }
}

/// Returns whether the model may have read the request of a call that failed with `error`.
const fn may_have_read(error: &ModelError) -> bool {
    use ModelErrorCode::{InvalidResponse, NetworkError, Timeout, Unknown};
    // With any code but these four, the provider refused the request without reading it.
    !error.request_not_read && matches!(error.code, NetworkError | Timeout | InvalidResponse | Unknown)
}

#[cfg(test)]
mod tests;
