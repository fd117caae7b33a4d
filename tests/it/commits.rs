//! How often a run writes to the disk. Each commit is synced, so the number of commits determines the disk time of a run.

use std::sync::Arc;

use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{Phase, StreamEvent};
use art_model::Model;
use art_runtime::Runtime;
use art_store::{SqliteStore, Store};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};

use crate::home::Home;

/// A model that replies at once: with `plan` to the request for a plan, and with a text to every other request.
#[derive(Debug)]
struct InstantModel {
    config: RuntimeProviderConfig,
    plan: Value,
}

impl Model for InstantModel {
    fn config(&self) -> &RuntimeProviderConfig {
        &self.config
    }

    fn capabilities(&self) -> &[ModelCapability] {
        &[ModelCapability::Text, ModelCapability::Reasoning]
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let text = match request.phase {
            Phase::Planning => self.plan.to_string(),
            Phase::Execution | Phase::Synthesis => "The answer.".to_owned(),
        };
        stream::iter([StreamEvent::Token(text), StreamEvent::End]).boxed()
    }
}

/// Returns the number of commits of a run. The plan of the run has one step for each item of `dependencies`. The item lists the
/// identifiers of the earlier steps that its step needs. Each step makes one call.
async fn commits_of_run(dependencies: &[Vec<String>]) -> u64 {
    let step = |(number, dependencies)| {
        json!({
            "id": format!("s{number}"), "description": "add", "stepType": "tool", "requiredTools": ["calculator"],
            "dependencies": dependencies,
            "toolCalls": [{"toolName": "calculator", "arguments": {"expression": format!("{number} + 1")}}],
        })
    };
    let steps: Vec<_> = dependencies.iter().enumerate().map(step).collect();
    let model = InstantModel {
        config: RuntimeProviderConfig::new("test", "instant"),
        plan: json!({"title": "T", "intent": "I", "plan": "P", "todoList": steps}),
    };
    let home = Home::with_empty_cache();
    let database = Arc::new(SqliteStore::open(home.dir.path().join("commits.db")).unwrap());
    let builder = Runtime::builder().plugins(home.plugins()).own_model(Arc::new(model));
    let runtime = builder
        .store(Arc::clone(&database) as Arc<dyn Store>)
        .build()
        .await
        .unwrap();
    // The first run compiles the tool, and meanwhile renews its lease of the conversation, which takes further commits. On a very
    // busy machine, a later run may have to renew its lease too. So the run with the fewest commits counts.
    let mut fewest = u64::MAX;
    for _ in 0..4 {
        let before = database.stats().commits;
        let answer = runtime.ask("Add.").await.unwrap();
        assert_eq!((answer.text(), answer.calls.len()), ("The answer.", dependencies.len()));
        fewest = fewest.min(database.stats().commits - before);
    }
    fewest
}

/// Returns the number of commits of a run whose steps form a chain: each needs the one before it.
async fn commits_of_chain(steps: usize) -> u64 {
    let earlier_step = |number: usize| number.checked_sub(1).map(|earlier| format!("s{earlier}"));
    let dependencies: Vec<_> = (0..steps)
        .map(|number| earlier_step(number).into_iter().collect())
        .collect();
    commits_of_run(&dependencies).await
}

/// Number of commits of a run without its calls: those of its conversation, its question, its plan and its answer.
const COMMITS_WITHOUT_CALLS: u64 = 4;

#[tokio::test]
async fn a_planned_call_adds_at_most_two_commits_to_those_of_its_run() {
    for steps in [1, 3, 6] {
        let commits = commits_of_chain(steps).await;
        let (calls, commits_of_calls) = (steps as u64, commits.saturating_sub(COMMITS_WITHOUT_CALLS));
        assert!(commits_of_calls <= 2 * calls, "{commits} for {calls} calls");
        // The end of each call is stored before the next call is made.
        assert!(commits_of_calls >= calls, "{commits} for {calls} calls");
    }
}

#[tokio::test]
async fn parallel_calls_add_at_most_one_commit_each() {
    const CALLS: u64 = 8;
    let no_dependencies = vec![Vec::new(); CALLS as usize];
    let commits = commits_of_run(&no_dependencies).await;
    assert!(commits <= CALLS + COMMITS_WITHOUT_CALLS, "{commits}");
}
