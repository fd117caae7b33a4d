//! Writes a planning reply: one step for each part of the query that a tool fits.

mod lack;

use std::cell::OnceCell;

use art_core::provider::ModelRequest;
use serde_json::{Value, json};

use super::attachment::{self, Attachment};
use super::follow::{self, Earlier};
use super::prompt::{self, Sections};
use super::reading::{Reading, Shape};
use super::route::{Match, Router};
use super::schema::Tool;
use super::split::{self, Part};
use super::typo::Spelling;
use super::words;

/// Opens a sentence of the plan that says what cannot be done; the synthesis repeats such sentences.
pub(super) const CANNOT: &str = "No tool fits";

/// The reply to a planning prompt.
pub(super) fn reply(request: &ModelRequest) -> String {
    let sections = Sections::of_user(request);
    let query = prompt::query(&sections, request);
    let tools = sections.tools("available tools", request);
    let attachments = sections.attachments();
    let mut plan = Plan::after(&sections.json("current plan"));
    let earlier = Earlier::of(request, &plan.items);
    plan.add_query(&query, &tools, &attachments, &earlier);
    let output = json!({
        "title": title(&query),
        "intent": first_line(&query, 200),
        "plan": plan.sentences.join("\n"),
        "todoList": plan.items,
    });
    format!("---JSON_OUTPUT_START---\n{output}\n---JSON_OUTPUT_END---")
}

/// At most ten words (C56).
fn title(query: &str) -> String {
    let words: Vec<&str> = first_line(query, 80).split_whitespace().take(10).collect();
    words.join(" ").trim_end_matches(['?', '.', '!', ',']).to_owned()
}

fn first_line(text: &str, limit: usize) -> &str {
    art_core::text::prefix(text.lines().next().unwrap_or_default().trim(), limit)
}

#[derive(Debug, Default)]
struct Plan {
    sentences: Vec<String>,
    items: Vec<Value>,
    /// Steps of this query.
    steps: usize,
    next_id: usize,
    /// The step that a reference points at.
    last: Option<String>,
}

impl Plan {
    /// Goes on from the plan of an earlier query: completed items stay and their numbers are not used again.
    fn after(current: &Value) -> Self {
        let items: Vec<Value> = current
            .get("todoList")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let completed = |item: &Value| {
            item.get("status")
                .and_then(Value::as_str)
                .is_some_and(|status| status.eq_ignore_ascii_case("completed"))
        };
        let number = |item: &Value| item.get("id")?.as_str()?.rsplit('_').next()?.parse::<usize>().ok();
        let next_id = items.iter().filter_map(number).max().unwrap_or(0).min(1_000_000) + 1;
        let kept: Vec<Value> = items.into_iter().filter(completed).collect();
        let last = kept
            .last()
            .and_then(|item| item.get("id"))
            .and_then(Value::as_str)
            .map(ToOwned::to_owned);
        Self {
            items: kept,
            next_id,
            last,
            ..Self::default()
        }
    }

    fn add_query(&mut self, query: &str, tools: &[Tool], attachments: &[Attachment], earlier: &Earlier) {
        let query = unquoted(query);
        let router = Router::new(tools);
        let planner = Planner {
            tools,
            router: &router,
            spelling: OnceCell::new(),
            attachments,
            earlier,
            whole: Reading::new(query),
        };
        for (part, found) in planner.parts(&without_table(query), self.last.is_some()) {
            match found {
                Some(found) => self.add_step(&part.text, tools, &found),
                None => self.sentences.push(planner.cannot(&part)),
            }
        }
    }

    fn add_step(&mut self, text: &str, tools: &[Tool], found: &Match) {
        let Some(tool) = tools.get(found.tool) else { return };
        let id = format!("step_{}", self.next_id);
        let dependencies: Vec<&String> = self.last.iter().filter(|_| found.filled.refers).collect();
        self.items.push(json!({
            "id": id,
            "description": text,
            "stepType": "tool",
            "requiredTools": [tool.name],
            "dependencies": dependencies,
            "expectedOutcome": format!("the output of `{}`", tool.name),
        }));
        self.sentences.push(format!("Call `{}` for \"{text}\".", tool.name));
        self.next_id += 1;
        self.steps += 1;
        self.last = Some(id);
    }
}

/// Two parts as sentences of one.
fn joined(first: &str, second: &str) -> String {
    format!("{}. {second}", first.trim_end_matches(['.', ',', '?', '!']))
}

/// A query that stands in quotes as a whole is meant without them.
fn unquoted(query: &str) -> &str {
    let inner = query.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.filter(|inner| !inner.contains('"')).unwrap_or(query)
}

/// A table in the query is data, not words.
fn without_table(query: &str) -> String {
    attachment::inline_table(query).map_or_else(|| query.to_owned(), |table| query.replace(&table, " "))
}

struct Planner<'a> {
    tools: &'a [Tool],
    router: &'a Router<'a>,
    /// Made when a part fits no tool as it is written.
    spelling: OnceCell<Spelling>,
    attachments: &'a [Attachment],
    earlier: &'a Earlier,
    whole: Reading,
}

impl Planner<'_> {
    /// The parts of `query` that stand alone, each with the tool that fits it.
    fn parts(&self, query: &str, earlier: bool) -> Vec<(Part, Option<Match>)> {
        let mut done: Vec<(Part, Option<Match>)> = Vec::new();
        let mut context = String::new();
        for mut part in split::parts(query) {
            if !context.is_empty() {
                part.text = joined(&std::mem::take(&mut context), &part.text);
            }
            let can_refer = earlier || done.iter().any(|(_, found)| found.is_some());
            let found = self
                .find(&part.text, can_refer)
                .or_else(|| self.go_on(&mut part, &done, can_refer))
                .or_else(|| self.put_right(&mut part, can_refer));
            if found.is_none() && !part.request {
                context = part.text;
            } else if !self.merge(&mut done, &part, found.as_ref(), can_refer) {
                done.push((part, found));
            }
        }
        self.add_context(&mut done, context, earlier);
        self.or_whole(query, done, earlier)
    }

    fn find(&self, text: &str, can_refer: bool) -> Option<Match> {
        let mut part = Reading::new(text);
        if split::is_small_talk(&part) {
            return None;
        }
        if !can_refer {
            part.forget_references();
        }
        self.router
            .rank(&part, &self.whole, self.attachments)
            .into_iter()
            .next()
            .filter(|best| best.features.fits())
    }

    /// What `part` asks for as words that go on from what was asked or answered before it; it then says so in full.
    fn go_on(&self, part: &mut Part, done: &[(Part, Option<Match>)], can_refer: bool) -> Option<Match> {
        let asked = done
            .last()
            .map(|(before, _)| &before.text)
            .or(self.earlier.asked.as_ref());
        let again = asked.and_then(|asked| follow::again(asked, &part.text));
        let text = again.or_else(|| self.earlier.with_answer(&part.text).filter(|_| !can_refer))?;
        let found = self.find(&text, can_refer)?;
        (part.text, part.request) = (text, true);
        Some(found)
    }

    /// The tool for `part` with its typos put right, when a word that was put right is one that the tool goes by or no
    /// word of content.
    fn put_right(&self, part: &mut Part, can_refer: bool) -> Option<Match> {
        let spelling = self.spelling.get_or_init(|| Spelling::new(self.tools));
        let corrected = spelling.corrected(&Reading::new(&part.text))?;
        let found = self.find(&corrected.text, can_refer)?;
        if !corrected
            .stems
            .iter()
            .any(|stem| words::is_empty(stem) || self.router.goes_by(found.tool, stem))
        {
            return None;
        }
        part.text = corrected.text;
        Some(found)
    }

    /// Statements around the requests belong to the one before them.
    fn add_context(&self, done: &mut Vec<(Part, Option<Match>)>, context: String, earlier: bool) {
        if context.is_empty() {
            return;
        }
        match done.last_mut() {
            Some((before, found)) => {
                let text = joined(&before.text, &context);
                if let Some(better) = self.find(&text, earlier) {
                    (before.text, *found) = (text, Some(better));
                }
            }
            None => {
                let found = self.find(&context, earlier);
                done.push((
                    Part {
                        text: context,
                        request: false,
                        question: false,
                    },
                    found,
                ));
            }
        }
    }

    /// Adds `part` to the one before it when it says more of the same; whether it did.
    fn merge(&self, done: &mut [(Part, Option<Match>)], part: &Part, found: Option<&Match>, can_refer: bool) -> bool {
        let Some((before, Some(earlier))) = done.last_mut() else {
            return false;
        };
        let Some(found) = found else {
            let belongs = !part.question && split::points_back(&Reading::new(&part.text));
            if belongs {
                before.text = joined(&before.text, &part.text);
            }
            return belongs;
        };
        // The same call again, with arguments of the part before or asked for by no request of its own, adds nothing.
        let repeats = !part.request || found.filled.borrows;
        if found.tool == earlier.tool && repeats && found.filled.arguments == earlier.filled.arguments {
            return true;
        }
        let says_more = !part.request || self.adds_nothing(earlier, found);
        if found.tool != earlier.tool || found.filled.refers || !says_more {
            return false;
        }
        let text = joined(&before.text, &part.text);
        match self.find(&text, can_refer).filter(|both| both.tool == found.tool) {
            Some(both) => {
                (before.text, *earlier) = (text, both);
                true
            }
            None => false,
        }
    }

    /// Whether the second call of a tool has the required arguments of the first.
    fn adds_nothing(&self, first: &Match, second: &Match) -> bool {
        let same = |name: &str| first.filled.arguments.get(name) == second.filled.arguments.get(name);
        self.tools
            .get(first.tool)
            .is_some_and(|tool| tool.required().all(|param| same(&param.name)))
    }

    /// When no part alone has a tool, the query as a whole may.
    fn or_whole(&self, query: &str, done: Vec<(Part, Option<Match>)>, earlier: bool) -> Vec<(Part, Option<Match>)> {
        if done.len() < 2 || done.iter().any(|(_, found)| found.is_some()) {
            return done;
        }
        match self.find(query, earlier) {
            Some(found) => {
                let part = Part {
                    text: query.trim().to_owned(),
                    request: true,
                    question: false,
                };
                vec![(part, Some(found))]
            }
            None => done,
        }
    }
}

impl Reading {
    /// Drops what points at an earlier result, for a part that has none before it.
    pub(super) fn forget_references(&mut self) {
        self.candidates.retain(|candidate| {
            candidate.shape != Shape::Reference
                && !(candidate.shape == Shape::Expression && super::fill::refers(&candidate.value))
        });
    }
}
