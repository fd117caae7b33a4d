//! Makes plans, checks them, and compares them with the current tools, without calling a tool.
//!
//! A plan belongs to a run, so a run is started for it. This run is *detached*: it is not stored, and none of its steps starts.

use std::collections::BTreeMap;
use std::fmt;

use art_agent::{
    PlanCheck, PlanEstimate, PlanFault, PlanToRun, PlannedStep, Run, RunEvent, RunReport, RunStage, RunStart,
    SavedPlan, ToolStamp, constant_arguments,
};
use art_core::agent::{ExecutionMetadata, RunStatus};
use art_core::capability::Denial;
use art_core::json::sorted_text;
use art_core::pes::PlannedCall;
use art_store::digest;
use serde::Serialize;
use serde_json::Value;

use crate::drive::Question;
use crate::drive::clock::now;
use crate::drive::prepare::{ThreadForRun, run_start_in};
use crate::dry_run::reply_event;
use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// A plan that a model made and that was not run.
#[derive(Clone, Debug)]
pub struct PlanResult {
    /// The plan. It has no steps if the model needs none.
    pub plan: SavedPlan,
    /// The answer, if the model gave one in place of a plan.
    pub answer: Option<String>,
    /// The result of the check of the plan.
    pub review: PlanReview,
    /// Number and cost of the model calls that made the plan.
    pub metadata: ExecutionMetadata,
}

/// The result of checking a plan against the current tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanReview {
    /// The faults of the plan, the references in its calls, and what can be checked or decided only when the plan runs.
    #[serde(flatten)]
    pub check: PlanCheck,
    /// The tools that differ from those with which the plan was made.
    pub changed_tools: Vec<ChangedTool>,
    /// Estimated usage of the planned calls, the steps without planned calls, and the answer; absent if the plan cannot be run as
    /// it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<PlanEstimate>,
}

/// A tool that differs from the one with which a plan was made. `Display` says what changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedTool {
    /// Name of the tool.
    pub tool_name: String,
    /// The tool when the plan was made.
    pub planned: ToolStamp,
    /// The current tool.
    pub today: ToolStamp,
}

impl Runtime {
    /// Asks the model for a plan and checks the plan. The question counts as the next one of its thread or, if it names no
    /// thread, as the first one of a new thread. Calls no tool, and stores nothing. `question.plan` is not used.
    ///
    /// # Errors
    /// Fails if the question is longer than [`Question::MAX_CHARS`], if its thread does not exist, if the model makes no usable
    /// plan, or if the store cannot be read. A plan with faults is not an error: see [`PlanResult::review`].
    pub async fn plan(&self, question: Question) -> Result<PlanResult, RuntimeError> {
        question.check()?;
        let question = Question { plan: None, ..question };
        let mut run = start_detached(self.detached_run_start(question).await?)?;
        while run.stage() == RunStage::Planning {
            // Digests of requests are only for the journal, which this run does not have.
            let Some(call) = run.ask_models(now(), |_| String::new()).calls.pop() else {
                break;
            };
            let event = reply_event(&self.engine, &run.started_with().model, call).await;
            run.apply(&event).map_err(RuntimeError::internal)?;
        }
        let answer = run.finished().map(answer_from_report).transpose()?;
        let mut plan = run.saved_plan();
        plan.tools = self.current_stamps(&plan);
        let check = self.check(&plan, &run);
        let may_run = check.faults.is_empty() && !plan.steps.is_empty();
        let review = PlanReview {
            check,
            changed_tools: Vec::new(),
            estimate: may_run.then(|| run.estimate().clone()),
        };
        let metadata = end_before_first_step(run)?.response.metadata;
        Ok(PlanResult {
            plan,
            answer,
            review,
            metadata,
        })
    }

    /// Checks the plan of a question against the current tools that its thread may call, and against the earlier results of the
    /// thread. A parameter without a given value is checked by its schema only. The schemas of the parameters have to be those
    /// that [`read_plan`](crate::read_plan) returns.
    ///
    /// # Errors
    /// Fails if the question has no plan, if its thread does not exist, or if the store cannot be read.
    pub async fn review_plan(&self, mut question: Question) -> Result<PlanReview, RuntimeError> {
        let plan_to_run = question.plan.take();
        let plan_to_run = plan_to_run.ok_or_else(|| RuntimeError::Plan("the question has no plan".to_owned()))?;
        let plan = plan_to_run.plan.with_values(&plan_to_run.values);
        let size_error = plan_to_run.plan.size_error(&plan_to_run.values);
        let with_inserted_values = PlanToRun {
            plan: plan.clone(),
            ..PlanToRun::default()
        };
        let start = self.detached_run_start(question).await?;
        let run = start_detached(RunStart {
            plan: Some(Box::new(with_inserted_values)),
            ..start
        })?;
        let mut review = PlanReview {
            check: self.check(&plan, &run),
            changed_tools: find_changed_tools(&plan.tools, &self.current_stamps(&plan)),
            estimate: None,
        };
        let length_error = Question::check_text(&plan.question)
            .err()
            .map(|error| error.to_string());
        let faults = size_error
            .into_iter()
            .chain(length_error)
            .map(|text| PlanFault { step: None, text });
        review.check.faults.extend(faults);
        // The parameters that are left in `plan` have no values, so the plan cannot run yet.
        if review.check.faults.is_empty() && plan.params.is_empty() {
            add_estimate(&mut review, &run);
        }
        Ok(review)
    }

    /// Returns the start of a run that is not stored: in the thread that the question names, or else in a new one.
    async fn detached_run_start(&self, question: Question) -> Result<RunStart, RuntimeError> {
        let thread = match &question.thread_id {
            Some(id) => ThreadForRun::find(self, id, question.user_id.as_deref()).await?,
            // A thread that is not stored needs no unique identifier.
            None => ThreadForRun::new("plan".to_owned()),
        };
        run_start_in(self, question, thread).await
    }

    /// Checks a plan against the tools and results that a run can use. For calls whose arguments are known already, also
    /// validates the arguments in full, and checks the grants that the calls need.
    fn check(&self, plan: &SavedPlan, run: &Run) -> PlanCheck {
        let mut check = run.check_saved_plan(plan);
        for step in &plan.steps {
            for (number, call) in step.tool_calls.iter().enumerate() {
                self.check_known_arguments(&mut check, step, (number, call));
                self.check_grants(&mut check, step, (number, call));
            }
        }
        check
    }

    /// Validates the known arguments of a call in full where the comparison of schemas could not decide whether they fit, for
    /// example because of a pattern. Does nothing for a call whose arguments are not known yet.
    fn check_known_arguments(&self, check: &mut PlanCheck, step: &PlannedStep, (number, call): (usize, &PlannedCall)) {
        let place = step.arguments_place(number);
        let is_undecided = check.at_run_time.iter().any(|inner| is_within(inner, &place));
        let Some(arguments) = constant_arguments(&call.arguments).filter(|_| is_undecided) else {
            return;
        };
        check.at_run_time.retain(|inner| !is_within(inner, &place));
        let checked = self.tools.registry().check_arguments(&call.tool_name, &arguments);
        check.faults.extend(checked.err().map(|violations| PlanFault {
            step: Some(step.id.clone()),
            text: format!("`{place}`: {violations}"),
        }));
    }

    /// Adds a fault for each grant that a call with known arguments needs and does not have, unless the run will ask for it.
    fn check_grants(&self, check: &mut PlanCheck, step: &PlannedStep, (number, call): (usize, &PlannedCall)) {
        let Some(arguments) = constant_arguments(&call.arguments) else {
            return;
        };
        let missing = self.tools.registry().missing_grants(&call.tool_name, &arguments);
        let is_asked_for = |denial: &&Denial| self.config.ask_for_grants && denial.needs_grant();
        let missing = missing.iter().filter(|denial| !is_asked_for(denial));
        check.faults.extend(missing.map(|denial| PlanFault {
            step: Some(step.id.clone()),
            text: match &denial.command {
                Some(command) => format!("`{}`: {denial} (hint: `{command}`)", step.arguments_place(number)),
                None => format!("`{}`: {denial}", step.arguments_place(number)),
            },
        }));
    }

    /// Returns the stamps of the tools that the plan names, as far as they exist. A stamp has the digests that identify the
    /// version of a tool.
    fn current_stamps(&self, plan: &SavedPlan) -> BTreeMap<String, ToolStamp> {
        let registry = self.tools.registry();
        let stamps = plan.tool_names().into_iter().filter_map(|name| {
            let schema = registry.schema(name)?;
            let stamp = ToolStamp {
                component: registry.digest(name).map(|digest| digest.to_string()),
                input: schema_digest(&schema.input_schema),
                output: schema.output_schema.as_deref().map(schema_digest),
            };
            Some((name.to_owned(), stamp))
        });
        stamps.collect()
    }
}

fn start_detached(start: RunStart) -> Result<Run, RuntimeError> {
    let started = RunEvent::Started {
        at: now(),
        start: Box::new(start),
    };
    let (run, _) = Run::start(&started).map_err(RuntimeError::internal)?;
    Ok(run)
}

/// Returns whether `place` is `outer` or inside of it, as `step_2.arguments.url` is inside of `step_2.arguments`.
fn is_within(place: &str, outer: &str) -> bool {
    let rest = place.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Adds the estimate of a plan without faults. If `run` ended before its first call because the plan exceeds budgets, adds the
/// reasons as faults instead.
fn add_estimate(review: &mut PlanReview, run: &Run) {
    let Some(report) = run.finished() else {
        review.estimate = Some(run.estimate().clone());
        return;
    };
    let metadata = &report.response.metadata;
    let reasons = metadata
        .error
        .iter()
        .map(|error| &error.message)
        .chain(&metadata.limits_hit);
    review.check.faults.extend(reasons.map(|text| PlanFault {
        step: None,
        text: text.clone(),
    }));
}

fn schema_digest(schema: &Value) -> String {
    digest(sorted_text(schema).as_bytes())
}

/// Ends a detached run, unless it has ended already, and returns its report.
fn end_before_first_step(mut run: Run) -> Result<RunReport, RuntimeError> {
    if run.finished().is_none() {
        let event = RunEvent::CancelRequested {
            at: now(),
            interrupted: Vec::new(),
        };
        run.apply(&event).map_err(RuntimeError::internal)?;
    }
    let report = run.finished().cloned();
    report.ok_or_else(|| RuntimeError::internal("the run did not end"))
}

/// Returns the answer that a model gave in place of a plan. Fails with [`RuntimeError::NotPlanned`] if the run failed.
fn answer_from_report(report: &RunReport) -> Result<String, RuntimeError> {
    let metadata = &report.response.metadata;
    let text = &report.response.response.content;
    if metadata.status == RunStatus::Success {
        return Ok(text.clone());
    }
    Err(RuntimeError::NotPlanned {
        message: metadata.error.as_ref().map_or(text, |error| &error.message).clone(),
        model: report.model_error.clone(),
    })
}

/// Returns the tools whose stamps differ. A tool that does not exist any more is left out.
fn find_changed_tools(planned: &BTreeMap<String, ToolStamp>, today: &BTreeMap<String, ToolStamp>) -> Vec<ChangedTool> {
    let pairs = planned
        .iter()
        .filter_map(|(name, planned)| Some((name, planned, today.get(name)?)));
    let changed = pairs.filter(|(_, planned, today)| planned != today);
    let changed = changed.map(|(name, planned, today)| ChangedTool {
        tool_name: name.clone(),
        planned: planned.clone(),
        today: today.clone(),
    });
    changed.collect()
}

impl fmt::Display for ChangedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (planned, today) = (&self.planned, &self.today);
        let what = match (planned.input != today.input, planned.output != today.output) {
            (true, true) => "its input and its output",
            (true, false) => "its input",
            (false, true) => "its output",
            (false, false) => "its code, but neither its input nor its output",
        };
        write!(
            f,
            "the tool `{}` has changed since the plan was made: {what}",
            self.tool_name
        )?;
        if let (Some(planned), Some(today)) = (&planned.component, &today.component) {
            write!(f, " (it was `{planned}`, it is `{today}`)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_store::{RunFilter, ThreadFilter};
    use art_tools::DirectTool;
    use art_tools::direct::success;
    use serde_json::json;

    async fn runtime() -> Runtime {
        let schema = json!({
            "name": "population",
            "description": "Returns how many people live in a city.",
            "inputSchema": {"type": "object", "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}}},
            "examples": [{"input": {"city": "Paris"}, "description": "How many people live in Paris?"}],
        });
        let schema = serde_json::from_value(schema).unwrap();
        let tool = DirectTool::new(schema, |_call| async { success(&json!(2)) });
        Runtime::builder().tool(tool).build().await.unwrap()
    }

    /// Returns a plan that calls `population` with the value of the parameter `city` of the plan.
    fn plan() -> SavedPlan {
        let call = PlannedCall {
            tool_name: "population".to_owned(),
            arguments: json!({"city": {"$param": "city"}}),
        };
        SavedPlan {
            question: "How many people live in {{city}}?".to_owned(),
            steps: vec![PlannedStep {
                id: "a".to_owned(),
                tool_calls: vec![call],
                ..PlannedStep::default()
            }],
            params: BTreeMap::from([("city".to_owned(), json!({"enum": ["Paris", "Rome"]}))]),
            ..SavedPlan::default()
        }
    }

    fn question(values: &Value) -> Question {
        Question::of_plan(PlanToRun {
            plan: plan(),
            values: values.as_object().unwrap().clone(),
        })
    }

    async fn is_store_empty(runtime: &Runtime) -> bool {
        let threads = runtime.store.list_threads(ThreadFilter::default()).await.unwrap();
        let runs = runtime.store.list_runs(RunFilter::default()).await.unwrap();
        threads.is_empty() && runs.is_empty()
    }

    #[tokio::test]
    async fn making_a_plan_calls_no_tool_and_stores_nothing() {
        let runtime = runtime().await;
        let planned = runtime.plan("How many people live in Paris?".into()).await.unwrap();
        assert_eq!(planned.plan.steps.len(), 1);
        assert_eq!((planned.metadata.llm_calls, planned.metadata.tool_calls), (1, 0));
        assert_eq!(planned.review.check.faults, []);
        assert_eq!(
            planned.plan.tools["population"].component, None,
            "the tool is a function of the program"
        );
        assert!(is_store_empty(&runtime).await);
    }

    #[tokio::test]
    async fn asking_a_question_with_a_plan_runs_the_plan_with_the_given_values() {
        let runtime = runtime().await;
        let question = question(&json!({"city": "Rome"}));
        assert_eq!(question.query, "How many people live in Rome?");
        let review = runtime.review_plan(question.clone()).await.unwrap();
        assert_eq!((review.check.faults, review.changed_tools), (vec![], vec![]));
        assert_eq!(review.estimate.unwrap().calls[0].tool_name, "population");
        let answer = runtime.ask(question).await.unwrap();
        let call = &answer.steps().next().unwrap().actual_tool_calls[0];
        assert_eq!(call.arguments, json!({"city": "Rome"}));
    }

    #[tokio::test]
    async fn a_plan_without_valid_values_starts_no_run() {
        let runtime = runtime().await;
        for (values, problem) in [
            (json!({}), "needs a value for `city`"),
            (json!({"city": 1}), "`1` is not a value of the parameter `city`"),
            (json!({"city": "Rome", "town": 1}), "no parameter `town`"),
        ] {
            let error = runtime.ask(question(&values)).await.unwrap_err();
            assert!(error.to_string().contains(problem), "{error}");
        }
        assert!(is_store_empty(&runtime).await);
    }

    #[tokio::test]
    async fn constant_arguments_are_validated_in_full() {
        let schema = json!({
            "name": "look_up",
            "description": "Looks up a code.",
            "inputSchema": {"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z]{2}$"}}},
        });
        let schema = serde_json::from_value(schema).unwrap();
        let tool = DirectTool::new(schema, |_call| async { success(&json!(2)) });
        let runtime = Runtime::builder().tool(tool).build().await.unwrap();
        // Pairs of numbers: the faults, and the places that are checked only when the plan runs.
        let (valid, invalid, known_at_run_time) = ((0, 0), (1, 0), (0, 1));
        for (code, faults_and_checks_at_run_time) in [
            (json!("DE"), valid),
            (json!({"$concat": ["D", "E"]}), valid),
            (json!("Germany"), invalid),
            (json!({"$param": "city"}), known_at_run_time),
        ] {
            let mut plan = plan();
            plan.params = BTreeMap::from([("city".to_owned(), json!({"type": "string"}))]);
            plan.steps[0].tool_calls = vec![PlannedCall {
                tool_name: "look_up".to_owned(),
                arguments: json!({"code": code}),
            }];
            let question = Question::of_plan(PlanToRun {
                plan,
                ..PlanToRun::default()
            });
            let check = runtime.review_plan(question).await.unwrap().check;
            assert_eq!(
                (check.faults.len(), check.at_run_time.len()),
                faults_and_checks_at_run_time,
                "{check:?}"
            );
        }
    }

    #[test]
    fn a_changed_tool_displays_what_changed() {
        let stamp = |component: &str, input: &str, output: Option<&str>| ToolStamp {
            component: Some(component.to_owned()),
            input: input.to_owned(),
            output: output.map(str::to_owned),
        };
        let tools = |stamp| BTreeMap::from([("t".to_owned(), stamp)]);
        let planned = || stamp("a", "i", Some("o"));
        let describe_change = |today| {
            let changed = find_changed_tools(&tools(planned()), &tools(today));
            changed.iter().map(ToString::to_string).collect::<String>()
        };
        assert_eq!(describe_change(planned()), "");
        let begin = "the tool `t` has changed since the plan was made:";
        let end = "(it was `a`, it is `b`)";
        for (today, what) in [
            (stamp("b", "x", Some("y")), "its input and its output"),
            (stamp("b", "x", Some("o")), "its input"),
            (stamp("b", "i", None), "its output"),
            (
                stamp("b", "i", Some("o")),
                "its code, but neither its input nor its output",
            ),
        ] {
            assert_eq!(describe_change(today), format!("{begin} {what} {end}"));
        }
    }
}
