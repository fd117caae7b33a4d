//! A model of a remote provider: sends requests and reads replies in the protocol of the provider, over HTTP.

mod address;
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
use tokio::time::Instant;

use crate::fault::error;
use crate::http::{HttpRequest, HttpResponse, Transport};
use crate::model::Model;
use crate::protocol::ReplyReader;
use crate::provider::RemoteProvider;
use meter::Meter;
use redact::ReplyRedactor;

/// A model of a remote provider.
pub(crate) struct RemoteModel {
    config: RuntimeProviderConfig,
    /// Capabilities that were known when the model was created. Each request asks `remote` for the current ones.
    capabilities: Vec<ModelCapability>,
    remote: Arc<RemoteProvider>,
    transport: Arc<Transport>,
}

impl RemoteModel {
    pub(crate) fn new(config: RuntimeProviderConfig, remote: Arc<RemoteProvider>, transport: Arc<Transport>) -> Self {
        Self {
            capabilities: remote.capabilities.for_model(&config.model_id),
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
        self.exchange(&request, None)
    }

    fn stream_with_deadline(&self, request: ModelRequest, answer_by: Instant) -> BoxStream<'static, StreamEvent> {
        self.exchange(&request, Some(answer_by))
    }
}

impl RemoteModel {
    fn exchange(&self, request: &ModelRequest, answer_by: Option<Instant>) -> BoxStream<'static, StreamEvent> {
        let exchange = Exchange::new(self, request, answer_by);
        stream::unfold(exchange, |mut exchange| async move {
            Some((exchange.next().await?, exchange))
        })
        .fuse()
        .boxed()
    }
}

/// A request and its reply, while events of the reply are yielded.
struct Exchange {
    remote: Arc<RemoteProvider>,
    model_id: String,
    transport: Arc<Transport>,
    stage: Stage,
    /// Events that are decoded and redacted, but not yielded yet.
    ready: VecDeque<StreamEvent>,
    meter: Meter,
    redactor: ReplyRedactor,
    /// Whether the request offers tools as function calls. If not, at most the text of the prompt describes them.
    has_tools: bool,
}

/// What an exchange does next.
enum Stage {
    /// Sends the request.
    Send(Box<HttpRequest>),
    /// Reads the next piece of the reply.
    Read(Box<ReplyStream>),
    /// Does nothing more: the remaining events are in `ready`.
    Done,
}

/// A response that streams, and the reader that decodes it.
struct ReplyStream {
    response: HttpResponse,
    reader: ReplyReader,
}

impl Exchange {
    fn new(model: &RemoteModel, request: &ModelRequest, answer_by: Option<Instant>) -> Self {
        let mut exchange = Self {
            remote: Arc::clone(&model.remote),
            model_id: model.config.model_id.clone(),
            transport: Arc::clone(&model.transport),
            stage: Stage::Done,
            ready: VecDeque::new(),
            meter: Meter::start(),
            redactor: ReplyRedactor::new(&model.remote.key),
            has_tools: false,
        };
        match request::prepare(&exchange.remote, &exchange.model_id, request, answer_by) {
            Ok(prepared) => {
                exchange.meter.set_input_characters(prepared.characters);
                exchange.has_tools = prepared.has_tools;
                exchange.stage = Stage::Send(Box::new(prepared.http_request));
            }
            Err(error) => exchange.fail(&error),
        }
        exchange
    }

    /// Returns the next event, or `None` after the last one.
    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let result = match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Send(request) => self.send(*request).await,
                Stage::Read(stream) => self.read(stream).await,
                Stage::Done => return None,
            };
            if let Err(error) = result {
                self.fail(&error);
            }
        }
    }

    /// Sends the request. Starts to read the stream, or reads the whole response if it does not stream.
    async fn send(&mut self, request: HttpRequest) -> Result<(), ModelError> {
        let mut response = self.transport.send(request).await?;
        if !(200..300).contains(&response.status) {
            let error_reply = request::read_error_reply(&self.remote, &mut response).await;
            return Err(self.error_from_reply(error_reply));
        }
        if response.has_media_type("text/html") {
            return Err(request::web_page_error(&self.remote, &response));
        }
        if self.remote.stream && !response.has_media_type("application/json") {
            self.stage = Stage::Read(Box::new(ReplyStream {
                response,
                reader: ReplyReader::new(&*self.remote.codec),
            }));
            return Ok(());
        }
        let body = response.read_body().await?;
        let body = art_core::json::parse(&String::from_utf8_lossy(&body));
        let body = body.map_err(|cause| not_json_error(response.host(), &cause))?;
        if request::is_wrong_address(&self.remote, response.status, &body) {
            return Err(request::wrong_address_error(&self.remote, &response, &body));
        }
        self.queue_events(self.remote.codec.decode_body(&body));
        Ok(())
    }

    /// Returns the error of an error reply. If the provider refused the tools of the request, the error has the code
    /// [`ModelErrorCode::ToolsNotSupported`], and it is recorded that the model does not support them.
    fn error_from_reply(&self, reply: request::ErrorReply) -> ModelError {
        if !(self.has_tools && reply.refuses_tools) {
            return reply.error;
        }
        self.remote.capabilities.record_tools_refused(&self.model_id);
        ModelError {
            code: ModelErrorCode::ToolsNotSupported,
            ..reply.error
        }
    }

    /// Reads and decodes the next piece of the response.
    async fn read(&mut self, mut stream: Box<ReplyStream>) -> Result<(), ModelError> {
        let mut events = Vec::new();
        match stream.response.next_chunk().await? {
            Some(chunk) => stream.reader.push(&chunk, &mut events),
            None => stream.reader.finish(&mut events),
        }
        if !stream.reader.has_ended() {
            self.stage = Stage::Read(stream);
        }
        self.queue_events(events);
        Ok(())
    }

    /// Puts events into `ready`, up to the one that ends the stream.
    fn queue_events(&mut self, events: Vec<StreamEvent>) {
        for event in events {
            match event {
                StreamEvent::Error(error) => return self.fail(&error),
                StreamEvent::End => {
                    self.stage = Stage::Done;
                    self.ready.extend(self.redactor.flush());
                    self.ready
                        .extend(self.meter.metadata_if_missing().map(StreamEvent::Metadata));
                    self.ready.push_back(StreamEvent::End);
                    return;
                }
                StreamEvent::Metadata(mut metadata) => {
                    // Use a cost only from the provider's own address: another server could report zero to defeat the cost limit.
                    let is_at_built_in_address = self.remote.defaults_at_built_in_address().is_some();
                    if !is_at_built_in_address {
                        metadata.cost_usd = None;
                    }
                    self.queue_redacted(StreamEvent::Metadata(metadata));
                }
                event => self.queue_redacted(event),
            }
        }
    }

    /// Measures an event: counts its output or, if the event is metadata, adds times and estimated token counts. Then redacts
    /// the key in the event and puts the event into `ready`.
    fn queue_redacted(&mut self, event: StreamEvent) {
        let event = self.meter.measure(event);
        self.ready.extend(self.redactor.redact_event(event));
    }

    /// Puts the error that ends the stream into `ready`, unless the stream has ended.
    fn fail(&mut self, error: &ModelError) {
        self.stage = Stage::Done;
        let ends_stream = |event: &StreamEvent| matches!(event, StreamEvent::Error(_) | StreamEvent::End);
        if !self.ready.back().is_some_and(ends_stream) {
            self.ready.extend(self.redactor.flush());
            let error = request::explain_error(&self.remote, &self.model_id, error);
            self.ready.push_back(StreamEvent::Error(error));
        }
    }
}

fn not_json_error(host: &str, cause: &serde_json::Error) -> ModelError {
    let message = format!("the reply of `{host}` is not JSON: {cause}; check `base_url` and `api`, or try again");
    error(ModelErrorCode::InvalidResponse, message)
}

#[cfg(test)]
mod tests;
