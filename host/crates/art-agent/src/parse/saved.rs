//! Parses files with saved plans. A saved plan is one that a person saved to run it again. Unlike a reply of a model, such a file
//! must not have unknown keys, since a misspelt key would otherwise be ignored silently.

use std::collections::BTreeMap;

use art_core::JsonObject;
use art_core::json::{MAX_LEVELS, is_deeper};
use serde_json::Value;

use super::MAX_PROBLEMS;
use super::planning::parse_draft_items;
use crate::plan::{PlannedStep, SavedPlan, ToolStamp, similar_name_hint};

/// Maximum number of entries in each of the fields `params`, `files` and `tools` of a plan.
const MAX_ENTRIES: usize = 64;

/// Maximum length of the name of a parameter, in bytes.
const MAX_NAME_BYTES: usize = 64;

const PLAN_KEYS: [&str; 10] = [
    "version", "question", "title", "intent", "plan", "steps", "params", "files", "thread", "tools",
];

const STEP_KEYS: [&str; 8] = [
    "id",
    "description",
    "dependencies",
    "stepType",
    "requiredTools",
    "expectedOutcome",
    "toolValidationMode",
    "toolCalls",
];

const CALL_KEYS: [&str; 2] = ["toolName", "arguments"];

/// Parses a saved plan. Fails with everything that is wrong with it, in at most [`MAX_PROBLEMS`] texts.
pub(crate) fn parse_saved_plan(text: &str) -> Result<SavedPlan, Vec<String>> {
    let as_list = |problem: String| vec![problem];
    let value = art_core::json::parse(text).map_err(|error| as_list(format!("it is not valid JSON: {error}")))?;
    if is_deeper(&value, MAX_LEVELS) {
        return Err(as_list(format!("its values nest deeper than {MAX_LEVELS} levels")));
    }
    let Value::Object(map) = value else {
        return Err(as_list("it has to be a JSON object".to_owned()));
    };
    check_version(&map).map_err(as_list)?;
    let mut reader = PlanReader {
        map: &map,
        problems: Vec::new(),
    };
    let plan = reader.read_plan();
    reader.problems.truncate(MAX_PROBLEMS);
    if reader.problems.is_empty() {
        Ok(plan)
    } else {
        Err(reader.problems)
    }
}

/// Fails if the plan has another version of the format or none. This is checked first, because other problems of such a plan
/// would be misleading.
fn check_version(map: &JsonObject) -> Result<(), String> {
    let version = SavedPlan::VERSION;
    match map.get("version") {
        Some(given) if given.as_u64() == Some(version) => Ok(()),
        Some(given) => Err(format!(
            "`version` is `{given}`, and this host reads plans of version {version}"
        )),
        None => Err(format!("`version` is missing; it has to be {version}")),
    }
}

/// Reader of the fields of a plan. It collects what is wrong with them.
struct PlanReader<'a> {
    /// The plan as JSON.
    map: &'a JsonObject,
    problems: Vec<String>,
}

impl<'a> PlanReader<'a> {
    fn read_plan(&mut self) -> SavedPlan {
        self.check_keys("", self.map, &PLAN_KEYS);
        SavedPlan {
            version: SavedPlan::VERSION,
            question: self.question(),
            title: self.text_field("title"),
            intent: self.text_field("intent"),
            plan: self.text_field("plan"),
            steps: self.steps(),
            params: self.params(),
            files: self.files(),
            thread: Some(self.text_field("thread")).filter(|id| !id.is_empty()),
            tools: self.tools(),
        }
    }

    fn question(&mut self) -> String {
        let question = self.text_field("question");
        // If the field is not a text, this was reported and `question` is empty.
        let is_reported = self.problems.iter().any(|problem| problem.starts_with("`question`"));
        if question.trim().is_empty() && !is_reported {
            self.add_problem("`question` has to be a text that is not empty");
        }
        question
    }

    /// Returns the text under `key`; an empty one if it is absent.
    fn text_field(&mut self, key: &str) -> String {
        match self.map.get(key) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(_) => {
                self.add_problem(&format!("`{key}` has to be a text"));
                String::new()
            }
        }
    }

    fn steps(&mut self) -> Vec<PlannedStep> {
        let Some(list) = self.map.get("steps") else {
            self.add_problem("`steps` is missing; it has to be an array of steps");
            return Vec::new();
        };
        self.check_step_keys(list);
        // A step has the same form as an item of a plan in a reply of the planner.
        match parse_draft_items(list, "steps") {
            Ok(items) => items.into_iter().map(PlannedStep::from).collect(),
            Err(problems) => {
                self.problems.extend(problems);
                Vec::new()
            }
        }
    }

    fn check_step_keys(&mut self, list: &Value) {
        for (n, step) in array_items(list).enumerate() {
            let place = format!("steps[{n}]");
            if let Some(step) = step.as_object() {
                self.check_keys(&place, step, &STEP_KEYS);
                let calls = step.get("toolCalls").into_iter().flat_map(array_items);
                for (n, call) in calls.enumerate() {
                    if let Some(call) = call.as_object() {
                        self.check_keys(&format!("{place}.toolCalls[{n}]"), call, &CALL_KEYS);
                    }
                }
            }
        }
    }

    fn params(&mut self) -> BTreeMap<String, Value> {
        let mut params = BTreeMap::new();
        for (name, schema) in self.object_entries("params") {
            if !is_valid_param_name(name) {
                self.add_problem(&format!(
                    "`params` has a parameter `{name}`; a name has letters, digits, `_` and `-`, and at most {MAX_NAME_BYTES} bytes"
                ));
            } else if !schema.is_object() {
                self.add_problem(&format!(
                    "`params.{name}` has to be a JSON Schema, such as {{\"type\": \"number\"}}"
                ));
            }
            params.insert(name.clone(), schema.clone());
        }
        params
    }

    fn files(&mut self) -> Vec<String> {
        let Some(list) = self.map.get("files") else {
            return Vec::new();
        };
        match serde_json::from_value::<Vec<String>>(list.clone()) {
            Ok(names) if names.len() <= MAX_ENTRIES => names,
            _ => {
                self.add_problem(&format!("`files` has to be an array of at most {MAX_ENTRIES} texts"));
                Vec::new()
            }
        }
    }

    /// Returns the stamp of each tool: the version that the tool had when the plan was made.
    fn tools(&mut self) -> BTreeMap<String, ToolStamp> {
        let mut tools = BTreeMap::new();
        for (name, stamp) in self.object_entries("tools") {
            match serde_json::from_value(stamp.clone()) {
                Ok(stamp) => drop(tools.insert(name.clone(), stamp)),
                Err(error) => self.add_problem(&format!("`tools.{name}` cannot be read: {error}")),
            }
        }
        tools
    }

    /// Returns the entries of the object under `key`; none if it is absent.
    fn object_entries(&mut self, key: &str) -> Vec<(&'a String, &'a Value)> {
        match self.map.get(key) {
            None => Vec::new(),
            Some(Value::Object(map)) if map.len() <= MAX_ENTRIES => map.iter().collect(),
            Some(_) => {
                self.add_problem(&format!(
                    "`{key}` has to be an object with at most {MAX_ENTRIES} entries"
                ));
                Vec::new()
            }
        }
    }

    /// Reports each key of `map` that is not in `known`. `place` is the position of `map` in the file, such as `steps[0]`; empty
    /// for the plan itself.
    fn check_keys(&mut self, place: &str, map: &JsonObject, known: &[&str]) {
        let dot = if place.is_empty() { "" } else { "." };
        for key in map
            .keys()
            .filter(|key| !known.contains(&key.as_str()))
            .take(MAX_PROBLEMS)
        {
            let hint = similar_name_hint(key, known.iter().copied());
            self.add_problem(&format!("`{place}{dot}{key}` is not known{hint}"));
        }
    }

    fn add_problem(&mut self, problem: &str) {
        self.problems.push(problem.to_owned());
    }
}

fn array_items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn is_valid_param_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::MAX_TODO_ITEMS;
    use proptest::prelude::*;
    use serde_json::json;

    fn valid_plan() -> Value {
        json!({
            "version": 1,
            "question": "What is 15% of 80?",
            "steps": [{"id": "a", "description": "15% of 80", "toolCalls": [
                {"toolName": "calculator", "arguments": {"expression": {"$param": "sum"}}},
            ]}],
            "params": {"sum": {"type": "string"}},
            "files": ["a.csv"],
            "tools": {"calculator": {"component": "c", "input": "i"}},
        })
    }

    fn problems(plan: &Value) -> Vec<String> {
        parse_saved_plan(&plan.to_string()).unwrap_err()
    }

    #[test]
    fn a_parsed_plan_survives_writing_and_parsing_again() {
        let parsed = parse_saved_plan(&valid_plan().to_string()).unwrap();
        assert_eq!(parsed.steps[0].required_tools, ["calculator"]);
        let written = serde_json::to_string(&parsed).unwrap();
        assert_eq!(parse_saved_plan(&written).unwrap(), parsed);
    }

    #[test]
    fn every_problem_is_reported_with_its_position_in_the_file() {
        let mut plan = valid_plan();
        plan["question"] = json!(" ");
        plan["title"] = json!(1);
        plan["qestion"] = json!("x");
        plan["steps"][0]["toolCall"] = json!([]);
        plan["steps"][0]["toolCalls"][0]["args"] = json!({});
        plan["steps"][0]["stepType"] = json!("dance");
        plan["params"] = json!({"a b": {}, "c": 1});
        plan["files"] = json!("a.csv");
        plan["tools"] = json!({"calculator": {}});
        insta::assert_snapshot!(problems(&plan).join("\n"), @r#"
        `qestion` is not known; did you mean `question`?
        `question` has to be a text that is not empty
        `title` has to be a text
        `steps[0].toolCall` is not known; did you mean `toolCalls`?
        `steps[0].toolCalls[0].args` is not known
        `steps[0].stepType` has to be `tool` or `reasoning`
        `params` has a parameter `a b`; a name has letters, digits, `_` and `-`, and at most 64 bytes
        `params.c` has to be a JSON Schema, such as {"type": "number"}
        `files` has to be an array of at most 64 texts
        `tools.calculator` cannot be read: missing field `input`
        "#);
    }

    #[test]
    fn a_wrong_or_missing_version_is_the_only_problem_that_is_reported() {
        let mut plan = valid_plan();
        plan["version"] = json!(2);
        plan["steps"] = json!(null);
        assert_eq!(
            problems(&plan),
            ["`version` is `2`, and this host reads plans of version 1"]
        );
        plan.as_object_mut().unwrap().remove("version");
        assert_eq!(problems(&plan), ["`version` is missing; it has to be 1"]);
    }

    #[test]
    fn a_text_that_is_not_a_json_object_is_refused() {
        assert!(parse_saved_plan("{\"version\": 1,").unwrap_err()[0].starts_with("it is not valid JSON"));
        assert_eq!(problems(&json!([])), ["it has to be a JSON object"]);
    }

    #[test]
    fn a_plan_that_nests_too_deep_is_refused() {
        // The version is wrong as well, but is only reported for a plan that does not nest too deep.
        let nested_plan = |levels: usize| {
            format!(
                "{{\"version\": 2, \"x\": {}{}}}",
                "[".repeat(levels),
                "]".repeat(levels)
            )
        };
        assert!(parse_saved_plan(&nested_plan(60)).unwrap_err()[0].starts_with("`version`"));
        assert_eq!(
            parse_saved_plan(&nested_plan(80)).unwrap_err(),
            ["its values nest deeper than 64 levels"]
        );
        // The parser of `serde_json` itself refuses more than 127 levels.
        assert!(parse_saved_plan(&nested_plan(100_000)).unwrap_err()[0].starts_with("it is not valid JSON"));
    }

    #[test]
    fn too_many_parameters_files_or_steps_are_refused() {
        let mut plan = valid_plan();
        let params: JsonObject = (0..=MAX_ENTRIES).map(|n| (format!("p{n}"), json!({}))).collect();
        plan["params"] = Value::Object(params);
        plan["files"] = json!(vec!["f"; MAX_ENTRIES + 1]);
        plan["steps"] = json!(vec![plan["steps"][0].clone(); MAX_TODO_ITEMS + 1]);
        assert_eq!(problems(&plan).len(), 3);
    }

    proptest! {
        #[test]
        fn a_plan_with_a_changed_value_is_refused_or_survives_writing_and_parsing_again(
            changed_index in 0usize..40,
            replacement in 0usize..6,
        ) {
            let replacements = [json!(null), json!(-1), json!("x"), json!([[]]), json!({"a": {}}), json!(["a", "a"])];
            let mut plan = valid_plan();
            let mut remaining = changed_index;
            replace_nth_value(&mut plan, &mut remaining, &replacements[replacement]);
            if let Ok(parsed) = parse_saved_plan(&plan.to_string()) {
                let written = serde_json::to_string(&parsed).unwrap();
                prop_assert_eq!(parse_saved_plan(&written), Ok(parsed));
            }
        }
    }

    /// Visits `value` and all values inside it, depth first, and replaces one of them by `other`: the one that is visited when
    /// `remaining` has been counted down to 0. If there are fewer values, changes nothing.
    fn replace_nth_value(value: &mut Value, remaining: &mut usize, other: &Value) {
        if *remaining == 0 {
            // This number is so large that the values that are visited later do not count it down to 0.
            *remaining = usize::MAX;
            *value = other.clone();
            return;
        }
        *remaining = remaining.saturating_sub(1);
        match value {
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| replace_nth_value(item, remaining, other)),
            Value::Object(map) => map
                .values_mut()
                .for_each(|item| replace_nth_value(item, remaining, other)),
            _ => {}
        }
    }
}
