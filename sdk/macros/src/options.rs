//! Parses the options of `#[tool(..)]`.

use proc_macro2::Span;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Meta, MetaList, Path, Result, Token};

use crate::manifest::{Capability, Limits};
use crate::{json, manifest};

/// The options of one tool.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) mode: Option<Mode>,
    /// The `blockingConfig` of the tool's contract, which says how a person is asked about a call. `risk` sets it in any mode,
    /// `blocking = ..` only in the mode `blocking`.
    pub(crate) blocking: Option<Config>,
    /// The `displayConfig` of the tool's contract, which says how the output is rendered.
    pub(crate) display: Option<Config>,
    pub(crate) risk: Option<Risk>,
    pub(crate) examples: Vec<Example>,
    pub(crate) limits: Limits,
    pub(crate) capabilities: Vec<Capability>,
}

/// The execution mode of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A call runs to its end, and the output goes back to the model.
    Functional,
    /// A call may need the decision of a person.
    Blocking,
    /// A call runs to its end, and the output is rendered for a person instead of being read by the model.
    Display,
}

/// The harm that a call can do if a person approves it by mistake: `low`, `medium`, `high` or `critical`. A tool of any mode may
/// have a risk. The risk becomes the `riskLevel` in the `blockingConfig` of the tool's contract.
pub(crate) struct Risk(LitStr);

/// The value of `blocking` or `display`: JSON text, or an expression that the tool converts to JSON when the host calls its
/// export `schema`.
pub(crate) enum Config {
    Text(LitStr),
    Expression(Expr),
}

/// An example call.
pub(crate) struct Example {
    pub(crate) input: LitStr,
    pub(crate) output: Option<LitStr>,
    /// The values of `ask`: questions for which this is the right input.
    pub(crate) questions: Vec<LitStr>,
}

/// The error for an example with a `description`. In the tool's contract (`wit/tool.wit`), an example does have a field
/// `description`; in this attribute, that field is called `ask`.
const DESCRIPTION_ERROR: &str =
    "an example has no `description`: write `ask = \"..\"`, the question that a person would ask to get this input";

const EXPECTED_OPTIONS: &str =
    "expected `name`, `mode`, `blocking`, `display`, `risk`, `example`, `limits` or `capabilities`";

/// Parses the options, and checks each of them and their combination.
pub(crate) fn parse(tokens: proc_macro2::TokenStream) -> Result<Options> {
    let mut options = Options::default();
    let mut seen_keys = Vec::new();
    for meta in parse_list(tokens)? {
        let key = option_name(meta.path());
        if key != "example" {
            check_not_repeated(&mut seen_keys, &key, meta.path())?;
        }
        options.set(&key, &meta)?;
    }
    options.apply_implied_mode()?;
    // Apply the risk last: it sets `blocking`, from which `apply_implied_mode` would conclude the mode `blocking`.
    options.apply_risk()?;
    Ok(options)
}

impl Options {
    fn set(&mut self, key: &str, meta: &Meta) -> Result<()> {
        match key {
            "name" => self.name = Some(parse_tool_name(option_value(meta)?)?),
            "mode" => self.mode = Some(parse_mode(option_value(meta)?)?),
            "blocking" => self.blocking = Some(parse_config(option_value(meta)?, key)?),
            "display" => self.display = Some(parse_config(option_value(meta)?, key)?),
            "risk" => self.risk = Some(parse_risk(option_value(meta)?)?),
            "example" => self.examples.push(parse_example(option_list(meta)?)?),
            "limits" => self.limits = manifest::parse_limits(option_list(meta)?)?,
            "capabilities" => self.capabilities = manifest::parse_capabilities(option_list(meta)?)?,
            _ => return Err(unknown_option_error(meta.path(), EXPECTED_OPTIONS)),
        }
        Ok(())
    }

    /// Sets the mode that a configuration implies: `blocking = ..` and `display = ..` need no `mode`. Fails if `mode` is
    /// given and is another one.
    fn apply_implied_mode(&mut self) -> Result<()> {
        let mut imply = |config: &Option<Config>, mode: Mode, name: &str| match (config, self.mode) {
            (Some(config), Some(other)) if other != mode => Err(Error::new(
                config.span(),
                format!("`{name} = ..` needs `mode = \"{name}\"`"),
            )),
            (Some(_), _) => {
                self.mode = Some(mode);
                Ok(())
            }
            (None, _) => Ok(()),
        };
        imply(&self.blocking, Mode::Blocking, "blocking")?;
        imply(&self.display, Mode::Display, "display")
    }
}

impl Options {
    /// Writes the risk into the `blockingConfig`. Sets `completesOnApproval` to false there, so that the result of an approved
    /// call comes from the tool and is not the approval itself.
    fn apply_risk(&mut self) -> Result<()> {
        let Some(Risk(risk)) = self.risk.take() else {
            return Ok(());
        };
        if self.blocking.is_some() {
            let text = "`risk` cannot be combined with `blocking`: write `riskLevel` in `blocking`";
            return Err(Error::new(risk.span(), text));
        }
        let text = format!(r#"{{"riskLevel":"{}","completesOnApproval":false}}"#, risk.value());
        self.blocking = Some(Config::Text(LitStr::new(&text, risk.span())));
        Ok(())
    }
}

impl Config {
    fn span(&self) -> Span {
        match self {
            Self::Text(text) => text.span(),
            Self::Expression(expression) => syn::spanned::Spanned::span(expression),
        }
    }
}

/// Checks that the host accepts `name`: `^[a-z][a-z0-9_-]{0,63}$`.
pub(crate) fn check_name(name: &str, span: Span) -> Result<()> {
    let starts_with_letter = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if starts_with_letter && name.chars().all(is_allowed) && name.len() <= 64 {
        return Ok(());
    }
    let text = format!(
        "`{name}` cannot be the name of a tool: a lower case letter, then at most 63 of `a-z`, `0-9`, `_` and `-`"
    );
    Err(Error::new(span, text))
}

fn parse_tool_name(value: &Expr) -> Result<LitStr> {
    let name = json::string_literal(value, "name")?;
    check_name(&name.value(), name.span())?;
    Ok(name.clone())
}

fn parse_mode(value: &Expr) -> Result<Mode> {
    let text = json::string_literal(value, "mode")?;
    match text.value().as_str() {
        "functional" => Ok(Mode::Functional),
        "blocking" => Ok(Mode::Blocking),
        "display" => Ok(Mode::Display),
        other => {
            let expected = "expected `functional`, `blocking` or `display`";
            Err(Error::new(text.span(), format!("unknown mode `{other}`; {expected}")))
        }
    }
}

fn parse_risk(value: &Expr) -> Result<Risk> {
    let text = json::string_literal(value, "risk")?;
    match text.value().as_str() {
        "low" | "medium" | "high" | "critical" => Ok(Risk(text.clone())),
        other => {
            let expected = "expected `low`, `medium`, `high` or `critical`";
            Err(Error::new(text.span(), format!("unknown risk `{other}`; {expected}")))
        }
    }
}

fn parse_config(value: &Expr, key: &str) -> Result<Config> {
    match value {
        Expr::Lit(_) => json::json_object_literal(value, key).map(Config::Text),
        _ => Ok(Config::Expression(value.clone())),
    }
}

fn parse_example(group: &MetaList) -> Result<Example> {
    let (mut input, mut output, mut questions) = (None, None, Vec::new());
    let mut seen_keys = Vec::new();
    for meta in parse_list(group.tokens.clone())? {
        let key = option_name(meta.path());
        if key != "ask" {
            check_not_repeated(&mut seen_keys, &key, meta.path())?;
        }
        match key.as_str() {
            "input" => input = Some(json::json_object_literal(option_value(&meta)?, "input")?),
            "output" => output = Some(json::json_literal(option_value(&meta)?, "output")?),
            "ask" => questions.push(parse_question(option_value(&meta)?)?),
            "description" => return Err(Error::new_spanned(meta.path(), DESCRIPTION_ERROR)),
            _ => return Err(unknown_option_error(meta.path(), "expected `ask`, `input` or `output`")),
        }
    }
    let input = input.ok_or_else(|| Error::new_spanned(group, "an example needs `input = ..`"))?;
    Ok(Example {
        input,
        output,
        questions,
    })
}

fn parse_question(value: &Expr) -> Result<LitStr> {
    let text = json::string_literal(value, "ask")?;
    if text.value().trim().is_empty() {
        return Err(Error::new(
            text.span(),
            "`ask` is empty: write the question as a person would ask it",
        ));
    }
    Ok(text.clone())
}

/// Parses a list that is separated by commas.
pub(crate) fn parse_list(tokens: proc_macro2::TokenStream) -> Result<Punctuated<Meta, Token![,]>> {
    Punctuated::parse_terminated.parse2(tokens)
}

/// Returns the name of an option, or an empty text for a path of several parts.
pub(crate) fn option_name(path: &Path) -> String {
    path.get_ident().map(ToString::to_string).unwrap_or_default()
}

/// Refuses an option whose name is already in `seen_keys`; otherwise, adds the name.
pub(crate) fn check_not_repeated(seen_keys: &mut Vec<String>, key: &str, path: &Path) -> Result<()> {
    if seen_keys.iter().any(|earlier| earlier == key) {
        return Err(Error::new_spanned(path, format!("`{key}` is given twice")));
    }
    seen_keys.push(key.to_owned());
    Ok(())
}

/// Returns the value in `key = value`.
pub(crate) fn option_value(meta: &Meta) -> Result<&Expr> {
    match meta {
        Meta::NameValue(pair) => Ok(&pair.value),
        _ => Err(Error::new_spanned(
            meta,
            format!("expected `{} = ..`", option_name(meta.path())),
        )),
    }
}

/// Returns `key(..)` as a list.
pub(crate) fn option_list(meta: &Meta) -> Result<&MetaList> {
    match meta {
        Meta::List(list) => Ok(list),
        _ => Err(Error::new_spanned(
            meta,
            format!("expected `{}(..)`", option_name(meta.path())),
        )),
    }
}

/// Returns the error for an option that does not exist.
pub(crate) fn unknown_option_error(path: &Path, expected: &str) -> Error {
    Error::new_spanned(path, format!("unknown option `{}`; {expected}", option_name(path)))
}
