//! Opens model calls whose requests fit (M09), and counts their usage (M12).

use art_core::error::{ArtError, ModelError, ModelErrorCode};
use art_core::observation::ObservationType;
use art_core::pes::TodoItemStatus;
use art_core::stream::{LlmMetadata, ModelReply, PartialReply};
use art_core::usage::{ModelUsage, ModelWork};
use serde_json::json;

use super::streams::parent_id;
use super::{OpenAction, Run};
use crate::action::ActionId;
use crate::effect::Outbox;
use crate::prompt;

/// Why a model call was not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallRefusal {
    /// A budget of the run is used up.
    BudgetSpent,
    /// The prompt is invalid because of a bug in the host.
    Invalid(ArtError),
    /// The request does not fit the context window of the model. The text has both sizes in tokens.
    TooLong(String),
}

impl Run {
    /// Opens a model call and records its start, if it is allowed. The call of an item waits if the open calls have reserved what
    /// is left of a budget.
    pub(super) fn open_model_call(&mut self, action: OpenAction, out: &mut Outbox) -> Result<(), CallRefusal> {
        if self.check_budget() {
            return Err(CallRefusal::BudgetSpent);
        }
        self.check_request(&action, self.token_budget())?;
        match action {
            OpenAction::Item(id) if self.is_reserved() => self.waiting.push_back(id),
            action => drop(self.open_call(action, out)),
        }
        Ok(())
    }

    /// Fails if the prompt is invalid (M36) or the request has more than `budget` tokens.
    fn check_request(&self, action: &OpenAction, budget: Option<u64>) -> Result<(), CallRefusal> {
        let Some(call) = self.request(action, budget) else {
            return Ok(());
        };
        prompt::PromptManager::validate_prompt(&call.request.prompt).map_err(CallRefusal::Invalid)?;
        let Some(budget) = budget else {
            return Ok(());
        };
        let tokens = prompt::request_tokens(&call.request);
        if tokens > budget {
            return Err(CallRefusal::TooLong(format!(
                "the request is too long for the model: it has about {tokens} tokens at its shortest, and there is room for \
                 {budget}; ask for less at a time, or use a model with a larger context"
            )));
        }
        Ok(())
    }

    /// Retries a request that was too long for the provider, cut to half of its tokens as far as possible. Returns whether a
    /// retry was opened.
    pub(super) fn retry_shorter(&mut self, id: ActionId, action: &OpenAction, out: &mut Outbox) -> bool {
        let before = self.tokens_of(action, self.token_budget_of(id));
        let was_shortened = self.shortened.remove(&id).is_some();
        let half = before / 2;
        let is_invalid = |refusal| matches!(refusal, CallRefusal::Invalid(_));
        if was_shortened
            || self.tokens_of(action, Some(half)) >= before
            || self.check_request(action, Some(half)).is_err_and(is_invalid)
            || self.check_budget()
        {
            return false;
        }
        let id = self.open_call(action.clone(), out);
        self.shortened.insert(id, half);
        true
    }

    /// Returns the maximum number of tokens of the request of an open action.
    pub(super) fn token_budget_of(&self, id: ActionId) -> Option<u64> {
        self.shortened.get(&id).copied().or_else(|| self.token_budget())
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

    /// Counts a reply. If the context is limited and the provider reports no token counts, they are estimated.
    pub(super) fn count_reply(&mut self, id: ActionId, action: &OpenAction, reply: &ModelReply) {
        let mut metadata = reply.metadata.clone();
        let has_no_counts = metadata.input_tokens.is_none() && metadata.output_tokens.is_none();
        if has_no_counts && !self.start.context.is_unbounded() {
            let output_tokens = prompt::text_tokens(&reply.text) + prompt::text_tokens(&reply.thinking);
            metadata = LlmMetadata {
                input_tokens: Some(self.tokens_of(action, self.token_budget_of(id))),
                output_tokens: Some(output_tokens),
                estimated: true,
                ..metadata
            };
        }
        self.usage.llm_calls += 1;
        self.count_usage(action, metadata);
    }

    /// Counts a failed call, if the provider may have read the request before the failure (M12).
    pub(super) fn count_failed_call(
        &mut self,
        id: ActionId,
        action: &OpenAction,
        error: &ModelError,
        received: &PartialReply,
    ) {
        self.usage.llm_calls += 1;
        if may_have_read(error) || !received.is_empty() {
            self.count_partial_reply(id, action, received);
        }
    }

    /// Closes an action whose call was interrupted, and counts it if it is a model call (M12).
    pub(super) fn interrupt_model_call(&mut self, id: ActionId, received: &PartialReply) {
        match self.close_action(id) {
            None | Some(OpenAction::Tools { .. }) => {}
            Some(model) => {
                self.usage.llm_calls += 1;
                self.count_partial_reply(id, &model, received);
            }
        }
    }

    /// Counts a call whose reply did not arrive completely: the tokens of its request, and of the reply those that had arrived.
    /// Counts that the provider did not report are estimated.
    fn count_partial_reply(&mut self, id: ActionId, action: &OpenAction, received: &PartialReply) {
        if self.start.context.is_unbounded() {
            return;
        }
        let reported = &received.metadata;
        let input_tokens = || self.tokens_of(action, self.token_budget_of(id));
        let output_tokens = || prompt::byte_tokens(received.bytes);
        let metadata = LlmMetadata {
            input_tokens: Some(reported.input_tokens.unwrap_or_else(input_tokens)),
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

    /// Opens a model call and records its start.
    fn open_call(&mut self, action: OpenAction, out: &mut Outbox) -> ActionId {
        self.usage.llm_calls_opened += 1;
        let content = json!({"phase": self.stream_phase(&action)});
        out.observe(ObservationType::LlmStreamStart, parent_id(&action), content);
        let reservation = self.reservation(&action);
        let id = self.open_action(action);
        self.reserved.extend(reservation.map(|reservation| (id, reservation)));
        id
    }

    /// Returns the maximum number of tokens of a request, or `None` if the context is unlimited.
    pub(super) fn token_budget(&self) -> Option<u64> {
        self.start.context.tokens().map(prompt::budget)
    }

    /// Estimates the number of tokens of the request of `action`, cut to `budget`.
    pub(super) fn tokens_of(&self, action: &OpenAction, budget: Option<u64>) -> u64 {
        let call = self.request(action, budget);
        call.map_or(0, |call| prompt::request_tokens(&call.request))
    }
}

/// Returns whether the model may have read a request that failed. With the other codes, the provider refused the request
/// without reading it.
const fn may_have_read(error: &ModelError) -> bool {
    use ModelErrorCode::{InvalidResponse, NetworkError, Timeout, Unknown};
    !error.unread && matches!(error.code, NetworkError | Timeout | InvalidResponse | Unknown)
}

#[cfg(test)]
mod tests;
