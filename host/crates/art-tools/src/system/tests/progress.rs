use super::*;

/// Runs the calls and returns the received progress, one line for each message.
async fn told(mut bench: Bench, calls: Vec<ParsedToolCall>) -> Vec<String> {
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    bench.scope.progress = Some(sender);
    bench.run(calls).await;
    drop(bench);
    let mut lines = Vec::new();
    while let Some(progress) = heard.recv().await {
        lines.push(match progress {
            CallProgress::Started(call) => format!("{} started with {}", call.tool_name, call.arguments),
            CallProgress::Reported(said) => format!("{} of {:?}", said.title, said.parent_id),
            CallProgress::Ended(report) => format!("{} ended: {}", report.result.tool_name, report.ending.as_str()),
        });
    }
    lines
}

fn calls_of<const N: usize>(names: [&str; N]) -> Vec<ParsedToolCall> {
    names.map(|name| call(name, json!({}))).to_vec()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_is_told_of_when_it_starts_and_when_it_ends() {
    let bench = Bench::new([slow("slow", 200), slow("quick", 100), fails("fails")]);
    let lines = told(bench, calls_of(["slow", "quick", "fails"])).await;
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
fn talks(name: &str) -> Arc<Scripted> {
    Arc::new(Scripted::new(schema(name), |call| {
        let progress = call.progress().clone();
        async move {
            for word in 0..10 {
                progress.say(&word.to_string(), "");
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
            answer("1")
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn of_what_a_call_says_the_newest_is_told_ten_times_a_second() {
    let bench = Bench::new([talks("talks")]);
    let lines = told(bench, calls_of(["talks"])).await;
    let said = ["3", "6"].map(|word| format!("{word} of Some(\"item\")"));
    let [first, second] = &said;
    assert_eq!(lines, ["talks started with {}", first, second, "talks ended: success"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_call_says_is_told_once() {
    let bench = Bench::new([Arc::new(Scripted::new(schema("once"), |call| {
        call.progress().say("a word", "");
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            answer("1")
        }
    }))]);
    let lines = told(bench, calls_of(["once"])).await;
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
async fn a_call_that_does_not_run_is_not_told_of() {
    let bench = Bench::new([strict(), asks("ask"), echo("after")]);
    let lines = told(bench, calls_of(["strict", "unknown", "ask", "after"])).await;
    assert_eq!(lines, ["ask started with {}", "ask ended: suspended"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_place_is_not_told_of() {
    let config = SystemConfig {
        max_parallel: 1,
        queue: 0,
        ..SystemConfig::default()
    };
    let bench = Bench::with([slow("slow", 100)], Memory::default(), config);
    let lines = told(bench, calls_of(["slow", "slow"])).await;
    assert_eq!(lines, ["slow started with {}", "slow ended: success"]);
}

#[tokio::test]
async fn what_cannot_be_stored_is_withheld_from_a_listener_too() {
    let sink = Memory {
        fails_for: Some("echo"),
        ..Memory::default()
    };
    let bench = Bench::with([echo("echo")], sink, SystemConfig::default());
    let lines = told(bench, calls_of(["echo"])).await;
    assert_eq!(lines, ["echo started with {}", "echo ended: not_recorded"]);
}

#[tokio::test]
async fn a_listener_that_is_gone_changes_nothing() {
    let mut bench = Bench::new([echo("echo")]);
    let (sender, heard) = tokio::sync::mpsc::unbounded_channel();
    drop(heard);
    bench.scope.progress = Some(sender);
    assert_eq!(endings(&bench.run(calls_of(["echo"])).await), [CallEnding::Success]);
}

// A84, T13: requests for help from the model.
#[tokio::test]
async fn a_tool_that_asks_the_model_for_help_is_told_of_and_recorded() {
    let asks = Scripted::new(schema("asks"), |_| {
        std::future::ready(answer("{\"action\":\"LLM_ASSIST_REQUIRED\"}"))
    });
    let mut bench = Bench::new([Arc::new(asks), echo("echo")]);
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    bench.scope.progress = Some(sender);
    bench.run(calls_of(["asks", "echo"])).await;
    let marked = |metadata: Option<&Value>| metadata.is_some_and(|metadata| metadata[crate::ASSIST_REQUIRED] == true);
    let mut told = Vec::new();
    while let Ok(progress) = heard.try_recv() {
        if let CallProgress::Ended(report) = progress {
            let metadata = json!(report.result.metadata);
            told.push((report.result.tool_name, marked(Some(&metadata))));
        }
    }
    assert_eq!(told, [("asks".to_owned(), true), ("echo".to_owned(), false)]);
    let stored = bench.stored();
    let recorded: Vec<_> = stored.iter().map(|o| marked(o.content.get("metadata"))).collect();
    assert_eq!(recorded, [true, false]);
}
