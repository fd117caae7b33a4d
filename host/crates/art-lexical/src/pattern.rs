//! Patterns: questions of examples, with slots in place of the values of their inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use art_core::json::compare_numbers;
use art_core::tool::ToolSchema;
use itertools::Itertools;
use serde_json::Value;

use crate::class::{Class, ExampleValues};
use crate::data::{TextForms, texts_by_stems};
use crate::example::{ClassesByParameter, Example, Leaf, is_whole_text, learn_classes};
use crate::token::{TokenKind, text_stems};
use crate::words::{is_article, is_content_stem, is_question_word};

/// First character of the name of each slot, so that no value of an input is mistaken for a slot.
const SLOT: char = '\u{e000}';

/// A question with slots, and the input that it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Position of its tool among the tools.
    pub(crate) tool_index: usize,
    /// The question as the example has it.
    pub(crate) question: String,
    /// The words and slots of the question in their order, without articles. Slots for whole texts are not among them.
    pub(crate) items: Vec<PatternItem>,
    /// The names of the slots for whole texts in the order of the question, and the forms that they accept.
    pub(crate) text_slots: Vec<(String, TextForms)>,
    /// The input of the example, with slot names in place of the values that its question says; equal if questions ask the same.
    pub(crate) template: Value,
    pub(crate) example_words: Arc<ExampleWords>,
}

/// The words of all example questions that have the same template.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExampleWords {
    /// The stems of the words with content in any of the questions.
    pub(crate) all: BTreeSet<String>,
    /// One set of such stems for each question, except a question of only question words, such as `how many`, without slots.
    pub(crate) of_each_question: BTreeSet<BTreeSet<String>>,
    /// Words, each with the name of a slot that directly follows it.
    before_slots: BTreeSet<(String, String)>,
}

/// A word of a pattern, or a slot for a value.
#[derive(Clone, Debug)]
pub(crate) struct PatternItem {
    /// The stem of the word, or the name of the slot in the template: [`SLOT`] and the JSON pointer to the value in the input.
    pub(crate) stem_or_slot: String,
    /// Which words can fill the slot; `None` for a word.
    pub(crate) class: Option<Arc<Class>>,
    /// Whether it is a word with content.
    has_content: bool,
}

impl PatternItem {
    fn new(stem_or_slot: &str, class: Option<Arc<Class>>) -> Self {
        Self {
            has_content: class.is_none() && is_content_stem(stem_or_slot),
            stem_or_slot: stem_or_slot.to_owned(),
            class,
        }
    }

    /// Returns the stem of a word with content, or `None` for any other item.
    pub(crate) fn content_word(&self) -> Option<&String> {
        Some(&self.stem_or_slot).filter(|_| self.has_content)
    }
}

impl ExampleWords {
    /// Returns whether `word` stands before slots, but never before `slot`, as `from` never does before the unit to convert to.
    pub(crate) fn precedes_other_slots(&self, word: &str, slot: &str) -> bool {
        let mut slots = self.before_slots.iter().filter(|(before, _)| before == word).peekable();
        slots.peek().is_some() && !slots.any(|(_, following)| following == slot)
    }
}

/// Returns `template` with each text replaced by what `value` returns for it.
pub(crate) fn replace_texts(template: &Value, value: &impl Fn(&str) -> Value) -> Value {
    let replace_in_field = |(key, item): (&String, &Value)| (key.clone(), replace_texts(item, value));
    match template {
        Value::String(text) => value(text),
        Value::Array(items) => items.iter().map(|item| replace_texts(item, value)).collect(),
        Value::Object(map) => map.iter().map(replace_in_field).collect(),
        other => other.clone(),
    }
}

/// Maximum number of examples that are read of one tool.
const MAX_EXAMPLES: usize = 1_024;

/// Returns the patterns that the examples of the tool at `tool_index` teach.
pub(crate) fn learn_patterns(tool_index: usize, schema: &ToolSchema) -> Vec<Pattern> {
    let examples = schema.examples.iter().take(MAX_EXAMPLES);
    let examples: Vec<Example> = examples.filter_map(|example| Example::new(schema, example)).collect();
    let classes = learn_classes(&examples);
    let learn = |example| pattern_of(tool_index, example, &examples, &classes);
    let mut patterns = examples.iter().filter_map(learn).collect_vec();
    share_example_words(&mut patterns);
    patterns
}

/// Gives each pattern the words of all questions with its template.
fn share_example_words(patterns: &mut [Pattern]) {
    let mut words_by_template: BTreeMap<String, Arc<ExampleWords>> = BTreeMap::new();
    for pattern in &*patterns {
        let words = pattern.items.iter().filter_map(PatternItem::content_word);
        let words: BTreeSet<String> = words.cloned().collect();
        let shared = Arc::make_mut(words_by_template.entry(pattern.template.to_string()).or_default());
        shared.all.extend(words.clone());
        let pairs = pattern.items.iter().tuple_windows();
        let before_slots = pairs.filter(|(word, next)| word.class.is_none() && next.class.is_some());
        let names = before_slots.map(|(word, slot)| (word.stem_or_slot.clone(), slot.stem_or_slot.clone()));
        shared.before_slots.extend(names);
        if words.iter().any(|word| !is_question_word(word)) || pattern.items.iter().any(|item| item.class.is_some()) {
            shared.of_each_question.insert(words);
        }
    }
    for pattern in patterns {
        let shared = words_by_template.get(&pattern.template.to_string());
        pattern.example_words = shared.cloned().unwrap_or_default();
    }
}

/// Returns the pattern of `example`; `all` are the examples of its tool. Values that its question says become slots, as do whole
/// texts that can be attached. Returns `None` if the question lacks a column, a cell, or a whole text that cannot be attached.
fn pattern_of(tool_index: usize, example: &Example, all: &[Example], classes: &ClassesByParameter) -> Option<Pattern> {
    let mut template = example.input.clone();
    let (mut slots, mut taken, mut unsaid_texts) = (Vec::new(), Vec::new(), Vec::new());
    for leaf in example.leaves.iter().filter(|leaf| !leaf.value.is_null()) {
        let (class, slot) = (classes.get(&leaf.parameter)?, format!("{SLOT}{}", leaf.pointer));
        let mut candidates = candidate_classes(class, example, leaf, all).into_iter();
        let found = candidates.find_map(|class| Some((find_value(example, leaf, &class, &taken)?, class)));
        let slot = match (found, class.as_ref()) {
            (Some((range, class)), _) => {
                taken.push(range.clone());
                slots.push((range, PatternItem::new(&slot, Some(class))));
                slot
            }
            (None, Class::WholeText(forms)) => {
                unsaid_texts.push((slot.clone(), forms.clone()));
                slot
            }
            // If the input has a value twice and the question says it once, both share one slot.
            (None, Class::Key | Class::Cell) => find_equal_slot(example, leaf, &template)?,
            // A whole text of an example is never passed along for other questions.
            (None, _) if is_whole_text(&leaf.value) => return None,
            (None, _) => continue,
        };
        *template.pointer_mut(&leaf.pointer)? = slot.into();
    }
    let (mut items, mut text_slots) = (Vec::new(), Vec::new());
    for (at, token) in example.reading.tokens.iter().enumerate() {
        let has_meaning = token.kind != TokenKind::Mark && !is_article(&token.stem);
        match slots.iter().find(|(range, _)| range.contains(&at)) {
            Some((range, slot)) if range.start == at => match slot.class.as_deref() {
                Some(Class::WholeText(forms)) => text_slots.push((slot.stem_or_slot.clone(), forms.clone())),
                _ => items.push(slot.clone()),
            },
            None if has_meaning => items.push(PatternItem::new(&token.stem, None)),
            _ => {}
        }
    }
    text_slots.extend(unsaid_texts);
    Some(Pattern {
        tool_index,
        question: example.question.clone(),
        items,
        text_slots,
        template,
        example_words: Arc::default(),
    })
}

/// Returns the classes to try in turn for a value: that of its parameter, but for a whole text also one word of a question ("the
/// word strawberry"), for a number in a cell any number, and for a choice only the values in examples with the same parameters.
fn candidate_classes(class: &Arc<Class>, example: &Example, leaf: &Leaf, examples: &[Example]) -> Vec<Arc<Class>> {
    // Without values, the slot accepts one word or a quoted text.
    let open_slot = || Arc::new(Class::LikeExamples(ExampleValues::any_word()));
    match class.as_ref() {
        Class::WholeText(_) => vec![Arc::clone(class), open_slot()],
        // The columns of a file that is only named by its path are unknown.
        Class::Key if example.reading.whole_texts.is_empty() => vec![open_slot()],
        Class::Cell if leaf.value.is_number() => vec![Arc::new(Class::Number)],
        Class::Choice(_) => {
            let is_alike = |other: &&Example| other.parameter_names == example.parameter_names;
            let leaves = examples.iter().filter(is_alike).flat_map(|other| &other.leaves);
            let leaves = leaves.filter(|other| other.parameter == leaf.parameter);
            // Of the same value in many examples, only the last one counts, and finding stems takes time.
            let shown = leaves.rev().filter_map(|other| other.value.as_str()).unique();
            let shown = shown.collect_vec();
            vec![Arc::new(Class::Choice(texts_by_stems(shown.into_iter().rev())))]
        }
        _ => vec![Arc::clone(class)],
    }
}

/// Returns the name of the slot of an equal value of the example, or `None` if there is none.
fn find_equal_slot(example: &Example, leaf: &Leaf, template: &Value) -> Option<String> {
    let equal_leaves = example.leaves.iter().filter(|other| other.value == leaf.value);
    let mut texts = equal_leaves.filter_map(|other| template.pointer(&other.pointer)?.as_str());
    texts.find(|text| text.starts_with(SLOT)).map(str::to_owned)
}

/// Returns the range of the tokens that say a value of the input, outside of those that are taken.
fn find_value(example: &Example, leaf: &Leaf, class: &Class, taken: &[Range<usize>]) -> Option<Range<usize>> {
    let tokens = &example.reading.tokens;
    let is_free = |range: &Range<usize>| taken.iter().all(|one| one.end <= range.start || range.end <= one.start);
    (0..tokens.len()).find_map(|at| {
        let fillers = class.fillers(&example.reading, at).into_iter();
        let same = fillers.filter(|one| is_same(&one.value, &leaf.value));
        same.map(|one| at..at + one.length).find(is_free)
    })
}

/// Returns whether words of a question say a value: numbers are compared as such, texts by stems without blanks, others as JSON.
fn is_same(said: &Value, value: &Value) -> bool {
    let joined_stems = |text: &str| text_stems(text).replace(' ', "");
    match (said, value) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b).is_eq(),
        (Value::String(a), Value::String(b)) => joined_stems(a) == joined_stems(b),
        (Value::String(json), value) => art_core::json::parse(json).is_ok_and(|json| json == *value),
        _ => false,
    }
}
