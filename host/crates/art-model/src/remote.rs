//! A model of a service: sends requests and reads replies in the protocol of its provider, over HTTP.

mod meter;
pub(crate) mod probe;
mod redact;
mod request;

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
use crate::protocol::Reader;
use crate::provider::Remote;
use meter::Meter;
use redact::ReplyRedactor;

/// A model of a service.
pub(crate) struct RemoteModel {
    config: RuntimeProviderConfig,
    /// Capabilities when the model was created.
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
    /// Events that are decoded but not yielded yet.
    ready: VecDeque<StreamEvent>,
    meter: Meter,
    redactor: ReplyRedactor,
    /// Whether the request has native tools.
    with_tools: bool,
}

enum Stage {
    Sending(Box<Call>),
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
            redactor: ReplyRedactor::new(&model.remote.key),
            with_tools: false,
        };
        match request::prepare(&exchange.remote, &exchange.model_id, request) {
            Ok(prepared) => {
                exchange.meter.set_input(prepared.characters);
                exchange.with_tools = prepared.with_tools;
                exchange.stage = Stage::Sending(Box::new(prepared.call));
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
            let result = match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Sending(call) => self.send(*call).await,
                Stage::Reading(reading) => self.read(reading).await,
                Stage::Done => return None,
            };
            if let Err(error) = result {
                self.fail(&error);
            }
        }
    }

    async fn send(&mut self, call: Call) -> Result<(), ModelError> {
        let mut reply = self.transport.send(call).await?;
        if !(200..300).contains(&reply.status) {
            let refusal = request::refusal(&self.remote, &mut reply).await;
            return Err(self.refused(refusal));
        }
        if reply.is("text/html") {
            return Err(request::web_page(&reply));
        }
        if self.remote.stream && !reply.is("application/json") {
            self.stage = Stage::Reading(Box::new((reply, Reader::new(&*self.remote.codec))));
            return Ok(());
        }
        let body = reply.body().await?;
        let body = serde_json::from_slice(&body).map_err(|cause| unreadable(reply.host(), &cause))?;
        self.queue_events(self.remote.codec.whole(&body));
        Ok(())
    }

    /// Returns the error of a refused request. Records whether the service refuses function calls for the model.
    fn refused(&self, refusal: request::Refusal) -> ModelError {
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
        self.queue_events(out);
        Ok(())
    }

    /// Queues events up to the one that ends the stream.
    fn queue_events(&mut self, events: Vec<StreamEvent>) {
        for event in events {
            match event {
                StreamEvent::Error(error) => return self.fail(&error),
                StreamEvent::End => {
                    self.stage = Stage::Done;
                    self.ready.extend(self.redactor.rest());
                    self.ready.extend(self.meter.missing().map(StreamEvent::Metadata));
                    self.ready.push_back(StreamEvent::End);
                    return;
                }
                StreamEvent::Metadata(mut metadata) => {
                    // Trust only the provider's own address: another server could report a cost of zero to defeat the cost limit.
                    metadata
                        .cost_usd
                        .take_if(|_| self.remote.defaults_at_own_address().is_none());
                    self.queue(StreamEvent::Metadata(metadata));
                }
                event => self.queue(event),
            }
        }
    }

    /// Counts an event, redacts the key in it, and queues it.
    fn queue(&mut self, event: StreamEvent) {
        let event = self.meter.pass(event);
        self.ready.extend(self.redactor.pass(event));
    }

    /// Queues the error that ends the stream, unless the stream has ended.
    fn fail(&mut self, error: &ModelError) {
        self.stage = Stage::Done;
        let ended = |event: &StreamEvent| matches!(event, StreamEvent::Error(_) | StreamEvent::End);
        if !self.ready.back().is_some_and(ended) {
            self.ready.extend(self.redactor.rest());
            let error = request::explain(&self.remote, &self.model_id, error);
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
