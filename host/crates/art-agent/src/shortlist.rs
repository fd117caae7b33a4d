//! Selects the tools that a prompt describes if it cannot describe all: those most similar to the question. They are ranked by
//! BM25, a measure of shared words.

use std::collections::BTreeSet;

use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::pes::{PesAgentStateData, TodoItem};
use art_core::rank::rank;
use art_core::text::prefix;
use art_core::tool::ToolSchema;
use serde_json::Value;

use crate::event::RunStart;

/// Only the words in this many characters at the beginning of a text are compared. The rest of a longer text is ignored.
const MAX_TEXT_CHARS: usize = 4_000;

/// How many times each word of a tool's name counts, compared with a word of its description.
const NAME_WEIGHT: usize = 4;

/// Maximum number of words that are taken from all examples of one tool together.
const MAX_EXAMPLE_WORDS: usize = 200;

/// Returns the tools for planning, most relevant first: those that the last question or an unfinished plan uses, then those most
/// similar to the question and the message before it, up to the maximum of the configuration.
pub(crate) fn for_plan<'a>(start: &'a RunStart, state: &PesAgentStateData) -> Vec<&'a ToolSchema> {
    let last_question = state.earlier_questions.last().into_iter();
    let items = last_question
        .flat_map(|question| &question.items)
        .chain(&state.todo_list);
    let used = items.flat_map(|item| &item.required_tools);
    let used_names = used.map(String::as_str).collect();
    // The history may end with the question itself, if the application stored it before it asked.
    let is_question_or_answer = |role| matches!(role, MessageRole::User | MessageRole::Ai);
    let is_earlier =
        |message: &&ConversationMessage| is_question_or_answer(message.role) && message.content != start.props.query;
    let previous = start.history.iter().rev().find(is_earlier);
    let previous_text = previous.map_or("", |message| message.content.as_str());
    let texts = [start.props.query.as_str(), previous_text];
    tools_at(start, &positions_to_show(start, &texts, &used_names))
}

/// Returns the tools for a step that names none, in the order of `start.tools`: those most similar to its description, its
/// expected outcome and the question.
pub(crate) fn for_step<'a>(start: &'a RunStart, item: &TodoItem) -> Vec<&'a ToolSchema> {
    let outcome = item.expected_outcome.as_deref().unwrap_or_default();
    let texts = [&item.description, outcome, &start.props.query];
    let mut positions = positions_to_show(start, &texts, &BTreeSet::new());
    positions.sort_unstable();
    tools_at(start, &positions)
}

fn tools_at<'a>(start: &'a RunStart, positions: &[usize]) -> Vec<&'a ToolSchema> {
    let tools = positions.iter().filter_map(|position| start.tools.get(*position));
    tools.collect()
}

/// Returns the positions of the tools that a prompt shows, up to the maximum of the configuration: first those whose
/// names are in `always_shown`, then those most similar to `texts`, then the others in the order of `start.tools`. All tools in
/// `always_shown` are included, even if they are more than the maximum.
fn positions_to_show(start: &RunStart, texts: &[&str], always_shown: &BTreeSet<&str>) -> Vec<usize> {
    let tools = &start.tools;
    let maximum = usize::try_from(start.config.max_shown_tools).unwrap_or(usize::MAX);
    let is_always_shown = |tool: &ToolSchema| always_shown.contains(tool.name.as_str());
    let first: Vec<_> = (0..tools.len())
        .filter(|position| tools.get(*position).is_some_and(is_always_shown))
        .collect();
    let maximum = maximum.max(first.len());
    let mut chosen = Vec::new();
    for position in first
        .into_iter()
        .chain(most_similar(tools, texts))
        .chain(0..tools.len())
    {
        if chosen.len() < maximum && !chosen.contains(&position) {
            chosen.push(position);
        }
    }
    chosen
}

/// Returns the positions of the tools that share a word with `texts`, most similar first.
fn most_similar(tools: &[ToolSchema], texts: &[&str]) -> Vec<usize> {
    let mut query = Words::default();
    for text in texts {
        query.add(text);
    }
    let documents: Vec<_> = tools.iter().map(ranked_words).collect();
    let ranked = rank(&documents, &query.text, tools.len());
    ranked.into_iter().map(|(position, _)| position).collect()
}

/// Returns the words by which a tool is ranked: those of its name, description, parameters and examples. Words of its name are
/// repeated, which raises their weight.
fn ranked_words(tool: &ToolSchema) -> String {
    let mut words = Words::default();
    for _ in 0..NAME_WEIGHT {
        words.add(&tool.name);
    }
    words.add(&tool.description);
    for (name, schema) in parameters(tool) {
        words.add(name);
        words.add(schema.get("description").and_then(Value::as_str).unwrap_or_default());
    }
    words.max_count = words.count + MAX_EXAMPLE_WORDS;
    for example in tool.examples.iter() {
        words.add(example.description.as_deref().unwrap_or_default());
        words.add_texts(&example.input);
    }
    words.text
}

/// Returns the names and schemas of a tool's parameters.
pub(crate) fn parameters(tool: &ToolSchema) -> impl Iterator<Item = (&str, &Value)> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.as_str(), schema))
}

/// Words in lower case, separated by spaces, without stop words. Compound names are split, and plurals become singulars.
struct Words {
    text: String,
    /// Number of words.
    count: usize,
    /// Maximum number of words. Further words are not added.
    max_count: usize,
}

impl Default for Words {
    fn default() -> Self {
        Self {
            text: String::new(),
            count: 0,
            max_count: usize::MAX,
        }
    }
}

impl Words {
    /// Adds the words of `text`, or of its beginning if it is long.
    fn add(&mut self, text: &str) {
        if self.count == self.max_count {
            return;
        }
        let text = prefix(text, MAX_TEXT_CHARS);
        let (mut start, mut before) = (0, ' ');
        for (at, c) in text.char_indices() {
            if !c.is_alphanumeric() {
                self.add_word(text.get(start..at).unwrap_or_default());
                start = at + c.len_utf8();
            } else if c.is_uppercase() && before.is_lowercase() {
                self.add_word(text.get(start..at).unwrap_or_default());
                start = at;
            }
            before = c;
        }
        self.add_word(text.get(start..).unwrap_or_default());
    }

    fn add_word(&mut self, word: &str) {
        let start = self.text.len();
        if word.is_ascii() {
            self.text.push_str(word);
        } else {
            // The whole word is converted at once, because the lower case of a letter may depend on its neighbours.
            self.text.push_str(&word.to_lowercase());
        }
        let added = self.text.get_mut(start..).unwrap_or_default();
        added.make_ascii_lowercase();
        if added.is_empty() || self.count == self.max_count || is_stop_word(added) {
            self.text.truncate(start);
            return;
        }
        if is_plural(added) {
            self.text.pop();
        }
        self.text.push(' ');
        self.count += 1;
    }

    /// Adds the words of all texts in `value`.
    fn add_texts(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(values) => values.iter().for_each(|value| self.add_texts(value)),
            Value::Object(map) => map.values().for_each(|value| self.add_texts(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Returns whether a word is so common that it says nothing about the topic of a text.
///
/// This is a `match` because each word of each tool is looked up for each plan, and a `match` is faster than a table of texts.
#[rustfmt::skip]
const fn is_stop_word(word: &str) -> bool {
    matches!(
        word.as_bytes(),
        b"a" | b"about" | b"all" | b"an" | b"and" | b"any" | b"are" | b"as" | b"at" | b"be" | b"by" | b"can" | b"could"
            | b"do" | b"does" | b"for" | b"from" | b"give" | b"how" | b"i" | b"if" | b"in" | b"is" | b"it" | b"its" | b"many"
            | b"me" | b"much" | b"my" | b"not" | b"of" | b"on" | b"or" | b"please" | b"say" | b"so" | b"tell" | b"than"
            | b"thanks" | b"that" | b"the" | b"there" | b"this" | b"to" | b"use" | b"was" | b"we" | b"what" | b"when"
            | b"which" | b"who" | b"will" | b"with" | b"would" | b"you"
    )
}

/// Returns whether a word looks like a plural. Words such as `class`, `status` and `axis` do not.
fn is_plural(word: &str) -> bool {
    let stem = word.strip_suffix('s').unwrap_or_default();
    stem.len() > 2 && !stem.ends_with(['s', 'u', 'i'])
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

    fn start(query: &str, max_shown_tools: u32) -> RunStart {
        let props = AgentProps {
            query: query.to_owned(),
            ..AgentProps::default()
        };
        let mut start = RunStart::new(props, RuntimeProviderConfig::new("p", "m"));
        start.config.max_shown_tools = max_shown_tools;
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
    fn all_tools_are_selected_if_their_number_is_within_the_maximum() {
        let start = start("weather", 4);
        assert_eq!(for_plan(&start, &PesAgentStateData::default()).len(), 4);
    }

    #[test]
    fn the_tools_of_an_unfinished_plan_are_selected_even_beyond_the_maximum() {
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
    fn tools_similar_to_the_message_before_the_question_are_selected_too() {
        let mut start = start("And tomorrow?", 1);
        let message = json!({"messageId": "m", "threadId": "t", "role": "USER", "content": "How is the weather?", "timestamp": 1});
        start.history = vec![serde_json::from_value(message).unwrap()];
        assert_eq!(
            names(&for_plan(&start, &PesAgentStateData::default())),
            ["weather_forecast"]
        );
    }

    #[test]
    fn the_tools_for_a_step_are_those_similar_to_its_description() {
        let mut item = crate::plan::tests::item("a", &[]);
        item.description = "evaluate the expression".to_owned();
        assert_eq!(names(&for_step(&start("q", 1), &item)), ["calculator"]);
    }

    #[test]
    fn at_most_two_hundred_words_of_the_examples_count() {
        let mut tool = tool("t", "d");
        let text = "word ".repeat(150);
        tool.examples = serde_json::from_value(json!([{"input": {"text": text}}, {"input": {"text": text}}])).unwrap();
        assert_eq!(ranked_words(&tool).matches("word ").count(), MAX_EXAMPLE_WORDS);
    }

    #[test]
    fn stop_words_are_removed_in_upper_and_lower_case() {
        let mut words = Words::default();
        words.add("What IS the weather?");
        assert_eq!(words.text, "weather ");
    }

    #[test]
    fn compound_names_are_split_and_plurals_become_singulars() {
        let mut words = Words::default();
        words.add("getCSV_rates, the Größen and status");
        assert_eq!((words.text.as_str(), words.count), ("get csv rate größen status ", 5));
    }
}
