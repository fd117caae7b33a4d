use super::*;

/// Runs the calls and returns the received progress, one line for each message.
async fn progress_lines(mut bench: Bench, calls: Vec<ParsedToolCall>) -> Vec<String> {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    bench.scope.progress = Some(sender);
    bench.run(calls).await;
    drop(bench);
    let mut lines = Vec::new();
    while let Some(progress) = receiver.recv().await {
        lines.push(match progress {
            CallProgress::Started(call) => format!("{} started with {}", call.tool_name, call.arguments),
            CallProgress::Reported(report) => format!("{} of {:?}", report.title, report.parent_id),
        });
    }
    lines
}

fn calls_to<const N: usize>(names: [&str; N]) -> Vec<ParsedToolCall> {
    names.map(|name| call(name, json!({}))).to_vec()
}

#[tokio::test(start_paused = true)]
async fn the_start_of_a_call_is_reported() {
    let bench = Bench::new([slow_tool("slow", 200), slow_tool("quick", 100), failing_tool("fails")]);
    let lines = progress_lines(bench, calls_to(["slow", "quick", "fails"])).await;
    let expected = ["slow started with {}", "quick started with {}", "fails started with {}"];
    assert_eq!(lines, expected);
}

/// Returns a tool that reports progress every 30 ms, ten times.
fn tool_reporting_often(name: &str) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new(schema(name), |call| {
        let progress = call.progress().clone();
        async move {
            for title in 0..10 {
                progress.report(&title.to_string(), "");
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
            answer("1")
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn only_the_newest_report_is_sent_ten_times_a_second() {
    let bench = Bench::new([tool_reporting_often("tool")]);
    let lines = progress_lines(bench, calls_to(["tool"])).await;
    assert_eq!(
        lines,
        ["tool started with {}", "3 of Some(\"item\")", "6 of Some(\"item\")",]
    );
}

#[tokio::test(start_paused = true)]
async fn a_report_is_sent_once() {
    let bench = Bench::new([Arc::new(ScriptedTool::new(schema("once"), |call| {
        call.progress().report("a word", "");
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            answer("1")
        }
    }))]);
    let lines = progress_lines(bench, calls_to(["once"])).await;
    assert_eq!(lines, ["once started with {}", "a word of Some(\"item\")",]);
}

#[tokio::test]
async fn a_call_that_does_not_run_has_no_progress() {
    let bench = Bench::new([strict_tool(), asking_tool("ask")]);
    let lines = progress_lines(bench, calls_to(["strict", "unknown", "ask"])).await;
    assert_eq!(lines, ["ask started with {}"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_the_queue_full_has_no_progress() {
    let config = SystemConfig {
        max_parallel: 1,
        queue: 0,
        ..SystemConfig::default()
    };
    let bench = Bench::with_config([slow_tool("slow", 100)], config);
    let lines = progress_lines(bench, calls_to(["slow", "slow"])).await;
    assert_eq!(lines, ["slow started with {}"]);
}

#[tokio::test]
async fn a_closed_progress_receiver_does_not_affect_calls() {
    let mut bench = Bench::new([echo_tool("echo")]);
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    drop(receiver);
    bench.scope.progress = Some(sender);
    assert_eq!(endings(&bench.run(calls_to(["echo"])).await), [CallEnding::Success]);
}

// A84, T13: requests for help from the model.
#[tokio::test]
async fn a_request_for_help_is_marked_in_the_report() {
    let asks = ScriptedTool::new(schema("asks"), |_| {
        std::future::ready(answer("{\"action\":\"LLM_ASSIST_REQUIRED\"}"))
    });
    let bench = Bench::new([Arc::new(asks), echo_tool("echo")]);
    let reports = bench.run(calls_to(["asks", "echo"])).await;
    let marked = |report: &ToolReport| json!(report.result.metadata)[crate::ASSIST_REQUIRED] == true;
    assert_eq!(reports.iter().map(marked).collect::<Vec<_>>(), [true, false]);
}
