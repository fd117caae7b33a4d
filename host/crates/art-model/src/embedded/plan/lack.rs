//! Says what no tool can do, and what the closest one would need.

use std::cell::OnceCell;

use super::super::fill::Filled;
use super::super::follow::Earlier;
use super::super::reading::Reading;
use super::super::schema::{Param, Tool, Type};
use super::super::split::Part;
use super::super::words;
use super::{CANNOT, Planner, without_table};

/// Questions of a tool that are tried before none is offered.
const MAX_TRIED: usize = 8;

impl Planner<'_> {
    /// Says that no tool fits, which is closest, and what that would need.
    pub(super) fn cannot(&self, part: &Part) -> String {
        let quoted = art_core::text::truncate(part.text.trim(), 200);
        let ranked = self
            .router
            .rank(&Reading::new(&part.text), &self.whole, self.attachments);
        let closest = ranked.first().filter(|closest| closest.features.evidence() > -0.6);
        let Some((closest, tool)) = closest.and_then(|closest| Some((closest, self.tools.get(closest.tool)?))) else {
            return format!("{CANNOT} \"{quoted}\".");
        };
        let filled = &closest.filled;
        if let Some(left) = filled.left.as_ref().filter(|_| filled.missing.is_empty()) {
            return format!("{CANNOT} \"{quoted}\"; {}.", left.sentence(&tool.name));
        }
        let missing =
            |param: &&Param| filled.missing.is_empty() && param.required || filled.missing.contains(&param.name);
        if let Some(example) = self.example(tool, filled, &part.text) {
            return format!(
                "{CANNOT} \"{quoted}\"; the closest is `{}`, which answers for example \"{example}\".",
                tool.name
            );
        }
        let needs: Vec<String> = tool.params.iter().filter(missing).map(needed).collect();
        if needs.is_empty() {
            return format!("{CANNOT} \"{quoted}\"; the closest is `{}`.", tool.name);
        }
        format!(
            "{CANNOT} \"{quoted}\"; the closest is `{}`, which needs {}.",
            tool.name,
            needs.join(", ")
        )
    }

    /// The tool's own question that is most like the part and would be answered, where naming what is missing would
    /// mislead: nothing is, or only what depends on a choice that may be the wrong one.
    fn example<'t>(&self, tool: &'t Tool, filled: &Filled, text: &str) -> Option<&'t str> {
        if tool.required().any(|param| filled.missing.contains(&param.name)) {
            return None;
        }
        let said = words::stems(text);
        let shared = |question: &&String| words::stems(question).iter().filter(|stem| said.contains(stem)).count();
        let mut questions: Vec<_> = tool.questions.iter().collect();
        questions.sort_by_key(|question| std::cmp::Reverse(shared(question)));
        let mut closest = questions.into_iter().take(MAX_TRIED).map(String::as_str);
        closest.find(|question| self.answers(question))
    }

    /// Whether `question` would be answered if it were asked by itself, with the files that came with this one.
    fn answers(&self, question: &str) -> bool {
        let earlier = Earlier::default();
        let alone = Planner {
            tools: self.tools,
            router: self.router,
            spelling: OnceCell::new(),
            attachments: self.attachments,
            earlier: &earlier,
            whole: Reading::new(question),
        };
        let parts = alone.parts(&without_table(question), false);
        !parts.is_empty() && parts.iter().all(|(_, found)| found.is_some())
    }
}

/// A parameter as a sentence names it; a list of objects with what each has to have.
fn needed(param: &Param) -> String {
    let fields = match &param.kind {
        Type::List(item) => match &item.kind {
            Type::Object(fields) => fields.as_slice(),
            _ => &[],
        },
        _ => &[],
    };
    let names: Vec<String> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| format!("`{}`", field.name))
        .collect();
    if names.is_empty() {
        format!("`{}`", param.name)
    } else {
        format!("`{}` (each with {})", param.name, names.join(" and "))
    }
}
