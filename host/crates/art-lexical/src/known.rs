//! All patterns of a set of tools, and what can be said of their words by comparing them.

use std::collections::{BTreeMap, BTreeSet};

use art_core::rank::Ranker;
use art_core::tool::ToolSchema;
use jsonschema::Validator;
use serde_json::Value;

use crate::pattern::{Item, Pattern, patterns};
use crate::token::{Kind, tokens};
use crate::words::is_functional;

/// Patterns that are aligned with one part of a question; of more, those whose words are nearest.
const MAX_ALIGNED: usize = 1_024;

/// What the examples of a set of tools teach.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) tools: Vec<KnownTool>,
    pub(crate) patterns: Vec<Learnt>,
    pub(crate) groups: Vec<Group>,
    /// For each word, how many patterns have it.
    counts: BTreeMap<String, usize>,
    ranker: Ranker,
}

/// A tool.
#[derive(Debug)]
pub(crate) struct KnownTool {
    pub(crate) name: String,
    validator: Option<Validator>,
}

impl KnownTool {
    fn new(tool: &ToolSchema) -> Self {
        let validator = jsonschema::draft202012::options().build(&tool.input_schema).ok();
        Self {
            name: tool.name.clone(),
            validator,
        }
    }

    /// Whether the tool takes `arguments`.
    pub(crate) fn takes(&self, arguments: &Value) -> bool {
        self.validator
            .as_ref()
            .is_some_and(|validator| validator.is_valid(arguments))
    }
}

/// A pattern among others.
#[derive(Debug)]
pub(crate) struct Learnt {
    pub(crate) pattern: Pattern,
    pub(crate) tool: usize,
    pub(crate) group: usize,
}

/// The patterns of a tool that mean the same: they differ in their words alone, so each knows the words of the others.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The words of all.
    pub(crate) vocabulary: BTreeSet<String>,
    /// Words that not all of them have.
    pub(crate) optional: BTreeSet<String>,
    /// Words that no other meaning of the tool has.
    pub(crate) own: BTreeSet<String>,
    /// Each of the patterns has a word of its meaning's own, so a question has to have one as well.
    pub(crate) needs_own: bool,
    /// By places of the input, the words that stand before their slots.
    before: BTreeMap<String, BTreeSet<String>>,
}

impl Group {
    /// What the patterns `members` share; `others` are the words of the tool's other meanings.
    fn new(members: &[&Learnt], others: &[&BTreeSet<String>]) -> Self {
        let vocabulary = vocabulary(members);
        let is_own = |word: &&String| !is_functional(word) && !others.iter().any(|other| other.contains(*word));
        let own: BTreeSet<String> = vocabulary.iter().filter(is_own).cloned().collect();
        let lacks = |word: &&String| members.iter().any(|learnt| words(learnt).all(|other| other != *word));
        Self {
            optional: vocabulary.iter().filter(lacks).cloned().collect(),
            needs_own: members
                .iter()
                .all(|learnt| words(learnt).any(|word| own.contains(word))),
            before: before(members.iter().copied()),
            vocabulary,
            own,
        }
    }

    /// Whether the patterns have `word` before the slots of other places and not before that of `place`.
    pub(crate) fn leads_elsewhere(&self, word: &str, place: &str) -> bool {
        let leads = |other: &BTreeSet<String>| other.contains(word);
        let here = self.before.get(place).is_some_and(leads);
        !here && self.before.values().any(leads)
    }
}

impl Known {
    /// Learns from the examples of `tools`.
    pub(crate) fn learn(tools: &[ToolSchema]) -> Self {
        let mut names: BTreeMap<(usize, String), usize> = BTreeMap::new();
        let mut learnt = Vec::new();
        for (tool, schema) in tools.iter().enumerate() {
            for pattern in patterns(schema) {
                let next = names.len();
                let group = *names.entry((tool, pattern.meaning())).or_insert(next);
                learnt.push(Learnt { pattern, tool, group });
            }
        }
        let asks = learnt.iter().map(|learnt| stems(&learnt.pattern.ask));
        let ranker = Ranker::new(asks);
        let tools = tools.iter().map(KnownTool::new).collect();
        Self {
            tools,
            groups: groups(&learnt, names.len()),
            ranker,
            counts: counts(&learnt),
            patterns: learnt,
        }
    }

    /// Whether `said` tells the tool: no pattern of another one has all of its words that carry something.
    pub(crate) fn tells(&self, said: &[String], tool: usize) -> bool {
        let said: Vec<&String> = said.iter().filter(|word| !is_functional(word)).collect();
        let has_all = |learnt: &Learnt| said.iter().all(|word| words(learnt).any(|other| other == *word));
        let mut others = self.patterns.iter().filter(|learnt| learnt.tool != tool);
        !said.is_empty() && !others.any(has_all)
    }

    /// How rare a word is over all patterns, from 0 to 1.
    pub(crate) fn rarity(&self, word: &str) -> f64 {
        let all = as_f64(self.patterns.len().max(1));
        let with = as_f64(self.counts.get(word).copied().unwrap_or(1));
        (1.0 + all / with).ln() / (1.0 + all).ln()
    }

    /// The patterns that are worth aligning with `text`, by their numbers.
    pub(crate) fn candidates(&self, text: &str) -> Vec<usize> {
        if self.patterns.len() <= MAX_ALIGNED {
            return (0..self.patterns.len()).collect();
        }
        self.ranked(text)
    }

    fn ranked(&self, text: &str) -> Vec<usize> {
        let ranked = self.ranker.rank(&stems(text), MAX_ALIGNED);
        ranked.into_iter().map(|(place, _)| place).collect()
    }

    /// Questions of the examples that are nearest to `text`, of different tools where there are such.
    pub(crate) fn nearest(&self, text: &str, limit: usize) -> Vec<&str> {
        let ranked = self.ranked(text);
        let all = 0..self.patterns.len();
        let order = ranked
            .into_iter()
            .chain(all)
            .filter_map(|place| self.patterns.get(place));
        let mut seen = BTreeSet::new();
        let first_of_tool = order.filter(|learnt| seen.insert(learnt.tool));
        first_of_tool
            .take(limit)
            .map(|learnt| learnt.pattern.ask.as_str())
            .collect()
    }
}

const fn as_f64(count: usize) -> f64 {
    count as f64
}

fn words(learnt: &Learnt) -> impl Iterator<Item = &String> {
    learnt.pattern.items.iter().filter_map(|item| match item {
        Item::Word(word) => Some(word),
        Item::Slot(_) => None,
    })
}

fn counts(all: &[Learnt]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for word in all.iter().flat_map(|learnt| words(learnt).collect::<BTreeSet<_>>()) {
        *counts.entry(word.clone()).or_default() += 1;
    }
    counts
}

fn groups(all: &[Learnt], count: usize) -> Vec<Group> {
    let mut members: Vec<Vec<&Learnt>> = vec![Vec::new(); count];
    let mut of_tool: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for learnt in all {
        of_tool.entry(learnt.tool).or_default().insert(learnt.group);
        if let Some(members) = members.get_mut(learnt.group) {
            members.push(learnt);
        }
    }
    let vocabularies: Vec<BTreeSet<String>> = members.iter().map(|members| vocabulary(members)).collect();
    let make = |(group, members): (usize, &Vec<&Learnt>)| {
        let siblings = members
            .first()
            .and_then(|learnt| of_tool.get(&learnt.tool))
            .into_iter()
            .flatten();
        let others: Vec<&BTreeSet<String>> = siblings
            .filter(|other| **other != group)
            .filter_map(|other| vocabularies.get(*other))
            .collect();
        Group::new(members, &others)
    };
    members.iter().enumerate().map(make).collect()
}

fn vocabulary(members: &[&Learnt]) -> BTreeSet<String> {
    members.iter().flat_map(|learnt| words(learnt)).cloned().collect()
}

fn before<'a>(members: impl Iterator<Item = &'a Learnt>) -> BTreeMap<String, BTreeSet<String>> {
    let mut before: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for learnt in members {
        for pair in learnt.pattern.items.windows(2) {
            if let [Item::Word(word), Item::Slot(slot)] = pair {
                before
                    .entry(learnt.pattern.place(*slot).to_owned())
                    .or_default()
                    .insert(word.clone());
            }
        }
    }
    before
}

/// The words of a text that carry something, as this model compares them.
fn stems(text: &str) -> String {
    let words = tokens(text, &[])
        .into_iter()
        .filter(|token| token.kind == Kind::Word && !is_functional(&token.stem));
    words.map(|token| token.stem).collect::<Vec<_>>().join(" ")
}
