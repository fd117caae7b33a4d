//! Decides how tools are shown to the planner (contract Q7): the most relevant ones with their schemas, others with a
//! short description or only by name.

use art_core::pes::PesAgentStateData;
use art_core::text::first_sentences;
use art_core::tool::ToolSchema;
use serde_json::{Value, json};

use super::example::most_similar_example_calls;
use super::fit::text_tokens;
use super::quote::{one_line, section};
use crate::event::RunStart;
use crate::plan::without_promises;
use crate::shortlist;

/// Heading of the tools that a plan may use.
const AVAILABLE_TOOLS: &str = "Available tools";

/// Maximum estimated number of tokens of each kind of text about tools: schemas, short descriptions, and examples. In a small
/// context window, [`CONTEXT_DIVISOR`] sets a lower maximum.
const MAX_TOKENS_PER_KIND: u64 = 8_000;

/// Each kind of text about tools may take at most the context window divided by this.
const CONTEXT_DIVISOR: u64 = 8;

/// Maximum length of the description of a tool that is shown without its schemas, in characters.
const MAX_BRIEF_DESCRIPTION_CHARS: usize = 200;

/// Maximum total length of the names of tools that are listed by name only, in characters.
const MAX_NAME_LIST_CHARS: usize = 4_000;

/// Maximum number of tools whose examples are shown. The most relevant tools are chosen.
const MAX_TOOLS_WITH_EXAMPLES: usize = 3;

/// The tools as they are shown to the planner. `full` and `brief` are sorted by name, an order that a later question does not
/// change.
#[derive(Debug)]
pub(super) struct ShownTools<'a> {
    /// Tools with their schemas.
    pub(super) full: Vec<&'a ToolSchema>,
    /// Tools with a short description and the names of their parameters.
    brief: Vec<&'a ToolSchema>,
    /// Names of the other tools.
    others: Vec<&'a str>,
    /// The tools that [`shortlist::for_plan`] selects for the question, most relevant first.
    most_relevant: Vec<&'a ToolSchema>,
    /// Maximum number of tokens of the examples.
    max_example_tokens: u64,
}

impl<'a> ShownTools<'a> {
    /// Selects what is shown: the schemas of all tools if the context window is unlimited. Otherwise the schemas of the most
    /// relevant tools, as many as fit and the configuration allows, which may be all tools.
    pub(super) fn new(start: &'a RunStart, state: &PesAgentStateData) -> Self {
        let most_relevant = shortlist::for_plan(start, state);
        let Some(context) = start.context.tokens() else {
            return Self {
                full: sorted_by_name(start.tools.iter().collect()),
                brief: Vec::new(),
                others: Vec::new(),
                most_relevant,
                max_example_tokens: u64::MAX,
            };
        };
        let max_tokens = MAX_TOKENS_PER_KIND.min(context / CONTEXT_DIVISOR);
        let (full, rest) = split_by_tokens(most_relevant.clone(), max_tokens, |tool| full_form(tool));
        let (brief, _) = split_by_tokens(rest, max_tokens, |tool| brief_form(tool));
        let is_shown = |tool: &&ToolSchema| full.iter().chain(&brief).any(|shown| shown.name == tool.name);
        let others = start.tools.iter().filter(|tool| !is_shown(tool));
        Self {
            others: others.map(|tool| tool.name.as_str()).collect(),
            full: sorted_by_name(full),
            brief: sorted_by_name(brief),
            most_relevant,
            max_example_tokens: max_tokens,
        }
    }

    /// Returns the section with the schemas of the tools if the schemas of all tools fit: it is then the same for every question.
    /// `tools_in_request` tells whether the request contains the tools in the provider's format, which has no field for output
    /// schemas.
    pub(super) fn stable_section(&self, tools_in_request: bool) -> Option<String> {
        let is_stable = self.brief.is_empty() && self.others.is_empty();
        is_stable.then(|| self.full_section(tools_in_request))
    }

    /// Returns the sections that depend on the question.
    pub(super) fn question_sections(&self, tools_in_request: bool, query: &str) -> Vec<String> {
        let mut sections = Vec::new();
        if self.stable_section(tools_in_request).is_none() {
            sections.push(self.full_section(tools_in_request));
            sections.push(section("More tools", &self.more_tools()));
        }
        let examples = self.most_relevant.iter().filter_map(|tool| example_entry(tool, query));
        let (examples, _) = split_by_tokens(
            examples.take(MAX_TOOLS_WITH_EXAMPLES).collect(),
            self.max_example_tokens,
            Value::clone,
        );
        if !examples.is_empty() {
            sections.push(section("Examples of calls", &one_line(&examples)));
        }
        sections
    }

    /// Returns the section with the schemas of the tools in `full`, or only their output schemas if the request contains the
    /// tools in the provider's format.
    fn full_section(&self, tools_in_request: bool) -> String {
        if tools_in_request {
            let outputs = self
                .full
                .iter()
                .filter_map(|tool| Some((tool.name.clone(), without_promises(tool.output_schema.as_ref()?))));
            let outputs: serde_json::Map<String, Value> = outputs.collect();
            return section("Outputs of the tools", &one_line(&outputs));
        }
        let tools: Vec<_> = self.full.iter().map(|tool| full_form(tool)).collect();
        section(AVAILABLE_TOOLS, &one_line(&tools))
    }

    /// Describes the tools whose schemas are not shown. A step may name them in `requiredTools`.
    fn more_tools(&self) -> String {
        let brief: Vec<_> = self.brief.iter().map(|tool| brief_form(tool)).collect();
        let parts = [
            Some("Their schemas are not shown: name them in `requiredTools`, without `toolCalls`.".to_owned()),
            (!brief.is_empty()).then(|| one_line(&brief)),
            (!self.others.is_empty()).then(|| format!("Others, by name: {}", name_list(&self.others))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// Splits `items`, which begin with the most important one, into the first ones that fit into `remaining_tokens` tokens together,
/// and the others. `form` returns an item as it is shown.
fn split_by_tokens<T>(items: Vec<T>, mut remaining_tokens: u64, form: impl Fn(&T) -> Value) -> (Vec<T>, Vec<T>) {
    items.into_iter().partition(|item| {
        let tokens = text_tokens(&one_line(&form(item)));
        let fits = tokens <= remaining_tokens;
        remaining_tokens = if fits { remaining_tokens - tokens } else { 0 };
        fits
    })
}

fn sorted_by_name(mut tools: Vec<&ToolSchema>) -> Vec<&ToolSchema> {
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

/// Returns a tool with its schemas, as the planner is shown it. The promises in the output schema, which say what the output of a
/// call with a certain input contains, are left out, because only the check of plans reads them.
fn full_form(tool: &ToolSchema) -> Value {
    let mut form = json!({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema});
    if let (Some(map), Some(output)) = (form.as_object_mut(), &tool.output_schema) {
        map.insert("outputSchema".to_owned(), without_promises(output));
    }
    form
}

/// Returns a tool with a short description and the names of its parameters, as the planner is shown it.
fn brief_form(tool: &ToolSchema) -> Value {
    let parameters: Vec<_> = shortlist::parameters(tool).map(|(name, _)| name).collect();
    let description = first_sentences(&tool.description, MAX_BRIEF_DESCRIPTION_CHARS);
    json!({"name": tool.name, "description": description, "parameters": parameters})
}

/// Returns a tool with those of its example calls that are most similar to the question, if it has examples.
fn example_entry(tool: &ToolSchema, query: &str) -> Option<Value> {
    let calls = most_similar_example_calls(tool, query);
    (!calls.is_empty()).then(|| json!({"tool": tool.name, "examples": calls}))
}

/// Returns the names of tools, up to the maximum length, and the number of omitted ones. The planner is shown the names because
/// a question may refer to a tool without sharing a word with it, and a name takes only a few tokens.
fn name_list(others: &[&str]) -> String {
    let mut remaining = MAX_NAME_LIST_CHARS;
    let listed = others
        .iter()
        .take_while(|name| match remaining.checked_sub(name.len()) {
            Some(rest) => {
                remaining = rest;
                true
            }
            None => false,
        });
    let listed: Vec<_> = listed.collect();
    match others.len() - listed.len() {
        0 => one_line(&listed),
        more => format!("{} and {more} more", one_line(&listed)),
    }
}
