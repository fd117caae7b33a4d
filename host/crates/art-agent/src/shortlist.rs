//! Selects the tools that a prompt lists if it cannot list all: those most similar to the question (BM25).

use std::collections::BTreeSet;

use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::pes::{PesAgentStateData, TodoItem};
use art_core::rank::rank;
use art_core::text::prefix;
use art_core::tool::ToolSchema;
use serde_json::Value;

use crate::event::RunStart;

/// Maximum length of a text that is ranked, in characters.
const MAX_CHARS: usize = 4_000;

/// Stop words. Questions and descriptions share them whatever their topic.
const STOP_WORDS: [&str; 55] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "do", "does", "for",
    "from", "give", "how", "i", "if", "in", "is", "it", "its", "many", "me", "much", "my", "not", "of", "on", "or",
    "please", "say", "so", "tell", "than", "thanks", "that", "the", "there", "this", "to", "use", "was", "we", "what",
    "when", "which", "who", "will", "with", "would", "you",
];

/// Maximum number of words of the examples of one tool that are ranked.
const MAX_EXAMPLE_WORDS: usize = 200;

/// Returns the tools for planning, nearest first: those that the last question or a plan that was not finished uses, then those most
/// similar to the question and the message before it, up to the maximum of the configuration.
pub(crate) fn for_plan<'a>(start: &'a RunStart, state: &PesAgentStateData) -> Vec<&'a ToolSchema> {
    let last_question = state.earlier_questions.last().into_iter();
    let items = last_question
        .flat_map(|question| &question.items)
        .chain(&state.todo_list);
    let used = items.flat_map(|item| &item.required_tools);
    let keep = used.map(String::as_str).collect();
    let is_conversation = |role| matches!(role, MessageRole::User | MessageRole::Ai);
    let is_earlier =
        |message: &&ConversationMessage| is_conversation(message.role) && message.content != start.props.query;
    let last = start.history.iter().rev().find(is_earlier);
    let last = last.map_or("", |message| message.content.as_str());
    select(start, &nearest(start, &[&start.props.query, last], &keep))
}

/// Returns the tools for a step that names none, in the order of the registry: those most similar to its description and to the
/// question.
pub(crate) fn for_step<'a>(start: &'a RunStart, item: &TodoItem) -> Vec<&'a ToolSchema> {
    let outcome = item.expected_outcome.as_deref().unwrap_or_default();
    let texts = [&item.description, outcome, &start.props.query];
    let mut positions = nearest(start, &texts, &BTreeSet::new());
    positions.sort_unstable();
    select(start, &positions)
}

fn select<'a>(start: &'a RunStart, positions: &[usize]) -> Vec<&'a ToolSchema> {
    let tools = positions.iter().filter_map(|position| start.tools.get(*position));
    tools.collect()
}

/// Returns the positions of the tools in `keep`, of those most similar to `texts`, and of others, in this order, up to the
/// maximum of the configuration.
fn nearest(start: &RunStart, texts: &[&str], keep: &BTreeSet<&str>) -> Vec<usize> {
    let tools = &start.tools;
    let maximum = usize::try_from(start.config.max_shown_tools).unwrap_or(usize::MAX);
    let is_kept = |tool: &ToolSchema| keep.contains(tool.name.as_str());
    let kept: Vec<_> = (0..tools.len())
        .filter(|position| tools.get(*position).is_some_and(is_kept))
        .collect();
    let maximum = maximum.max(kept.len());
    let mut chosen = Vec::new();
    for position in kept.into_iter().chain(most_similar(tools, texts)).chain(0..tools.len()) {
        if chosen.len() < maximum && !chosen.contains(&position) {
            chosen.push(position);
        }
    }
    chosen
}

/// Returns the positions of the tools that share a word with `texts`, most similar first.
fn most_similar(tools: &[ToolSchema], texts: &[&str]) -> Vec<usize> {
    let query: Vec<_> = texts.iter().flat_map(|text| words(prefix(text, MAX_CHARS))).collect();
    let documents: Vec<_> = tools.iter().map(document).collect();
    let ranked = rank(&documents, &query.join(" "), tools.len());
    ranked.into_iter().map(|(position, _)| position).collect()
}

/// Returns the words by which a tool is ranked. Words of its name are repeated, which raises their weight.
fn document(tool: &ToolSchema) -> String {
    let mut words = vec![words(&tool.name); 4].concat();
    words.extend(self::words(prefix(&tool.description, MAX_CHARS)));
    for (name, schema) in parameters(tool) {
        words.extend(self::words(name));
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        words.extend(self::words(prefix(description, MAX_CHARS)));
    }
    let mut examples = Vec::new();
    for example in tool.examples.iter() {
        examples.extend(self::words(prefix(
            example.description.as_deref().unwrap_or_default(),
            MAX_CHARS,
        )));
        collect_words(&example.input, &mut examples);
    }
    examples.truncate(MAX_EXAMPLE_WORDS);
    words.extend(examples);
    words.join(" ")
}

/// Returns the names and schemas of a tool's parameters.
pub(crate) fn parameters(tool: &ToolSchema) -> impl Iterator<Item = (&str, &Value)> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.as_str(), schema))
}

/// Collects the words of all texts in `value`, up to the limit.
fn collect_words(value: &Value, found: &mut Vec<String>) {
    if found.len() > MAX_EXAMPLE_WORDS {
        return;
    }
    match value {
        Value::String(text) => found.extend(words(prefix(text, MAX_CHARS))),
        Value::Array(values) => values.iter().for_each(|value| collect_words(value, found)),
        Value::Object(map) => map.values().for_each(|value| collect_words(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Splits a text into lower-case words. Compound names are split, and plurals become singulars.
fn words(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            spaced.push(' ');
        }
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
        before = c;
    }
    spaced
        .split(' ')
        .filter(|word| !word.is_empty() && !STOP_WORDS.contains(&word.to_lowercase().as_str()))
        .map(singular)
        .collect()
}

fn singular(word: &str) -> String {
    let word = word.to_lowercase();
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::agent::AgentProps;
    use art_core::provider::RuntimeProviderConfig;
    use serde_json::json;

    fn tool(name: &str, description: &str) -> ToolSchema {
        let input = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        serde_json::from_value(json!({"name": name, "description": description, "inputSchema": input})).unwrap()
    }

    fn start(query: &str, shown: u32) -> RunStart {
        let props = AgentProps {
            query: query.to_owned(),
            ..AgentProps::default()
        };
        let mut start = RunStart::new(props, RuntimeProviderConfig::new("p", "m"));
        start.config.max_shown_tools = shown;
        start.tools = vec![
            tool("send_mail", "Sends a message to a person."),
            tool("weather_forecast", "Tells the weather of the next days in a city."),
            tool("currency_rates", "Gives rates of exchange between currencies."),
            tool("calculator", "Evaluates an arithmetic expression."),
        ];
        start
    }

    fn names(list: &[&ToolSchema]) -> Vec<String> {
        list.iter().map(|tool| tool.name.clone()).collect()
    }

    #[test]
    fn the_most_similar_tools_come_first() {
        let start = start("What is the exchange rate, and what will the weather be?", 2);
        let list = for_plan(&start, &PesAgentStateData::default());
        assert_eq!(names(&list), ["currency_rates", "weather_forecast"]);
    }

    #[test]
    fn tools_that_fit_are_all_shown() {
        let start = start("weather", 4);
        assert_eq!(for_plan(&start, &PesAgentStateData::default()).len(), 4);
    }

    #[test]
    fn the_tools_of_the_plan_are_kept_beyond_the_maximum() {
        let start = start("weather", 1);
        let mut item = crate::plan::tests::item("a", &[]);
        item.required_tools = vec!["calculator".to_owned(), "send_mail".to_owned()];
        let state = PesAgentStateData {
            todo_list: vec![item],
            ..PesAgentStateData::default()
        };
        assert_eq!(names(&for_plan(&start, &state)), ["send_mail", "calculator"]);
    }

    #[test]
    fn the_last_turn_counts_too() {
        let mut start = start("And tomorrow?", 1);
        let message = json!({"messageId": "m", "threadId": "t", "role": "USER", "content": "How is the weather?", "timestamp": 1});
        start.history = vec![serde_json::from_value(message).unwrap()];
        assert_eq!(
            names(&for_plan(&start, &PesAgentStateData::default())),
            ["weather_forecast"]
        );
    }

    #[test]
    fn a_step_ranks_tools_by_its_description() {
        let mut item = crate::plan::tests::item("a", &[]);
        item.description = "evaluate the expression".to_owned();
        assert_eq!(names(&for_step(&start("q", 1), &item)), ["calculator"]);
    }

    #[test]
    fn compound_names_are_split_and_plurals_become_singulars() {
        assert_eq!(words("getCSV_rates, status"), ["get", "csv", "rate", "status"]);
    }
}
