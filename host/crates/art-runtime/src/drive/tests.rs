mod attached;
mod callbacks;
mod deciding;
mod direct;
mod failing;
mod models;
mod owners;
mod produced_files;
mod resuming;
mod scripted;
mod streaming;

use std::collections::BTreeMap;
use std::sync::Arc;

use art_core::JsonObject;
use art_core::agent::{AgentProps, ExecutionOverrides, QueryAttachment, ThreadConfig};
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::error::ModelError;
use art_core::observation::ObservationType;
use art_core::outcome::Ending;
use art_core::prompt::{AgentPersona, SystemPromptOverride};
use art_core::tool::{ExecutionMode, ToolExample, ToolSchema};
use art_store::{MemoryStore, MessageOptions, NewThread, ObservationFilter, RunFilter, RunState, Store, ThreadFilter};
use art_tools::DirectTool;
use art_tools::direct::{DirectCall, success};
use futures_util::FutureExt;
use serde_json::{Value, json};

use super::*;
use crate::config::{Config, Overrides, ToolBounds};
use crate::testing::{parse_payload, stored_journal};

/// Returns a runtime with the embedded model and one tool, `city_population`, whose calls run `implementation`.
fn runtime_with_tool<F>(implementation: impl Fn() -> F + Send + Sync + 'static) -> (tempfile::TempDir, Runtime)
where
    F: Future<Output = Ending> + Send + 'static,
{
    let home = tempfile::tempdir().unwrap();
    let overrides = Overrides {
        home: Some(home.path().to_owned()),
        plugins: Some(home.path().join("plugins")),
        ..Overrides::default()
    };
    let config = Config::load(&overrides, &BTreeMap::new()).unwrap();
    let model = Arc::new(crate::compose::embedded_model());
    let builder = Runtime::builder()
        .config(config)
        .store(Arc::new(MemoryStore::new()))
        .own_model(model);
    let runtime = builder.build().now_or_never().unwrap().unwrap();
    let schema = ToolSchema {
        name: "city_population".to_owned(),
        description: "Returns the population of a city: how many people live there.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"city": {"type": "string", "enum": ["Paris"], "description": "The city."}},
            "required": ["city"],
        })
        .into(),
        output_schema: None,
        examples: vec![ToolExample {
            input: json!({"city": "Paris"}),
            output: None,
            description: Some("What is the population of Paris?".to_owned()),
        }]
        .into(),
        execution_mode: ExecutionMode::Functional,
        blocking_config: None,
        display_config: None,
    };
    let tool = DirectTool::new(schema, move |_call| implementation());
    runtime.tools.registry().register(Arc::new(tool)).unwrap();
    (home, runtime)
}

/// Returns a runtime with a tool that returns the population of Paris.
fn runtime_with_population_tool() -> (tempfile::TempDir, Runtime) {
    runtime_with_tool(|| async { success(&json!({"population": 2_048_000})) })
}

/// Returns a question for which the embedded model calls `city_population`.
fn question() -> Question {
    Question {
        query: "What is the population of Paris?".to_owned(),
        ..Question::default()
    }
}

async fn ask(runtime: &Runtime, question: Question, cancel: CancellationToken) -> Result<Answer, RuntimeError> {
    runtime.ask_watched(question, cancel, &mut Unwatched).await
}

#[tokio::test]
async fn a_question_can_be_asked_in_a_spawned_task() {
    let (_home, runtime) = runtime_with_population_tool();
    let asking = tokio::spawn(async move { runtime.ask("What is the population of Paris?").await });
    let answer = asking.await.unwrap().unwrap();
    assert_eq!((answer.status(), answer.steps().count()), (RunStatus::Success, 1));
    assert!(answer.to_string().contains("2048000"), "{answer}");
}

#[tokio::test]
async fn a_call_that_is_cancelled_with_its_run_is_recorded() {
    let cancel = CancellationToken::new();
    let cancel_in_tool = cancel.clone();
    let (_home, runtime) = runtime_with_tool(move || {
        cancel_in_tool.cancel();
        std::future::pending()
    });
    let answer = ask(&runtime, question(), cancel).await.unwrap();
    assert_eq!(answer.report.response.metadata.status, RunStatus::Cancelled);
    assert_eq!(answer.calls.first().unwrap().ending.as_str(), "cancelled");
    let filter = ObservationFilter {
        types: vec![ObservationType::ToolExecution],
        ..ObservationFilter::default()
    };
    let observed = runtime
        .store
        .list_observations(&answer.thread_id, filter)
        .await
        .unwrap();
    assert_eq!(observed.len(), 1);
}

/// Returns the entries of the journal of a run, oldest first.
async fn journal(runtime: &Runtime, trace_id: &str) -> Vec<Value> {
    let entries = stored_journal(runtime.store.as_ref(), trace_id).await;
    entries.iter().map(parse_payload).collect()
}

#[tokio::test]
async fn the_ends_of_all_calls_are_recorded_before_the_cancellation_of_the_run() {
    // The model of a scripted runtime gives these replies one after the other. Its tool `one` returns 1.
    let replies = [
        scripted::one_step_plan(),
        scripted::calling_reply(&["one", "cancels_run"]),
    ];
    let (_home, runtime) = scripted::scripted_runtime(replies);
    let cancel = CancellationToken::new();
    let cancel_in_tool = cancel.clone();
    let cancels_run = scripted::tool("cancels_run", move || {
        cancel_in_tool.cancel();
        std::future::pending()
    });
    runtime.tools.registry().register(cancels_run).unwrap();
    let answer = ask(&runtime, question(), cancel).await.unwrap();
    let metadata = answer.report.response.metadata;
    assert_eq!((metadata.status, metadata.tool_calls), (RunStatus::Cancelled, 2));
    let journal = journal(&runtime, &answer.trace_id).await;
    let [.., completed_call, cancelled_call, cancellation] = &journal[..] else {
        panic!("{journal:?}")
    };
    assert_eq!(cancellation["type"], "cancel_requested");
    assert_eq!(completed_call["end"]["result"]["output"], 1, "{completed_call}");
    assert_eq!(cancelled_call["end"]["result"]["code"], "CANCELLED", "{cancelled_call}");
}

#[tokio::test]
async fn a_call_beyond_the_configured_number_of_parallel_calls_is_refused_as_busy() {
    let (_home, mut runtime) = scripted::scripted_runtime([
        scripted::one_step_plan(),
        scripted::calling_reply(&["yields", "two"]),
        scripted::completing_reply(),
        scripted::text_reply(scripted::ANSWER),
    ]);
    runtime.toolbox.bounds = ToolBounds {
        max_parallel: 1,
        max_queue: 0,
        ..ToolBounds::default()
    };
    runtime.tools = Arc::new(runtime.toolbox.system());
    // While this tool yields, `two` is called and finds all places taken.
    let yields = scripted::tool("yields", || async {
        tokio::task::yield_now().await;
        success(&json!(1))
    });
    runtime.tools.registry().register(yields).unwrap();
    let answer = ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    let results = answer.report.items[0].tool_results.iter();
    let codes: Vec<_> = results.map(|result| result.code).collect();
    assert_eq!(codes, [None, Some(art_core::error::ToolErrorCode::Busy)]);
}

/// Returns a question with a file that is too large for an entry of the journal.
fn question_with_too_large_file() -> Question {
    let attachment = QueryAttachment {
        name: "large.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        text: "x".repeat(art_store::limits::MAX_VALUE_BYTES),
        base64: None,
        keep: false,
    };
    Question {
        attachments: vec![attachment],
        ..question()
    }
}

#[tokio::test]
async fn a_question_that_the_store_refuses_is_not_in_the_conversation() {
    let (_home, runtime) = runtime_with_population_tool();
    assert!(
        ask(&runtime, question_with_too_large_file(), CancellationToken::new())
            .await
            .is_err()
    );
    assert_eq!(runtime.store.list_runs(RunFilter::default()).await.unwrap(), []);
    let threads = runtime.store.list_threads(ThreadFilter::default()).await.unwrap();
    let messages = runtime.store.list_messages(&threads[0].id, MessageOptions::default());
    assert_eq!(messages.await.unwrap(), []);
}

#[tokio::test]
async fn a_run_starts_with_the_newest_messages_of_a_long_conversation() {
    let (_home, runtime) = runtime_with_population_tool();
    let new = NewThread {
        id: "t".to_owned(),
        ..NewThread::default()
    };
    runtime.store.create_thread(new).await.unwrap();
    // Each quotation mark takes two bytes in JSON, so two messages together exceed the limit of 512 KiB.
    for id in ["a", "b", "c"] {
        let message = ConversationMessage {
            message_id: id.to_owned(),
            thread_id: "t".to_owned(),
            role: MessageRole::User,
            content: "\"".repeat(150_000),
            timestamp: 1,
            metadata: JsonObject::new(),
        };
        runtime.store.append_messages("t", vec![message]).await.unwrap();
    }
    let question = Question {
        thread_id: Some("t".to_owned()),
        ..question()
    };
    let (start, _) = prepare::prepare(&runtime, question, &CancellationToken::new())
        .await
        .unwrap();
    let ids: Vec<_> = start
        .history
        .iter()
        .map(|message| message.message_id.as_str())
        .collect();
    assert_eq!(ids, ["c"]);
}

#[tokio::test]
async fn a_question_that_is_too_long_is_refused_before_anything_is_stored() {
    let (_home, runtime) = runtime_with_population_tool();
    let ask_long = |chars: usize| {
        let question = Question {
            // `é` has two bytes and counts as one character.
            query: format!("{}é", "x".repeat(chars - 1)),
            ..Question::default()
        };
        ask(&runtime, question, CancellationToken::new())
    };
    let error = ask_long(Question::MAX_CHARS + 1).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("the question has 8001 characters, and 8000 are the most"),
        "{text}"
    );
    assert!(text.contains("attach the text as a file"), "{text}");
    let threads = runtime
        .store
        .list_threads(art_store::ThreadFilter::default())
        .await
        .unwrap();
    assert_eq!(threads, []);
    assert!(ask_long(Question::MAX_CHARS).await.is_ok());
}

#[tokio::test]
async fn a_continued_thread_keeps_its_settings() {
    let (_home, runtime) = runtime_with_population_tool();
    let config = ThreadConfig {
        enabled_tools: vec!["city_population".to_owned(), "gone".to_owned()],
        history_limit: 3,
        execution_config: Some(ExecutionOverrides {
            max_items: Some(7),
            ..ExecutionOverrides::default()
        }),
        ..ThreadConfig::default()
    };
    let new = NewThread {
        id: "t".to_owned(),
        user_id: None,
        config: config.clone(),
    };
    runtime.store.create_thread(new).await.unwrap();
    let question = Question {
        thread_id: Some("t".to_owned()),
        ..question()
    };
    ask(&runtime, question, CancellationToken::new()).await.unwrap();
    let stored = runtime.store.get_thread("t").await.unwrap().unwrap().config;
    assert_eq!(stored, config);
}

/// Asks in the new thread `t`, which enables these tools.
async fn ask_in_thread_with_tools(runtime: &Runtime, tools: &[&str]) -> Answer {
    let config = ThreadConfig {
        enabled_tools: tools.iter().map(|name| (*name).to_owned()).collect(),
        ..ThreadConfig::default()
    };
    let new = NewThread {
        id: "t".to_owned(),
        user_id: None,
        config,
    };
    runtime.store.create_thread(new).await.unwrap();
    let question = Question {
        thread_id: Some("t".to_owned()),
        ..question()
    };
    ask(runtime, question, CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn a_new_thread_enables_all_tools_explicitly() {
    let (_home, runtime) = runtime_with_population_tool();
    let answer = ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    let thread = runtime.store.get_thread(&answer.thread_id).await.unwrap().unwrap();
    assert_eq!(thread.config.enabled_tools, ["*"]);
}

fn status(report: &RunReport) -> RunStatus {
    report.response.metadata.status
}

/// Returns whether the plan has a step for the question.
fn has_steps(report: &RunReport) -> bool {
    !report.items.is_empty()
}

// A thread may call only the tools in its list (contracts X4, T4).
#[tokio::test]
async fn a_thread_may_use_the_tools_that_it_names_and_no_other() {
    for (tools, has_tool) in [
        (&["city_population"][..], true),
        (&["*"], true),
        (&["other"], false),
        (&[], false),
    ] {
        let (_home, runtime) = runtime_with_population_tool();
        let answer = ask_in_thread_with_tools(&runtime, tools).await;
        assert_eq!(has_steps(&answer.report), has_tool, "{tools:?}");
        assert_eq!(answer.calls.len(), usize::from(has_tool), "{tools:?}");
        let stored = runtime
            .store
            .get_thread("t")
            .await
            .unwrap()
            .unwrap()
            .config
            .enabled_tools;
        assert_eq!(stored, tools);
    }
}

/// Asks a question for which the model calls the tool `sets_tools`, which sets the enabled tools of the thread to `enabled`,
/// and then the tool `one`. Returns how these calls ended.
async fn call_endings_if_tool_enables_only(enabled: &'static [&'static str]) -> Vec<&'static str> {
    let (_home, runtime) = scripted::scripted_runtime([
        scripted::one_step_plan(),
        scripted::calling_reply(&["sets_tools"]),
        scripted::calling_reply(&["one"]),
        scripted::completing_reply(),
        scripted::text_reply(scripted::ANSWER),
    ]);
    let store = Arc::clone(&runtime.store);
    let sets_tools = scripted::tool("sets_tools", move || {
        let store = Arc::clone(&store);
        async move {
            let mut config = store.get_thread("t").await.unwrap().unwrap().config;
            config.enabled_tools = enabled.iter().map(|name| (*name).to_owned()).collect();
            store.set_thread_config("t", config).await.unwrap();
            success(&json!(1))
        }
    });
    runtime.tools.registry().register(sets_tools).unwrap();
    let answer = ask_in_thread_with_tools(&runtime, &["one", "sets_tools"]).await;
    answer.calls.iter().map(|call| call.ending.as_str()).collect()
}

// Whether a thread may use a tool is checked at each call (contract S004).
#[tokio::test]
async fn a_tool_that_is_disabled_during_a_run_is_refused_at_its_next_call() {
    assert_eq!(
        call_endings_if_tool_enables_only(&["one"]).await,
        ["success", "success"]
    );
    assert_eq!(
        call_endings_if_tool_enables_only(&["sets_tools"]).await,
        ["success", "disabled"]
    );
}

#[tokio::test]
async fn a_run_that_answers_a_part_of_its_question_is_partial() {
    let (_home, runtime) = runtime_with_population_tool();
    let report = ask(&runtime, question(), CancellationToken::new())
        .await
        .unwrap()
        .report;
    assert_eq!(status(&report), RunStatus::Success);
    let question = Question {
        query: "What is the population of Paris? Who won the world cup in 2018?".to_owned(),
        ..Question::default()
    };
    let answer = ask(&runtime, question, CancellationToken::new()).await.unwrap();
    assert_eq!(status(&answer.report), RunStatus::Partial);
    assert_eq!(answer.report.unanswered.len(), 1, "{:?}", answer.report);
    let run = runtime.store.get_run(&answer.trace_id).await.unwrap().unwrap();
    assert_eq!(run.status, RunState::Partial);
}

#[tokio::test]
async fn a_later_question_that_no_tool_can_answer_has_no_steps() {
    let (_home, runtime) = runtime_with_population_tool();
    let answer = ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    let question = Question {
        query: "Who won?".to_owned(),
        thread_id: Some(answer.thread_id),
        ..Question::default()
    };
    let report = ask(&runtime, question, CancellationToken::new()).await.unwrap().report;
    assert_eq!((status(&report), has_steps(&report)), (RunStatus::Success, false));
}

#[tokio::test]
async fn settings_of_a_question_override_the_thread_which_overrides_the_configuration() {
    let (_home, mut runtime) = runtime_with_population_tool();
    let text = |text: &str| Some(SystemPromptOverride::Text(text.to_owned()));
    runtime.config.system_prompt.value = text("configuration");
    runtime.config.execution.value.max_items = 1;
    runtime.config.execution.value.max_iterations = 2;
    runtime.config.execution.value.max_tool_calls = 3;
    runtime.config.persona.value.name = "Configuration".to_owned();
    runtime.config.persona.value.prompts.planning = Some("plan".to_owned());
    runtime.config.params.value.insert("seed".to_owned(), 7.into());
    let config = ThreadConfig {
        system_prompt: text("thread"),
        execution_config: Some(ExecutionOverrides {
            max_iterations: Some(4),
            max_tool_calls: Some(5),
            ..ExecutionOverrides::default()
        }),
        ..ThreadConfig::default()
    };
    let new = NewThread {
        id: "t".to_owned(),
        user_id: None,
        config,
    };
    runtime.store.create_thread(new).await.unwrap();
    let settings = QuestionSettings {
        execution: ExecutionOverrides {
            max_tool_calls: Some(6),
            ..ExecutionOverrides::default()
        },
        persona: AgentPersona {
            name: "Question".to_owned(),
            ..AgentPersona::default()
        },
        system_prompt: text("question"),
        ..QuestionSettings::default()
    };
    let question = Question {
        thread_id: Some("t".to_owned()),
        settings,
        ..question()
    };
    let (start, _) = prepare::prepare(&runtime, question, &CancellationToken::new())
        .await
        .unwrap();
    let execution = start.config;
    assert_eq!(
        (execution.max_items, execution.max_iterations, execution.max_tool_calls),
        (1, 4, 6)
    );
    assert_eq!(start.persona.name, "Question");
    assert_eq!(start.persona.prompts.planning.as_deref(), Some("plan"));
    assert_eq!(start.params["seed"], 7);
    // System prompts do not override each other.
    let prompts: Vec<_> = start.system_prompts.into_iter().map(Some).collect();
    assert_eq!(prompts, [text("configuration"), text("thread"), text("question")]);
}

#[test]
fn a_run_records_the_capabilities_of_its_model() {
    let engine = crate::compose::open_engine(&Config::default()).unwrap();
    for (name, vision, native_tools) in [
        ("embedded", false, false),
        ("groq", false, true),
        ("openai", true, true),
    ] {
        let model = engine.describe(&engine.resolve(name).unwrap()).unwrap();
        let start = prepare::run_start_for_model(&model, AgentProps::default());
        assert_eq!((start.vision, start.native_tools), (vision, native_tools), "{name}");
    }
}
