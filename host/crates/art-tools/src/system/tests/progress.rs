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
            CallProgress::Ended(report) => format!("{} ended: {}", report.result.tool_name, report.ending.as_str()),
        });
    }
    lines
}

fn calls_of<const N: usize>(names: [&str; N]) -> Vec<ParsedToolCall> {
    names.map(|name| call(name, json!({}))).to_vec()
}

#[tokio::test(start_paused = true)]
async fn the_start_and_the_end_of_a_call_are_reported() {
    let bench = Bench::new([slow("slow", 200), slow("quick", 100), fails("fails")]);
    let lines = progress_lines(bench, calls_of(["slow", "quick", "fails"])).await;
    let expected = [
        "slow started with {}",
        "quick started with {}",
        "fails started with {}",
        "fails ended: failure",
        "quick ended: success",
        "slow ended: success",
    ];
    assert_eq!(lines, expected);
}

/// Returns a tool that reports progress every 30 ms, ten times.
fn reports_often(name: &str) -> Arc<Scripted> {
    Arc::new(Scripted::new(schema(name), |call| {
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
    let bench = Bench::new([reports_often("tool")]);
    let lines = progress_lines(bench, calls_of(["tool"])).await;
    assert_eq!(
        lines,
        [
            "tool started with {}",
            "3 of Some(\"item\")",
            "6 of Some(\"item\")",
            "tool ended: success",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_report_is_sent_once() {
    let bench = Bench::new([Arc::new(Scripted::new(schema("once"), |call| {
        call.progress().report("a word", "");
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            answer("1")
        }
    }))]);
    let lines = progress_lines(bench, calls_of(["once"])).await;
    assert_eq!(
        lines,
        [
            "once started with {}",
            "a word of Some(\"item\")",
            "once ended: success"
        ]
    );
}

#[tokio::test]
async fn a_call_that_does_not_run_has_no_progress() {
    let bench = Bench::new([strict(), asks("ask"), echo("after")]);
    let lines = progress_lines(bench, calls_of(["strict", "unknown", "ask", "after"])).await;
    assert_eq!(lines, ["ask started with {}", "ask ended: suspended"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_the_queue_full_has_no_progress() {
    let config = SystemConfig {
        max_parallel: 1,
        queue: 0,
        ..SystemConfig::default()
    };
    let bench = Bench::with([slow("slow", 100)], MemorySink::default(), config);
    let lines = progress_lines(bench, calls_of(["slow", "slow"])).await;
    assert_eq!(lines, ["slow started with {}", "slow ended: success"]);
}

#[tokio::test]
async fn a_result_that_cannot_be_stored_is_withheld_from_the_receiver_too() {
    let sink = MemorySink {
        fails_for: Some("echo"),
        ..MemorySink::default()
    };
    let bench = Bench::with([echo("echo")], sink, SystemConfig::default());
    let lines = progress_lines(bench, calls_of(["echo"])).await;
    assert_eq!(lines, ["echo started with {}", "echo ended: not_recorded"]);
}

#[tokio::test]
async fn a_closed_receiver_changes_nothing() {
    let mut bench = Bench::new([echo("echo")]);
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    drop(receiver);
    bench.scope.progress = Some(sender);
    assert_eq!(endings(&bench.run(calls_of(["echo"])).await), [CallEnding::Success]);
}

// A84, T13: requests for help from the model.
#[tokio::test]
async fn a_request_for_help_is_marked_in_the_progress_and_in_the_observation() {
    let asks = Scripted::new(schema("asks"), |_| {
        std::future::ready(answer("{\"action\":\"LLM_ASSIST_REQUIRED\"}"))
    });
    let mut bench = Bench::new([Arc::new(asks), echo("echo")]);
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    bench.scope.progress = Some(sender);
    bench.run(calls_of(["asks", "echo"])).await;
    let marked = |metadata: Option<&Value>| metadata.is_some_and(|metadata| metadata[crate::ASSIST_REQUIRED] == true);
    let mut ended = Vec::new();
    while let Ok(progress) = receiver.try_recv() {
        if let CallProgress::Ended(report) = progress {
            let metadata = json!(report.result.metadata);
            ended.push((report.result.tool_name, marked(Some(&metadata))));
        }
    }
    assert_eq!(ended, [("asks".to_owned(), true), ("echo".to_owned(), false)]);
    let stored = bench.stored();
    let recorded: Vec<_> = stored.iter().map(|o| marked(o.content.get("metadata"))).collect();
    assert_eq!(recorded, [true, false]);
}
