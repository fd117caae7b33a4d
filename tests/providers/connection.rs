//! The providers, each as the mock serves it.

/// A key that no provider gave out. Where it shows up, it has leaked. It does not look like a key, so nothing hides it but
/// what knows it.
pub(crate) const KEY: &str = "walnut-harbour-5b1c0e7d94a2438f";

/// One provider in one of its dialects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    /// As `--model` names it.
    pub(crate) provider: &'static str,
    /// Model; the mock takes any name.
    pub(crate) model: &'static str,
    /// Path of the base URL below the mock.
    pub(crate) base: &'static str,
    /// Dialect, when it is not the provider's own.
    pub(crate) api: Option<&'static str>,
    /// Variable and header of the key; none for a provider that needs no key.
    pub(crate) key: Option<(&'static str, &'static str)>,
    /// What the paths of its questions end with.
    pub(crate) path: &'static str,
}

/// How replies come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Piece by piece.
    Streaming,
    /// In one.
    Whole,
}

/// The path of chat completions.
const CHAT: &str = "/chat/completions";
/// The header of most keys.
const BEARER: &str = "authorization";

pub(crate) const OPENAI: Connection = Connection {
    provider: "openai",
    model: "gpt-5.4-mini",
    base: "/v1",
    api: None,
    key: Some(("OPENAI_API_KEY", BEARER)),
    path: "/responses",
};

pub(crate) const OPENAI_CHAT: Connection = Connection {
    api: Some("openai-chat"),
    path: CHAT,
    ..OPENAI
};

pub(crate) const ANTHROPIC: Connection = Connection {
    provider: "anthropic",
    model: "claude-haiku-5-5",
    base: "/v1",
    api: None,
    key: Some(("ANTHROPIC_API_KEY", "x-api-key")),
    path: "/messages",
};

pub(crate) const GEMINI: Connection = Connection {
    provider: "gemini",
    model: "gemini-3.8-flash",
    base: "/v1beta",
    api: None,
    key: Some(("GEMINI_API_KEY", "x-goog-api-key")),
    path: "enerateContent",
};

pub(crate) const OPENROUTER: Connection = Connection {
    provider: "openrouter",
    model: "qwen/qwen3-8b",
    base: "/api/v1",
    api: None,
    key: Some(("OPENROUTER_API_KEY", BEARER)),
    path: CHAT,
};

pub(crate) const DEEPSEEK: Connection = Connection {
    provider: "deepseek",
    model: "deepseek-v4-flash",
    base: "/v1",
    api: None,
    key: Some(("DEEPSEEK_API_KEY", BEARER)),
    path: CHAT,
};

pub(crate) const GROQ: Connection = Connection {
    provider: "groq",
    model: "openai/gpt-oss-20b",
    base: "/openai/v1",
    api: None,
    key: Some(("GROQ_API_KEY", BEARER)),
    path: CHAT,
};

/// A model name with a colon of its own.
pub(crate) const OLLAMA: Connection = Connection {
    provider: "ollama",
    model: "qwen3:8b",
    base: "/v1",
    api: None,
    key: None,
    path: CHAT,
};

pub(crate) const COMPATIBLE: Connection = Connection {
    provider: "compatible",
    model: "some/model:latest",
    base: "/v1",
    api: None,
    key: None,
    path: CHAT,
};
