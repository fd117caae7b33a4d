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
use crate::breaker::{Outcome, Ticket};
use crate::fault::{duration, error};
use crate::model::Model;
use crate::provider::{Provider, lookup};
use crate::queue::Place;
use crate::retry::{Verdict, verdict};

/// Most bytes of text and thoughts of a reply. Stores take no more.
const MAX_WRITTEN: usize = 4 << 20;

pub(super) fn stream(
    inner: Arc<Inner>,
    config: RuntimeProviderConfig,
    request: ModelRequest,
) -> BoxStream<'static, StreamEvent> {
    let call = Call {
        inner,
        config,
        request,
        retries: 0,
        last: None,
        admitted: None,
        stage: Stage::Attempt,
    };
    stream::unfold(call, |mut call| async move { Some((call.next().await?, call)) })
        .fuse()
        .boxed()
}

/// A call. Dropping it frees its place and tells the breaker that nothing came of it.
struct Call {
    inner: Arc<Inner>,
    config: RuntimeProviderConfig,
    request: ModelRequest,
    retries: u32,
    /// Why the last attempt failed. It is reported when the next attempt is refused before it begins.
    last: Option<ModelError>,
    /// The model and its place; none before the first attempt and after the last.
    admitted: Option<(Arc<dyn Model>, Place)>,
    stage: Stage,
}

enum Stage {
    /// The next attempt begins.
    Attempt,
    /// An attempt is in progress.
    Streaming(Attempt),
    /// The last attempt failed; the next one begins after this time.
    Waiting(Duration),
    Done,
}

/// An attempt. After its first content it is not retried.
struct Attempt {
    events: BoxStream<'static, StreamEvent>,
    pass: Pass,
    begun: bool,
    /// Bytes of text and thoughts so far.
    written: usize,
}

impl Call {
    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            match &mut self.stage {
                Stage::Done => return None,
                Stage::Waiting(delay) => {
                    sleep(*delay).await;
                    self.stage = Stage::Attempt;
                }
                Stage::Attempt => match self.begin().await {
                    Ok(attempt) => self.stage = Stage::Streaming(attempt),
                    Err(error) => {
                        let error = self.last.take().unwrap_or(error);
                        return Some(self.fail(error));
                    }
                },
                Stage::Streaming(attempt) => {
                    let event = attempt.events.next().await;
                    return Some(self.take(event));
                }
            }
        }
    }

    /// Begins an attempt; the first one gets the place, which is kept until the call ends.
    async fn begin(&mut self) -> Result<Attempt, ModelError> {
        if self.admitted.is_none() {
            let model = self.model()?;
            let provider = lookup(&self.inner.providers, &self.config.provider_name)?;
            let place = self.inner.queue.enter(provider, &self.config).await?;
            self.admitted = Some((model, place));
        }
        let ticket = self.breaker(|breaker, now| breaker.admit(now))?;
        let pass = Pass::new(Arc::clone(&self.inner), self.config.provider_name.clone(), ticket);
        let (model, _) = self.admitted.as_ref().ok_or_else(|| unknown(&self.config))?;
        Ok(Attempt {
            events: model.stream(self.request.clone()),
            pass,
            begun: false,
            written: 0,
        })
    }

    /// Returns the model, unless the call can be refused without waiting for a place.
    fn model(&self) -> Result<Arc<dyn Model>, ModelError> {
        let provider = lookup(&self.inner.providers, &self.config.provider_name)?;
        self.check_capabilities(provider)?;
        self.breaker(|breaker, now| breaker.check(now))?;
        self.inner.model(provider, &self.config)
    }

    fn check_capabilities(&self, provider: &Provider) -> Result<(), ModelError> {
        let capabilities = provider.capabilities(&self.config.model_id);
        let mut required = self.request.required_capabilities.iter();
        let missing = required.find(|wanted| !capabilities.contains(wanted));
        missing.map_or(Ok(()), |missing| Err(incapable(&self.config, *missing)))
    }

    fn breaker<T>(
        &self,
        work: impl FnOnce(&mut crate::breaker::Breaker, Instant) -> Result<T, Duration>,
    ) -> Result<T, ModelError> {
        let name = &self.config.provider_name;
        let asked = self.inner.breaker(name, |breaker| work(breaker, Instant::now()));
        asked
            .ok_or_else(|| unknown(&self.config))?
            .map_err(|left| resting(name, left))
    }

    /// Forwards an event of the attempt, or handles its end.
    fn take(&mut self, event: Option<StreamEvent>) -> StreamEvent {
        match event {
            Some(StreamEvent::Error(error)) => self.failed(error),
            None => self.failed(error(
                ModelErrorCode::InvalidResponse,
                format!("the stream of `{}` stopped before its end; try again", self.config),
            )),
            Some(StreamEvent::End) => {
                self.end(Outcome::Success);
                StreamEvent::End
            }
            Some(StreamEvent::Metadata(mut metadata)) => {
                let price = self.inner.price(&self.config);
                metadata.cost_usd = metadata.cost_usd.or_else(|| price?.cost(&metadata));
                StreamEvent::Metadata(metadata)
            }
            Some(event) => self.content(event),
        }
    }

    /// Forwards a piece of the reply. Fails the call if the reply becomes too long.
    fn content(&mut self, event: StreamEvent) -> StreamEvent {
        let (content, bytes) = match &event {
            StreamEvent::Token(text) | StreamEvent::Thinking(text) => (true, text.len()),
            StreamEvent::ToolCall(_) => (true, 0),
            _ => (false, 0),
        };
        if let Stage::Streaming(attempt) = &mut self.stage {
            attempt.begun |= content;
            attempt.written = attempt.written.saturating_add(bytes);
            if attempt.written > MAX_WRITTEN {
                return self.failed(too_much(&self.config));
            }
        }
        event
    }

    /// Handles a failed attempt: it is retried, or its error becomes the error of the call.
    fn failed(&mut self, mut error: ModelError) -> StreamEvent {
        let begun = matches!(&self.stage, Stage::Streaming(attempt) if attempt.begun);
        let outcome = outcome(error.code);
        if let Stage::Streaming(attempt) = &mut self.stage {
            attempt.pass.done(outcome);
        }
        let verdict = verdict(&self.inner.limits, &error, self.retries, fastrand::f64());
        match verdict {
            Verdict::Again(delay) if !begun && !self.was_at_work(&error) => self.retry(error, delay),
            _ => {
                say_when(&mut error, self.inner.limits.max_retry_after_ms);
                self.fail(error)
            }
        }
    }

    /// Whether a timeout hit a reply that does not stream. It is not retried: the model would take as long again, and
    /// cost as much.
    fn was_at_work(&self, error: &ModelError) -> bool {
        let provider = self.inner.providers.get(&self.config.provider_name);
        let streams = provider
            .and_then(|provider| provider.service())
            .is_none_or(|remote| remote.stream);
        error.code == ModelErrorCode::Timeout && !streams
    }

    fn retry(&mut self, error: ModelError, delay: Duration) -> StreamEvent {
        self.retries = self.retries.saturating_add(1);
        self.stage = Stage::Waiting(delay);
        self.last = Some(error.clone());
        StreamEvent::Retry(RetryContext {
            attempt: self.retries,
            max_retries: self.inner.limits.max_retries,
            delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
            error: error.code,
            message: error.message,
        })
    }

    fn fail(&mut self, error: ModelError) -> StreamEvent {
        self.end(Outcome::Neither);
        StreamEvent::Error(error)
    }

    /// Frees the place before the last event is yielded, so that the consumer can call again at once.
    fn end(&mut self, outcome: Outcome) {
        if let Stage::Streaming(attempt) = &mut self.stage {
            attempt.pass.done(outcome);
        }
        self.stage = Stage::Done;
        self.admitted = None;
    }
}

/// Maps an error to what it says about the provider. A rate limit does not count as a failure: retries wait for it.
const fn outcome(code: ModelErrorCode) -> Outcome {
    if code.is_retryable() && !matches!(code, ModelErrorCode::RateLimited) {
        Outcome::Failure
    } else {
        Outcome::Neither
    }
}

/// Creates the error for a model that lacks a required capability.
fn incapable(config: &RuntimeProviderConfig, missing: ModelCapability) -> ModelError {
    let lacks = match missing {
        ModelCapability::Vision => {
            return error(
                ModelErrorCode::ProviderNotSupported,
                format!(
                    "model `{config}` cannot look at pictures; choose one that can, or set `vision = true` in `[providers.{}]` if it does",
                    config.provider_name
                ),
            );
        }
        ModelCapability::ToolUse => {
            let message = format!("model `{config}` takes no function calls; ask it with the tools in the prompt");
            return error(ModelErrorCode::ToolsNotSupported, message);
        }
        ModelCapability::Text => "write text",
        ModelCapability::Streaming => "stream its replies",
        ModelCapability::Rag => "look things up in documents",
        ModelCapability::Code => "write code",
        ModelCapability::Reasoning => "reason",
    };
    let message = format!("model `{config}` cannot {lacks}; choose another model");
    error(ModelErrorCode::ProviderNotSupported, message)
}

fn too_much(config: &RuntimeProviderConfig) -> ModelError {
    let message = format!("the reply of `{config}` has more than {MAX_WRITTEN} bytes of text; ask for less at a time");
    error(ModelErrorCode::InvalidResponse, message)
}

fn unknown(config: &RuntimeProviderConfig) -> ModelError {
    let message = format!("model provider `{}` is not known", config.provider_name);
    error(ModelErrorCode::ProviderNotSupported, message)
}

/// Creates the error for a call that the circuit breaker refuses.
fn resting(provider: &str, left: Duration) -> ModelError {
    let when = if left.is_zero() {
        "it is being tried just now".to_owned()
    } else {
        format!("it is tried again in {}", duration(left))
    };
    let message = format!("provider `{provider}` failed several times in a row, so it is left alone; {when}");
    error(ModelErrorCode::NetworkError, message)
}

/// Adds to the error when the provider may be called again, if that is longer than retries wait.
fn say_when(error: &mut ModelError, longest_ms: u64) {
    if let Some(asked) = error.retry_after_ms.filter(|asked| *asked > longest_ms) {
        let wait = duration(Duration::from_millis(asked));
        error.message = format!("{}; it may be asked again in {wait}", error.message);
    }
}

/// The breaker's ticket of an attempt. Dropping it without an outcome reports that the attempt was cancelled.
struct Pass {
    inner: Arc<Inner>,
    provider: String,
    ticket: Option<Ticket>,
}

impl Pass {
    const fn new(inner: Arc<Inner>, provider: String, ticket: Ticket) -> Self {
        Self {
            inner,
            provider,
            ticket: Some(ticket),
        }
    }

    /// Reports the outcome. Only the first one counts.
    fn done(&mut self, outcome: Outcome) {
        if let Some(ticket) = self.ticket.take() {
            let now = Instant::now();
            self.inner
                .breaker(&self.provider, |breaker| breaker.done(ticket, outcome, now));
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.done(Outcome::Neither);
    }
}

#[cfg(test)]
mod tests;
