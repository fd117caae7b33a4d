//! One call of a model, from the first attempt to the end of its stream.

use std::sync::Arc;
use std::time::Duration;

use art_core::error::{ModelError, ModelErrorCode, RetryContext};
use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::StreamEvent;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::time::{Instant, sleep};

use super::Inner;
use crate::breaker::{CallOutcome, Ticket};
use crate::fault::{error, format_duration};
use crate::model::Model;
use crate::price;
use crate::provider::{Provider, lookup};
use crate::queue::Slot;
use crate::retry::{RetryDecision, decide};
use crate::settings::duration_from_ms;

/// Maximum size of the text and thoughts of a reply, in bytes. A reply is stored as JSON, in which its text gets longer, and a
/// store accepts values of at most 16 MiB.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Returns the events of a call with its retries. The last event is [`StreamEvent::End`] or [`StreamEvent::Error`].
pub(super) fn stream(
    inner: Arc<Inner>,
    config: RuntimeProviderConfig,
    request: ModelRequest,
) -> BoxStream<'static, StreamEvent> {
    let call = EngineCall {
        inner,
        config,
        request,
        retries: 0,
        last_error: None,
        answer_by: None,
        model_and_slot: None,
        stage: Stage::Start,
    };
    stream::unfold(call, |mut call| async move { Some((call.next().await?, call)) })
        .fuse()
        .boxed()
}

/// A call. It occupies a slot of its provider; the number of slots limits the concurrent calls. Dropping the call frees its slot,
/// and reports an attempt in progress to the circuit breaker with an unknown outcome.
struct EngineCall {
    inner: Arc<Inner>,
    /// The names of the provider and the model.
    config: RuntimeProviderConfig,
    request: ModelRequest,
    retries: u32,
    /// Why the last attempt failed. If the circuit breaker refuses the next attempt, the call fails with this error.
    last_error: Option<ModelError>,
    /// When all attempts have to be over, so that the call does not wait for a silent server once for each attempt. `None` before
    /// the first attempt.
    answer_by: Option<Instant>,
    /// The model, and the slot of the call. `None` before the first attempt and after the last.
    model_and_slot: Option<(Arc<dyn Model>, Slot)>,
    stage: Stage,
}

enum Stage {
    /// The next attempt is about to start.
    Start,
    /// An attempt is in progress.
    Streaming(Attempt),
    /// The last attempt failed; the next one starts after this time.
    Waiting(Duration),
    /// The last event was returned.
    Done,
}

/// An attempt to get a reply. If it fails after the first content of the reply, it is not retried.
struct Attempt {
    events: BoxStream<'static, StreamEvent>,
    ticket: TicketGuard,
    /// Whether any content was received: text, thoughts or a tool call.
    has_content: bool,
    /// Size of the text and thoughts so far, in bytes.
    text_bytes: usize,
}

impl EngineCall {
    /// Returns the next event, or `None` after the last one.
    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            match &mut self.stage {
                Stage::Done => return None,
                Stage::Waiting(delay) => {
                    sleep(*delay).await;
                    self.stage = Stage::Start;
                }
                Stage::Start => match self.start_attempt().await {
                    Ok(attempt) => self.stage = Stage::Streaming(attempt),
                    Err(error) => {
                        let error = self.last_error.take().unwrap_or(error);
                        return Some(self.fail(error));
                    }
                },
                Stage::Streaming(attempt) => {
                    let event = attempt.events.next().await;
                    return Some(self.handle_event(event));
                }
            }
        }
    }

    /// Starts an attempt. The first attempt waits for a slot, which is kept until the call ends.
    async fn start_attempt(&mut self) -> Result<Attempt, ModelError> {
        if self.model_and_slot.is_none() {
            let model = self.callable_model()?;
            let provider = lookup(&self.inner.providers, &self.config.provider_name)?;
            let slot = self.inner.queue.acquire(provider, &self.config).await?;
            self.model_and_slot = Some((model, slot));
        }
        let answer_timeout = self.answer_timeout();
        let answer_by = *self.answer_by.get_or_insert_with(|| Instant::now() + answer_timeout);
        let ticket = self.ask_breaker(|breaker, now| breaker.admit(now))?;
        let ticket = TicketGuard::new(Arc::clone(&self.inner), self.config.provider_name.clone(), ticket);
        // The model and the slot were set above, so this error cannot occur.
        let (model, _) = self
            .model_and_slot
            .as_ref()
            .ok_or_else(|| unknown_provider(&self.config))?;
        Ok(Attempt {
            events: model.stream_with_deadline(self.request.clone(), answer_by),
            ticket,
            has_content: false,
            text_bytes: 0,
        })
    }

    /// Makes the checks that need no slot, and returns the model of the call.
    fn callable_model(&self) -> Result<Arc<dyn Model>, ModelError> {
        let provider = lookup(&self.inner.providers, &self.config.provider_name)?;
        self.check_capabilities(provider)?;
        self.ask_breaker(|breaker, now| breaker.check(now))?;
        self.inner.model(provider, &self.config)
    }

    fn check_capabilities(&self, provider: &Provider) -> Result<(), ModelError> {
        let capabilities = provider.capabilities(&self.config.model_id);
        for required in &self.request.required_capabilities {
            if !capabilities.contains(required) {
                return Err(missing_capability(&self.config, *required));
            }
        }
        Ok(())
    }

    /// Asks the circuit breaker of the provider for permission: `ask` gets the breaker and the current time. Fails if `ask`
    /// returns the remaining time for which calls are refused.
    fn ask_breaker<T>(
        &self,
        ask: impl FnOnce(&mut crate::breaker::Breaker, Instant) -> Result<T, Duration>,
    ) -> Result<T, ModelError> {
        let name = &self.config.provider_name;
        let result = self.inner.with_breaker(name, |breaker| ask(breaker, Instant::now()));
        result
            .ok_or_else(|| unknown_provider(&self.config))?
            .map_err(|remaining| circuit_open_error(name, remaining))
    }

    /// Returns the event to forward for an event of the attempt. An `event` of `None` means that the stream of the attempt ended
    /// without an end event.
    fn handle_event(&mut self, event: Option<StreamEvent>) -> StreamEvent {
        match event {
            Some(StreamEvent::Error(cause)) => self.handle_failure(cause),
            None => self.handle_failure(error(
                ModelErrorCode::InvalidResponse,
                format!(
                    "the stream of `{}` stopped before the end of the reply; try again",
                    self.config
                ),
            )),
            Some(StreamEvent::End) => {
                self.end(CallOutcome::Success);
                StreamEvent::End
            }
            Some(StreamEvent::Metadata(mut metadata)) => {
                let price = self.inner.price(&self.config);
                metadata.cost_usd = metadata.cost_usd.or_else(|| price::cost(&price?, &metadata));
                StreamEvent::Metadata(metadata)
            }
            Some(event) => self.handle_content(event),
        }
    }

    /// Returns a piece of the reply, or the error if the reply becomes too long.
    fn handle_content(&mut self, event: StreamEvent) -> StreamEvent {
        if let Stage::Streaming(attempt) = &mut self.stage {
            match &event {
                StreamEvent::Token(text) | StreamEvent::Thinking(text) => {
                    attempt.has_content = true;
                    attempt.text_bytes = attempt.text_bytes.saturating_add(text.len());
                }
                StreamEvent::ToolCall(_) => attempt.has_content = true,
                _ => {}
            }
            if attempt.text_bytes > MAX_TEXT_BYTES {
                return self.handle_failure(too_much_text(&self.config));
            }
        }
        event
    }

    /// Schedules a retry after a failed attempt, or ends the call with the error. Returns the event that reports the retry or the
    /// error.
    fn handle_failure(&mut self, mut error: ModelError) -> StreamEvent {
        let has_content = matches!(&self.stage, Stage::Streaming(attempt) if attempt.has_content);
        let outcome = breaker_outcome(error.code);
        if let Stage::Streaming(attempt) = &mut self.stage {
            attempt.ticket.report(outcome);
        }
        let delay_variation = fastrand::f64();
        match decide(&self.inner.limits, &error, self.retries, delay_variation) {
            RetryDecision::Retry(delay) if !has_content && !self.timed_out_without_streaming(&error) => {
                if self
                    .answer_by
                    .is_some_and(|answer_by| Instant::now() + delay >= answer_by)
                {
                    self.add_answer_timeout(&mut error);
                    return self.fail(error);
                }
                self.retry(error, delay)
            }
            _ => {
                add_retry_time(&mut error, self.inner.limits.max_retry_after_ms);
                self.fail(error)
            }
        }
    }

    /// Returns the time for all attempts until a reply begins.
    fn answer_timeout(&self) -> Duration {
        let limits = &self.inner.limits;
        duration_from_ms(limits.answer_timeout_ms.max(limits.header_timeout_ms))
    }

    /// Adds to the message of the error that there is no time for another attempt.
    fn add_answer_timeout(&self, error: &mut ModelError) {
        let limit = format_duration(self.answer_timeout());
        let attempts = match self.retries {
            0 => "1 attempt".to_owned(),
            retries => format!("{} attempts", retries.saturating_add(1)),
        };
        error.message = format!(
            "{}; the call ended after {attempts}, because all together may take {limit} (`answer_timeout_ms` in `[models]`)",
            error.message
        );
    }

    /// Returns whether `error` is the timeout of a reply that does not stream. Its call is not retried, because the model would
    /// take as long and cost as much again.
    fn timed_out_without_streaming(&self, error: &ModelError) -> bool {
        let provider = self.inner.providers.get(&self.config.provider_name);
        let streams = provider
            .and_then(|provider| provider.as_remote())
            .is_none_or(|remote| remote.stream);
        error.code == ModelErrorCode::Timeout && !streams
    }

    /// Schedules the next attempt. Returns the event that announces it.
    fn retry(&mut self, error: ModelError, delay: Duration) -> StreamEvent {
        self.retries = self.retries.saturating_add(1);
        self.stage = Stage::Waiting(delay);
        self.last_error = Some(error.clone());
        StreamEvent::Retry(RetryContext {
            attempt: self.retries,
            max_retries: self.inner.limits.max_retries,
            delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
            error: error.code,
            message: error.message,
        })
    }

    /// Ends the call with an error, which is its last event.
    fn fail(&mut self, error: ModelError) -> StreamEvent {
        // The outcome of a failed attempt was already reported by `handle_failure`, and only the first report counts.
        self.end(CallOutcome::Unknown);
        StreamEvent::Error(error)
    }

    /// Ends the call and frees its slot before the last event is yielded, so that the consumer can call again immediately.
    fn end(&mut self, outcome: CallOutcome) {
        if let Stage::Streaming(attempt) = &mut self.stage {
            attempt.ticket.report(outcome);
        }
        self.stage = Stage::Done;
        self.model_and_slot = None;
    }
}

/// Returns the outcome that the circuit breaker gets for an error with `code`. A rate limit is not a failure of the provider.
const fn breaker_outcome(code: ModelErrorCode) -> CallOutcome {
    if code.is_retryable() && !matches!(code, ModelErrorCode::RateLimited) {
        CallOutcome::Failure
    } else {
        CallOutcome::Unknown
    }
}

/// Creates the error for a model that lacks a required capability.
fn missing_capability(config: &RuntimeProviderConfig, missing: ModelCapability) -> ModelError {
    let action = match missing {
        ModelCapability::Vision => {
            return error(
                ModelErrorCode::ProviderNotSupported,
                format!(
                    "model `{config}` cannot read pictures; choose one that can, or set `vision = true` in `[providers.{}]` if it can",
                    config.provider_name
                ),
            );
        }
        ModelCapability::ToolUse => {
            let message =
                format!("model `{config}` does not support function calls; describe the tools in the prompt instead");
            return error(ModelErrorCode::ToolsNotSupported, message);
        }
        ModelCapability::Text => "write text",
        ModelCapability::Streaming => "stream its replies",
        ModelCapability::Rag => "search documents",
        ModelCapability::Code => "write code",
        ModelCapability::Reasoning => "reason",
    };
    let message = format!("model `{config}` cannot {action}; choose another model");
    error(ModelErrorCode::ProviderNotSupported, message)
}

fn too_much_text(config: &RuntimeProviderConfig) -> ModelError {
    let message =
        format!("the reply of `{config}` has more than {MAX_TEXT_BYTES} bytes of text; ask for a shorter reply");
    error(ModelErrorCode::InvalidResponse, message)
}

fn unknown_provider(config: &RuntimeProviderConfig) -> ModelError {
    let message = format!("model provider `{}` is not known", config.provider_name);
    error(ModelErrorCode::ProviderNotSupported, message)
}

/// Creates the error for a call that the circuit breaker refuses. `remaining` is the time for which it refuses calls, or zero
/// while it only waits for the outcome of its test calls.
fn circuit_open_error(provider: &str, remaining: Duration) -> ModelError {
    let when = if remaining.is_zero() {
        "test calls are in progress".to_owned()
    } else {
        format!("the next call is possible in {}", format_duration(remaining))
    };
    let message = format!("provider `{provider}` failed several times in a row, so calls are suspended; {when}");
    error(ModelErrorCode::NetworkError, message)
}

/// Adds to the message of the error when the provider accepts requests again. Does so only if the provider requested a delay over
/// `max_delay_ms`, for which the call did not wait.
fn add_retry_time(error: &mut ModelError, max_delay_ms: u64) {
    if let Some(delay_ms) = error.retry_after_ms.filter(|delay_ms| *delay_ms > max_delay_ms) {
        let wait = format_duration(Duration::from_millis(delay_ms));
        error.message = format!("{}; it accepts requests again in {wait}", error.message);
    }
}

/// The proof that the circuit breaker admitted an attempt, with which the outcome of the attempt is reported to the breaker. If
/// it is dropped before that, the outcome is reported as unknown.
struct TicketGuard {
    inner: Arc<Inner>,
    provider: String,
    ticket: Option<Ticket>,
}

impl TicketGuard {
    const fn new(inner: Arc<Inner>, provider: String, ticket: Ticket) -> Self {
        Self {
            inner,
            provider,
            ticket: Some(ticket),
        }
    }

    /// Reports the outcome. Only the first one counts.
    fn report(&mut self, outcome: CallOutcome) {
        if let Some(ticket) = self.ticket.take() {
            let now = Instant::now();
            self.inner
                .with_breaker(&self.provider, |breaker| breaker.record(ticket, outcome, now));
        }
    }
}

impl Drop for TicketGuard {
    fn drop(&mut self) {
        self.report(CallOutcome::Unknown);
    }
}

#[cfg(test)]
mod tests;
