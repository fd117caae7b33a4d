//! The result of a successful call: an output with optional details.

use serde_json::{Map, Value};

/// An output with a title, sources, attachments or metadata.
///
/// ```
/// use art_sdk::prelude::*;
///
/// let reply = Reply::new(4)
///     .title("two and two")
///     .source(Source::new("arithmetic").url("https://example.com/sum"))
///     .attachment(Attachment::new("text/csv", "a,b\n2,2\n").filename("sum.csv"))
///     .metadata("digits", 1);
/// assert_eq!(reply.output, 4);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Reply<T> {
    /// The output, which the model and later steps read.
    pub output: T,
    /// A short title, shown to people.
    pub title: Option<String>,
    /// The sources of the output.
    pub sources: Vec<Source>,
    /// Files that accompany the output.
    pub attachments: Vec<Attachment>,
    /// Additional fields, for programs.
    pub metadata: Map<String, Value>,
}

impl<T> Reply<T> {
    /// Creates a reply with an output and nothing else.
    pub fn new(output: T) -> Self {
        Self {
            output,
            title: None,
            sources: Vec::new(),
            attachments: Vec::new(),
            metadata: Map::new(),
        }
    }

    /// Sets the title, which is shown to people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds a source. A name such as `"dictionary"` is accepted as well.
    pub fn source(mut self, source: impl Into<Source>) -> Self {
        self.sources.push(source.into());
        self
    }

    /// Adds a file.
    pub fn attachment(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }

    /// Adds one field to the metadata.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Converts the output and keeps the other fields.
    pub(crate) fn try_map<U, E>(self, change: impl FnOnce(T) -> Result<U, E>) -> Result<Reply<U>, E> {
        let Self {
            output,
            title,
            sources,
            attachments,
            metadata,
        } = self;
        Ok(Reply {
            output: change(output)?,
            title,
            sources,
            attachments,
            metadata,
        })
    }
}

/// A source of the output.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Source {
    /// Name of the source.
    pub name: String,
    /// Address of the source.
    pub url: Option<String>,
    /// Additional fields.
    pub extra: Map<String, Value>,
}

impl Source {
    /// Creates a source with a name only.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            url: None,
            extra: Map::new(),
        }
    }

    /// Sets the address of the source.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Adds one field.
    pub fn extra(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(key.into(), value.into());
        self
    }
}

impl From<&str> for Source {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Source {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

/// A file that accompanies the output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Attachment {
    /// Media type of the content, for example `text/csv`.
    pub media_type: String,
    /// Suggested file name.
    pub filename: Option<String>,
    /// Content of the file.
    pub data: Vec<u8>,
}

impl Attachment {
    /// Creates a file of the given media type.
    pub fn new(media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self {
            media_type: media_type.into(),
            filename: None,
            data: data.into(),
        }
    }

    /// Sets the name of the file.
    pub fn filename(mut self, filename: impl Into<String>) -> Self {
        self.filename = Some(filename.into());
        self
    }
}
