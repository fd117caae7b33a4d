//! The limits and capabilities that a tool requests, and the JSON text with which they reach the host: the manifest, in the
//! section `art:manifest` of the component.

use serde_json::{Map, Value, json};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitStr, Meta, MetaList, Result, Token};

use crate::options::{check_not_repeated, option_name, option_value, parse_list, unknown_option_error};
use crate::{json, units};

/// Version of the contract that this SDK builds against: the version of the package in `wit/tool.wit`.
const CONTRACT_VERSION: &str = "0.1.0";

/// Requested limits of one call. The host may grant less, never more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    fuel: Option<u64>,
    memory_bytes: Option<u64>,
    timeout_ms: Option<u64>,
    output_bytes: Option<u64>,
}

/// A resource outside of the sandbox that the tool requests access to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Capability {
    Fs {
        /// `read` or `read-write`.
        access: &'static str,
        /// `{args.NAME}` for the path in an argument; `None` for every path that is granted.
        path: Option<String>,
        reason: Option<String>,
    },
    Http {
        /// A URL, or `{args.NAME}` for the origin of the URL in an argument; `None` for every address that is granted.
        url: Option<String>,
        methods: Vec<String>,
        reason: Option<String>,
    },
    Env {
        names: Vec<String>,
        reason: Option<String>,
    },
}

const EXPECTED_FS: &str = "expected `fs(read)` or `fs(read_write)`";
const EXPECTED_HTTP: &str = "expected `http(\"https://host/path\", methods(\"GET\"))`";
const EXPECTED_ENV: &str = "expected names of variables, as in `env(\"LANG\")`";

/// Parses `limits(fuel = 1, memory = "1 MiB", timeout = "1s", output = "1 KiB")`.
pub(crate) fn parse_limits(group: &MetaList) -> Result<Limits> {
    let mut limits = Limits::default();
    let mut seen_keys = Vec::new();
    for meta in parse_list(group.tokens.clone())? {
        let key = option_name(meta.path());
        check_not_repeated(&mut seen_keys, &key, meta.path())?;
        match key.as_str() {
            "fuel" => limits.fuel = Some(units::count(option_value(&meta)?)?),
            "memory" => limits.memory_bytes = Some(units::bytes(option_value(&meta)?)?),
            "timeout" => limits.timeout_ms = Some(units::milliseconds(option_value(&meta)?)?),
            "output" => limits.output_bytes = Some(units::bytes(option_value(&meta)?)?),
            _ => {
                return Err(unknown_option_error(
                    meta.path(),
                    "expected `fuel`, `memory`, `timeout` or `output`",
                ));
            }
        }
    }
    Ok(limits)
}

/// Parses `capabilities(fs(read, path = "{args.path}"), http("https://host/path", methods("GET")), env("LANG"))`.
pub(crate) fn parse_capabilities(group: &MetaList) -> Result<Vec<Capability>> {
    parse_list(group.tokens.clone())?.iter().map(parse_capability).collect()
}

fn parse_capability(meta: &Meta) -> Result<Capability> {
    match (option_name(meta.path()).as_str(), meta) {
        ("fs", Meta::List(group)) => parse_fs(group),
        ("fs", _) => Err(Error::new_spanned(meta, EXPECTED_FS)),
        ("http", Meta::List(group)) => parse_http.parse2(group.tokens.clone()),
        ("http", _) => Err(Error::new_spanned(meta, EXPECTED_HTTP)),
        ("env", Meta::List(group)) => parse_env.parse2(group.tokens.clone()),
        ("env", _) => Err(Error::new_spanned(meta, EXPECTED_ENV)),
        _ => Err(unknown_option_error(
            meta.path(),
            "expected `fs(..)`, `http(..)` or `env(..)`",
        )),
    }
}

fn parse_fs(group: &MetaList) -> Result<Capability> {
    let (mut access, mut path, mut reason) = (None, None, None);
    let mut seen_keys = Vec::new();
    for meta in parse_list(group.tokens.clone())? {
        let key = option_name(meta.path());
        check_not_repeated(&mut seen_keys, &key, meta.path())?;
        match (key.as_str(), &meta) {
            ("read", Meta::Path(_)) if access.is_none() => access = Some("read"),
            ("read_write", Meta::Path(_)) if access.is_none() => access = Some("read-write"),
            ("path", _) => {
                let reference = json::string_literal(option_value(&meta)?, "path")?;
                path = Some(check_argument_reference(reference)?);
            }
            ("reason", _) => reason = Some(json::string_literal(option_value(&meta)?, "reason")?.value()),
            _ => {
                let expected =
                    "expected `fs(read)` or `fs(read_write)`, and a `path = \"{args.NAME}\"` or `reason = \"..\"`";
                return Err(Error::new_spanned(meta, expected));
            }
        }
    }
    let access = access.ok_or_else(|| Error::new_spanned(group, EXPECTED_FS))?;
    Ok(Capability::Fs { access, path, reason })
}

fn parse_http(input: ParseStream<'_>) -> Result<Capability> {
    let url = parse_http_target(input)?;
    let (mut methods, mut reason) = (vec!["GET".to_owned()], None);
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    let mut seen_keys = Vec::new();
    for meta in Punctuated::<Meta, Token![,]>::parse_terminated(input)? {
        let key = option_name(meta.path());
        check_not_repeated(&mut seen_keys, &key, meta.path())?;
        match (key.as_str(), &meta) {
            ("methods", Meta::List(group)) => methods = parse_methods(group)?,
            ("reason", _) => reason = Some(json::string_literal(option_value(&meta)?, "reason")?.value()),
            _ => {
                return Err(unknown_option_error(
                    meta.path(),
                    "expected `methods(\"GET\")` or `reason = \"..\"`",
                ));
            }
        }
    }
    Ok(Capability::Http { url, methods, reason })
}

/// Parses the destination of requests: a URL, `"{args.NAME}"` for the origin of the URL in an argument, or `any` for every
/// granted address.
fn parse_http_target(input: ParseStream<'_>) -> Result<Option<String>> {
    if input.peek(Ident) {
        let word: Ident = input.parse()?;
        if word == "any" {
            return Ok(None);
        }
        let expected = "expected a URL, `\"{args.NAME}\"` or `any`";
        return Err(Error::new(word.span(), expected));
    }
    let url: LitStr = input.parse()?;
    if url.value().starts_with('{') {
        return check_argument_reference(&url).map(Some);
    }
    check_url(&url)?;
    Ok(Some(url.value()))
}

fn parse_env(input: ParseStream<'_>) -> Result<Capability> {
    let mut names = Vec::new();
    let mut reason = None;
    while !input.is_empty() {
        if input.peek(LitStr) {
            names.push(check_variable_name(&input.parse()?)?);
        } else {
            let meta: Meta = input.parse()?;
            match option_name(meta.path()).as_str() {
                "reason" if reason.is_none() => {
                    reason = Some(json::string_literal(option_value(&meta)?, "reason")?.value());
                }
                _ => {
                    return Err(Error::new_spanned(
                        meta,
                        format!("{EXPECTED_ENV}, and a `reason = \"..\"`"),
                    ));
                }
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    if names.is_empty() {
        return Err(Error::new(input.span(), EXPECTED_ENV));
    }
    Ok(Capability::Env { names, reason })
}

/// Checks that a text can be the name of an environment variable.
fn check_variable_name(name: &LitStr) -> Result<String> {
    let text = name.value();
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name {
        return Ok(text);
    }
    Err(Error::new(name.span(), format!("`{text}` is no name of a variable")))
}

/// Checks that a reference to an argument of the call has the form `{args.NAME}`. The host checks that the tool has such an
/// argument.
fn check_argument_reference(reference: &LitStr) -> Result<String> {
    let text = reference.value();
    let name = text.strip_prefix("{args.").and_then(|rest| rest.strip_suffix('}'));
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if name.is_some_and(is_name) {
        return Ok(text);
    }
    let message = format!("`{text}` is no argument of the call; expected `{{args.NAME}}`");
    Err(Error::new(reference.span(), message))
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

/// Returns the JSON text of the manifest in two parts, between which the version of the tool is to be inserted. Who made the tool, and
/// its licence, are those of its crate.
pub(crate) fn text_around_version(tool: &str, limits: &Limits, capabilities: &[Capability]) -> (String, String) {
    let before = format!(
        "{{\"contract\":\"{CONTRACT_VERSION}\",\"tool\":{},\"version\":\"",
        Value::from(tool)
    );
    let capabilities: Value = capabilities.iter().map(Capability::to_json).collect();
    (
        before,
        format!(
            "\"{}{},\"limits\":{},\"capabilities\":{capabilities}}}",
            of_crate("author", "CARGO_PKG_AUTHORS"),
            of_crate("license", "CARGO_PKG_LICENSE"),
            limits.to_json(),
        ),
    )
}

/// Returns the JSON text of a field with what the manifest of the crate says, or an empty text if it says nothing.
fn of_crate(field: &str, variable: &str) -> String {
    match std::env::var(variable) {
        // Cargo separates authors by colons.
        Ok(text) if !text.is_empty() => format!(",\"{field}\":{}", Value::from(text.replace(':', ", "))),
        _ => String::new(),
    }
}

impl Limits {
    fn to_json(&self) -> Value {
        let fields = [
            ("fuel", self.fuel),
            ("memoryBytes", self.memory_bytes),
            ("timeoutMs", self.timeout_ms),
            ("outputBytes", self.output_bytes),
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
        let (fields, reason) = match self {
            Self::Fs { access, path, reason } => (json!({"kind": "fs", "access": access, "path": path}), reason),
            Self::Http { url, methods, reason } => (json!({"kind": "http", "url": url, "methods": methods}), reason),
            Self::Env { names, reason } => (json!({"kind": "env", "names": names}), reason),
        };
        let mut fields = into_map(fields);
        fields.retain(|_, value| !value.is_null());
        if let Some(reason) = reason {
            fields.insert("reason".to_owned(), reason.as_str().into());
        }
        Value::Object(fields)
    }
}

fn into_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
