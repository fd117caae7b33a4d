//! The lexical model, which is built into the program: it learns from the tools' own examples and needs no network.
//!
//! Each example of a tool has a question in words beside its input. The values of the input that stand in the question become
//! *slots*: the question with slots is a *pattern*, and the input with slots is its *template*. The *class* of a slot says which
//! words can fill it. A *whole text*, such as a table, is not a value among the words: the question quotes it or has it as an
//! attachment, and a call passes it along unchanged.
//!
//! A question is split into parts, each of which asks for one call. A part is aligned with all patterns word by word, and the
//! nearest one is taken if it accounts for everything that the part says. The values in the part then fill the template.
//!
//! The model reads [`Task`]s, never a prompt: every reply is a pure function of the task.

mod align;
mod answer;
mod catalog;
mod class;
mod data;
mod earlier;
mod example;
mod find;
mod part;
mod pattern;
mod plan;
mod reading;
mod token;
mod words;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{LlmMetadata, StopReason, StreamEvent};
use art_core::task::Task;
use art_core::tool::ToolSchema;
use art_model::Model;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::Value;

use crate::catalog::Catalog;

/// Maximum number of catalogs that are kept, one for each set of tools. Conversations with the same tools share a catalog.
const MAX_CATALOGS: usize = 16;

/// The reply to a prompt that comes without a task.
const NO_TASK: &str = "The embedded model routes questions to tools; it cannot reply to a prompt.";

/// Checks arguments against the input schema of a tool, at a bounded cost.
pub trait Validator: fmt::Debug + Send + Sync {
    /// Returns whether the schema allows `arguments`.
    fn is_valid(&self, arguments: &Value) -> bool;
}

/// Compiles an input schema, or returns `None` if it is refused.
pub type CompileSchema = fn(&Value) -> Option<Box<dyn Validator>>;

/// A model that finds the tool whose examples are like a question.
#[derive(Debug)]
pub struct LexicalModel {
    config: RuntimeProviderConfig,
    compile_schema: CompileSchema,
    /// The catalogs that were made last, each with the tools from which it was made, the newest first.
    catalogs: Mutex<Vec<(Vec<ToolSchema>, Arc<Catalog>)>>,
}

impl LexicalModel {
    /// Name of the provider.
    pub const PROVIDER: &'static str = "embedded";
    /// Name of the model.
    pub const MODEL: &'static str = "lexical";

    /// Creates the model. Schemas come from untrusted tools, so the validators that `compile_schema` makes must bound their cost.
    #[must_use]
    pub fn new(compile_schema: CompileSchema) -> Self {
        Self {
            compile_schema,
            config: RuntimeProviderConfig::new(Self::PROVIDER, Self::MODEL),
            catalogs: Mutex::default(),
        }
    }

    /// Returns the catalog of `tools`, which is kept for later requests with the same tools.
    fn catalog(&self, tools: &[ToolSchema]) -> Arc<Catalog> {
        let mut catalogs = self.catalogs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, catalog)) = catalogs.iter().find(|(known, _)| known == tools) {
            return Arc::clone(catalog);
        }
        let catalog = Arc::new(Catalog::new(tools, self.compile_schema));
        catalogs.insert(0, (tools.to_vec(), Arc::clone(&catalog)));
        catalogs.truncate(MAX_CATALOGS);
        catalog
    }

    /// Returns the reply to `request`, and the parts of the question that no tool answers.
    fn reply(&self, request: &ModelRequest) -> (String, Vec<String>) {
        match request.task.as_deref() {
            Some(Task::Plan(task)) => (plan::reply(task, &self.catalog(&task.tools)), Vec::new()),
            Some(Task::Answer(task)) => answer::reply(task),
            None => (NO_TASK.to_owned(), Vec::new()),
        }
    }
}

impl Model for LexicalModel {
    fn config(&self) -> &RuntimeProviderConfig {
        &self.config
    }

    fn notice(&self) -> Option<String> {
        Some("embedded model: finds the tool whose examples are like your question; it cannot chat, reason or write prose".to_owned())
    }

    fn capabilities(&self) -> &[ModelCapability] {
        use ModelCapability::{Reasoning, Streaming, Text};
        // Requests for a plan require `Reasoning`. The model declares it because it can plan, although it does not reason.
        &[Text, Streaming, Reasoning]
    }

    fn plans_only(&self) -> bool {
        true
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let (text, unanswered) = self.reply(&request);
        // The model has no tokens of its own, so words are counted instead.
        let count_words = |text: &str| u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX);
        let messages = request.prompt.0.iter();
        let words_read = messages.map(|message| count_words(message.content_text()));
        let metadata = StreamEvent::Metadata(LlmMetadata {
            input_tokens: Some(words_read.sum()),
            output_tokens: Some(count_words(&text)),
            stop_reason: Some(StopReason::Stop),
            ..LlmMetadata::default()
        });
        let lines = text.split_inclusive('\n').map(str::to_owned).map(StreamEvent::Token);
        let unanswered = (!unanswered.is_empty()).then_some(StreamEvent::Unanswered(unanswered));
        let end = unanswered.into_iter().chain([metadata, StreamEvent::End]);
        stream::iter(lines.chain(end).collect::<Vec<_>>()).boxed()
    }
}
