//! The requests that the mock knows and their replies: one fixture for each model call of a run.
//!
//! The mock finds a fixture by texts in the agent's prompts, and takes the first one that matches. It is strict: it refuses a
//! request that no fixture matches. A fixture is also called a turn of the run: the turns of a run are its requests with their
//! replies.

use serde_json::{Value, json};

use crate::connection::{ANTHROPIC, Connection, KEY};

/// The question of every run.
pub(crate) const QUERY: &str = "What is 17.5% of 2340, and what is that divided by 7?";
/// The answer of every successful run.
pub(crate) const ANSWER: &str = "17.5% of 2340 is 409.5, and a seventh of that is 58.5.";
/// The second question of a conversation.
pub(crate) const NEXT_QUERY: &str = "And ten times that?";
/// The answer to [`NEXT_QUERY`].
pub(crate) const NEXT_ANSWER: &str = "Ten times that is 585.";
/// A thought of the model. Any output that contains it outside of a field `thoughts` has leaked it.
pub(crate) const THOUGHT: &str = "the walrus ponders percentages";

/// Number of model calls of a run with the turns of [`two_steps`].
pub(crate) const MODEL_CALLS_OF_TWO_STEPS: usize = 6;
/// The number of input tokens that a reply with [`Fixture::with_token_counts`] states.
pub(crate) const INPUT_TOKENS: u64 = 11;
/// The number of output tokens that a reply with [`Fixture::with_token_counts`] states.
pub(crate) const OUTPUT_TOKENS: u64 = 7;

const PERCENTAGE_TASK: &str = "Take 17.5% of 2340";
const PERCENTAGE_EXPRESSION: &str = "2340 * 17.5 / 100";
/// The percentage and its division by 7 in one expression.
const QUOTIENT_EXPRESSION: &str = "2340 * 17.5 / 700";
const QUOTIENT_TASK: &str = "Divide the result by 7";
const TENFOLD_TASK: &str = "Multiply the result by 10";

/// A request that the mock knows, and its reply.
#[derive(Clone, Debug)]
pub(crate) struct Fixture(Value);

impl Fixture {
    fn new(request: &Value, reply: &Value) -> Self {
        Self(json!({"match": request, "response": reply}))
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0[key] = value.into();
        self
    }

    /// Adds a thought before the reply.
    pub(crate) fn thinking(mut self) -> Self {
        self.0["response"]["reasoning"] = THOUGHT.into();
        self
    }

    /// Makes the reply end because the model has run out of tokens.
    pub(crate) fn out_of_tokens(mut self) -> Self {
        self.0["response"]["finishReason"] = "length".into();
        self
    }

    /// Restricts the fixture to `model`, which the mock then lists.
    pub(crate) fn for_model(mut self, model: &str) -> Self {
        self.0["match"]["model"] = model.into();
        self
    }

    /// Makes the reply state [`INPUT_TOKENS`] and [`OUTPUT_TOKENS`], in the fields of every protocol.
    pub(crate) fn with_token_counts(mut self) -> Self {
        self.0["response"]["usage"] = json!({
            "prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "input_tokens": INPUT_TOKENS,
            "output_tokens": OUTPUT_TOKENS, "promptTokenCount": INPUT_TOKENS, "candidatesTokenCount": OUTPUT_TOKENS,
        });
        self
    }

    /// Restricts the fixture to the first matching request; later requests get the next fixture that matches.
    pub(crate) fn once(self) -> Self {
        self.nth(0)
    }

    /// Restricts the fixture to the matching request with this number, counted from 0.
    pub(crate) fn nth(mut self, n: usize) -> Self {
        self.0["match"]["sequenceIndex"] = n.into();
        self
    }

    /// Makes the reply end because the provider blocked the rest.
    pub(crate) fn blocked(mut self, connection: Connection) -> Self {
        // For Anthropic the mock does not translate the reason, so it has to be the one that Anthropic uses.
        let reason = if connection.provider == ANTHROPIC.provider {
            "refusal"
        } else {
            "content_filter"
        };
        self.0["response"]["finishReason"] = reason.into();
        self
    }

    /// Replaces the value of the header `Retry-After` of an error, which is `1` otherwise.
    pub(crate) fn retry_after(mut self, when: impl Into<Value>) -> Self {
        self.0["response"]["retryAfter"] = when.into();
        self
    }

    /// Replaces the reply by an error with this status. The message contains the key, as messages of some providers do.
    pub(crate) fn failing(self, status: u16, code: &str) -> Self {
        self.with_error(status, code, &format!("refused with {KEY}"))
    }

    /// Replaces the reply by an error for a prompt that is too long, with the texts of all providers.
    pub(crate) fn too_long(self) -> Self {
        let message = "prompt is too long: the input token count exceeds the maximum context length";
        self.with_error(400, "invalid_request_error", message)
    }

    fn with_error(self, status: u16, code: &str, message: &str) -> Self {
        let error = json!({"message": message, "type": code, "code": code});
        self.with("response", json!({"error": error, "status": status, "retryAfter": 1}))
    }

    /// Makes every matching request fail with a fault of the mock: `dropRate` is a reply with the status 500, `disconnectRate` a
    /// closed connection, and `malformedRate` a reply that is not JSON.
    pub(crate) fn chaos(self, fault: &str) -> Self {
        self.with("chaos", json!({fault: 1}))
    }

    /// Delays the reply for longer than any test waits.
    pub(crate) fn silent(self) -> Self {
        self.with("chaos", json!({"latencyMs": 30_000}))
    }

    /// Closes the connection after some pieces of a streamed reply, with a pause so that the pieces arrive first.
    pub(crate) fn breaking_off(self) -> Self {
        self.with("chunkSize", 4)
            .with("latency", 25)
            .with("truncateAfterChunks", 8)
    }

    /// Stalls after some pieces of a streamed reply.
    pub(crate) fn stalling(self) -> Self {
        let timings = json!({"ttftMs": 0, "interChunkDelaysMs": [0, 0, 0, 0, 0, 0, 0, 30_000]});
        self.with("chunkSize", 4).with("recordedTimings", timings)
    }

    pub(crate) fn to_json(&self) -> &Value {
        &self.0
    }
}

/// A part of the instructions of the planner.
const PLANNER: &str = "You answer queries";
/// A part of the instructions of a step.
const STEP: &str = "You carry out one step of a plan";

/// Returns the turn that plans the steps of [`two_steps`].
pub(crate) fn planning() -> Fixture {
    let steps = [
        step("step_1", PERCENTAGE_TASK, &[]),
        step("step_2", QUOTIENT_TASK, &["step_1"]),
    ];
    plan(QUERY, &steps)
}

fn step(id: &str, description: &str, dependencies: &[&str]) -> Value {
    json!({
        "id": id, "description": description, "stepType": "tool", "requiredTools": ["calculator"],
        "expectedOutcome": "a number", "dependencies": dependencies,
    })
}

/// Returns the turn that plans `steps` for the question `query`. The plan is JSON in the text of the reply.
fn plan(query: &str, steps: &[Value]) -> Fixture {
    let plan = json!({
        "title": "a share and its seventh", "intent": "two numbers", "plan": "One call after the other.",
        "todoList": steps,
    });
    let text = format!("---JSON_OUTPUT_START---\n{plan}\n---JSON_OUTPUT_END---");
    first_planner_turn(query, &json!({"content": text}))
}

/// Returns the first turn of the planner for the question `query`.
fn first_planner_turn(query: &str, reply: &Value) -> Fixture {
    let request =
        json!({"userMessage": format!("## Query\n> {query}"), "systemMessage": PLANNER, "hasToolResult": false});
    Fixture::new(&request, reply)
}

/// Returns the turn that answers at once.
pub(crate) fn immediate_answer() -> Vec<Fixture> {
    vec![first_planner_turn(QUERY, &json!({"content": ANSWER}))]
}

/// Returns the turns of a plan that the model submits by calling `submit_plan`. It has five steps, and states the call of each
/// with its arguments. Each call after the first uses the result of the call before it.
pub(crate) fn submitted_plan_of_stated_calls() -> Vec<Fixture> {
    let first = json!({"expression": PERCENTAGE_EXPRESSION});
    let next =
        |n: usize| json!({"expression": {"$concat": [{"$from": format!("step_{n}"), "path": "/result"}, " + 1"]}});
    let arguments = std::iter::once(first).chain((1..5).map(next));
    let steps = arguments
        .enumerate()
        .map(|(n, arguments)| submitted_step_with_call(n + 1, &arguments));
    vec![submission(steps.collect()), answer_from_results()]
}

/// Returns the turns of a submitted plan of five steps. The plan states the call of every step except the third, which the
/// model carries out.
pub(crate) fn submitted_plan_with_step_left_to_model() -> Vec<Fixture> {
    let first = json!({"expression": PERCENTAGE_EXPRESSION});
    let steps = (1..=5).map(|n| {
        if n == 3 {
            step("step_3", PERCENTAGE_TASK, &["step_1"])
        } else {
            submitted_step_with_call(n, &first)
        }
    });
    let submission = submission(steps.collect());
    vec![submission, first_call(), step_ending("409.5"), answer_from_results()]
}

fn submitted_step_with_call(number: usize, arguments: &Value) -> Value {
    let calls = json!([{"toolName": "calculator", "arguments": arguments.to_string()}]);
    json!({
        "id": format!("step_{number}"), "description": "compute", "stepType": null, "requiredTools": null,
        "dependencies": null, "expectedOutcome": null, "toolCalls": calls,
    })
}

fn submission(steps: Vec<Value>) -> Fixture {
    let plan = json!({"answer": null, "title": null, "intent": "a number", "plan": null, "todoList": steps});
    first_planner_turn(
        QUERY,
        &json!({"toolCalls": [{"name": "submit_plan", "arguments": plan}]}),
    )
}

/// Returns the turn that writes the answer after a submitted plan. Its request has the completed steps in the result of
/// `submit_plan`, while that of [`synthesis`] has them in the message of the user.
fn answer_from_results() -> Fixture {
    let request = json!({"systemMessage": PLANNER, "toolResultContains": "## Completed steps"});
    Fixture::new(&request, &json!({"content": ANSWER}))
}

/// Returns the turns of a planner that calls tools itself and answers from their results.
pub(crate) fn direct_calls() -> [Fixture; 2] {
    let calls = [call(PERCENTAGE_EXPRESSION), call(QUOTIENT_EXPRESSION)];
    let request = json!({"systemMessage": PLANNER, "toolResultContains": "58.5"});
    [
        first_planner_turn(QUERY, &json!({"toolCalls": calls})),
        Fixture::new(&request, &json!({"content": ANSWER})),
    ]
}

/// Returns the turns of [`direct_calls`] with a long answer, which stalls after its beginning.
pub(crate) fn direct_calls_and_stalling_answer() -> [Fixture; 2] {
    let [calls, answer] = direct_calls();
    let long = json!({"content": ANSWER.repeat(8)});
    // The pieces are longer than those of `stalling`, so that text arrives before the stall: in some protocols the first pieces
    // have no text.
    [calls, answer.with("response", long).stalling().with("chunkSize", 16)]
}

/// Returns the turn of a step that makes `calls`.
fn step_calling(task: &str, calls: &[Value]) -> Fixture {
    let request = json!({"userMessage": format!("## Task\n> {task}"), "systemMessage": STEP, "hasToolResult": false});
    Fixture::new(&request, &json!({"toolCalls": calls}))
}

/// Returns a call of the calculator, without an identifier, which the mock adds.
fn call(expression: &str) -> Value {
    json!({"name": "calculator", "arguments": {"expression": expression}})
}

/// Returns the turn that ends a step after a tool result that contains `result`.
fn step_ending(result: &str) -> Fixture {
    let reply = json!({"content": result, "nextStepDecision": "complete_item"});
    let request = json!({"systemMessage": STEP, "hasToolResult": true, "toolResultContains": result});
    Fixture::new(&request, &json!({"content": reply.to_string()}))
}

/// Returns the first call of [`two_steps`].
pub(crate) fn first_call() -> Fixture {
    step_calling(PERCENTAGE_TASK, &[call(PERCENTAGE_EXPRESSION)])
}

/// A fault of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallFault {
    /// The tool fails, because of an invalid expression.
    InvalidExpression,
    /// The tool does not exist.
    UnknownTool,
    /// The name of the tool is in another letter case, so the tool does not exist.
    NameInAnotherCase,
    /// The arguments are truncated JSON.
    TruncatedArguments,
    /// The arguments are a list.
    ListAsArguments,
    /// An argument has another type.
    WrongType,
    /// There is an unknown argument.
    UnknownArgument,
}

/// Returns three turns: a first call with a fault, the same call again, and the corrected call after the error of the faulty one.
/// The second turn is used only if the faulty call is of another tool than the step requires. The host does not make such a call
/// the first time, but reminds the model of the required tool.
pub(crate) fn faulty_first_call_and_correction(fault: CallFault) -> [Fixture; 3] {
    let call = match fault {
        CallFault::InvalidExpression => call("2340 *"),
        CallFault::UnknownTool => json!({"name": "abacus", "arguments": {}}),
        CallFault::NameInAnotherCase => {
            json!({"name": "Calculator", "arguments": {"expression": PERCENTAGE_EXPRESSION}})
        }
        CallFault::ListAsArguments => json!({"name": "calculator", "arguments": "[1, 2]"}),
        CallFault::WrongType => json!({"name": "calculator", "arguments": {"expression": [PERCENTAGE_EXPRESSION]}}),
        CallFault::UnknownArgument => {
            json!({"name": "calculator", "arguments": {"expression": PERCENTAGE_EXPRESSION, "unsafe": true}})
        }
        CallFault::TruncatedArguments => json!({"name": "calculator", "arguments": "{\"expression\": \"2340 * 17.5 "}),
    };
    let reminded = json!({"userMessage": "VALIDATION FAILED", "systemMessage": STEP, "hasToolResult": false});
    [
        step_calling(PERCENTAGE_TASK, std::slice::from_ref(&call)),
        Fixture::new(&reminded, &json!({"toolCalls": [call]})),
        first_call_after("\"error\""),
    ]
}

/// Returns the turn that makes the first call in reply to every request of every step, whatever the call returns.
pub(crate) fn first_call_forever() -> Fixture {
    let request = json!({"systemMessage": STEP});
    Fixture::new(&request, &json!({"toolCalls": [call(PERCENTAGE_EXPRESSION)]}))
}

/// Returns the turn with an empty reply to every request of every step.
pub(crate) fn empty_forever() -> Fixture {
    let request = json!({"systemMessage": STEP});
    Fixture::new(&request, &json!({"content": ""}))
}

/// Returns the turns of one step whose first reply makes `count` different calls. The step ends when one of the results says that
/// its call was not made.
pub(crate) fn many_calls(count: usize) -> Vec<Fixture> {
    let calls: Vec<_> = (0..count).map(|n| call(&format!("{n} + 58.5 - {n}"))).collect();
    let reply = json!({"content": "58.5", "nextStepDecision": "complete_item"});
    let request = json!({"systemMessage": STEP, "toolResultContains": "not called"});
    let end = Fixture::new(&request, &json!({"content": reply.to_string()}));
    let turns = one_step(step_calling(PERCENTAGE_TASK, &calls));
    [end].into_iter().chain(turns).collect()
}

/// Returns a first reply whose two calls have the same identifier.
pub(crate) fn calls_with_the_same_identifier() -> Fixture {
    let calls = [PERCENTAGE_EXPRESSION, QUOTIENT_EXPRESSION].map(|expression| {
        let mut call = call(expression);
        call["id"] = "call_same".into();
        call
    });
    step_calling(PERCENTAGE_TASK, &calls)
}

/// Returns a first reply that is truncated, and the call that follows the error about the truncation.
pub(crate) fn truncated_first_call() -> [Fixture; 2] {
    [first_call().out_of_tokens(), first_call_after("cut off")]
}

/// Returns the first call, for a step whose previous call has a result that contains `result`.
fn first_call_after(result: &str) -> Fixture {
    let request = json!({"systemMessage": STEP, "toolResultContains": result});
    Fixture::new(&request, &json!({"toolCalls": [call(PERCENTAGE_EXPRESSION)]}))
}

/// Returns the turn that writes the answer.
pub(crate) fn synthesis() -> Fixture {
    answering("## Completed steps", ANSWER)
}

/// Returns the turn that writes `answer`, for a prompt that contains `prompt_part`.
fn answering(prompt_part: &str, answer: &str) -> Fixture {
    let request = json!({"userMessage": prompt_part, "systemMessage": PLANNER});
    Fixture::new(&request, &json!({"content": answer}))
}

/// Returns the turns of the second question, which uses the result of the first one. They have to precede those of
/// [`two_steps`], because the mock takes the first fixture that matches.
pub(crate) fn next_question() -> Vec<Fixture> {
    vec![
        plan(NEXT_QUERY, &[step("step_3", TENFOLD_TASK, &[])]),
        step_calling(TENFOLD_TASK, &[call("58.5 * 10")]),
        step_ending("585"),
        answering("585", NEXT_ANSWER),
    ]
}

/// Returns the turns of a run with two steps, the second of which needs the result of the first.
pub(crate) fn two_steps() -> Vec<Fixture> {
    vec![
        planning(),
        first_call(),
        step_ending("409.5"),
        step_calling(QUOTIENT_TASK, &[call("409.5 / 7")]),
        step_ending("58.5"),
        synthesis(),
    ]
}

/// Returns the turns of one step whose reply makes two calls.
pub(crate) fn parallel_calls() -> Vec<Fixture> {
    one_step(step_calling(
        PERCENTAGE_TASK,
        &[call(PERCENTAGE_EXPRESSION), call(QUOTIENT_EXPRESSION)],
    ))
}

/// Returns the turns of one step whose first reply is `first`, and which ends with the result 58.5.
pub(crate) fn one_step(first: Fixture) -> Vec<Fixture> {
    vec![
        plan(QUERY, &[step("step_1", PERCENTAGE_TASK, &[])]),
        first,
        step_ending("58.5"),
        synthesis(),
    ]
}

/// Returns `first`, followed by the turns of [`two_steps`].
pub(crate) fn two_steps_after(first: impl IntoIterator<Item = Fixture>) -> Vec<Fixture> {
    first.into_iter().chain(two_steps()).collect()
}
