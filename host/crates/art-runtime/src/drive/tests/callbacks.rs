//! Tests of the notifications that a watcher gets during a run. The model gives prepared replies one after the other. The events
//! of a run come in a fixed order (contract A82). Failed calls, calls of unknown tools and large results do not end a run
//! (contract A84).

use art_core::provider::{ModelRequest, RuntimeProviderConfig};
use art_core::span::SpanContext;
use art_core::stream::{ModelReply, StreamEvent};
use art_core::tool::ParsedToolCall;
use art_tools::{ToolProgress, ToolReport};

use super::scripted::{
    ANSWER, LARGE_OUTPUT_CHARS, Reply, calling_reply, completing_reply, failing_reply, one_step_plan, plan_reply,
    scripted_runtime, text_reply, tool,
};
use super::*;

/// Records all notifications with their spans. The arrival of a piece of a reply is recorded only if the piece is text.
#[derive(Default)]
struct Recorder {
    lines: Vec<(SpanContext, String)>,
    /// Length of the longest tool output, in bytes.
    largest_output: usize,
    /// Number of the notification at which to panic, from 1.
    panics_at: Option<usize>,
}

impl Recorder {
    fn record(&mut self, span: &SpanContext, line: impl Into<String>) {
        self.lines.push((span.clone(), line.into()));
        // Panics at the notification with the number `panics_at`.
        assert_ne!(Some(self.lines.len()), self.panics_at, "as requested");
    }

    /// Returns the recorded lines, each after the number of its span. Spans are numbered in the order of their starts; the run
    /// is 0.
    fn transcript(&self) -> String {
        let mut spans: Vec<&str> = Vec::new();
        let line = |(span, line): &'_ (SpanContext, String)| format!("{} {line}", span.span_id);
        let mut transcript = self.lines.iter().map(line).collect::<Vec<_>>().join("\n");
        for (span, _) in &self.lines {
            if !spans.contains(&span.span_id.as_str()) {
                transcript = transcript.replace(&span.span_id, &spans.len().to_string());
                spans.push(&span.span_id);
            }
        }
        transcript
    }

    /// Returns the recorded lines that begin with `prefix`.
    fn lines_with_prefix(&self, prefix: &str) -> Vec<&str> {
        let lines = self.lines.iter().map(|(_, line)| line.as_str());
        lines.filter(|line| line.starts_with(prefix)).collect()
    }
}

impl Watcher for Recorder {
    fn run_started(&mut self, span: &SpanContext, query: &str) {
        self.record(span, format!("run started: {query}"));
    }

    fn model_called(&mut self, span: &SpanContext, model: &RuntimeProviderConfig, request: &ModelRequest) {
        let line = format!("model called: {} for {:?}", model.provider_name, request.phase);
        self.record(span, line);
    }

    fn stream(&mut self, piece: &ReplyPiece<'_>) {
        if let StreamEvent::Token(_) = piece.event {
            self.record(piece.span, "model sent text");
        }
    }

    fn model_replied(&mut self, span: &SpanContext, reply: &ModelReply) {
        self.record(
            span,
            format!("model replied: {} tokens", reply.metadata.usage().total_tokens),
        );
    }

    fn model_failed(&mut self, span: &SpanContext, error: &ModelError) {
        self.record(span, format!("model failed: {error}"));
    }

    fn tool_called(&mut self, span: &SpanContext, call: &ParsedToolCall) {
        self.record(span, format!("tool called: {}{}", call.tool_name, call.arguments));
    }

    fn tool_progressed(&mut self, span: &SpanContext, progress: &ToolProgress) {
        let ToolProgress {
            parent_id,
            title,
            percent,
            ..
        } = progress;
        self.record(span, format!("tool progressed: {parent_id:?} {title} {percent:?}"));
    }

    fn tool_returned(&mut self, span: &SpanContext, report: &ToolReport) {
        let output = report
            .result
            .output
            .as_deref()
            .map(Value::to_string)
            .unwrap_or_default();
        self.largest_output = self.largest_output.max(output.len());
        self.record(span, format!("tool returned: {}", report.ending.as_str()));
    }

    fn run_failed(&mut self, span: &SpanContext, error: &ArtError) {
        self.record(span, format!("run failed: {:?}, {error}", error.code));
    }

    fn run_ended(&mut self, span: &SpanContext, answer: &str) {
        let answer = answer.lines().next().unwrap_or_default();
        self.record(span, format!("run ended: {answer}"));
    }
}

/// Asks a question of a model that gives `replies`. Returns the answer and the recorded notifications.
async fn record_run(replies: impl IntoIterator<Item = Reply>) -> (Answer, Recorder) {
    let (_home, runtime) = scripted_runtime(replies);
    let mut recorder = Recorder::default();
    let answer = runtime
        .ask_watched(question(), CancellationToken::new(), &mut recorder)
        .await;
    (answer.unwrap(), recorder)
}

#[tokio::test]
async fn a_run_without_tools_is_reported_from_start_to_end() {
    let (_, recorder) = record_run([plan_reply(&json!([])), text_reply("2 million")]).await;
    insta::assert_snapshot!(recorder.transcript(), @r"
    0 run started: What is the population of Paris?
    1 model called: embedded for Planning
    1 model sent text
    1 model replied: 12 tokens
    2 model called: embedded for Synthesis
    2 model sent text
    2 model replied: 12 tokens
    0 run ended: 2 million
    ");
}

#[tokio::test]
async fn consecutive_tool_calls_are_reported_between_the_model_calls() {
    let (_, recorder) = record_run([
        one_step_plan(),
        calling_reply(&["one"]),
        calling_reply(&["two"]),
        completing_reply(),
        text_reply(ANSWER),
    ])
    .await;
    insta::assert_snapshot!(recorder.transcript(), @r"
    0 run started: What is the population of Paris?
    1 model called: embedded for Planning
    1 model sent text
    1 model replied: 12 tokens
    2 model called: embedded for Execution
    2 model sent text
    2 model replied: 12 tokens
    3 tool called: one{}
    3 tool returned: success
    4 model called: embedded for Execution
    4 model sent text
    4 model replied: 12 tokens
    5 tool called: two{}
    5 tool returned: success
    6 model called: embedded for Execution
    6 model sent text
    6 model replied: 12 tokens
    7 model called: embedded for Synthesis
    7 model sent text
    7 model replied: 12 tokens
    0 run ended: The answer.
    ");
}

#[tokio::test]
async fn calls_of_one_reply_are_reported_before_the_next_model_call() {
    let (_, recorder) = record_run([
        one_step_plan(),
        calling_reply(&["two", "one"]),
        completing_reply(),
        text_reply(ANSWER),
    ])
    .await;
    insta::assert_snapshot!(recorder.transcript(), @r"
    0 run started: What is the population of Paris?
    1 model called: embedded for Planning
    1 model sent text
    1 model replied: 12 tokens
    2 model called: embedded for Execution
    2 model sent text
    2 model replied: 12 tokens
    3 tool called: two{}
    4 tool called: one{}
    3 tool returned: success
    4 tool returned: success
    5 model called: embedded for Execution
    5 model sent text
    5 model replied: 12 tokens
    6 model called: embedded for Synthesis
    6 model sent text
    6 model replied: 12 tokens
    0 run ended: The answer.
    ");
}

#[tokio::test]
async fn the_end_of_a_failed_tool_call_is_reported_and_the_run_continues() {
    let (answer, recorder) = record_run([
        one_step_plan(),
        calling_reply(&["fails", "panics"]),
        completing_reply(),
        text_reply(ANSWER),
    ])
    .await;
    assert_eq!(
        recorder.lines_with_prefix("tool"),
        [
            "tool called: fails{}",
            "tool called: panics{}",
            "tool returned: failure",
            "tool returned: host_error"
        ]
    );
    assert_eq!(recorder.lines_with_prefix("run ended"), ["run ended: The answer."]);
    assert_eq!(answer.calls.len(), 2);
}

/// Asks a question whose tool reports its progress. Returns the answer and the journal as text.
async fn ask_with_progress(watcher: &mut dyn Watcher) -> (Answer, String) {
    let (_home, runtime) = scripted_runtime([
        one_step_plan(),
        calling_reply(&["works"]),
        completing_reply(),
        text_reply(ANSWER),
    ]);
    let schema = serde_json::from_value(json!({
        "name": "works", "description": "Works.", "inputSchema": {"type": "object"},
    }));
    let works = DirectTool::new(schema.unwrap(), |call| async move {
        call.progress.report("halfway", r#"{"done": 1, "of": 2}"#);
        // Reports are read every 100 ms while the tool runs.
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        success(&json!(1))
    });
    runtime.tools.registry().register(Arc::new(works)).unwrap();
    let answer = runtime
        .ask_watched(question(), CancellationToken::new(), watcher)
        .await
        .unwrap();
    let journal = runtime.store.read_journal(&answer.trace_id).await.unwrap();
    (answer, format!("{journal:?}"))
}

#[tokio::test(start_paused = true)]
async fn progress_of_a_tool_is_reported_between_its_start_and_its_end() {
    let mut recorder = Recorder::default();
    ask_with_progress(&mut recorder).await;
    // Progress names the step of the call as its parent. The only step of the plan is `a`.
    let expected = [
        "tool called: works{}",
        "tool progressed: Some(\"a\") halfway Some(50)",
        "tool returned: success",
    ];
    assert_eq!(recorder.lines_with_prefix("tool"), expected);
}

#[tokio::test(start_paused = true)]
async fn progress_of_a_tool_is_not_recorded_in_the_journal() {
    let (answer, journal) = ask_with_progress(&mut Unwatched).await;
    assert_eq!(answer.report.response.response.content, ANSWER);
    assert!(!journal.contains("halfway"), "{journal}");
}

#[tokio::test]
async fn a_call_of_a_tool_that_does_not_exist_is_not_reported() {
    let (answer, recorder) = record_run([
        one_step_plan(),
        calling_reply(&["unknown", "one"]),
        completing_reply(),
        text_reply(ANSWER),
    ])
    .await;
    assert_eq!(
        recorder.lines_with_prefix("tool"),
        ["tool called: one{}", "tool returned: success"]
    );
    assert_eq!(answer.report.response.response.content, ANSWER);
}

#[tokio::test]
async fn a_watcher_gets_a_large_result_in_full() {
    let (_, recorder) = record_run([
        one_step_plan(),
        calling_reply(&["large"]),
        completing_reply(),
        text_reply(ANSWER),
    ])
    .await;
    let quotation_marks = 2;
    assert_eq!(recorder.largest_output, LARGE_OUTPUT_CHARS + quotation_marks);
}

#[tokio::test]
async fn a_failure_of_the_model_is_reported_before_the_end_of_the_run() {
    let (answer, recorder) = record_run([failing_reply()]).await;
    assert_eq!(answer.report.response.metadata.status, RunStatus::Error);
    insta::assert_snapshot!(recorder.transcript(), @r"
    0 run started: What is the population of Paris?
    1 model called: embedded for Planning
    1 model failed: the key is wrong
    0 run failed: PlanningFailed, planning failed: the model could not be asked: the key is wrong
    0 run ended: The query could not be answered: planning failed: the model could not be asked: the key is wrong.
    ");
}

#[tokio::test]
async fn a_model_that_fails_at_the_end_does_not_fail_a_run_with_results() {
    let (answer, recorder) = record_run([
        one_step_plan(),
        calling_reply(&["one"]),
        completing_reply(),
        failing_reply(),
    ])
    .await;
    assert_eq!(answer.report.response.metadata.status, RunStatus::Partial);
    assert_eq!(
        recorder.lines_with_prefix("model failed"),
        ["model failed: the key is wrong"]
    );
    // The run started and ended. It did not fail.
    assert_eq!(recorder.lines_with_prefix("run").len(), 2);
}

#[tokio::test]
async fn a_run_that_the_store_refuses_is_reported_as_failed_and_ended() {
    let (_home, runtime) = scripted_runtime([]);
    // The event that starts a run contains the attachments, so it is larger than a stored value may be.
    let attachment = QueryAttachment {
        name: "large.txt".to_owned(),
        text: "x".repeat(art_store::limits::MAX_VALUE_BYTES),
        ..QueryAttachment::default()
    };
    let question = Question {
        attachments: vec![attachment],
        ..question()
    };
    let mut recorder = Recorder::default();
    let answer = runtime
        .ask_watched(question, CancellationToken::new(), &mut recorder)
        .await;
    assert!(answer.is_err());
    let [_, failed, ended] = recorder.lines_with_prefix("run")[..] else {
        panic!("{}", recorder.transcript())
    };
    assert!(failed.starts_with("run failed: StorageError, "), "{failed}");
    assert!(ended.starts_with("run ended: Error: "), "{ended}");
}

#[tokio::test]
async fn the_end_of_a_cancelled_tool_call_is_reported_before_the_end_of_its_run() {
    let cancel = CancellationToken::new();
    let (_home, runtime) = scripted_runtime([one_step_plan(), calling_reply(&["waits"])]);
    let cancel_in_tool = cancel.clone();
    let waits = tool("waits", move || {
        cancel_in_tool.cancel();
        std::future::pending()
    });
    runtime.tools.registry().register(waits).unwrap();
    let mut recorder = Recorder::default();
    runtime.ask_watched(question(), cancel, &mut recorder).await.unwrap();
    let last_lines_backwards: Vec<_> = recorder
        .lines
        .iter()
        .rev()
        .take(3)
        .map(|(_, line)| line.as_str())
        .collect();
    let expected = [
        "run ended: The run was cancelled before it was finished.",
        "tool returned: cancelled",
        "tool called: waits{}",
    ];
    assert_eq!(last_lines_backwards, expected);
    assert!(recorder.lines_with_prefix("run failed").is_empty());
}

#[tokio::test]
async fn a_watcher_that_panics_is_not_called_again_and_the_run_continues() {
    let replies = || {
        [
            one_step_plan(),
            calling_reply(&["one", "fails"]),
            completing_reply(),
            text_reply(ANSWER),
        ]
    };
    let (_, undisturbed) = record_run(replies()).await;
    for panicking_notification in 1..=undisturbed.lines.len() {
        let (_home, runtime) = scripted_runtime(replies());
        let mut recorder = Recorder {
            panics_at: Some(panicking_notification),
            ..Recorder::default()
        };
        let answer = runtime
            .ask_watched(question(), CancellationToken::new(), &mut recorder)
            .await;
        let answer = answer.unwrap();
        assert_eq!(
            answer.report.response.response.content, ANSWER,
            "{panicking_notification}"
        );
        assert_eq!(
            (recorder.lines.len(), answer.watcher_panics),
            (panicking_notification, 1)
        );
    }
}

#[tokio::test]
async fn the_panic_count_is_0_if_the_watcher_does_not_panic() {
    let (answer, _) = record_run([plan_reply(&json!([])), text_reply(ANSWER)]).await;
    assert_eq!(answer.watcher_panics, 0);
}

#[tokio::test]
#[should_panic = "as requested"]
async fn a_panic_of_a_strict_watcher_panics_the_run() {
    let (_home, runtime) = scripted_runtime([plan_reply(&json!([])), text_reply(ANSWER)]);
    let mut question = question();
    question.settings.strict_watcher = true;
    let mut recorder = Recorder {
        panics_at: Some(3),
        ..Recorder::default()
    };
    drop(
        runtime
            .ask_watched(question, CancellationToken::new(), &mut recorder)
            .await,
    );
}

#[tokio::test]
async fn a_run_without_a_watcher_is_answered() {
    let (_home, runtime) = scripted_runtime([
        one_step_plan(),
        calling_reply(&["one"]),
        completing_reply(),
        text_reply(ANSWER),
    ]);
    let answer = ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    assert_eq!(answer.report.response.response.content, ANSWER);
}

// The span of each call names the span of the run as its parent (contract A83).
#[tokio::test]
async fn the_spans_of_calls_are_children_of_the_span_of_their_run_in_one_trace() {
    let (answer, recorder) = record_run([
        one_step_plan(),
        calling_reply(&["one"]),
        completing_reply(),
        text_reply(ANSWER),
    ])
    .await;
    let trace_id = answer.trace_id.replace('-', "");
    let root = &recorder.lines[0].0;
    assert!(recorder.lines.iter().all(|(span, _)| span.trace_id == trace_id));
    assert_eq!(root.parent_span_id, None);
    for (span, line) in &recorder.lines {
        let is_run_line = line.starts_with("run");
        assert_eq!(span == root, is_run_line, "{line}");
        assert_eq!(
            span.parent_span_id.as_ref() == Some(&root.span_id),
            !is_run_line,
            "{line}"
        );
    }
}

// One run is one trace (contract A83).
#[tokio::test]
async fn two_runs_are_two_traces() {
    let (_home, runtime) = scripted_runtime([
        plan_reply(&json!([])),
        text_reply("1"),
        plan_reply(&json!([])),
        text_reply("2"),
    ]);
    let mut recorder = Recorder::default();
    for _ in 0..2 {
        let answer = runtime
            .ask_watched(question(), CancellationToken::new(), &mut recorder)
            .await;
        answer.unwrap();
    }
    let mut traces: Vec<_> = recorder.lines.iter().map(|(span, _)| &span.trace_id).collect();
    traces.dedup();
    assert_eq!(traces.len(), 2);
    assert_ne!(traces[0], traces[1]);
}
