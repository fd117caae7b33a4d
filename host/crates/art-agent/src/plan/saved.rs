//! Saved plans: plans that a person saves to show, check and run them again, without a planner. A saved plan has the steps that
//! the planner wrote, but no results. Parameters may stand in place of constants; their values are given for each run.

use std::collections::{BTreeMap, BTreeSet};

use art_core::JsonObject;
use art_core::limits::Limits;
use art_core::pes::{EarlierQuestion, PlannedCall, StepType, TodoItem, ToolValidationMode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::earlier::find_earlier_step;
use super::merge::items_for_question;
use super::reference::{PlannedValue, rewrite, visit_output_references, visit_references};
use crate::attachment::ATTACHMENT_PREFIX;
use crate::parse::{self, DraftItem};
use crate::prompt::{UnsetVariables, render, variable_names};

/// A plan that can be shown, checked, kept in a file, and carried out without a planner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedPlan {
    /// Version of the format; see [`SavedPlan::VERSION`].
    pub version: u64,
    /// The question that the plan answers. In the question and the other texts of the plan, `{{name}}` stands for the value of
    /// the parameter `name`.
    pub question: String,
    /// Title of at most ten words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Intent of the person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub intent: String,
    /// The plan in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan: String,
    /// The steps. Each step comes after the steps that it depends on.
    pub steps: Vec<PlannedStep>,
    /// The JSON Schema of each parameter, by its name. The `default` of a schema is the value if none is given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// Names of the files with which the plan was made. They have to be attached to the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The conversation whose earlier results the plan takes; absent if it takes none. In another conversation, a name such
    /// as `q1.step_1` refers to a different result, or to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The tools of the steps as they were when the plan was made, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolStamp>,
}

/// A step of a saved plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStep {
    /// Identifier, unique in the plan.
    pub id: String,
    /// Description of the task.
    pub description: String,
    /// Identifiers of the steps that must be completed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// Type of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_type: Option<StepType>,
    /// Names of the tools that the step must call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_tools: Vec<String>,
    /// Expected result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// How strictly the required tools are demanded; absent means strict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_validation_mode: Option<ToolValidationMode>,
    /// The calls that carry out the step. Without any, a model chooses the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<PlannedCall>,
}

/// The version of a tool, as digests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolStamp {
    /// Digest of the component; absent for a tool that is no component but a function of the program itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// Digest of the input schema.
    pub input: String,
    /// Digest of the output schema, if the tool has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl SavedPlan {
    /// Version of the format that this host writes, and the only one that it reads.
    pub const VERSION: u64 = 1;

    /// Reads a plan from the text of a file.
    ///
    /// # Errors
    /// Fails with everything that is wrong with the form of the plan. [`SavedPlan::check`] finds out whether it can be
    /// carried out.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        parse::parse_saved_plan(text)
    }

    /// Returns the names of the tools that the steps of the plan name.
    #[must_use]
    pub fn tool_names(&self) -> BTreeSet<&str> {
        let called = self.steps.iter().flat_map(|step| &step.tool_calls);
        let called = called.map(|call| &call.tool_name);
        let required = self.steps.iter().flat_map(|step| &step.required_tools);
        called.chain(required).map(String::as_str).collect()
    }

    /// Returns an error message if the plan would become too large with these values in place of its parameters: if the values,
    /// each counted as often as the plan uses its parameter, have more bytes than the input of any tool may have.
    #[must_use]
    pub fn size_error(&self, values: &JsonObject) -> Option<String> {
        let max = Limits::MAX.input_bytes;
        let sizes: BTreeMap<&str, u64> = values
            .iter()
            .filter(|(name, _)| self.params.contains_key(*name))
            .map(|(name, value)| (name.as_str(), value.to_string().len() as u64))
            .collect();
        let mut bytes = 0_u64;
        let mut add_size_of = |name: &str| bytes = bytes.saturating_add(sizes.get(name).copied().unwrap_or_default());
        for text in self.texts() {
            variable_names(text).for_each(&mut add_size_of);
        }
        for call in self.steps.iter().flat_map(|step| &step.tool_calls) {
            visit_references(&call.arguments, &mut |reference| {
                if let Ok(PlannedValue::Param(name)) = PlannedValue::read(reference) {
                    add_size_of(name);
                }
            });
        }
        (bytes > max).then(|| {
            format!("with the values of its parameters the plan has over {max} bytes; use the parameters less often")
        })
    }

    /// Returns the plan with these values in place of its parameters: of `$param` in arguments, and of `{{name}}` in texts.
    /// Parameters without a value stay. If the plan would become too large ([`Self::size_error`]), all parameters stay.
    #[must_use]
    pub fn with_values(&self, values: &JsonObject) -> Self {
        let mut plan = self.clone();
        if self.size_error(values).is_some() {
            return plan;
        }
        let is_declared = |name: &&String| self.params.contains_key(*name);
        let values = values.iter().filter(|(name, _)| is_declared(name));
        let values: JsonObject = values.map(|(name, value)| (name.clone(), value.clone())).collect();
        plan.params.retain(|name, _| !values.contains_key(name));
        for text in plan.texts_mut() {
            *text = render(text, &values, UnsetVariables::Keep);
        }
        plan.rewrite_arguments(&|value| match value {
            PlannedValue::Param(name) => values.get(*name).map(literal_argument),
            _ => None,
        });
        plan
    }

    /// Returns the steps as items of a plan that has not started, for a conversation without a previous plan and without earlier
    /// questions. The creation time of the items is 0.
    pub(super) fn items(&self) -> Vec<TodoItem> {
        items_for_question(&[], self.draft_items(), &[], 0)
    }

    /// Returns the steps as a planner would propose them.
    pub(crate) fn draft_items(&self) -> Vec<DraftItem> {
        self.steps.iter().cloned().map(DraftItem::from).collect()
    }

    /// Records the names of the files that are attached to the question, and writes every reference to a file as an object with
    /// the key `$attachment`, even if it was a text such as `attachment:sales.csv`.
    pub(crate) fn record_files(&mut self, attached: Vec<String>) {
        self.rewrite_arguments(&|value| match value {
            PlannedValue::Attachment(name) => Some(json!({"$attachment": name})),
            _ => None,
        });
        self.files = attached;
    }

    /// Returns whether a call takes a result of one of these earlier questions.
    pub(crate) fn takes_results_of(&self, earlier: &[EarlierQuestion]) -> bool {
        let mut takes = false;
        for call in self.steps.iter().flat_map(|step| &step.tool_calls) {
            visit_output_references(&call.arguments, &mut |reference| {
                takes |= find_earlier_step(earlier, reference.step).is_some()
            });
        }
        takes
    }

    /// Replaces each part of an argument for which `replace` returns another value.
    pub(super) fn rewrite_arguments(&mut self, replace: &impl Fn(&PlannedValue<'_>) -> Option<Value>) {
        for call in self.steps.iter_mut().flat_map(|step| &mut step.tool_calls) {
            call.arguments = rewrite(&call.arguments, replace);
        }
    }

    /// Returns the texts of the plan, in which parameters are written as `{{name}}`.
    fn texts(&self) -> impl Iterator<Item = &String> {
        let step_texts = self
            .steps
            .iter()
            .flat_map(|step| std::iter::once(&step.description).chain(&step.expected_outcome));
        [&self.question, &self.title, &self.intent, &self.plan]
            .into_iter()
            .chain(step_texts)
    }

    /// Returns the texts of the plan, in which parameters are written as `{{name}}`.
    pub(super) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let step_texts = self.steps.iter_mut().flat_map(|step| {
            let outcome = step.expected_outcome.as_mut();
            std::iter::once(&mut step.description).chain(outcome)
        });
        let plan_texts = [&mut self.question, &mut self.title, &mut self.intent, &mut self.plan];
        plan_texts.into_iter().chain(step_texts)
    }
}

/// Returns an argument that becomes exactly `value`, even if this looks like a reference.
fn literal_argument(value: &Value) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => json!({"$literal": value}),
        Value::String(text) if text.starts_with(ATTACHMENT_PREFIX) => json!({"$literal": value}),
        scalar => scalar.clone(),
    }
}

impl PlannedStep {
    /// Returns the place of the arguments of a call, such as `step_1.arguments`, as the messages of [`SavedPlan::check`] name it.
    /// `number` is the position of the call in the step, from 0.
    #[must_use]
    pub fn arguments_place(&self, number: usize) -> String {
        format!("{}.arguments", call_place(&self.id, self.tool_calls.len(), number))
    }
}

/// Returns how messages name one of the `count` planned calls of a step: by the step, and by the number of the call if there are
/// several.
pub(super) fn call_place(step: &str, count: usize, number: usize) -> String {
    match count {
        1 => step.to_owned(),
        _ => format!("{step}.toolCalls[{number}]"),
    }
}

impl From<&TodoItem> for PlannedStep {
    fn from(item: &TodoItem) -> Self {
        Self {
            id: item.id.clone(),
            description: item.description.clone(),
            dependencies: item.dependencies.clone(),
            step_type: item.step_type,
            required_tools: item.required_tools.clone(),
            expected_outcome: item.expected_outcome.clone(),
            tool_validation_mode: item.tool_validation_mode,
            tool_calls: item.tool_calls.clone(),
        }
    }
}

impl From<PlannedStep> for DraftItem {
    fn from(step: PlannedStep) -> Self {
        Self {
            id: step.id,
            description: step.description,
            status: None,
            dependencies: step.dependencies,
            step_type: step.step_type,
            required_tools: step.required_tools,
            expected_outcome: step.expected_outcome,
            tool_validation_mode: step.tool_validation_mode,
            tool_calls: step.tool_calls,
        }
    }
}

impl From<DraftItem> for PlannedStep {
    fn from(item: DraftItem) -> Self {
        Self {
            id: item.id,
            description: item.description,
            dependencies: item.dependencies,
            step_type: item.step_type,
            required_tools: item.required_tools,
            expected_outcome: item.expected_outcome,
            tool_validation_mode: item.tool_validation_mode,
            tool_calls: item.tool_calls,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a plan with the parameters `rate` and `list`, whose only call has these arguments. In its texts, `sum` looks like
    /// a parameter but is none.
    fn plan_with_arguments(arguments: Value) -> SavedPlan {
        let call = PlannedCall {
            tool_name: "calculator".to_owned(),
            arguments,
        };
        SavedPlan {
            question: "What is {{rate}}% of {{sum}}?".to_owned(),
            steps: vec![PlannedStep {
                id: "a".to_owned(),
                description: "{{rate}}% of {{sum}}".to_owned(),
                tool_calls: vec![call],
                ..PlannedStep::default()
            }],
            params: BTreeMap::from([
                ("rate".to_owned(), json!({"type": "number"})),
                ("list".to_owned(), json!({"type": "array"})),
            ]),
            ..SavedPlan::default()
        }
    }

    fn with_values(plan: &SavedPlan, values: &Value) -> SavedPlan {
        plan.with_values(values.as_object().unwrap())
    }

    /// Returns the arguments of the only call.
    fn arguments(plan: &SavedPlan) -> &Value {
        &plan.steps[0].tool_calls[0].arguments
    }

    #[test]
    fn a_value_takes_the_place_of_its_parameter_in_arguments_and_texts() {
        let plan = plan_with_arguments(
            json!({"x": [{"$concat": [{"$param": "rate"}, "%"]}], "y": {"$literal": {"$param": "rate"}}}),
        );
        let filled = with_values(&plan, &json!({"rate": 17.5}));
        assert_eq!(
            arguments(&filled),
            &json!({"x": [{"$concat": [17.5, "%"]}], "y": {"$literal": {"$param": "rate"}}})
        );
        assert_eq!(filled.question, "What is 17.5% of {{sum}}?");
        assert_eq!(filled.steps[0].description, "17.5% of {{sum}}");
        assert_eq!(filled.params.keys().collect::<Vec<_>>(), ["list"]);
    }

    #[test]
    fn a_value_that_looks_like_a_reference_stays_data() {
        let filled = with_values(
            &plan_with_arguments(json!({"x": {"$param": "list"}})),
            &json!({"list": [{"$from": "a"}]}),
        );
        assert_eq!(arguments(&filled), &json!({"x": {"$literal": [{"$from": "a"}]}}));
    }

    #[test]
    fn a_value_for_a_parameter_that_the_plan_does_not_declare_is_ignored() {
        let with_undeclared = plan_with_arguments(json!({"x": {"$param": "sum"}}));
        assert_eq!(with_values(&with_undeclared, &json!({"sum": 80})), with_undeclared);
    }

    #[test]
    fn a_plan_that_would_become_too_large_keeps_its_parameters() {
        let mut plan = plan_with_arguments(json!({"x": vec![json!({"$param": "rate"}); 100]}));
        // With 100 copies of this value, the plan has more bytes than the input of any tool may have.
        let values = json!({"rate": "x".repeat(60_000)});
        assert_eq!(with_values(&plan, &values), plan);
        let error = plan.size_error(values.as_object().unwrap()).unwrap();
        assert!(error.contains("over 4194304 bytes"), "{error}");
        plan.steps.clear();
        plan.plan = "{{rate}}".repeat(100);
        assert_eq!(with_values(&plan, &values), plan);
        assert_eq!(plan.size_error(json!({"rate": 1}).as_object().unwrap()), None);
    }

    #[test]
    fn the_name_of_a_parameter_outside_of_braces_does_not_count_towards_the_size_of_the_plan() {
        let mut plan = plan_with_arguments(json!({}));
        plan.plan = "the rate of {{list}}; ".repeat(100);
        // If this value of `rate` stood in place of each `rate` in the text, the plan would be too large.
        let values = json!({"rate": "x".repeat(60_000), "list": [1]});
        assert_eq!(plan.size_error(values.as_object().unwrap()), None);
        assert!(with_values(&plan, &values).plan.starts_with("the rate of [1]; "));
    }

    #[test]
    fn attached_files_are_recorded_and_references_to_them_become_attachment_objects() {
        let mut plan = plan_with_arguments(json!({
            "a": "attachment:s.csv",
            "b": {"$literal": "attachment:s.csv"},
            "c": {"$attachment": "s.csv"},
        }));
        plan.record_files(vec!["s.csv".to_owned(), "t.csv".to_owned()]);
        assert_eq!(plan.files, ["s.csv", "t.csv"]);
        assert_eq!(
            arguments(&plan),
            &json!({
                "a": {"$attachment": "s.csv"},
                "b": {"$literal": "attachment:s.csv"},
                "c": {"$attachment": "s.csv"},
            })
        );
    }
}
