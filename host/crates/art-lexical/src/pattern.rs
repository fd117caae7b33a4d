//! Patterns: an example's question with slots where the values of its input stand.

use std::collections::{BTreeMap, BTreeSet};

use art_core::text::prefix;
use art_core::tool::{ToolExample, ToolSchema};
use serde_json::Value;

use crate::class::{Class, Filler, Named, Surroundings, is_code};
use crate::data::{Data, Form, form_of};
use crate::expression::{Operators, is_expression};
use crate::token::{Kind, Token, as_number, folded, is_moment, tokens};

/// Examples of one tool that are learnt from.
const MAX_EXAMPLES: usize = 256;
/// Characters of the question of an example.
const MAX_ASK: usize = 400;
/// Values of one input.
const MAX_LEAVES: usize = 32;

/// Stands around the number of a slot in a template.
const MARK: char = '\u{2}';

/// What is asked, with slots, and the input that it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The question as the example has it.
    pub(crate) ask: String,
    /// The words and slots of the question in their order. Slots for whole texts have no place in it.
    pub(crate) items: Vec<Item>,
    pub(crate) slots: Vec<Slot>,
    /// The input with [`marker`]s in place of what fills the slots.
    input: Value,
}

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A word, by its stem.
    Word(String),
    /// The slot of that number.
    Slot(usize),
}

/// A place of the input that a question fills.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) class: Class,
    /// Where in the input, as a JSON pointer.
    place: String,
    /// What fills it becomes a part of a longer text.
    pub(crate) is_part: bool,
    /// Which token of the question it is; texts that the question has not are last.
    asked: usize,
}

impl Pattern {
    /// The input that `values` make, one for each slot; none when a value cannot be part of a text.
    pub(crate) fn fill(&self, values: &[Value]) -> Option<Value> {
        fill(&self.input, values)
    }

    /// What the patterns of one meaning share: the input without what fills its slots.
    pub(crate) fn meaning(&self) -> String {
        let mut leaves = Vec::new();
        flatten(&self.input, "", &mut leaves);
        leaves.sort();
        leaves.join("\n")
    }

    /// The slots for whole texts in the order of the question, and the forms that these may have.
    pub(crate) fn texts(&self) -> Vec<(usize, &BTreeSet<Form>)> {
        let slots = self.slots.iter().enumerate();
        let texts = slots.filter_map(|(n, slot)| match &slot.class {
            Class::Data(forms) => Some((slot.asked, n, forms)),
            _ => None,
        });
        let mut texts: Vec<_> = texts.collect();
        texts.sort_by_key(|(asked, ..)| *asked);
        texts.into_iter().map(|(_, n, forms)| (n, forms)).collect()
    }

    /// Whether it passes a whole text along.
    pub(crate) fn takes_texts(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.class, Class::Data(_)))
    }

    /// Where the slot of that number stands in the input.
    pub(crate) fn place(&self, slot: usize) -> &str {
        self.slots.get(slot).map_or("", |slot| slot.place.as_str())
    }
}

fn flatten(value: &Value, pointer: &str, leaves: &mut Vec<String>) {
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(key, value)| flatten(value, &format!("{pointer}/{key}"), leaves)),
        Value::Array(values) => {
            for (n, value) in values.iter().enumerate() {
                flatten(value, &format!("{pointer}/{n}"), leaves);
            }
        }
        value => leaves.push(format!("{pointer}={value}")),
    }
}

fn marker(slot: usize) -> String {
    format!("{MARK}{slot}{MARK}")
}

fn fill(template: &Value, values: &[Value]) -> Option<Value> {
    Some(match template {
        Value::String(text) => fill_text(text, values)?,
        Value::Array(items) => items
            .iter()
            .map(|item| fill(item, values))
            .collect::<Option<Vec<_>>>()?
            .into(),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| Some((key.clone(), fill(value, values)?)));
            Value::Object(entries.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

fn fill_text(text: &str, values: &[Value]) -> Option<Value> {
    let slot = |number: &str| values.get(number.parse::<usize>().ok()?);
    let mut pieces = text.split(MARK);
    let mut filled = pieces.next()?.to_owned();
    while let Some(number) = pieces.next() {
        let value = slot(number)?;
        let after = pieces.next()?;
        if filled.is_empty() && after.is_empty() && text == format!("{MARK}{number}{MARK}") {
            return Some(value.clone());
        }
        match value {
            Value::String(part) => filled.push_str(part),
            Value::Number(part) => filled.push_str(&part.to_string()),
            Value::Array(parts) => filled.push_str(&parts.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
            _ => return None,
        }
        filled.push_str(after);
    }
    Some(Value::from(filled))
}

/// The patterns that the examples of `tool` teach.
pub(crate) fn patterns(tool: &ToolSchema) -> Vec<Pattern> {
    let mut examples: Vec<Example> = tool
        .examples
        .iter()
        .take(MAX_EXAMPLES)
        .filter_map(|example| Example::new(tool, example))
        .collect();
    let texts = texts(&examples);
    examples.iter_mut().for_each(|example| example.read(&texts));
    let others = others(&examples, &texts);
    let classes = texts.into_iter().chain(others).collect();
    examples
        .iter()
        .map(|example| Learner::new(example).learn(&classes))
        .collect()
}

/// An example, taken apart.
#[derive(Debug)]
struct Example {
    ask: String,
    tokens: Vec<Token>,
    input: Value,
    leaves: Vec<Leaf>,
    /// The texts that it passes along.
    data: Vec<Data>,
}

/// A value of an input.
#[derive(Debug)]
struct Leaf {
    /// Where, as a JSON pointer.
    pointer: String,
    /// The same for all items of a list.
    parameter: String,
    value: Value,
    schema: Value,
}

impl Example {
    fn new(tool: &ToolSchema, example: &ToolExample) -> Option<Self> {
        let ask = prefix(example.description.as_deref()?, MAX_ASK).to_owned();
        let mut leaves = Vec::new();
        collect(&example.input, &tool.input_schema, "", "", &mut leaves);
        (leaves.len() <= MAX_LEAVES).then(|| Self {
            tokens: tokens(&ask, &[]),
            ask,
            input: example.input.clone(),
            leaves,
            data: Vec::new(),
        })
    }

    /// Reads the texts that the example passes along, at the places that `texts` names.
    fn read(&mut self, texts: &Classes) {
        let is_text = |leaf: &&Leaf| texts.contains_key(&leaf.parameter);
        self.data = self
            .leaves
            .iter()
            .filter(is_text)
            .map(|leaf| Data::of_value(&leaf.value))
            .collect();
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            text: &self.ask,
            data: &self.data,
            may_refer: false,
        }
    }
}

/// Collects the values of `value`: scalars, lists of scalars, and whatever its schema says nothing of.
fn collect(value: &Value, schema: &Value, pointer: &str, parameter: &str, leaves: &mut Vec<Leaf>) {
    let schema = present(schema);
    let items = schema
        .get("items")
        .filter(|_| value.as_array().is_some_and(|all| all.iter().any(Value::is_object)));
    let below: Vec<(String, &str, &Value, &Value)> = match (value, items) {
        (Value::Object(map), _) if is_record(schema) => {
            let known = |key: &String| schema.get("properties").and_then(|all| all.get(key));
            let other = schema.get("additionalProperties").unwrap_or(&Value::Null);
            map.iter()
                .map(|(key, value)| (key.clone(), key.as_str(), value, known(key).unwrap_or(other)))
                .collect()
        }
        (Value::Array(all), Some(items)) => all
            .iter()
            .enumerate()
            .map(|(n, value)| (n.to_string(), "*", value, items))
            .collect(),
        _ => {
            let (pointer, parameter) = (pointer.to_owned(), parameter.to_owned());
            return leaves.push(Leaf {
                pointer,
                parameter,
                value: value.clone(),
                schema: schema.clone(),
            });
        }
    };
    for (key, name, value, schema) in below {
        collect(
            value,
            schema,
            &format!("{pointer}/{key}"),
            &format!("{parameter}/{name}"),
            leaves,
        );
    }
}

/// The schema of what is there when the value may be absent.
fn present(schema: &Value) -> &Value {
    let any = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    let variant = any.and_then(|any| {
        any.iter()
            .find(|variant| variant.get("type") != Some(&Value::from("null")))
    });
    variant.unwrap_or(schema)
}

fn is_record(schema: &Value) -> bool {
    let kind = schema.get("type");
    let object = |kind: &Value| match kind {
        Value::Array(kinds) => kinds.iter().all(|kind| kind == "object" || kind == "null"),
        kind => kind == "object",
    };
    schema.get("properties").is_some() || kind.is_some_and(object)
}

/// What each parameter takes, by its name.
type Classes = BTreeMap<String, Class>;

/// The parameters that take whole texts.
fn texts(examples: &[Example]) -> Classes {
    let values = values(examples).into_iter();
    values
        .filter_map(|(name, values)| Some((name.to_owned(), Class::Data(whole_texts(&values)?))))
        .collect()
}

/// What the other parameters take.
fn others(examples: &[Example], texts: &Classes) -> Classes {
    let values = values(examples)
        .into_iter()
        .filter(|(name, _)| !texts.contains_key(*name));
    let mut classes: Classes = values
        .map(|(name, values)| (name.to_owned(), class_of(&values)))
        .collect();
    let shown = |class: &Class| {
        if let Class::Words(shown) = class {
            shown.clone()
        } else {
            BTreeSet::new()
        }
    };
    // What one parameter takes, such as a unit, another one may take as well.
    let all: BTreeSet<String> = classes.values().flat_map(shown).collect();
    for class in classes.values_mut() {
        if let Class::Words(shown) = class {
            shown.clone_from(&all);
        }
    }
    classes
}

/// The values that the examples give each parameter.
fn values(examples: &[Example]) -> BTreeMap<&str, Vec<(&Example, &Leaf)>> {
    let mut values: BTreeMap<&str, Vec<(&Example, &Leaf)>> = BTreeMap::new();
    for example in examples {
        for leaf in &example.leaves {
            values.entry(&leaf.parameter).or_default().push((example, leaf));
        }
    }
    values
}

/// The forms of the whole texts that a parameter takes, when that is what it takes.
fn whole_texts(values: &[(&Example, &Leaf)]) -> Option<BTreeSet<Form>> {
    let form = |leaf: &Leaf| match &leaf.value {
        Value::String(text) => Some(form_of(text)),
        Value::Object(_) => Some(Form::Json),
        Value::Array(_) if leaf.schema.get("items").is_none() => Some(Form::Json),
        _ => None,
    };
    let is_text = |leaf: &&(&Example, &Leaf)| match &leaf.1.value {
        Value::String(text) => {
            form_of(text) != Form::Prose || (is_prose(text) && !is_expression(text) && !is_moment(text))
        }
        _ => true,
    };
    let forms: Option<BTreeSet<Form>> = values.iter().map(|(_, leaf)| form(leaf)).collect();
    let often = values.iter().filter(is_text).count() * 2 >= values.len();
    let free = values.iter().all(|(_, leaf)| leaf.schema.get("enum").is_none());
    forms.filter(|_| often && free)
}

/// Whether a text is made of words: a filter or a pattern has few that are nothing but letters.
fn is_prose(text: &str) -> bool {
    let is_plain = |word: &&str| {
        word.trim_end_matches(['.', ',', '!', '?', ':'])
            .chars()
            .all(char::is_alphabetic)
    };
    let plain = text.split_whitespace().filter(is_plain).count();
    (plain > 1 && text.split_whitespace().count() > 2) || text.trim_end().contains('\n')
}

/// What a parameter takes that takes no whole texts.
fn class_of(values: &[(&Example, &Leaf)]) -> Class {
    let Some((_, first)) = values.first() else {
        return Class::Number;
    };
    if let Some(items) = first.schema.get("items").filter(|_| first.value.is_array()) {
        let parts: Vec<(&Example, Leaf)> = values
            .iter()
            .flat_map(|(example, leaf)| parts(leaf, items).into_iter().map(move |part| (*example, part)))
            .collect();
        let parts: Vec<(&Example, &Leaf)> = parts.iter().map(|(example, leaf)| (*example, leaf)).collect();
        return Class::List(Box::new(class_of(&parts)));
    }
    if let Some(choices) = first.schema.get("enum").and_then(Value::as_array) {
        return Class::Choice(choices.iter().filter_map(Value::as_str).map(named).collect());
    }
    let texts: Vec<&str> = values.iter().filter_map(|(_, leaf)| leaf.value.as_str()).collect();
    let in_data = |keys: bool| {
        let held = |(example, leaf): &(&Example, &Leaf)| {
            let Some(text) = leaf.value.as_str() else { return !keys };
            let text = folded(text);
            example
                .data
                .iter()
                .any(|data| if keys { &data.keys } else { &data.cells }.contains_key(&text))
        };
        !texts.is_empty() && values.iter().all(held)
    };
    let mostly = |is: &dyn Fn(&str) -> bool| {
        texts.iter().filter(|text| is(text)).count() * 2 >= texts.len() && !texts.is_empty()
    };
    if texts.is_empty() {
        Class::Number
    } else if texts.iter().any(|text| is_moment(text)) {
        Class::Moment(
            texts
                .iter()
                .filter(|text| !is_moment(text))
                .map(|text| named(text))
                .collect(),
        )
    } else if in_data(true) {
        Class::Key
    } else if in_data(false) {
        Class::Cell
    } else if mostly(&is_expression) {
        let pairs = values
            .iter()
            .filter_map(|(example, leaf)| Some((example.tokens.as_slice(), leaf.value.as_str()?)));
        Class::Expression(Operators::learn(pairs))
    } else if texts.iter().any(|text| is_code(text)) {
        Class::Code
    } else {
        let shown = texts.iter().map(|text| folded(text)).filter(|text| !text.is_empty());
        Class::Words(shown.collect())
    }
}

fn named(text: &str) -> Named {
    (folded(text), text.to_owned())
}

fn parts(leaf: &Leaf, schema: &Value) -> Vec<Leaf> {
    let values = leaf.value.as_array().into_iter().flatten();
    let part = |value: &Value| Leaf {
        pointer: String::new(),
        parameter: leaf.parameter.clone(),
        value: value.clone(),
        schema: present(schema).clone(),
    };
    values.map(part).collect()
}

/// Makes the pattern of one example.
struct Learner<'a> {
    example: &'a Example,
    input: Value,
    slots: Vec<Slot>,
    /// For each token of the question, what it became.
    taken: Vec<Taken>,
}

/// What a token of an example's question became.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Taken {
    /// A word of the pattern.
    No,
    /// The beginning of a slot.
    Slot(usize),
    /// A part of a slot or of a text that is passed along.
    Gone,
}

impl<'a> Learner<'a> {
    fn new(example: &'a Example) -> Self {
        Self {
            example,
            input: example.input.clone(),
            slots: Vec::new(),
            taken: vec![Taken::No; example.tokens.len()],
        }
    }

    fn learn(mut self, classes: &Classes) -> Pattern {
        let example = self.example;
        let around = example.surroundings();
        for leaf in &example.leaves {
            match classes.get(&leaf.parameter) {
                Some(class @ Class::Data(_)) => self.pass_along(leaf, class),
                Some(class) if self.find(leaf, class, &around) => {}
                _ => self.find_parts(leaf, &around),
            }
        }
        let items = example
            .tokens
            .iter()
            .zip(&self.taken)
            .filter_map(|(token, taken)| match taken {
                Taken::Slot(slot) => Some(Item::Slot(*slot)),
                Taken::No if token.kind != Kind::Mark => Some(Item::Word(token.stem.clone())),
                Taken::No | Taken::Gone => None,
            });
        Pattern {
            ask: example.ask.clone(),
            items: items.collect(),
            slots: self.slots,
            input: self.input,
        }
    }

    /// A whole text: it has no place among the words.
    fn pass_along(&mut self, leaf: &Leaf, class: &Class) {
        let is_it = |token: &Token| token.is_data() && leaf.value.as_str() == Some(&token.text);
        let place = self.example.tokens.iter().position(is_it);
        if let Some(taken) = place.and_then(|place| self.taken.get_mut(place)) {
            *taken = Taken::Gone;
        }
        let slot = self.slot(leaf, class.clone(), false);
        if let (Some(place), Some(slot)) = (place, self.slots.get_mut(slot)) {
            slot.asked = place;
        }
        self.put(&leaf.pointer, Value::from(marker(slot)));
    }

    /// Makes a slot of the value where it stands in the question.
    fn find(&mut self, leaf: &Leaf, class: &Class, around: &Surroundings<'_>) -> bool {
        let says_it = |filler: &Filler| says_the_same(&filler.value, &leaf.value);
        let Some((at, length, earlier)) = self.place(class, around, says_it) else {
            return false;
        };
        let slot = earlier.unwrap_or_else(|| self.slot(leaf, class.clone(), false));
        self.take(at, length, slot);
        self.put(&leaf.pointer, Value::from(marker(slot)));
        true
    }

    /// Where something of `class` stands that is `wanted`: where, how long, and the slot that has taken it already.
    fn place(
        &self,
        class: &Class,
        around: &Surroundings<'_>,
        wanted: impl Fn(&Filler) -> bool,
    ) -> Option<(usize, usize, Option<usize>)> {
        let found = (0..self.taken.len()).filter_map(|at| {
            let rest = self.example.tokens.get(at..)?;
            let filler = class.fillers(rest, around).into_iter().find(&wanted)?;
            Some((at, filler.length))
        });
        let found: Vec<(usize, usize)> = found.collect();
        let is_free = |(at, length): &&(usize, usize)| {
            self.taken
                .get(*at..at + length)
                .is_some_and(|taken| taken.iter().all(|taken| *taken == Taken::No))
        };
        let free = found.iter().find(is_free).map(|(at, length)| (*at, *length, None));
        let shared = || {
            found.iter().find_map(|(at, length)| match self.taken.get(*at)? {
                Taken::Slot(slot) => Some((*at, *length, Some(*slot))),
                Taken::No | Taken::Gone => None,
            })
        };
        free.or_else(shared)
    }

    /// Makes slots of the numbers in a text, and of what the data names, that stand in the question.
    fn find_parts(&mut self, leaf: &Leaf, around: &Surroundings<'_>) {
        let Some(text) = leaf.value.as_str() else { return };
        let mut template = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let length = piece(rest, next);
            let (piece, after) = rest.split_at(length);
            rest = after;
            match self.part(leaf, piece, around) {
                Some(slot) => template.push_str(&marker(slot)),
                None => template.push_str(piece),
            }
        }
        if template != text {
            self.put(&leaf.pointer, Value::from(template));
        }
    }

    /// The slot for a piece of a text.
    fn part(&mut self, leaf: &Leaf, piece: &str, around: &Surroundings<'_>) -> Option<usize> {
        let numbers: Option<Vec<f64>> = piece.split(',').map(|part| as_number(part.trim())).collect();
        let class = match numbers.as_deref() {
            Some([_]) => vec![Class::Number],
            Some(_) => vec![Class::List(Box::new(Class::Number))],
            None if piece.starts_with(|c: char| c.is_alphabetic() || c == '_') => vec![Class::Key, Class::Cell],
            None => Vec::new(),
        };
        let says_it = |filler: &Filler| match (&filler.value, numbers.as_deref()) {
            (Value::Number(value), Some([number])) => value.as_f64() == Some(*number),
            (Value::Array(values), Some(numbers)) => {
                values.iter().map(Value::as_f64).eq(numbers.iter().copied().map(Some))
            }
            (Value::String(value), None) => value == piece,
            _ => false,
        };
        class.iter().find_map(|class| {
            let (at, length, earlier) = self.place(class, around, says_it)?;
            let slot = earlier.unwrap_or_else(|| self.slot(leaf, class.clone(), true));
            self.take(at, length, slot);
            Some(slot)
        })
    }

    fn slot(&mut self, leaf: &Leaf, class: Class, is_part: bool) -> usize {
        self.slots.push(Slot {
            class,
            place: leaf.pointer.clone(),
            is_part,
            asked: usize::MAX,
        });
        self.slots.len() - 1
    }

    fn take(&mut self, at: usize, length: usize, slot: usize) {
        for (n, taken) in self.taken.iter_mut().skip(at).take(length).enumerate() {
            *taken = if n == 0 { Taken::Slot(slot) } else { Taken::Gone };
        }
    }

    fn put(&mut self, pointer: &str, value: Value) {
        if let Some(place) = self.input.pointer_mut(pointer) {
            *place = value;
        }
    }
}

/// Bytes of the numbers with commas between them, the name or the character that `text` begins with.
fn piece(text: &str, first: char) -> usize {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ');
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let run = |is: &dyn Fn(char) -> bool| {
        text.find(|c| !is(c))
            .map_or(text, |end| text.get(..end).unwrap_or_default())
    };
    if first.is_ascii_digit() {
        let numbers = run(&is_number).trim_end_matches([' ', ',', '.']);
        let is_list = numbers.split(',').all(|part| as_number(part.trim()).is_some());
        return if is_list {
            numbers.len()
        } else {
            run(&|c| c.is_ascii_digit()).len()
        };
    }
    if is_name(first) {
        run(&is_name).len()
    } else {
        first.len_utf8()
    }
}

/// Whether what stands in a question is the value of an example: numbers compare as numbers, texts by their words.
fn says_the_same(filler: &Value, value: &Value) -> bool {
    match (filler, value) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::String(a), Value::String(b)) => {
            a == b || folded(a) == folded(b) || without_blanks(a) == without_blanks(b)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| says_the_same(a, b)),
        _ => false,
    }
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
