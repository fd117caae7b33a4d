//! A driver for tests. It answers the model calls of a run from a script and the tool calls from a stand-in for tools, keeps a
//! journal, and replays the journal after every event.
//!
//! An item is a step of a plan. In the script and in the requests, `step` says what a model call is for: `plan`, the identifier
//! of an item, or `answer`.

use std::collections::{BTreeMap, VecDeque};

use art_agent::{ActionId, CallEnd, Effect, FileArgument, ModelCall, Run, RunEvent, RunReport, RunStart};
use art_core::agent::{AgentProps, RunStatus};
use art_core::error::{ModelError, ModelErrorCode, ToolErrorCode};
use art_core::hitl::{Feedback, FeedbackSchema};
use art_core::observation::{NewObservation, ObservationType};
use art_core::outcome::EndingKind;
use art_core::pes::{PesAgentStateData, TodoItem, TodoItemStatus};
use art_core::prompt::Message;
use art_core::provider::{ModelRequest, RuntimeProviderConfig};
use art_core::stream::{ModelReply, StopReason};
use art_core::suspension::{DecidedBy, Decision, ExpiryAction, SuspendedCall, SuspensionCause};
use art_core::tool::{FunctionCall, FunctionKind, ParsedToolCall, ToolCallRequest, ToolResult, ToolSchema, ToolStatus};
use art_core::usage::ToolUsage;
use serde_json::{Value, json};

/// The reply of a model, or the error of the model call.
pub type Reply = Result<ModelReply, ModelError>;

/// Input tokens that each reply of [`says`] reports.
pub const INPUT_TOKENS: u64 = 10;

/// Output tokens that each reply of [`says`] reports.
pub const OUTPUT_TOKENS: u64 = 2;

/// Tokens of a model call with a reply of [`says`].
pub const TOKENS_PER_CALL: u64 = INPUT_TOKENS + OUTPUT_TOKENS;

/// Fuel that each tool call uses.
pub const FUEL_PER_CALL: u64 = 5;

/// Time in milliseconds that passes before the driver answers an action or cancels the run.
pub const MS_PER_ACTION: u64 = 10;

/// Time at which a person decides about a suspended call.
pub const DECIDED_AT: u64 = 5_000;

// Values of the argument `expression` with which the stand-in tool does something special. With any other value it returns 42;
// see `stand_in_result`.

/// The call fails.
pub const FAILS: &str = "fail";
/// The call fails because the tool was denied a right.
pub const IS_DENIED: &str = "deny";
/// The call is refused before its tool runs.
pub const IS_REFUSED: &str = "invalid";
/// The tool requests a subtask, and the call fails because a subtask cannot be run.
pub const REQUESTS_SUBTASK: &str = "subtask";
/// The tool writes the file `out.csv`.
pub const SAVES_FILE: &str = "save";
/// The output has 10,000 characters.
pub const BIG_OUTPUT: &str = "big";
/// The output has 20,000 characters.
pub const HUGE_OUTPUT: &str = "huge";
/// The tool asks a person, and the call is suspended. Longer expressions that begin with this text do the same.
pub const ASKS_PERSON: &str = "ask";
/// The tool asks the model for help.
pub const REQUESTS_HELP: &str = "assist";
/// The call fails with an error that asks the model for help.
pub const FAILS_REQUESTING_HELP: &str = "assist!";
/// The output is for display: it is drawn for a person and appears in no prompt. It contains [`DRAWN_TEXT`].
pub const DRAWS: &str = "draw";
/// The call fails and has an output for display.
pub const FAILS_DRAWING: &str = "draw!";

/// Text in the output of a call with the expression [`DRAWS`].
pub const DRAWN_TEXT: &str = "walrus";

/// A request to the model, with the step that it is for.
pub struct StepRequest {
    /// `plan`, the identifier of an item, or `answer`.
    pub step: String,
    pub request: ModelRequest,
}

/// An action for the driver: a model call, or those tool calls of a batch that may be made now. A batch is the calls of one reply
/// or the planned calls of one item.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    CallModel(ModelCall),
    CallTools {
        id: ActionId,
        item_id: String,
        calls: Vec<ParsedToolCall>,
        /// The arguments of `calls` whose values are files of earlier calls, each with the identifier of the call that has the
        /// argument.
        files: Vec<(String, FileArgument)>,
    },
}

impl Action {
    pub fn id(&self) -> ActionId {
        match self {
            Self::CallModel(call) => call.id,
            Self::CallTools { id, .. } => *id,
        }
    }

    /// Returns what the action is for: `plan`, the identifier of an item, or `answer`.
    pub fn step(&self) -> String {
        match self {
            Self::CallModel(call) => step_name(call),
            Self::CallTools { item_id, .. } => item_id.clone(),
        }
    }
}

/// Returns what the model call is for: `plan`, the identifier of an item, or `answer`.
pub fn step_name(call: &ModelCall) -> String {
    let phase = || match call.request.phase {
        art_core::stream::Phase::Planning => "plan".to_owned(),
        _ => "answer".to_owned(),
    };
    call.item_id.clone().unwrap_or_else(phase)
}

/// Returns the event that ends a call of the batch `action` with this result.
pub fn end_event(at: u64, action: ActionId, result: ToolResult) -> RunEvent {
    let ending = match result.status {
        ToolStatus::Success => EndingKind::Success,
        ToolStatus::Suspended => EndingKind::Suspended,
        ToolStatus::Error => EndingKind::Failure,
    };
    let usage = ToolUsage {
        fuel: FUEL_PER_CALL,
        ..ToolUsage::default()
    };
    let id = result.metadata.suspension_id.clone();
    let end = Box::new(CallEnd {
        usage,
        duration_ms: 1,
        suspension: id.map(|id| Box::new(suspension_by_tool(&id, &result))),
        ..CallEnd::new(result, ending)
    });
    RunEvent::ToolEnded { at, action, end }
}

/// Returns the suspension `id` of a call whose tool asks a person whether to go on. The tool does not run again after the
/// decision: the decision itself is the result of the call.
pub fn suspension_by_tool(id: &str, result: &ToolResult) -> SuspendedCall {
    SuspendedCall {
        suspension_id: id.to_owned(),
        call: ParsedToolCall {
            call_id: result.call_id.clone(),
            tool_name: result.tool_name.clone(),
            // The arguments after validation, which may differ from those of the call.
            arguments: json!({"expression": ASKS_PERSON, "validated": true}),
        },
        tool_digest: None,
        input_digest: "blake3:input".to_owned(),
        cause: SuspensionCause::Tool,
        form: FeedbackSchema::confirm("go on?"),
        details: None,
        preview: None,
        risk_level: None,
        runs_on_approval: false,
        allow_retry: true,
        expires: None,
        on_expiry: ExpiryAction::Reject,
    }
}

/// Returns the event of a person's decision about a suspended call.
pub fn decision_event(suspension_id: &str, feedback: Feedback) -> RunEvent {
    RunEvent::CallDecided {
        at: DECIDED_AT,
        suspension_id: suspension_id.to_owned(),
        decision: Box::new(Decision {
            feedback,
            by: DecidedBy::Person { user_id: None },
        }),
    }
}

pub fn approval() -> Feedback {
    Feedback::new(true, DECIDED_AT)
}

pub fn rejection(reason: &str) -> Feedback {
    Feedback {
        reason: Some(reason.to_owned()),
        ..Feedback::new(false, DECIDED_AT)
    }
}

/// Returns the event that announces a call.
pub fn call_event(at: u64, action: ActionId, call: &ParsedToolCall) -> RunEvent {
    RunEvent::ToolCalled {
        at,
        action,
        // The run knows the item by the action, and does not read this field.
        item_id: "item".to_owned(),
        call_id: call.call_id.clone(),
        tool_name: call.tool_name.clone(),
        tool_digest: None,
        input: String::new(),
        standing_approval: None,
    }
}

/// Drives a run with scripted replies and a stand-in for tools.
pub struct Driver {
    pub run: Run,
    pub journal: Vec<RunEvent>,
    pub effects: Vec<Effect>,
    saved_state: Option<PesAgentStateData>,
    /// Every request to the model, in the order of the replies.
    pub requests: Vec<StepRequest>,
    /// Every call that reached the tools.
    pub tool_calls_made: Vec<ParsedToolCall>,
    /// The arguments of `tool_calls_made` whose values are files of earlier calls, each with the identifier of the call that has
    /// the argument.
    pub file_arguments: Vec<(String, FileArgument)>,
    /// Largest number of actions that were open at the same time.
    pub max_open_actions: usize,
    /// Whether to replay the journal after every event. Tests with many or large events turn this off.
    pub checks_replay: bool,
    /// The model calls that were made and have no reply yet.
    model_calls: BTreeMap<ActionId, ModelCall>,
    /// The replies that are left for `plan`, for each item, and for `answer`.
    script: BTreeMap<String, VecDeque<Reply>>,
    now: u64,
}

/// Returns the schema of a tool with one parameter, `expression`, and one example.
pub fn tool(name: &str) -> ToolSchema {
    let description = format!("Does {name}.");
    let schema = json!({"type": "object", "properties": {"expression": {"type": "string"}}});
    let example = json!({"input": {"expression": "1 + 1"}, "output": {"result": 2}});
    serde_json::from_value(json!({
        "name": name, "description": description, "inputSchema": schema, "examples": [example],
    }))
    .unwrap()
}

/// Returns the start of a run with the tools `calculator` and `clock`.
pub fn start(query: &str) -> RunStart {
    let props = AgentProps {
        query: query.to_owned(),
        thread_id: "thread".to_owned(),
        trace_id: Some("trace".to_owned()),
        user_id: Some("user".to_owned()),
        ..AgentProps::default()
    };
    let model = RuntimeProviderConfig::new("scripted", "script");
    let mut start = RunStart::new(props, model);
    start.tools = vec![tool("calculator"), tool("clock")];
    start
}

/// Returns a reply with this text, and with token counts.
pub fn says(text: impl Into<String>) -> Reply {
    let mut reply = ModelReply {
        text: text.into(),
        ..ModelReply::default()
    };
    reply.metadata.input_tokens = Some(INPUT_TOKENS);
    reply.metadata.output_tokens = Some(OUTPUT_TOKENS);
    Ok(reply)
}

/// Returns a reply with a plan of these items.
pub fn plan(items: &Value) -> Reply {
    let plan = json!({"title": "Title", "intent": "Intent", "plan": "The plan.", "todoList": items});
    says(format!("---JSON_OUTPUT_START---\n{plan}\n---JSON_OUTPUT_END---"))
}

/// Returns an item for a plan. The item requires the calculator.
pub fn tool_item(id: &str, dependencies: &[&str]) -> Value {
    json!({
        "id": id, "description": format!("do {id}"), "stepType": "tool", "requiredTools": ["calculator"],
        "dependencies": dependencies,
    })
}

/// Returns an item for a plan. The item requires no tools.
pub fn reasoning_item(id: &str, dependencies: &[&str]) -> Value {
    json!({"id": id, "description": format!("think of {id}"), "stepType": "reasoning", "dependencies": dependencies})
}

/// Returns a reply whose text is JSON that calls tools.
pub fn calls(calls: &[(&str, Value)]) -> Reply {
    let calls: Vec<_> = calls
        .iter()
        .map(|(tool, arguments)| json!({"toolName": tool, "arguments": arguments}))
        .collect();
    says(json!({ "toolCalls": calls }).to_string())
}

/// Returns a reply with one native tool call: a function call beside the text of the reply, not JSON in it.
pub fn native_call(id: &str, tool: &str, arguments: &str) -> Reply {
    let mut reply = ModelReply::default();
    reply.tool_calls.push(ToolCallRequest {
        id: id.to_owned(),
        kind: FunctionKind::Function,
        function: FunctionCall {
            name: tool.to_owned(),
            arguments: arguments.to_owned(),
        },
    });
    Ok(reply)
}

/// Returns `reply` with this stop reason.
pub fn with_stop_reason(reply: Reply, reason: StopReason) -> Reply {
    reply.map(|mut reply| {
        reply.metadata.stop_reason = Some(reason);
        reply
    })
}

/// Returns a reply that calls the calculator.
pub fn calculate(expression: &str) -> Reply {
    calls(&[("calculator", json!({"expression": expression}))])
}

/// Returns a reply that completes its item.
pub fn completes_item(content: &str) -> Reply {
    says(json!({"content": content, "nextStepDecision": "complete_item"}).to_string())
}

/// Returns a reply that fails its item.
pub fn fails_item(reason: &str) -> Reply {
    says(json!({"content": reason, "nextStepDecision": "fail_item"}).to_string())
}

/// Returns the error of a provider that refuses a request because it does not fit the context window.
pub fn exceeds_context() -> Reply {
    Err(ModelError {
        code: ModelErrorCode::ContextLengthExceeded,
        message: "the request has too many tokens".to_owned(),
        retry_after_ms: None,
        request_not_read: false,
    })
}

/// Returns one reply with the native tool calls of several replies.
pub fn native_calls(replies: impl IntoIterator<Item = Reply>) -> Reply {
    let mut all = says("").unwrap();
    for reply in replies {
        all.tool_calls.extend(reply.unwrap().tool_calls);
    }
    Ok(all)
}

/// Returns the error of a model that does not reply in time.
pub fn times_out() -> Reply {
    Err(ModelError {
        code: ModelErrorCode::Timeout,
        message: "no answer within 30 s".to_owned(),
        retry_after_ms: None,
        request_not_read: false,
    })
}

/// Stands in for all tools: returns the result of a call, which is 42 for most expressions. The constants of this file, such as
/// [`FAILS`], are expressions with other results. With an expression that begins with `ask` the tool asks a person; the
/// suspension has the identifier `s` for `ask`, and `s1` for `ask1`.
pub fn stand_in_result(call: &ParsedToolCall) -> ToolResult {
    let mut result = ToolResult::success(call, json!({"result": 42}));
    result.metadata.sources = serde_json::from_value(json!([{"sourceName": "abacus"}])).unwrap();
    match call.arguments["expression"].as_str() {
        Some(FAILS) => ToolResult::error(call, ToolErrorCode::IoError, "the abacus is broken"),
        Some(IS_DENIED) => ToolResult::error(call, ToolErrorCode::PermissionDenied, "the abacus is locked"),
        Some(IS_REFUSED) => {
            let mut refused = ToolResult::error(call, ToolErrorCode::ValidationError, "`expression` is not valid");
            refused.metadata.not_run = true;
            refused
        }
        Some(REQUESTS_SUBTASK) => ToolResult::error(call, ToolErrorCode::NotImplemented, "a subtask cannot be run yet"),
        Some(ask) if ask.starts_with(ASKS_PERSON) => {
            let suspended = json!({
                "callId": call.call_id, "toolName": call.tool_name, "status": "suspended",
                "metadata": {"suspensionId": ask.replace(ASKS_PERSON, "s")},
            });
            serde_json::from_value(suspended).unwrap()
        }
        Some(REQUESTS_HELP) => {
            let request = json!({"action": "LLM_ASSIST_REQUIRED", "prompt": "Shorten this."});
            ToolResult::success(call, request)
        }
        Some(FAILS_REQUESTING_HELP) => {
            let output = Some(json!({"prompt": "Shorten this."}).into());
            let result = ToolResult::error(call, ToolErrorCode::LlmAssistRequired, "shorten this");
            ToolResult { output, ..result }
        }
        Some(SAVES_FILE) => {
            let file = json!({"mediaType": "text/csv", "filename": "out.csv", "bytes": 4, "digest": "blake3:a"});
            result.metadata.attachments = serde_json::from_value(json!([file])).unwrap();
            result
        }
        Some(DRAWS) => {
            let mut drawn = ToolResult::success(call, json!({"bars": DRAWN_TEXT}));
            drawn.metadata.for_display = true;
            drawn
        }
        Some(FAILS_DRAWING) => {
            let mut failed = ToolResult::error(call, ToolErrorCode::Unknown, "shorten this");
            failed.output = Some(json!({"prompt": "Shorten this."}).into());
            failed.metadata.for_display = true;
            failed
        }
        Some(HUGE_OUTPUT) => ToolResult::success(call, json!("x".repeat(20_000))),
        Some(BIG_OUTPUT) => ToolResult::success(call, json!("x".repeat(10_000))),
        _ => result,
    }
}

impl Driver {
    pub fn new(start: RunStart) -> Self {
        let event = RunEvent::Started {
            at: 1_000,
            start: Box::new(start),
        };
        let (run, effects) = Run::start(&event).unwrap();
        let mut driver = Self {
            run,
            journal: vec![event],
            effects: Vec::new(),
            saved_state: None,
            requests: Vec::new(),
            tool_calls_made: Vec::new(),
            file_arguments: Vec::new(),
            max_open_actions: 0,
            checks_replay: true,
            model_calls: BTreeMap::new(),
            script: BTreeMap::new(),
            now: 1_000,
        };
        driver.record_effects(effects);
        driver.make_model_calls();
        driver
    }

    /// Adds replies to the script for `step`: `plan`, the identifier of an item, or `answer`.
    pub fn script(mut self, step: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.script.entry(step.to_owned()).or_default().extend(replies);
        self
    }

    /// Answers actions until the run can only wait for decisions of a person, and returns its provisional report.
    pub fn drive_to_decision(&mut self) -> RunReport {
        loop {
            if let Some(report) = self.run.waiting_report() {
                return report;
            }
            self.answer_all();
        }
    }

    /// Answers actions until the run ends. No reply of the script may be left over.
    pub fn drive(&mut self) -> RunReport {
        while self.run.finished().is_none() {
            assert!(!self.run.waits_for_decision(), "the run waits for a decision");
            self.answer_all();
        }
        let unused: Vec<_> = self
            .script
            .iter()
            .filter(|(_, replies)| !replies.is_empty())
            .map(|(step, _)| step)
            .collect();
        assert!(unused.is_empty(), "replies left for {unused:?}");
        self.run.finished().unwrap().clone()
    }

    /// Makes the model calls that the run wants and can make now. Their replies come from [`answer`](Self::answer) later.
    fn make_model_calls(&mut self) {
        let asked = self.run.ask_models(self.now, |_| "digest".to_owned());
        self.journal.extend(asked.events);
        self.record_effects(asked.effects);
        self.model_calls
            .extend(asked.calls.into_iter().map(|call| (call.id, call)));
        if self.run.finished().is_some() {
            self.model_calls.clear();
        }
    }

    /// Returns the actions that wait for an answer of the driver, oldest first: model calls that were made, and tool calls that
    /// may be made.
    pub fn open_actions(&self) -> Vec<Action> {
        let mut batches: BTreeMap<ActionId, Action> = BTreeMap::new();
        for ready in self.run.ready_calls() {
            let batch = batches.entry(ready.action).or_insert_with(|| Action::CallTools {
                id: ready.action,
                item_id: ready.item_id.clone(),
                calls: Vec::new(),
                files: Vec::new(),
            });
            if let Action::CallTools { calls, files, .. } = batch {
                let with_call_id = ready.files.into_iter().map(|file| (ready.call.call_id.clone(), file));
                files.extend(with_call_id);
                calls.push(ready.call);
            }
        }
        batches.extend(
            self.model_calls
                .iter()
                .map(|(id, call)| (*id, Action::CallModel(call.clone()))),
        );
        batches.into_values().collect()
    }

    /// Answers all actions that are open now, in order. Actions that are opened by an answer stay open.
    pub fn answer_all(&mut self) {
        let actions = self.open_actions();
        self.max_open_actions = self.max_open_actions.max(actions.len());
        for action in actions {
            if self.run.finished().is_none() {
                self.carry_out(action);
            }
        }
    }

    /// Answers `action` and applies the events.
    pub fn carry_out(&mut self, action: Action) {
        for event in self.answer(action) {
            self.apply(&event);
        }
    }

    /// Returns the events that answer `action`, from the script or from the tools.
    pub fn answer(&mut self, action: Action) -> Vec<RunEvent> {
        self.now += MS_PER_ACTION;
        let at = self.now;
        match action {
            Action::CallModel(call) => {
                let step = step_name(&call);
                self.requests.push(StepRequest {
                    step: step.clone(),
                    request: *call.request,
                });
                let replies = self
                    .script
                    .get_mut(&step)
                    .unwrap_or_else(|| panic!("no script for {step}"));
                let reply = replies
                    .pop_front()
                    .unwrap_or_else(|| panic!("no reply left for {step}"));
                vec![RunEvent::of_reply(at, call.id, reply)]
            }
            Action::CallTools { id, calls, files, .. } => {
                self.file_arguments.extend(files);
                let mut events: Vec<_> = calls.iter().map(|call| call_event(at, id, call)).collect();
                // The calls end in the reverse order.
                let results = calls.iter().rev().map(stand_in_result);
                events.extend(results.map(|result| end_event(at, id, result)));
                self.tool_calls_made.extend(calls);
                events
            }
        }
    }

    /// Applies an event and adds it to the journal. Checks that the journal replays to the same run.
    pub fn apply(&mut self, event: &RunEvent) {
        let text = serde_json::to_string(event).unwrap();
        let stored: RunEvent = serde_json::from_str(&text).unwrap();
        assert_eq!(&stored, event);
        let effects = self.run.apply(event).unwrap();
        if let RunEvent::ModelReplied { action, .. } | RunEvent::ModelFailed { action, .. } = event {
            self.model_calls.remove(action);
        }
        self.journal.push(stored);
        let saves = effects.iter().skip(1).filter(|effect| **effect == Effect::SaveState);
        assert_eq!(
            saves.count(),
            0,
            "a state is saved at most once, before the other effects"
        );
        self.record_effects(effects);
        self.make_model_calls();
        if self.checks_replay {
            assert_eq!(Run::replay(&self.journal).unwrap(), self.run);
        }
    }

    /// Forgets the model calls in progress, as a stopped host does.
    pub fn forget_model_calls(&mut self) {
        self.model_calls.clear();
    }

    pub fn cancel(&mut self) {
        self.now += MS_PER_ACTION;
        let event = RunEvent::CancelRequested {
            at: self.now,
            interrupted: Vec::new(),
        };
        self.apply(&event);
    }

    fn record_effects(&mut self, effects: Vec<Effect>) {
        if effects.contains(&Effect::SaveState) {
            self.saved_state = Some(self.run.stored_state().into_owned());
        }
        self.effects.extend(effects);
    }

    pub fn observations(&self, kind: ObservationType) -> Vec<&NewObservation> {
        let all = self.effects.iter().filter_map(|effect| match effect {
            Effect::Observe(observation) if observation.kind == kind => Some(observation),
            _ => None,
        });
        all.collect()
    }

    /// Returns the last saved state.
    pub fn saved_state(&self) -> &PesAgentStateData {
        self.saved_state.as_ref().unwrap()
    }

    pub fn item(&self, id: &str) -> &TodoItem {
        self.run.state().todo_list.iter().find(|item| item.id == id).unwrap()
    }

    pub fn statuses(&self) -> Vec<(&str, TodoItemStatus)> {
        self.run
            .state()
            .todo_list
            .iter()
            .map(|item| (item.id.as_str(), item.status))
            .collect()
    }

    /// Returns the request number `n`, from 0, for `step`: `plan`, the identifier of an item, or `answer`.
    pub fn request(&self, step: &str, n: usize) -> &ModelRequest {
        let mut requests = self.requests.iter().filter(|request| request.step == step);
        &requests.nth(n).unwrap().request
    }

    /// Returns the messages of the request number `n`, from 0, for `step`: `plan`, the identifier of an item, or `answer`.
    pub fn messages(&self, step: &str, n: usize) -> Vec<Message> {
        self.request(step, n).prompt.0.clone()
    }

    /// Returns the text of the last message of the request number `n`, from 0, for `step`: `plan`, the identifier of an item, or
    /// `answer`.
    pub fn last_message(&self, step: &str, n: usize) -> String {
        self.messages(step, n).last().unwrap().content_text().to_owned()
    }

    pub fn first_open_action(&self) -> ActionId {
        self.open_actions().remove(0).id()
    }
}

/// Returns the names of the tools whose schemas the request for an item contains, as functions or in the text of its prompt.
pub fn tools_with_schemas(request: &ModelRequest) -> Vec<String> {
    if !request.tools.is_empty() {
        return request.tools.iter().map(|tool| tool.name.clone()).collect();
    }
    // The second message has the task, with a list of the tools in JSON on the line below the heading `Tools`.
    let (_, section) = request.prompt.0[1].content_text().split_once("## Tools\n").unwrap();
    let listed: Vec<Value> = serde_json::from_str(section.lines().next().unwrap()).unwrap();
    assert!(listed.iter().all(|tool| tool["inputSchema"].is_object()));
    let names = listed.iter().map(|tool| tool["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

/// Returns the text of the answer.
pub fn content(report: &RunReport) -> &str {
    &report.response.response.content
}

pub fn status(report: &RunReport) -> RunStatus {
    report.response.metadata.status
}

/// Creates the driver of a run that asks what 6 times 7 is, and whose script begins with a plan of these items.
pub fn driver_with_plan(items: &Value) -> Driver {
    Driver::new(start("What is 6 times 7?")).script("plan", [plan(items)])
}
