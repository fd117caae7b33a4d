//! Says what no tool can do, and what the closest one would need.

use super::super::reading::Reading;
use super::super::schema::{Param, Type};
use super::super::split::Part;
use super::{CANNOT, Planner};

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
        let missing = |param: &&Param| {
            closest.filled.missing.is_empty() && param.required || closest.filled.missing.contains(&param.name)
        };
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
