//! A model behind a service: one dialect over HTTP.

mod ask;
mod hide;
mod meter;
pub(crate) mod probe;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::{ContextWindow, ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::StreamEvent;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use crate::fault::error;
use crate::http::{Call, Reply, Transport};
use crate::model::Model;
use crate::provider::Remote;
use crate::wire::Reader;
use hide::Hiding;
use meter::Meter;

/// A model behind a service.
pub(crate) struct RemoteModel {
    config: RuntimeProviderConfig,
    /// Capabilities by the settings.
    capabilities: Vec<ModelCapability>,
    remote: Arc<Remote>,
    transport: Arc<Transport>,
}

impl RemoteModel {
    pub(crate) fn new(config: RuntimeProviderConfig, remote: Arc<Remote>, transport: Arc<Transport>) -> Self {
        Self {
            capabilities: remote.abilities.of(&config.model_id),
            config,
            remote,
            transport,
        }
    }
}

impl fmt::Debug for RemoteModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteModel").field(&self.config).finish()
    }
}

impl Model for RemoteModel {
    fn config(&self) -> &RuntimeProviderConfig {
        &self.config
    }

    fn capabilities(&self) -> &[ModelCapability] {
        &self.capabilities
    }

    fn context(&self) -> ContextWindow {
        ContextWindow::Tokens(self.remote.context_tokens)
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let exchange = Exchange::new(self, &request);
        stream::unfold(exchange, |mut exchange| async move {
            Some((exchange.next().await?, exchange))
        })
        .fuse()
        .boxed()
    }
}

/// A request and its reply in progress.
struct Exchange {
    remote: Arc<Remote>,
    model_id: String,
    transport: Arc<Transport>,
    stage: Stage,
    /// Events that were read and not yielded yet.
    ready: VecDeque<StreamEvent>,
    meter: Meter,
    hiding: Hiding,
    /// The request has native tools.
    with_tools: bool,
}

enum Stage {
    Asking(Box<Call>),
    Reading(Box<(Reply, Reader)>),
    Done,
}

impl Exchange {
    fn new(model: &RemoteModel, request: &ModelRequest) -> Self {
        let mut exchange = Self {
            remote: Arc::clone(&model.remote),
            model_id: model.config.model_id.clone(),
            transport: Arc::clone(&model.transport),
            stage: Stage::Done,
            ready: VecDeque::new(),
            meter: Meter::start(),
            hiding: Hiding::new(&model.remote.key),
            with_tools: false,
        };
        match ask::call(&exchange.remote, &exchange.model_id, request) {
            Ok(asking) => {
                exchange.meter.read(asking.characters);
                exchange.with_tools = asking.with_tools;
                exchange.stage = Stage::Asking(Box::new(asking.call));
            }
            Err(error) => exchange.fail(&error),
        }
        exchange
    }

    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let went = match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Asking(call) => self.ask(*call).await,
                Stage::Reading(reading) => self.read(reading).await,
                Stage::Done => return None,
            };
            if let Err(error) = went {
                self.fail(&error);
            }
        }
    }

    async fn ask(&mut self, call: Call) -> Result<(), ModelError> {
        let mut reply = self.transport.send(call).await?;
        if !(200..300).contains(&reply.status) {
            let refusal = ask::refusal(&self.remote, &mut reply).await;
            return Err(self.refused(refusal));
        }
        if reply.is("text/html") {
            return Err(ask::web_page(&reply));
        }
        if self.remote.stream && !reply.is("application/json") {
            self.stage = Stage::Reading(Box::new((reply, Reader::new(&*self.remote.wire))));
            return Ok(());
        }
        let body = reply.body().await?;
        let body = serde_json::from_slice(&body).map_err(|cause| unreadable(reply.host(), &cause))?;
        self.give(self.remote.wire.whole(&body));
        Ok(())
    }

    /// Returns the error of a refused request. If the service refuses function calls for the model, that is remembered.
    fn refused(&self, refusal: ask::Refusal) -> ModelError {
        if !(self.with_tools && refusal.names_tools) {
            return refusal.error;
        }
        self.remote.abilities.note_tools_refused(&self.model_id);
        ModelError {
            code: ModelErrorCode::ToolsNotSupported,
            ..refusal.error
        }
    }

    async fn read(&mut self, mut reading: Box<(Reply, Reader)>) -> Result<(), ModelError> {
        let (reply, reader) = &mut *reading;
        let mut out = Vec::new();
        match reply.chunk().await? {
            Some(chunk) => reader.push(&chunk, &mut out),
            None => reader.finish(&mut out),
        }
        if !reader.ended() {
            self.stage = Stage::Reading(reading);
        }
        self.give(out);
        Ok(())
    }

    /// Queues events up to the one that ends the stream.
    fn give(&mut self, events: Vec<StreamEvent>) {
        for event in events {
            match event {
                StreamEvent::Error(error) => return self.fail(&error),
                StreamEvent::End => {
                    self.stage = Stage::Done;
                    self.ready.extend(self.hiding.rest());
                    self.ready.extend(self.meter.missing().map(StreamEvent::Metadata));
                    self.ready.push_back(StreamEvent::End);
                    return;
                }
                StreamEvent::Metadata(mut metadata) => {
                    // Only the provider's own address is trusted: any other server could report no cost and lift the
                    // limit.
                    metadata
                        .cost_usd
                        .take_if(|_| self.remote.known_at_own_address().is_none());
                    self.say(StreamEvent::Metadata(metadata));
                }
                event => self.say(event),
            }
        }
    }

    /// Counts an event, redacts the key in it and queues it.
    fn say(&mut self, event: StreamEvent) {
        let event = self.meter.pass(event);
        self.ready.extend(self.hiding.pass(event));
    }

    /// Queues the error that ends the stream, unless it has ended.
    fn fail(&mut self, error: &ModelError) {
        self.stage = Stage::Done;
        let ended = |event: &StreamEvent| matches!(event, StreamEvent::Error(_) | StreamEvent::End);
        if !self.ready.back().is_some_and(ended) {
            self.ready.extend(self.hiding.rest());
            let error = ask::explain(&self.remote, &self.model_id, error);
            self.ready.push_back(StreamEvent::Error(error));
        }
    }
}

fn unreadable(host: &str, cause: &serde_json::Error) -> ModelError {
    let message = format!("the reply of `{host}` is not JSON: {cause}; check `base_url` and `api`, or try again");
    error(ModelErrorCode::InvalidResponse, message)
}

#[cfg(test)]
mod tests;
