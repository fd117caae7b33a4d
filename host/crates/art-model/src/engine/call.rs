//! One call, from the first attempt to the end of its stream.

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
use crate::manager::Lease;
use crate::provider::lookup;
use crate::retry::{Verdict, verdict};

/// Bytes of text and thoughts together that a reply may have. What keeps replies takes no more.
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
        lease: None,
        stage: Stage::Attempt,
    };
    stream::unfold(call, |mut call| async move { Some((call.next().await?, call)) })
        .fuse()
        .boxed()
}

/// A call. Dropping it gives its adapter back and tells the breaker that nothing came of it.
struct Call {
    inner: Arc<Inner>,
    config: RuntimeProviderConfig,
    request: ModelRequest,
    retries: u32,
    /// Why the last attempt failed: what a person has to know when the next one is not let through.
    last: Option<ModelError>,
    lease: Option<Lease>,
    stage: Stage,
}

enum Stage {
    /// An attempt is to be made.
    Attempt,
    /// One is under way.
    Streaming(Attempt),
    /// The last one failed.
    Waiting(Duration),
    Done,
}

/// An attempt. The first content makes it final.
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

    /// Begins an attempt; the first one gets the adapter, which is kept until the call ends.
    async fn begin(&mut self) -> Result<Attempt, ModelError> {
        if self.lease.is_none() {
            // Who would be refused does not queue.
            self.check_capabilities()?;
            self.breaker(|breaker, now| breaker.check(now))?;
            self.lease = Some(self.inner.manager.acquire(&self.config).await?);
        }
        let ticket = self.breaker(|breaker, now| breaker.admit(now))?;
        let pass = Pass::new(Arc::clone(&self.inner), self.config.provider_name.clone(), ticket);
        let lease = self.lease.as_ref().ok_or_else(|| unknown(&self.config))?;
        Ok(Attempt {
            events: lease.adapter().stream(self.request.clone()),
            pass,
            begun: false,
            written: 0,
        })
    }

    fn check_capabilities(&self) -> Result<(), ModelError> {
        let provider = lookup(self.inner.manager.providers(), &self.config.provider_name)?;
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

    /// Passes an event of the attempt on, or what becomes of it.
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

    /// Passes a piece of the reply on, as long as there are not too many.
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

    /// The attempt failed: it is made again, or its error is the error of the call.
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

    /// Whether a model that does not stream was given up while it wrote: it would write as long again, and be paid again.
    fn was_at_work(&self, error: &ModelError) -> bool {
        let provider = self.inner.manager.providers().get(&self.config.provider_name);
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

    /// Gives everything back before the last event is seen, so that who sees it can call again.
    fn end(&mut self, outcome: Outcome) {
        if let Stage::Streaming(attempt) = &mut self.stage {
            attempt.pass.done(outcome);
        }
        self.stage = Stage::Done;
        self.lease = None;
    }
}

/// What a failure says about the provider. One that takes no more requests for now is well: waiting is the retries' work.
const fn outcome(code: ModelErrorCode) -> Outcome {
    if code.is_retryable() && !matches!(code, ModelErrorCode::RateLimited) {
        Outcome::Failure
    } else {
        Outcome::Neither
    }
}

/// The model lacks what the request needs.
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

/// The breaker lets nothing through.
fn resting(provider: &str, left: Duration) -> ModelError {
    let when = if left.is_zero() {
        "it is being tried just now".to_owned()
    } else {
        format!("it is tried again in {}", duration(left))
    };
    let message = format!("provider `{provider}` failed several times in a row, so it is left alone; {when}");
    error(ModelErrorCode::NetworkError, message)
}

/// Says how long a provider wants to be left alone when that is longer than is waited.
fn say_when(error: &mut ModelError, longest_ms: u64) {
    if let Some(asked) = error.retry_after_ms.filter(|asked| *asked > longest_ms) {
        let wait = duration(Duration::from_millis(asked));
        error.message = format!("{}; it may be asked again in {wait}", error.message);
    }
}

/// The breaker's ticket of an attempt; dropped without an outcome, the attempt was given up.
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

    /// Only the first outcome counts.
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
