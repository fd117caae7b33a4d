//! The providers, and how `art` connects to the mock of each.

/// A fake key; any output that contains it has leaked it. It does not look like a key, so that only code that knows the
/// key can mask it.
pub(crate) const KEY: &str = "walnut-harbour-5b1c0e7d94a2438f";

/// A provider with one of its protocols, and how the program and the mock are set up for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    /// Name of the provider, for `--model`.
    pub(crate) provider: &'static str,
    /// Name of the model; the mock accepts any name.
    pub(crate) model: &'static str,
    /// Path of the base URL, which follows the address of the mock.
    pub(crate) base_path: &'static str,
    /// The protocol, if it is not the default of the provider.
    pub(crate) api: Option<&'static str>,
    /// The environment variable and the request header with the key; `None` for a provider that needs no key.
    pub(crate) key: Option<(&'static str, &'static str)>,
    /// A text that the path of each request to the model contains.
    pub(crate) path_part: &'static str,
}

/// How the replies of a model are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The reply is streamed.
    Streaming,
    /// The reply is sent as a whole.
    Whole,
}

/// A part of the path of chat completions.
const CHAT_PATH: &str = "/chat/completions";
/// The header in which most providers expect the key.
const AUTHORIZATION: &str = "authorization";

pub(crate) const OPENAI: Connection = Connection {
    provider: "openai",
    model: "gpt-5.4-mini",
    base_path: "/v1",
    api: None,
    key: Some(("OPENAI_API_KEY", AUTHORIZATION)),
    path_part: "/responses",
};

pub(crate) const OPENAI_CHAT: Connection = Connection {
    api: Some("openai-chat"),
    path_part: CHAT_PATH,
    ..OPENAI
};

pub(crate) const ANTHROPIC: Connection = Connection {
    provider: "anthropic",
    model: "claude-haiku-5-5",
    base_path: "/v1",
    api: None,
    key: Some(("ANTHROPIC_API_KEY", "x-api-key")),
    path_part: "/messages",
};

pub(crate) const GEMINI: Connection = Connection {
    provider: "gemini",
    model: "gemini-3.8-flash",
    base_path: "/v1beta",
    api: None,
    key: Some(("GEMINI_API_KEY", "x-goog-api-key")),
    // The paths end with `generateContent` or `streamGenerateContent`.
    path_part: "enerateContent",
};

pub(crate) const OPENROUTER: Connection = Connection {
    provider: "openrouter",
    model: "qwen/qwen3-8b",
    base_path: "/api/v1",
    api: None,
    key: Some(("OPENROUTER_API_KEY", AUTHORIZATION)),
    path_part: CHAT_PATH,
};

pub(crate) const DEEPSEEK: Connection = Connection {
    provider: "deepseek",
    model: "deepseek-v4-flash",
    base_path: "/v1",
    api: None,
    key: Some(("DEEPSEEK_API_KEY", AUTHORIZATION)),
    path_part: CHAT_PATH,
};

pub(crate) const GROQ: Connection = Connection {
    provider: "groq",
    model: "openai/gpt-oss-20b",
    base_path: "/openai/v1",
    api: None,
    key: Some(("GROQ_API_KEY", AUTHORIZATION)),
    path_part: CHAT_PATH,
};

/// The name of the model contains a colon, which in `--model` also separates the provider from the model.
pub(crate) const OLLAMA: Connection = Connection {
    provider: "ollama",
    model: "qwen3:8b",
    base_path: "/v1",
    api: None,
    key: None,
    path_part: CHAT_PATH,
};

pub(crate) const COMPATIBLE: Connection = Connection {
    provider: "compatible",
    model: "some/model:latest",
    base_path: "/v1",
    api: None,
    key: None,
    path_part: CHAT_PATH,
};
