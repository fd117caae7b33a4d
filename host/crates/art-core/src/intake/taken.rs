//! What a guest takes in from files and from the network, in the form in which it is recorded.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::digit_count;

/// Upper bound of the JSON size of an answer's fixed parts: the name of its variant, brackets, quotes, numbers outside of a
/// [`FileStatus`], and the padding of one body.
const MAX_FRAME_BYTES: usize = 64;
/// Upper bound of the JSON size of the keys of a [`FileStatus`] or an [`HttpFailure`].
const MAX_KEYS_BYTES: usize = 64;
/// Maximum JSON size of a header field (`["",""],`) without its name and its value, but with the base64 padding of the value.
const MAX_HEADER_FRAME_BYTES: usize = 12;
/// Maximum number of bytes that one byte of text takes in JSON, where it may be escaped.
const MAX_ESCAPED_BYTES: usize = 6;

/// Bytes that a guest read from a file, a stream or the value of a header. JSON has them in base64.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Body(pub Vec<u8>);

impl fmt::Debug for Body {
    /// Writes no byte, since debug texts reach logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} bytes)", self.0.len())
    }
}

impl From<Body> for String {
    fn from(body: Body) -> Self {
        STANDARD.encode(body.0)
    }
}

impl TryFrom<String> for Body {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Self, base64::DecodeError> {
        STANDARD.decode(text).map(Self)
    }
}

/// What an operation on files returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileAnswer {
    /// The operation succeeded.
    Done,
    /// The operation failed with this code of `wasi:filesystem`.
    Failed(String),
    /// A file, a directory, a stream or the list of a directory's entries was opened.
    Opened,
    /// This many bytes were written.
    Written(u64),
    /// The bytes that were read, and whether the file ends after them.
    Read(Body, bool),
    /// What is known about a file or a directory.
    Status(FileStatus),
    /// The lower and the upper half of a hash by which a guest distinguishes files.
    Hash(u64, u64),
    /// The type of an open file or directory, by its name in `wasi:filesystem`.
    Type(String),
    /// What may be done with an open file or directory: reading, writing, changing a directory.
    Rights(bool, bool, bool),
    /// Where a link leads.
    Link(String),
    /// The type and the name of the next entry of a directory.
    Entry(String, String),
    /// A directory has no more entries.
    End,
    /// Whether two open files are the same.
    Same(bool),
    /// What the host noted in the log of the call about the operation whose answer follows. The guest does not get it.
    Noted(String),
    /// The host read or copied this many bytes for the operation whose answer follows.
    Worked(u64),
    /// After the call had returned, some of the files that it wrote could not be stored, for this reason.
    NotWritten(String),
}

/// What a guest learned about a file or a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileStatus {
    /// Its type, by its name in `wasi:filesystem`.
    pub r#type: String,
    /// Number of hard links.
    pub links: u64,
    /// Size in bytes.
    pub size: u64,
    /// When its data was last read, when it was last written, and when its status last changed: seconds and nanoseconds after
    /// the Unix epoch.
    pub times: [Option<(u64, u32)>; 3],
}

/// What an operation on a stream of a file or of a request returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamAnswer {
    /// The operation succeeded.
    Done,
    /// Bytes were read.
    Read(Body),
    /// A number of bytes: how many can be written, or how many were skipped or copied.
    Bytes(u64),
    /// The stream has ended.
    Closed,
    /// The operation failed: the text of the error, and its code if it is one of `wasi:filesystem`.
    Failed(String, Option<String>),
}

/// What a guest learned about a request that it sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResponseAnswer {
    /// The response has not arrived yet.
    NotReady,
    /// The guest has taken the response already.
    Taken,
    /// The guest completed the body of its request, or it asked for the trailers of the response and there are none.
    Done,
    /// The request failed with this code of `wasi:http`.
    Failed(HttpFailure),
    /// The status and the headers of a response.
    Head(u16, Vec<(String, Body)>),
    /// The trailers of a response.
    Trailers(Vec<(String, Body)>),
}

/// A code of `wasi:http`, with the text and the number that belong to it, such as the response code of a DNS error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpFailure {
    /// Name of the code.
    pub code: String,
    /// The text that belongs to the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The number that belongs to the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
}

impl FileAnswer {
    /// Returns the maximum size as JSON without the base64 text of each [`Body`].
    pub(super) fn max_bytes_without_base64(&self) -> usize {
        MAX_FRAME_BYTES
            + match self {
                Self::Failed(text)
                | Self::Type(text)
                | Self::Link(text)
                | Self::Noted(text)
                | Self::NotWritten(text) => max_text_bytes(text),
                Self::Entry(kind, name) => max_text_bytes(kind) + max_text_bytes(name),
                Self::Status(status) => MAX_KEYS_BYTES + max_text_bytes(&status.r#type) + status.number_bytes(),
                _ => 0,
            }
    }

    /// Returns everything that comes from files or from the network: each [`Body`], and texts such as the name of a header. See
    /// [`super::Answer::outside_content`].
    pub(super) fn outside_content(&self) -> Vec<&[u8]> {
        match self {
            Self::Read(body, _) => vec![body.0.as_slice()],
            Self::Link(text) | Self::Entry(_, text) => vec![text.as_bytes()],
            _ => Vec::new(),
        }
    }
}

impl FileStatus {
    /// Returns the size of the numbers of the status as JSON.
    fn number_bytes(&self) -> usize {
        let times = self.times.iter().flatten();
        let times = times.map(|(seconds, nanoseconds)| digit_count(*seconds) + digit_count(u64::from(*nanoseconds)));
        digit_count(self.links) + digit_count(self.size) + times.sum::<usize>()
    }
}

impl StreamAnswer {
    /// Returns the maximum size as JSON without the base64 text of each [`Body`].
    pub(super) fn max_bytes_without_base64(&self) -> usize {
        MAX_FRAME_BYTES
            + match self {
                Self::Failed(text, code) => max_text_bytes(text) + code.as_deref().map_or(0, max_text_bytes),
                _ => 0,
            }
    }

    /// Returns everything that comes from files or from the network: each [`Body`], and texts such as the name of a header. See
    /// [`super::Answer::outside_content`].
    pub(super) fn outside_content(&self) -> Vec<&[u8]> {
        match self {
            Self::Read(body) => vec![body.0.as_slice()],
            Self::Failed(text, _) => vec![text.as_bytes()],
            _ => Vec::new(),
        }
    }
}

impl ResponseAnswer {
    /// Returns the maximum size as JSON without the base64 text of each [`Body`].
    pub(super) fn max_bytes_without_base64(&self) -> usize {
        MAX_FRAME_BYTES
            + match self {
                Self::Failed(failure) => {
                    MAX_KEYS_BYTES + max_text_bytes(&failure.code) + failure.text.as_deref().map_or(0, max_text_bytes)
                }
                Self::Head(_, fields) | Self::Trailers(fields) => {
                    let sizes = fields
                        .iter()
                        .map(|(name, _)| max_text_bytes(name) + MAX_HEADER_FRAME_BYTES);
                    sizes.sum()
                }
                _ => 0,
            }
    }

    /// Returns everything that comes from files or from the network: each [`Body`], and texts such as the name of a header. See
    /// [`super::Answer::outside_content`].
    pub(super) fn outside_content(&self) -> Vec<&[u8]> {
        match self {
            Self::Failed(failure) => failure.text.iter().map(|text| text.as_bytes()).collect(),
            Self::Head(_, fields) | Self::Trailers(fields) => {
                let fields = fields.iter();
                fields
                    .flat_map(|(name, value)| [name.as_bytes(), value.0.as_slice()])
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

fn max_text_bytes(text: &str) -> usize {
    text.len() * MAX_ESCAPED_BYTES
}
