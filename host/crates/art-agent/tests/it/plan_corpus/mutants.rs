//! Makes mutants: good plans into which one fault is put. Of each mutant, the kind and the place of its fault are known.
//!
//! A place is written as in the message that refuses the plan, such as `step_2.arguments.url`. A pointer is the JSON pointer of
//! the same value in the plan.

use art_agent::RunStart;
use art_core::tool::ToolSchema;
use serde_json::{Value, json};

/// Maximum number of mutants with one kind of fault that are made from one good plan.
const MAX_MUTANTS_OF_A_KIND: usize = 5;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    UnknownTool,
    DisabledTool,
    /// A constant has the wrong type.
    WrongType,
    /// A reference takes a value of the wrong type.
    WrongTypeOfReference,
    /// A required key is missing in the arguments of a call.
    MissingRequired,
    /// The arguments of a call have a key that the tool does not allow.
    UnknownParameter,
    /// The path of a reference is no JSON pointer, or has no number where it leads into an array.
    BadPointer,
    /// The path of a reference leads into a value that is neither an object nor an array.
    PointerIntoScalar,
    /// A number is beyond its bounds, or a text is not among the choices.
    OutOfRange,
    /// Two steps depend on each other.
    Cycle,
    /// A step depends on itself, or takes its own output.
    SelfReference,
    DuplicateId,
    ReferenceToLaterStep,
    UnknownStep,
    /// A reference takes the output of a call by a number that no call of the step has.
    UnknownCallNumber,
    /// A call takes a file that does not exist.
    UnknownFile,
    /// The plan has more calls than the run may make.
    OverBudget,
    /// The name of a tool, step or argument, or a choice, begins with an upper-case letter instead of a lower-case one.
    WrongLetterCase,
    /// A reference takes a property that the output of the tool does not have according to its schema.
    UndeclaredOutputProperty,
}

impl FaultKind {
    pub const ALL: [Self; 19] = [
        Self::UnknownTool,
        Self::DisabledTool,
        Self::WrongType,
        Self::WrongTypeOfReference,
        Self::MissingRequired,
        Self::UnknownParameter,
        Self::BadPointer,
        Self::PointerIntoScalar,
        Self::OutOfRange,
        Self::Cycle,
        Self::SelfReference,
        Self::DuplicateId,
        Self::ReferenceToLaterStep,
        Self::UnknownStep,
        Self::UnknownCallNumber,
        Self::UnknownFile,
        Self::OverBudget,
        Self::WrongLetterCase,
        Self::UndeclaredOutputProperty,
    ];

    /// Returns the words that the refusal has to contain beside the place, or an empty text if they depend on the plan.
    pub const fn words_of_refusal(self) -> &'static str {
        match self {
            Self::UnknownTool => "there is no tool",
            Self::DisabledTool => "is disabled in this conversation",
            Self::WrongType | Self::WrongTypeOfReference | Self::OutOfRange => "asked for",
            Self::MissingRequired => "is missing",
            Self::UnknownParameter => "no such parameter",
            Self::PointerIntoScalar | Self::UndeclaredOutputProperty => "has nothing at",
            Self::Cycle => "circle",
            Self::DuplicateId => "two items have the id",
            Self::ReferenceToLaterStep => "comes after this step",
            Self::UnknownStep => "which is not in the plan",
            Self::UnknownCallNumber => "planned call",
            Self::UnknownFile => "there is no file",
            Self::OverBudget => "may make",
            Self::SelfReference | Self::BadPointer | Self::WrongLetterCase => "",
        }
    }
}

/// A plan with a fault, or a good plan for which the start of the run ([`RunStart`]) has the fault: [`Mutant::change_start`]
/// disables a tool of the plan, or allows too few calls for it.
#[derive(Debug)]
pub struct Mutant {
    pub kind: FaultKind,
    /// The place that the refusal has to name.
    pub place: String,
    pub todo_list: Value,
    /// The tool that is disabled, if this is the fault.
    disabled_tool: Option<String>,
    /// The number of calls that the run may make, if the fault is that this number is too small for the plan.
    max_tool_calls: Option<u32>,
}

impl Mutant {
    fn new(kind: FaultKind, place: &str, todo_list: Value) -> Self {
        let place = place.to_owned();
        Self {
            kind,
            place,
            todo_list,
            disabled_tool: None,
            max_tool_calls: None,
        }
    }

    /// Returns whether the fault is in the start of the run, and not in the plan.
    pub const fn has_fault_in_start(&self) -> bool {
        self.disabled_tool.is_some() || self.max_tool_calls.is_some()
    }

    /// Puts the fault into the start of the run, if it belongs there.
    pub fn change_start(&self, start: &mut RunStart) {
        start
            .tools
            .retain(|tool| Some(&tool.name) != self.disabled_tool.as_ref());
        start.disabled_tools.extend(self.disabled_tool.clone());
        if let Some(max) = self.max_tool_calls {
            start.config.max_tool_calls = max;
        }
    }
}

/// A planned call.
struct Call<'a> {
    /// Position in the plan, as a JSON pointer.
    pointer: String,
    /// How refusals name the call.
    place: String,
    /// Index of its step.
    step: usize,
    tool: &'a ToolSchema,
}

/// A value in the arguments of a call, at which a fault can be put.
struct Site<'a> {
    pointer: String,
    place: String,
    step: usize,
    /// What the tool asks for there.
    schema: &'a Value,
    value: &'a Value,
}

impl Site<'_> {
    /// Returns whether the value contains no reference (`$from`) and no other expression of plans, such as `$concat`.
    fn is_constant(&self) -> bool {
        !self.value.to_string().contains("\"$")
    }
}

/// A `$from` in the arguments of a call.
struct Reference<'a> {
    pointer: String,
    /// The place that refusals name: that of the reference, or that of the `$concat` of which the reference is a part.
    place: String,
    value: &'a Value,
}

impl Reference<'_> {
    fn path(&self) -> &str {
        self.value["path"].as_str().unwrap_or_default()
    }

    /// Returns the identifier of the step whose output the reference takes.
    fn step_id(&self) -> &str {
        self.value["$from"].as_str().unwrap()
    }

    /// Returns the reference with another value of `key`.
    fn with(&self, key: &str, value: impl Into<Value>) -> Value {
        let mut reference = self.value.clone();
        reference[key] = value.into();
        reference
    }
}

fn is_valid(schema: &Value, value: &Value) -> bool {
    jsonschema::draft202012::is_valid(schema, value)
}

/// Returns all mutants that are made from the plan `list`, at most [`MAX_MUTANTS_OF_A_KIND`] of each kind.
pub fn mutants(list: &Value, tools: &[ToolSchema]) -> Vec<Mutant> {
    let good_plan = GoodPlanParts::new(list, tools);
    let mut all = good_plan.call_mutants();
    all.extend(good_plan.value_mutants());
    all.extend(good_plan.object_mutants());
    all.extend(good_plan.reference_mutants());
    all.extend(good_plan.step_mutants());
    let limited = FaultKind::ALL.into_iter().flat_map(|kind| {
        let (matching, others) = std::mem::take(&mut all)
            .into_iter()
            .partition(|mutant: &Mutant| mutant.kind == kind);
        all = others;
        let matching: Vec<Mutant> = matching;
        matching.into_iter().take(MAX_MUTANTS_OF_A_KIND)
    });
    limited.collect()
}

/// A good plan, and its parts.
struct GoodPlanParts<'a> {
    list: &'a Value,
    steps: &'a [Value],
    calls: Vec<Call<'a>>,
    sites: Vec<Site<'a>>,
    references: Vec<Reference<'a>>,
}

impl<'a> GoodPlanParts<'a> {
    fn new(list: &'a Value, tools: &'a [ToolSchema]) -> Self {
        let mut parts = Self {
            list,
            steps: list.as_array().unwrap(),
            calls: Vec::new(),
            sites: Vec::new(),
            references: Vec::new(),
        };
        for (step, item) in parts.steps.iter().enumerate() {
            let calls = item["toolCalls"].as_array().map(Vec::as_slice).unwrap_or_default();
            for (n, call) in calls.iter().enumerate() {
                let id = item["id"].as_str().unwrap();
                let place = if calls.len() == 1 {
                    id.to_owned()
                } else {
                    format!("{id}.toolCalls[{n}]")
                };
                let tool = tools.iter().find(|tool| tool.name == call["toolName"]).unwrap();
                let pointer = format!("/{step}/toolCalls/{n}");
                parts.collect_sites(Site {
                    pointer: format!("{pointer}/arguments"),
                    place: format!("{place}.arguments"),
                    step,
                    schema: &tool.input_schema,
                    value: &call["arguments"],
                });
                parts.calls.push(Call {
                    pointer,
                    place,
                    step,
                    tool,
                });
            }
        }
        parts
    }

    /// Collects `site`, the values below it, and the references among them.
    fn collect_sites(&mut self, site: Site<'a>) {
        // Stands for the schema of a value for which the tool gives none.
        const ANY: &Value = &Value::Bool(true);
        let child = |key: &str, place: String, schema: &'a Value, value: &'a Value| Site {
            pointer: format!("{}/{key}", site.pointer),
            place,
            step: site.step,
            schema,
            value,
        };
        let mut children = Vec::new();
        match site.value {
            Value::Object(map) if map.contains_key("$from") => self.references.push(Reference {
                pointer: site.pointer.clone(),
                place: site.place.clone(),
                value: site.value,
            }),
            Value::Object(map) => {
                for (key, value) in map {
                    let schema = site.schema["properties"].get(key).unwrap_or(ANY);
                    match (key.as_str(), value) {
                        // The value of a `$literal` is data. It contains no references.
                        ("$literal", _) => {}
                        ("$concat", Value::Array(parts)) => {
                            let part = |(n, part): (usize, &'a Value)| {
                                child(&format!("$concat/{n}"), site.place.clone(), ANY, part)
                            };
                            children.extend(parts.iter().enumerate().map(part));
                        }
                        _ => children.push(child(key, format!("{}.{key}", site.place), schema, value)),
                    }
                }
            }
            Value::Array(items) => {
                let schema = site.schema.get("items").unwrap_or(ANY);
                let item =
                    |(n, item): (usize, &'a Value)| child(&n.to_string(), format!("{}[{n}]", site.place), schema, item);
                children.extend(items.iter().enumerate().map(item));
            }
            _ => {}
        }
        self.sites.push(site);
        children.into_iter().for_each(|child| self.collect_sites(child));
    }

    /// Returns the identifier of the step with this index.
    fn step_id(&self, step: usize) -> &'a str {
        self.steps[step]["id"].as_str().unwrap()
    }

    /// Returns the plan with another value at `pointer`.
    fn with_value_at(&self, pointer: &str, value: impl Into<Value>) -> Value {
        let mut list = self.list.clone();
        *list.pointer_mut(pointer).unwrap() = value.into();
        list
    }

    /// Returns the mutant with another value at a site.
    fn mutant_at(&self, kind: FaultKind, site: &Site<'_>, value: impl Into<Value>) -> Mutant {
        Mutant::new(kind, &site.place, self.with_value_at(&site.pointer, value))
    }

    /// Returns mutants in which a call cannot be made: its tool is unknown or disabled, or the run may make too few calls.
    fn call_mutants(&self) -> Vec<Mutant> {
        let mut all = Vec::new();
        for (calls_before, call) in self.calls.iter().enumerate() {
            let with_tool = |name: String| self.with_value_at(&format!("{}/toolName", call.pointer), name);
            let name = &call.tool.name;
            all.push(Mutant::new(
                FaultKind::UnknownTool,
                &call.place,
                with_tool(format!("{name}_v2")),
            ));
            all.push(Mutant::new(
                FaultKind::UnknownTool,
                &call.place,
                with_tool("web_search".to_owned()),
            ));
            all.push(Mutant::new(
                FaultKind::WrongLetterCase,
                &call.place,
                with_tool(capitalized(name)),
            ));
            all.push(Mutant {
                disabled_tool: Some(name.clone()),
                ..Mutant::new(FaultKind::DisabledTool, &call.place, self.list.clone())
            });
            all.push(Mutant {
                max_tool_calls: Some(u32::try_from(calls_before).unwrap()),
                ..Mutant::new(FaultKind::OverBudget, &call.place, self.list.clone())
            });
        }
        all
    }

    /// Returns mutants with a fault in a single value.
    fn value_mutants(&self) -> Vec<Mutant> {
        let mut all = Vec::new();
        // A schema that is no object, such as `true`, allows any value, so no constant would be a fault there.
        for site in self
            .sites
            .iter()
            .filter(|site| site.schema.is_object() && site.is_constant())
        {
            let values_of_each_type = [
                json!(true),
                json!("seven"),
                json!(7),
                json!({"a": 1}),
                json!(["a"]),
                json!(null),
            ];
            let wrong = values_of_each_type
                .into_iter()
                .filter(|value| !is_valid(site.schema, value))
                .take(2);
            all.extend(wrong.map(|value| self.mutant_at(FaultKind::WrongType, site, value)));
            all.extend(self.out_of_range(site));
            if let Some(text) = site.value.as_str().filter(|_| lists_choices(site.schema)) {
                all.push(self.mutant_at(FaultKind::WrongLetterCase, site, capitalized(text)));
            }
            // References are put in place of single arguments and of parts of them, not of all arguments of a call.
            if !site.place.ends_with(".arguments") {
                all.extend(self.wrong_references(site));
            }
        }
        // A step that depends on another one may take a file that the other one leaves, so for it an unknown file is no fault.
        let attachments = self.sites.iter().filter(|site| site.value.get("$attachment").is_some());
        let without_dependencies = attachments.filter(|site| self.steps[site.step].get("dependencies").is_none());
        all.extend(
            without_dependencies
                .filter(|site| !self.takes_from_others(site.step))
                .map(|site| self.mutant_at(FaultKind::UnknownFile, site, json!({"$attachment": "missing.pdf"}))),
        );
        all
    }

    /// Returns whether a call of the step with this index takes a value of another step.
    fn takes_from_others(&self, step: usize) -> bool {
        let prefix = format!("/{step}/");
        self.references
            .iter()
            .any(|reference| reference.pointer.starts_with(&prefix))
    }

    /// Returns mutants with a number beyond the bounds at a site, or with a text that is not among the choices.
    fn out_of_range(&self, site: &Site<'_>) -> Vec<Mutant> {
        let bounds = ["minimum", "maximum"].map(|bound| site.schema[bound].as_i64());
        let beyond = bounds
            .into_iter()
            .flatten()
            .flat_map(|bound| [bound - 1, bound + 1])
            .map(Value::from);
        let unlisted_choice = lists_choices(site.schema).then(|| json!("sideways"));
        let outside = beyond
            .chain(unlisted_choice)
            .filter(|value| !is_valid(site.schema, value));
        outside
            .map(|value| self.mutant_at(FaultKind::OutOfRange, site, value))
            .collect()
    }

    /// Returns mutants with a reference at a site to a step that cannot give a value, or to a value of a wrong type.
    fn wrong_references(&self, site: &Site<'_>) -> Vec<Mutant> {
        let from = |id: &str| json!({"$from": id});
        let mut all = vec![
            self.mutant_at(FaultKind::SelfReference, site, from(self.step_id(site.step))),
            self.mutant_at(FaultKind::UnknownStep, site, from("no_such_step")),
        ];
        let later = (site.step + 1..self.steps.len()).map(|later| from(self.step_id(later)));
        all.extend(later.map(|value| self.mutant_at(FaultKind::ReferenceToLaterStep, site, value)));
        let earlier = self.calls.iter().filter(|call| call.step < site.step);
        // The outputs of all tools are objects.
        let takes_no_object = !is_valid(site.schema, &json!({}));
        all.extend(
            earlier
                .filter(|_| takes_no_object)
                .map(|call| self.mutant_at(FaultKind::WrongTypeOfReference, site, from(self.step_id(call.step)))),
        );
        all
    }

    /// Returns mutants with an object that has a key too many, a key too few, or a key in the wrong case.
    fn object_mutants(&self) -> Vec<Mutant> {
        let mut all = Vec::new();
        let allows_no_other_keys =
            |site: &&Site<'_>| site.schema["additionalProperties"] == false && site.value.is_object();
        for site in self.sites.iter().filter(allows_no_other_keys) {
            let map = site.value.as_object().unwrap();
            let mut more = map.clone();
            more.insert("colour".to_owned(), json!("red"));
            let place = format!("{}.colour", site.place);
            all.push(Mutant::new(
                FaultKind::UnknownParameter,
                &place,
                self.with_value_at(&site.pointer, more),
            ));
            for (key, value) in map {
                let mut without_key = map.clone();
                without_key.shift_remove(key);
                let is_required = |names: &Value| names.as_array().is_some_and(|names| names.contains(&json!(key)));
                if site.schema.get("required").is_some_and(is_required) {
                    all.push(self.mutant_at(FaultKind::MissingRequired, site, without_key.clone()));
                }
                let mut with_renamed_key = without_key;
                with_renamed_key.insert(capitalized(key), value.clone());
                let place = format!("{}.{}", site.place, capitalized(key));
                all.push(Mutant::new(
                    FaultKind::WrongLetterCase,
                    &place,
                    self.with_value_at(&site.pointer, with_renamed_key),
                ));
            }
        }
        all
    }

    /// Returns mutants in which a reference of the plan leads to nothing.
    fn reference_mutants(&self) -> Vec<Mutant> {
        let mut all = Vec::new();
        for reference in &self.references {
            let mut push = |kind, value: Value| {
                all.push(Mutant::new(
                    kind,
                    &reference.place,
                    self.with_value_at(&reference.pointer, value),
                ));
            };
            let path = reference.path();
            push(FaultKind::UnknownStep, reference.with("$from", "no_such_step"));
            push(
                FaultKind::WrongLetterCase,
                reference.with("$from", capitalized(reference.step_id())),
            );
            push(FaultKind::UnknownCallNumber, reference.with("call", 9));
            push(
                FaultKind::UndeclaredOutputProperty,
                reference.with("path", "/no_such_property"),
            );
            push(FaultKind::BadPointer, reference.with("path", "result"));
            match path {
                // In the outputs of the tools, these paths lead to arrays. A path names an item of an array by its number,
                // without leading zeros.
                "/rows" | "/results" | "/columns" => {
                    for item in ["first", "-1", "01"] {
                        push(FaultKind::BadPointer, reference.with("path", format!("{path}/{item}")));
                    }
                }
                // These paths lead to values that are neither objects nor arrays.
                "/result" | "/count" | "/row_count" | "/matched_rows" | "/words" => {
                    push(
                        FaultKind::PointerIntoScalar,
                        reference.with("path", format!("{path}/0")),
                    );
                    push(
                        FaultKind::PointerIntoScalar,
                        reference.with("path", format!("{path}/value")),
                    );
                }
                _ => {}
            }
        }
        all
    }

    /// Returns mutants with a faulty identifier or dependency of a step.
    fn step_mutants(&self) -> Vec<Mutant> {
        let mut all = Vec::new();
        for step in 1..self.steps.len() {
            let (first, id) = (self.step_id(0), self.step_id(step));
            all.push(Mutant::new(
                FaultKind::DuplicateId,
                first,
                self.with_value_at(&format!("/{step}/id"), first),
            ));
            let mut list = self.list.clone();
            list[0]["dependencies"] = json!([id]);
            list[step]["dependencies"] = json!([first]);
            all.push(Mutant::new(FaultKind::Cycle, first, list));
        }
        let mut list = self.list.clone();
        list[0]["dependencies"] = json!([self.step_id(0)]);
        all.push(Mutant::new(FaultKind::SelfReference, self.step_id(0), list));
        all
    }
}

/// Returns whether a schema lists the texts that it allows.
fn lists_choices(schema: &Value) -> bool {
    schema.get("enum").is_some() || schema.to_string().contains("\"oneOf\"")
}

/// Returns `name` with its first letter in upper case.
fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
