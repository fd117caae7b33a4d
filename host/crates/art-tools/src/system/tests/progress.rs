use super::*;

/// Runs the calls and returns the received progress, one line for each message. The line of a progress report has the
/// title of the report and the plan item of the call (`parent_id`).
async fn progress_lines(mut host: TestHost, calls: Vec<ParsedToolCall>) -> Vec<String> {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    host.scope.progress = Some(sender);
    host.run(calls).await;
    drop(host);
    let mut lines = Vec::new();
    while let Some(progress) = receiver.recv().await {
        lines.push(match progress {
            CallProgress::Started(call) => format!("{} started with {}", call.tool_name, call.arguments),
            CallProgress::Reported(report) => format!("report `{}` of {:?}", report.title, report.parent_id),
        });
    }
    lines
}

fn calls_to<const N: usize>(names: [&str; N]) -> Vec<ParsedToolCall> {
    names.map(|name| call(name, json!({}))).to_vec()
}

#[tokio::test(start_paused = true)]
async fn the_start_of_each_call_is_sent_as_progress() {
    let host = TestHost::new([slow_tool("slow", 200), slow_tool("quick", 100), failing_tool("fails")]);
    let lines = progress_lines(host, calls_to(["slow", "quick", "fails"])).await;
    let expected = ["slow started with {}", "quick started with {}", "fails started with {}"];
    assert_eq!(lines, expected);
}

/// Returns a tool that reports progress every 30 ms, ten times. The titles of the reports are `0` to `9`.
fn tool_reporting_often(name: &str) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new(schema(name), |call| {
        let progress = call.progress().clone();
        async move {
            for title in 0..10 {
                progress.report(&title.to_string(), "");
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
            success_with("1")
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn the_newest_report_is_sent_at_most_ten_times_a_second() {
    // The newest report is `3` after 100 ms and `6` after 200 ms. The call ends after 300 ms.
    let host = TestHost::new([tool_reporting_often("tool")]);
    let lines = progress_lines(host, calls_to(["tool"])).await;
    assert_eq!(
        lines,
        [
            "tool started with {}",
            "report `3` of Some(\"item\")",
            "report `6` of Some(\"item\")",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_report_of_progress_is_sent_only_once() {
    let host = TestHost::new([Arc::new(ScriptedTool::new(schema("once"), |call| {
        call.progress().report("a word", "");
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            success_with("1")
        }
    }))]);
    let lines = progress_lines(host, calls_to(["once"])).await;
    assert_eq!(lines, ["once started with {}", "report `a word` of Some(\"item\")"]);
}

#[tokio::test]
async fn a_call_that_does_not_run_has_no_progress() {
    // The arguments of the call to `strict` are invalid, and no tool is named `unknown`. `ask` runs before it asks a person.
    let host = TestHost::new([strict_tool(), blocking_tool_that_asks("ask")]);
    let lines = progress_lines(host, calls_to(["strict", "unknown", "ask"])).await;
    assert_eq!(lines, ["ask started with {}"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_the_queue_full_has_no_progress() {
    let config = SystemConfig {
        max_parallel: 1,
        max_queue: 0,
        ..SystemConfig::default()
    };
    let host = TestHost::with_config([slow_tool("slow", 100)], config);
    let lines = progress_lines(host, calls_to(["slow", "slow"])).await;
    assert_eq!(lines, ["slow started with {}"]);
}

#[tokio::test]
async fn a_closed_progress_receiver_does_not_affect_calls() {
    let mut host = TestHost::new([echo_tool("echo")]);
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    drop(receiver);
    host.scope.progress = Some(sender);
    assert_eq!(endings(&host.run(calls_to(["echo"])).await), [EndingKind::Success]);
}

// A tool asks the model for help (contract T13).
#[tokio::test]
async fn the_metadata_of_a_result_says_that_a_tool_asked_the_model_for_help() {
    let needs_help = ScriptedTool::new(schema("needs_help"), |_| {
        std::future::ready(success_with("{\"action\":\"LLM_ASSIST_REQUIRED\"}"))
    });
    let host = TestHost::new([Arc::new(needs_help), echo_tool("echo")]);
    let reports = host.run(calls_to(["needs_help", "echo"])).await;
    let asked_for_help = |report: &ToolReport| json!(report.result.metadata)[crate::ASSIST_REQUIRED] == true;
    assert_eq!(reports.iter().map(asked_for_help).collect::<Vec<_>>(), [true, false]);
}
