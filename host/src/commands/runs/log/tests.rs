use art_agent::RunStart;
use art_core::agent::AgentProps;
use art_core::outcome::EndingKind;
use art_core::provider::RuntimeProviderConfig;
use art_core::stream::LlmMetadata;
use art_core::usage::ToolUsage;
use serde_json::json;

use super::*;

/// Returns a journal with these events. Their times are 1001 ms, 1002 ms and so on.
fn journal_of(events: &[RunEvent]) -> Vec<JournalEntry> {
    let entries = (1..).zip(events).map(|(sequence, event)| JournalEntry {
        sequence,
        timestamp: 1_000 + sequence,
        kind: String::new(),
        payload: serde_json::to_string(event).unwrap(),
        digest: String::new(),
    });
    entries.collect()
}

fn started_event() -> RunEvent {
    let props = AgentProps {
        query: "What is 6 times 7?".to_owned(),
        thread_id: "t".to_owned(),
        trace_id: Some("r".to_owned()),
        ..AgentProps::default()
    };
    let calculator = json!({"name": "calculator", "description": "Calculates.", "inputSchema": {"type": "object"}});
    let mut start = Box::new(RunStart::new(props, RuntimeProviderConfig::default()));
    start.tools = vec![serde_json::from_value(calculator).unwrap()];
    RunEvent::Started { at: 0, start }
}

fn reply_with_cost(text: String, cost_usd: f64) -> ModelReply {
    ModelReply {
        text,
        metadata: LlmMetadata {
            input_tokens: Some(1_200),
            output_tokens: Some(30),
            cost_usd: Some(cost_usd),
            ..LlmMetadata::default()
        },
        ..ModelReply::default()
    }
}

/// Drives a run whose plan has one step with one tool call, and returns its events.
fn events_of_run_with_one_tool_call() -> Vec<RunEvent> {
    let call = json!({"toolName": "calculator", "arguments": {"expression": "6*7"}});
    let step = json!({"id": "step_1", "description": "Multiply", "stepType": "tool", "dependencies": [],
        "requiredTools": ["calculator"]});
    let plan = json!({"title": "T", "intent": "I", "plan": "P", "todoList": [step]});
    // The replies of the model, the last one first.
    let mut replies = vec![
        "It is 42.".to_owned(),
        json!({"content": "done", "nextStepDecision": "complete_item"}).to_string(),
        json!({ "toolCalls": [call] }).to_string(),
        format!("---JSON_OUTPUT_START---\n{plan}\n---JSON_OUTPUT_END---"),
    ];
    let mut events = vec![started_event()];
    let (mut run, _) = Run::start(&events[0]).unwrap();
    while run.finished().is_none() {
        // The digests of the requests to the model are left empty.
        let asked = run.ask_models(0, |_| String::new());
        events.extend(asked.events);
        let mut next_events: Vec<_> = asked
            .calls
            .into_iter()
            .map(|model_call| RunEvent::ModelReplied {
                at: 0,
                action: model_call.id,
                reply: reply_with_cost(replies.pop().unwrap(), 0.25),
            })
            .collect();
        for tool_call in run.ready_calls() {
            next_events.push(tool_call.called_event(0));
            let mut end = CallEnd::new(
                ToolResult::success(&tool_call.call, json!({"result": 42})),
                EndingKind::Success,
            );
            end.usage = ToolUsage {
                fuel: 12_345,
                wall_us: 678,
                ..ToolUsage::default()
            };
            next_events.push(RunEvent::ToolEnded {
                at: 0,
                action: tool_call.action,
                end: Box::new(end),
            });
        }
        for event in next_events {
            run.apply(&event).unwrap();
            events.push(event);
        }
    }
    events
}

#[test]
fn a_log_has_a_line_for_each_event_with_its_step() {
    let journal = journal_of(&events_of_run_with_one_tool_call());
    insta::assert_snapshot!(Log::read(&journal).unwrap().lines(1_000).join("\n"));
}

#[test]
fn the_costs_of_the_steps_add_up_to_those_of_the_run() {
    let journal = journal_of(&events_of_run_with_one_tool_call());
    let log = Log::read(&journal).unwrap();
    let costs = log.costs();
    insta::assert_snapshot!(costs.lines().join("\n"));
    let mut sum = StepCosts::default();
    costs.steps.iter().for_each(|step| sum.add(step));
    assert_eq!(sum, costs.total);
}

#[test]
fn a_line_describes_each_refused_model_call_resumption_cancellation_and_host_failure() {
    let describe = |event: RunEvent| event_text(&event);
    let action = ActionId(1);
    let lines = [
        describe(RunEvent::ModelNotAsked {
            at: 0,
            action,
            refusal: CallRefusal::BudgetSpent,
        }),
        describe(RunEvent::Resumed {
            at: 0,
            fuel_basis: String::new(),
        }),
        describe(RunEvent::CancelRequested {
            at: 0,
            interrupted: Vec::new(),
        }),
        describe(RunEvent::HostFailed {
            at: 0,
            reason: "it stopped".to_owned(),
        }),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    the model is not asked: a budget is used up
    another host goes on with the run
    the person cancels the run
    the host ends the run: it stopped
    ");
}

#[test]
fn an_invalid_journal_is_refused_with_the_number_of_its_first_invalid_event() {
    // A run cannot start twice.
    let mut damaged = journal_of(&[started_event(), started_event()]);
    let reason = |journal: &[JournalEntry]| Log::read(journal).err().unwrap();
    assert!(reason(&damaged).starts_with("event 2: "));
    damaged[1].payload = json!({"type": "unknown"}).to_string();
    assert!(reason(&damaged).starts_with("event 2 cannot be read: "));
}
