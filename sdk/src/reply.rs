//! A success that says more than its output.

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
    /// The output itself: the only thing that programs read.
    pub output: T,
    /// A short heading for people.
    pub title: Option<String>,
    /// Where the output came from.
    pub sources: Vec<Source>,
    /// Files that go with the output.
    pub attachments: Vec<Attachment>,
    /// Further fields to keep.
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

    /// Sets the heading for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds a source; a name alone will do.
    pub fn source(mut self, source: impl Into<Source>) -> Self {
        self.sources.push(source.into());
        self
    }

    /// Adds a file.
    pub fn attachment(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }

    /// Adds one fact for programs.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Returns the same reply with another output.
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

/// Where a piece of the output came from.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Source {
    /// What it is called.
    pub name: String,
    /// Where it can be read.
    pub url: Option<String>,
    /// Further facts.
    pub extra: Map<String, Value>,
}

impl Source {
    /// Creates a source known by its name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            url: None,
            extra: Map::new(),
        }
    }

    /// Says where it can be read.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Adds a further fact.
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

/// A file that goes with the output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Attachment {
    /// For example `text/csv`.
    pub media_type: String,
    /// The name to save it under.
    pub filename: Option<String>,
    /// The content.
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
