//! The limits and capabilities that a tool requests, and the JSON text of the section that carries them to the host.

use serde_json::{Map, Value, json};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, LitStr, Meta, MetaList, Result, Token};

use crate::options::{check_not_repeated, option_name, option_value, parse_list, unknown_option};
use crate::{json, units};

/// Version of the contract that this SDK builds against: the version of the package in `wit/tool.wit`.
const CONTRACT: &str = "0.1.0";

/// Requested limits of one call. The host may grant less, never more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    fuel: Option<u64>,
    memory: Option<u64>,
    timeout: Option<u64>,
    output: Option<u64>,
}

/// A resource outside of the sandbox that the tool requests access to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Capability {
    Fs {
        access: &'static str,
        reason: Option<String>,
    },
    Http {
        url: String,
        methods: Vec<String>,
        reason: Option<String>,
    },
}

/// Parses `limits(fuel = 1, memory = "1 MiB", timeout = "1s", output = "1 KiB")`.
pub(crate) fn limits(group: &MetaList) -> Result<Limits> {
    let mut limits = Limits::default();
    let mut seen = Vec::new();
    for meta in parse_list(group.tokens.clone())? {
        let key = option_name(meta.path());
        check_not_repeated(&mut seen, &key, meta.path())?;
        match key.as_str() {
            "fuel" => limits.fuel = Some(units::count(option_value(&meta)?)?),
            "memory" => limits.memory = Some(units::bytes(option_value(&meta)?)?),
            "timeout" => limits.timeout = Some(units::milliseconds(option_value(&meta)?)?),
            "output" => limits.output = Some(units::bytes(option_value(&meta)?)?),
            _ => {
                return Err(unknown_option(
                    meta.path(),
                    "expected `fuel`, `memory`, `timeout` or `output`",
                ));
            }
        }
    }
    Ok(limits)
}

/// Parses `capabilities(fs(read), http("https://host/path", methods("GET")))`.
pub(crate) fn capabilities(group: &MetaList) -> Result<Vec<Capability>> {
    parse_list(group.tokens.clone())?.iter().map(capability).collect()
}

fn capability(meta: &Meta) -> Result<Capability> {
    match (option_name(meta.path()).as_str(), meta) {
        ("fs", Meta::List(group)) => fs(group),
        ("fs", _) => Err(Error::new_spanned(meta, "expected `fs(read)` or `fs(read_write)`")),
        ("http", Meta::List(group)) => http.parse2(group.tokens.clone()),
        ("http", _) => Err(Error::new_spanned(
            meta,
            "expected `http(\"https://host/path\", methods(\"GET\"))`",
        )),
        _ => Err(unknown_option(meta.path(), "expected `fs(..)` or `http(..)`")),
    }
}

fn fs(group: &MetaList) -> Result<Capability> {
    let (mut access, mut reason) = (None, None);
    for meta in parse_list(group.tokens.clone())? {
        match (option_name(meta.path()).as_str(), &meta) {
            ("read", Meta::Path(_)) if access.is_none() => access = Some("read"),
            ("read_write", Meta::Path(_)) if access.is_none() => access = Some("read-write"),
            ("reason", _) => reason = Some(json::string(option_value(&meta)?, "reason")?.value()),
            _ => {
                return Err(Error::new_spanned(
                    meta,
                    "expected `fs(read)` or `fs(read_write)`, and a `reason = \"..\"`",
                ));
            }
        }
    }
    let access = access.ok_or_else(|| Error::new_spanned(group, "expected `fs(read)` or `fs(read_write)`"))?;
    Ok(Capability::Fs { access, reason })
}

fn http(input: ParseStream<'_>) -> Result<Capability> {
    let url: LitStr = input.parse()?;
    check_url(&url)?;
    let (mut methods, mut reason) = (vec!["GET".to_owned()], None);
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    let mut seen = Vec::new();
    for meta in Punctuated::<Meta, Token![,]>::parse_terminated(input)? {
        let key = option_name(meta.path());
        check_not_repeated(&mut seen, &key, meta.path())?;
        match (key.as_str(), &meta) {
            ("methods", Meta::List(group)) => methods = parse_methods(group)?,
            ("reason", _) => reason = Some(json::string(option_value(&meta)?, "reason")?.value()),
            _ => {
                return Err(unknown_option(
                    meta.path(),
                    "expected `methods(\"GET\")` or `reason = \"..\"`",
                ));
            }
        }
    }
    Ok(Capability::Http {
        url: url.value(),
        methods,
        reason,
    })
}

/// Checks a URL. The host checks it again; this check reports a mistake at its line in the source.
fn check_url(url: &LitStr) -> Result<()> {
    let text = url.value();
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let is_invalid = |c: char| c.is_whitespace() || c.is_control() || "?#*@\\".contains(c);
    if host.is_empty() || text.contains(is_invalid) {
        let expected = "expected `https://host/path` without user, query, fragment or wildcard";
        return Err(Error::new(
            url.span(),
            format!("`{text}` cannot be granted; {expected}"),
        ));
    }
    Ok(())
}

fn parse_methods(group: &MetaList) -> Result<Vec<String>> {
    const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let methods = Punctuated::<LitStr, Token![,]>::parse_terminated.parse2(group.tokens.clone())?;
    if methods.is_empty() {
        return Err(Error::new_spanned(
            group,
            "expected at least one method such as `\"GET\"`",
        ));
    }
    let check = |method: &LitStr| match method.value() {
        text if METHODS.contains(&text.as_str()) => Ok(text),
        text => Err(Error::new(
            method.span(),
            format!("unknown method `{text}`; expected one of {}", METHODS.join(", ")),
        )),
    };
    methods.iter().map(check).collect()
}

/// Returns the JSON text of the manifest in two parts: before and after the version of the tool.
pub(crate) fn text(tool: &str, limits: &Limits, capabilities: &[Capability]) -> (String, String) {
    let before = format!(
        "{{\"contract\":\"{CONTRACT}\",\"tool\":{},\"version\":\"",
        Value::from(tool)
    );
    let capabilities: Value = capabilities.iter().map(Capability::to_json).collect();
    (
        before,
        format!("\",\"limits\":{},\"capabilities\":{capabilities}}}", limits.to_json()),
    )
}

impl Limits {
    fn to_json(&self) -> Value {
        let fields = [
            ("fuel", self.fuel),
            ("memoryBytes", self.memory),
            ("timeoutMs", self.timeout),
            ("outputBytes", self.output),
        ];
        let mut object = Map::new();
        for (name, limit) in fields {
            if let Some(limit) = limit {
                object.insert(name.to_owned(), limit.into());
            }
        }
        Value::Object(object)
    }
}

impl Capability {
    fn to_json(&self) -> Value {
        let (mut fields, reason) = match self {
            Self::Fs { access, reason } => (object(json!({"kind": "fs", "access": access})), reason),
            Self::Http { url, methods, reason } => {
                (object(json!({"kind": "http", "url": url, "methods": methods})), reason)
            }
        };
        if let Some(reason) = reason {
            fields.insert("reason".to_owned(), reason.as_str().into());
        }
        Value::Object(fields)
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
