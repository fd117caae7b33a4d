//! Parameters that are there for some values of another one, as their descriptions say: "the end, for `difference`".

use super::super::class::Class;
use super::super::schema::{Param, Type};
use super::Filling;

impl Filling<'_> {
    /// Whether the values chosen so far leave a use for `param`: one that is described as "for `difference`" has none when
    /// the operation is another one, nor has one that is "for every operation except `difference`" when it is that.
    pub(super) fn applies(&self, param: &Param) -> bool {
        self.chosen()
            .all(|(other, value)| !names_any(param, other) || is_for(param, value))
    }

    /// The parameters that a call cannot do without although the schema lets it: those that were refused, and the dates and
    /// numbers that are said to be for a value that was chosen.
    pub(super) fn needed(&self) -> Vec<usize> {
        let for_chosen = |param: &Param| {
            takes_measure(param)
                && !param.has_default
                && !may_be_left_out(param)
                && self
                    .chosen()
                    .any(|(other, value)| names_any(param, other) && is_for(param, value))
        };
        let said = self.params.iter().enumerate().filter(|(_, param)| for_chosen(param));
        said.map(|(index, _)| index)
            .chain(self.refused.iter().copied())
            .collect()
    }

    /// The parameters that have a set of values, with the one chosen.
    fn chosen(&self) -> impl Iterator<Item = (&Param, &str)> {
        self.params.iter().zip(&self.found).filter_map(|(other, found)| {
            let value = found.as_ref()?.value.as_str()?;
            (!other.choices.is_empty()).then_some((other, value))
        })
    }
}

fn names(param: &Param, value: &str) -> bool {
    param.description.contains(&format!("`{value}`"))
}

fn names_any(param: &Param, other: &Param) -> bool {
    let texts = other.choices.iter().filter_map(|choice| choice.value.as_str());
    texts.into_iter().any(|value| names(param, value))
}

fn is_for(param: &Param, value: &str) -> bool {
    names(param, value) != param.description.contains("except")
}

fn takes_measure(param: &Param) -> bool {
    param.class == Class::Date && param.kind == Type::Text || matches!(param.kind, Type::Number | Type::Integer)
}

fn may_be_left_out(param: &Param) -> bool {
    let about = param.description.to_lowercase();
    ["left out", "optional", "omit", "default"]
        .iter()
        .any(|word| about.contains(word))
}
