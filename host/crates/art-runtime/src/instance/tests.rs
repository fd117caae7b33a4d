use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use art_core::JsonObject;
use art_core::agent::ThreadConfig;
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::observation::{NewObservation, Observation, ObservationType};
use art_store::{MessageOptions, ObservationFilter, RunFilter, RunState, StoreError};
use art_tools::DirectTool;
use serde_json::{Value, json};

use super::*;

async fn instance() -> ArtInstance {
    create_art_instance(Runtime::builder()).await.unwrap()
}

async fn instance_with_implicit_saving() -> ArtInstance {
    let builder = Runtime::builder().state_saving(StateSaving::Implicit);
    create_art_instance(builder).await.unwrap()
}

/// Returns settings of a thread that enable these tools.
fn config_with_tools(tools: &[&str]) -> ThreadConfig {
    ThreadConfig {
        enabled_tools: tools.iter().map(|name| (*name).to_owned()).collect(),
        ..ThreadConfig::default()
    }
}

/// Returns a message of a user. The text of the message is its identifier.
fn message(id: &str, thread_id: &str, timestamp: u64) -> ConversationMessage {
    ConversationMessage {
        message_id: id.to_owned(),
        thread_id: thread_id.to_owned(),
        role: MessageRole::User,
        content: id.to_owned(),
        timestamp,
        metadata: JsonObject::new(),
    }
}

fn observation(thread_id: &str) -> NewObservation {
    NewObservation {
        thread_id: thread_id.to_owned(),
        trace_id: None,
        parent_id: None,
        kind: ObservationType::Thoughts,
        content: json!({"text": "hm"}).into(),
        metadata: JsonObject::new(),
    }
}

/// Returns a question of a user in a thread, or in a new one if the identifier is empty.
fn question_props(thread_id: &str, user: Option<&str>) -> AgentProps {
    AgentProps {
        query: "What is 2+2?".to_owned(),
        thread_id: thread_id.to_owned(),
        user_id: user.map(str::to_owned),
        ..AgentProps::default()
    }
}

/// Calls sixteen methods that take a thread, on behalf of the person `user`. Returns the error of each, with `ID` in place of the
/// identifier of the thread, or `ok`.
async fn results_of_methods(instance: &ArtInstance, thread_id: &str, user: &str) -> Vec<String> {
    fn result_text<T>(result: Result<T, RuntimeError>, id: &str) -> String {
        result.map_or_else(|error| error.to_string().replace(id, "ID"), |_| "ok".to_owned())
    }
    let state = instance.state_manager().of_user(user);
    let conversation = instance.conversation_manager().of_user(user);
    let observations = instance.observation_manager().of_user(user);
    let id = thread_id;
    let mut results = vec![
        result_text(state.load_thread_context(id).await, id),
        result_text(state.thread_config_value(id, "historyLimit").await, id),
        result_text(state.set_thread_config(id, config_with_tools(&["*"])).await, id),
        result_text(state.enable_tools_for_thread(id, &["a"]).await, id),
        result_text(state.disable_tools_for_thread(id, &["a"]).await, id),
        result_text(state.enabled_tools_for_thread(id).await, id),
        result_text(state.set_agent_state(id, json!({})).await, id),
        result_text(conversation.add_messages(id, vec![message("m", id, 1)]).await, id),
        result_text(conversation.get_messages(id, MessageOptions::default()).await, id),
        result_text(conversation.get_file(id, "x").await, id),
        result_text(conversation.subscribe(id, |_| ()).await, id),
        result_text(observations.record(observation(id)).await, id),
        result_text(
            observations.get_observations(id, ObservationFilter::default()).await,
            id,
        ),
        result_text(observations.subscribe(id, |_| ()).await, id),
        result_text(instance.process(question_props(id, Some(user))).await, id),
    ];
    results.push(result_text(state.delete_thread(id).await, id));
    results
}

// A thread of another person is like one that does not exist (contract B23).
#[tokio::test]
async fn calls_on_threads_of_others_fail_like_calls_on_unknown_threads() {
    let instance = instance().await;
    let thread = instance
        .state_manager()
        .of_user("ada")
        .create_thread(config_with_tools(&["*"]))
        .await
        .unwrap();
    let before = instance.runtime().store.get_thread(&thread).await.unwrap();
    let for_unknown = results_of_methods(&instance, "unknown", "bob").await;
    assert!(
        for_unknown.iter().all(|text| text == "there is no thread `ID`"),
        "{for_unknown:?}"
    );
    assert_eq!(results_of_methods(&instance, &thread, "bob").await, for_unknown);
    assert!(!instance.state_manager().is_tool_enabled(&thread, "a").await);
    assert_eq!(instance.runtime().store.get_thread(&thread).await.unwrap(), before);
    let for_ada = results_of_methods(&instance, &thread, "ada").await;
    assert!(for_ada.iter().all(|text| text == "ok"), "{for_ada:?}");
}

#[tokio::test]
async fn threads_are_listed_for_their_owner() {
    let instance = instance().await;
    let ada = instance.state_manager().of_user("ada");
    let thread = ada.create_thread(config_with_tools(&[])).await.unwrap();
    let ids = |threads: Vec<art_store::Thread>| threads.into_iter().map(|thread| thread.id).collect::<Vec<_>>();
    assert_eq!(ids(ada.list_threads(None).await.unwrap()), [thread]);
    assert_eq!(instance.state_manager().list_threads(None).await.unwrap(), []);
}

#[tokio::test]
async fn an_empty_thread_identifier_begins_a_thread_of_the_person() {
    let instance = instance().await;
    let response = instance.process(question_props("", Some("ada"))).await.unwrap();
    assert_eq!(response.metadata.user_id.as_deref(), Some("ada"));
    let thread = &response.metadata.thread_id;
    assert!(instance.process(question_props(thread, Some("ada"))).await.is_ok());
    assert!(matches!(
        instance.process(question_props(thread, None)).await,
        Err(RuntimeError::NoThread { .. })
    ));
}

#[tokio::test]
async fn a_run_identifier_that_the_caller_sets_is_refused() {
    let props = AgentProps {
        trace_id: Some("mine".to_owned()),
        ..question_props("", None)
    };
    let refused = instance().await.process(props).await.unwrap_err();
    assert!(refused.to_string().contains("leave `traceId` out"), "{refused}");
}

#[tokio::test]
async fn a_tool_is_enabled_only_if_the_thread_exists_and_names_it() {
    let instance = instance().await;
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&["a"])).await.unwrap();
    assert!(state.is_tool_enabled(&thread, "a").await);
    assert!(!state.is_tool_enabled(&thread, "b").await);
    assert!(!state.is_tool_enabled("unknown", "a").await);
}

#[tokio::test]
async fn tools_are_enabled_without_duplicates_and_disabled_again() {
    let instance = instance().await;
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&["a"])).await.unwrap();
    state.enable_tools_for_thread(&thread, &["b", "a", "b"]).await.unwrap();
    assert_eq!(state.enabled_tools_for_thread(&thread).await.unwrap(), ["a", "b"]);
    state
        .disable_tools_for_thread(&thread, &["a", "unknown"])
        .await
        .unwrap();
    assert_eq!(state.enabled_tools_for_thread(&thread).await.unwrap(), ["b"]);
}

#[tokio::test]
async fn disabling_a_tool_where_all_are_enabled_leaves_the_others_enabled() {
    let tool = |name: &str| {
        DirectTool::typed(
            name,
            "Answers.",
            async |_: std::collections::BTreeMap<String, Value>| Ok::<_, String>(1),
        )
    };
    let builder = Runtime::builder().tool(tool("one")).tool(tool("two"));
    let instance = create_art_instance(builder).await.unwrap();
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&["*"])).await.unwrap();
    state.disable_tools_for_thread(&thread, &["one"]).await.unwrap();
    assert_eq!(state.enabled_tools_for_thread(&thread).await.unwrap(), ["two"]);
}

#[tokio::test]
async fn an_empty_list_of_tools_and_an_invalid_name_are_refused() {
    let instance = instance().await;
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&[])).await.unwrap();
    for names in [&[][..], &[""], &["Not a name"]] {
        let refused = state.enable_tools_for_thread(&thread, names).await;
        assert!(matches!(refused, Err(RuntimeError::Request(_))), "{names:?}");
    }
}

#[tokio::test]
async fn a_setting_is_found_only_by_its_top_level_key() {
    let instance = instance().await;
    let state = instance.state_manager();
    let settings = ThreadConfig {
        history_limit: 7,
        ..config_with_tools(&[])
    };
    let thread = state.create_thread(settings).await.unwrap();
    let value = async |key: &str| state.thread_config_value(&thread, key).await.unwrap();
    assert_eq!(value("historyLimit").await, Some(json!(7)));
    assert_eq!(value("unknown").await, None);
    assert_eq!(value("persona.name").await, None);
}

#[tokio::test]
async fn settings_and_state_of_a_thread_are_independent() {
    let instance = instance().await;
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&["a"])).await.unwrap();
    assert_eq!(state.load_thread_context(&thread).await.unwrap().state, Value::Null);
    assert_eq!(state.set_agent_state(&thread, json!({"title": "T"})).await.unwrap(), 1);
    state
        .set_thread_config(&thread, config_with_tools(&["b"]))
        .await
        .unwrap();
    let context = state.load_thread_context(&thread).await.unwrap();
    assert_eq!(
        (context.state["title"].as_str(), context.config),
        (Some("T"), config_with_tools(&["b"]))
    );
}

#[tokio::test]
async fn a_state_that_no_run_can_begin_with_is_refused() {
    let instance = instance().await;
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&[])).await.unwrap();
    for invalid in [Value::Null, json!("text"), json!({"todoList": 1})] {
        let refused = state.set_agent_state(&thread, invalid.clone()).await;
        assert!(matches!(refused, Err(RuntimeError::Request(_))), "{invalid}");
    }
}

#[tokio::test]
async fn a_state_is_not_saved_while_a_run_is_in_progress() {
    let instance = instance().await;
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&[])).await.unwrap();
    // A run in progress holds the lease of its thread.
    let lease = instance.runtime().store.acquire_lease(&thread).await.unwrap();
    let busy = state.set_agent_state(&thread, json!({})).await;
    assert!(
        matches!(busy, Err(RuntimeError::Store(StoreError::ThreadBusy { .. }))),
        "{busy:?}"
    );
    instance.runtime().store.release_lease(&lease).await.unwrap();
    assert!(state.set_agent_state(&thread, json!({})).await.is_ok());
}

#[tokio::test]
async fn with_explicit_saving_a_changed_state_is_not_saved() {
    let instance = instance().await;
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&[])).await.unwrap();
    let mut context = state.load_thread_context(&thread).await.unwrap();
    context.state = json!({"title": "T"});
    assert!(!state.save_state_if_modified(&mut context).await.unwrap());
    assert_eq!(state.load_thread_context(&thread).await.unwrap().state, Value::Null);
}

#[tokio::test]
async fn with_implicit_saving_a_state_is_saved_once_for_each_change() {
    let instance = instance_with_implicit_saving().await;
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&[])).await.unwrap();
    let mut context = state.load_thread_context(&thread).await.unwrap();
    assert!(!state.save_state_if_modified(&mut context).await.unwrap());
    for version in [1, 2] {
        context.state = json!({"title": version.to_string()});
        assert!(state.save_state_if_modified(&mut context).await.unwrap());
        assert!(!state.save_state_if_modified(&mut context).await.unwrap());
        assert_eq!(context.version(), Some(version));
    }
    assert_eq!(state.load_thread_context(&thread).await.unwrap(), context);
}

// A state is saved only if nobody has changed the stored one (contract B19).
#[tokio::test]
async fn a_state_that_somebody_else_has_changed_is_not_overwritten() {
    let instance = instance_with_implicit_saving().await;
    let state = instance.state_manager();
    let thread = state.create_thread(config_with_tools(&[])).await.unwrap();
    let mut first = state.load_thread_context(&thread).await.unwrap();
    let mut second = first.clone();
    first.state = json!({"title": "first"});
    second.state = json!({"title": "second"});
    assert!(state.save_state_if_modified(&mut first).await.unwrap());
    let refused = state.save_state_if_modified(&mut second).await;
    assert!(
        matches!(refused, Err(RuntimeError::Store(StoreError::Conflict { .. }))),
        "{refused:?}"
    );
    assert_eq!(state.load_thread_context(&thread).await.unwrap().state, first.state);
}

#[tokio::test]
async fn messages_of_a_thread_are_selected_by_count_and_time_and_returned_in_order() {
    let instance = instance().await;
    let (state, conversation) = (instance.state_manager(), instance.conversation_manager());
    let thread = state.create_thread(config_with_tools(&[])).await.unwrap();
    let other = state.create_thread(config_with_tools(&[])).await.unwrap();
    let messages = [("c", 3), ("a", 1), ("b", 2)].map(|(id, at)| message(id, &thread, at));
    conversation.add_messages(&thread, messages.to_vec()).await.unwrap();
    let ids = async |thread: &str, options| {
        let messages = conversation.get_messages(thread, options).await.unwrap();
        messages
            .into_iter()
            .map(|message| message.message_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&thread, MessageOptions::default()).await, ["a", "b", "c"]);
    let with_limit = |limit| MessageOptions {
        limit: Some(limit),
        ..MessageOptions::default()
    };
    assert_eq!(ids(&thread, with_limit(2)).await, ["b", "c"]);
    let no_limit = with_limit(0);
    assert_eq!(ids(&thread, no_limit).await, ["a", "b", "c"]);
    let between_times = MessageOptions {
        after: Some(1),
        before: Some(3),
        ..MessageOptions::default()
    };
    assert_eq!(ids(&thread, between_times).await, ["b"]);
    assert!(ids(&other, MessageOptions::default()).await.is_empty());
}

#[tokio::test]
async fn an_empty_list_of_messages_has_no_effect_and_an_empty_thread_identifier_is_refused() {
    let instance = instance().await;
    let conversation = instance.conversation_manager();
    let thread = instance
        .state_manager()
        .create_thread(config_with_tools(&[]))
        .await
        .unwrap();
    conversation.add_messages(&thread, Vec::new()).await.unwrap();
    assert!(conversation.add_messages("", vec![message("m", "", 1)]).await.is_err());
    assert!(conversation.get_messages("", MessageOptions::default()).await.is_err());
}

#[tokio::test]
async fn observations_are_filtered_by_type() {
    let instance = instance().await;
    let observations = instance.observation_manager();
    let thread = instance
        .state_manager()
        .create_thread(config_with_tools(&[]))
        .await
        .unwrap();
    let recorded = observations.record(observation(&thread)).await.unwrap();
    assert_eq!(recorded.title, "THOUGHTS Recorded");
    let with_types = |types: &[ObservationType]| ObservationFilter {
        types: types.to_vec(),
        ..ObservationFilter::default()
    };
    let all_types = with_types(&[]);
    assert_eq!(
        observations.get_observations(&thread, all_types).await.unwrap(),
        [recorded]
    );
    assert_eq!(
        observations
            .get_observations(&thread, with_types(&[ObservationType::Plan]))
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn a_subscriber_gets_what_runs_and_managers_store_in_its_thread() {
    let instance = instance().await;
    let thread = instance
        .state_manager()
        .create_thread(config_with_tools(&["*"]))
        .await
        .unwrap();
    let other = instance
        .state_manager()
        .create_thread(config_with_tools(&["*"]))
        .await
        .unwrap();
    let notified_messages = Arc::new(StdMutex::new(Vec::new()));
    let notified_observations = Arc::new(StdMutex::new(Vec::new()));
    let (messages, observed) = (Arc::clone(&notified_messages), Arc::clone(&notified_observations));
    let on_message = move |message: &ConversationMessage| messages.lock().unwrap().push(message.clone());
    let on_observation = move |new: &Observation| observed.lock().unwrap().push(new.clone());
    let (conversation, observations) = (instance.conversation_manager(), instance.observation_manager());
    let _message_subscription = conversation.subscribe(&thread, on_message).await.unwrap();
    let _observation_subscription = observations.subscribe(&thread, on_observation).await.unwrap();
    instance.process(question_props(&thread, None)).await.unwrap();
    instance.process(question_props(&other, None)).await.unwrap();
    // The store lists messages by time. With this time, `m` is the last message both there and in the callback.
    let far_future = art_store::limits::MAX_TIMESTAMP;
    conversation
        .add_messages(&thread, vec![message("m", &thread, far_future)])
        .await
        .unwrap();
    observations.record(observation(&thread)).await.unwrap();
    let notified_messages = notified_messages.lock().unwrap().clone();
    let notified_observations = notified_observations.lock().unwrap().clone();
    assert_eq!(
        notified_messages,
        conversation
            .get_messages(&thread, MessageOptions::default())
            .await
            .unwrap()
    );
    assert_eq!(
        notified_observations,
        observations
            .get_observations(&thread, ObservationFilter::default())
            .await
            .unwrap()
    );
    // The question, the answer and `m`; at least one observation of the run, and the recorded one.
    assert!(notified_messages.len() >= 3 && notified_observations.len() >= 2);
}

#[tokio::test]
async fn a_panicking_subscriber_does_not_affect_others_and_a_dropped_one_is_not_called() {
    let instance = instance().await;
    let conversation = instance.conversation_manager();
    let thread = instance
        .state_manager()
        .create_thread(config_with_tools(&[]))
        .await
        .unwrap();
    let call_count = Arc::new(AtomicUsize::new(0));
    let counting_callback = || {
        let call_count = Arc::clone(&call_count);
        move |_: &ConversationMessage| {
            call_count.fetch_add(1, Ordering::SeqCst);
        }
    };
    let _panics = conversation
        .subscribe(&thread, |_| panic!("as requested"))
        .await
        .unwrap();
    let _counts = conversation.subscribe(&thread, counting_callback()).await.unwrap();
    drop(conversation.subscribe(&thread, counting_callback()).await.unwrap());
    conversation
        .add_messages(&thread, vec![message("m", &thread, 1)])
        .await
        .unwrap();
    assert_eq!(call_count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn subscribers_do_not_get_messages_that_the_store_refuses() {
    let instance = instance().await;
    let conversation = instance.conversation_manager();
    let thread = instance
        .state_manager()
        .create_thread(config_with_tools(&[]))
        .await
        .unwrap();
    // The instance catches a panic of a callback, so only an abort makes the test fail if the callback is called.
    let _aborts = conversation
        .subscribe(&thread, |_| std::process::abort())
        .await
        .unwrap();
    let message_of_other_thread = message("m", "other", 1);
    assert!(
        conversation
            .add_messages(&thread, vec![message_of_other_thread])
            .await
            .is_err()
    );
}

/// Returns an instance with a tool that never returns, and a question for which the embedded model plans a call of this tool.
async fn instance_with_endless_tool() -> (Arc<ArtInstance>, Question) {
    let tool = DirectTool::typed(
        "wait",
        "Waits for a number.",
        async |_: std::collections::BTreeMap<String, Value>| std::future::pending::<Result<u32, String>>().await,
    );
    let tool = tool.example("Wait for a number.", json!({}));
    let instance = create_art_instance(Runtime::builder().tool(tool)).await.unwrap();
    (Arc::new(instance), Question::from("Wait for a number."))
}

// A closed instance cancels its runs and releases their threads (contract B27).
#[tokio::test(start_paused = true)]
async fn closing_cancels_runs_that_do_not_end_and_releases_their_threads() {
    let (instance, question) = instance_with_endless_tool().await;
    let clone = Arc::clone(&instance);
    let task = tokio::spawn(async move { clone.ask(question, CancellationToken::new(), &mut Unwatched).await });
    tokio::time::sleep(Duration::from_millis(1)).await;
    let unfinished_runs = instance.close(Duration::from_secs(1)).await;
    assert_eq!(unfinished_runs, 0);
    let answer = task.await.unwrap().unwrap();
    assert_eq!(answer.status(), art_core::agent::RunStatus::Cancelled);
    let store = &instance.runtime().store;
    let run = store.get_run(&answer.trace_id).await.unwrap().unwrap();
    assert_eq!(run.status, RunState::Cancelled);
    assert!(store.acquire_lease(&answer.thread_id).await.is_ok());
}

#[tokio::test]
async fn a_closed_instance_refuses_questions_and_stores_nothing() {
    let instance = instance().await;
    assert_eq!(instance.close(Duration::ZERO).await, 0);
    assert_eq!(instance.close(Duration::ZERO).await, 0);
    assert!(matches!(
        instance.process(question_props("", None)).await,
        Err(RuntimeError::Closed)
    ));
    let resumed = instance.resume("r", CancellationToken::new(), &mut Unwatched).await;
    assert!(matches!(resumed, Err(RuntimeError::Closed)));
    assert_eq!(
        instance.runtime().store.list_runs(RunFilter::default()).await.unwrap(),
        []
    );
}

#[tokio::test]
async fn closing_waits_for_runs_in_progress() {
    let gate = Arc::new(Gate::default());
    let run_in_progress = gate.begin_run().unwrap();
    let (finished_tx, finished_rx) = tokio::sync::oneshot::channel();
    let run = async {
        let cancel = CancellationToken::new();
        run_in_progress
            .carry_out(&cancel, async { finished_rx.await.unwrap() })
            .await;
        assert!(!cancel.is_cancelled());
        drop(run_in_progress);
    };
    let closing = async {
        assert_eq!(gate.close(Duration::from_secs(600)).await, 0);
    };
    let finish = async { finished_tx.send(()).unwrap() };
    tokio::join!(run, closing, finish);
}
