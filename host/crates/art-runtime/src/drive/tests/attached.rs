//! Tests that later questions of a thread can use the files of earlier questions, and a test of the history limit, which bounds
//! the number of earlier messages with which a run starts.

use std::sync::Mutex;

use super::*;

/// Returns a question to which `file` is attached.
fn question_with_file(file: QueryAttachment) -> Question {
    Question {
        attachments: vec![file],
        ..question()
    }
}

/// Returns the file `a.csv` with this text, which later questions may use.
fn text_file(text: &str) -> QueryAttachment {
    QueryAttachment {
        name: "a.csv".to_owned(),
        media_type: "text/csv".to_owned(),
        text: text.to_owned(),
        base64: None,
        keep: true,
    }
}

/// Returns the file `a.csv` with bytes that are not text.
fn binary_file(base64: &str) -> QueryAttachment {
    QueryAttachment {
        base64: Some(base64.to_owned()),
        ..text_file("")
    }
}

/// Returns a runtime whose model answers the first question without a tool, and for the second one calls a tool with the file
/// `a.csv`. The host replaces the name `attachment:a.csv` in the arguments by the content of the file. Also returns the list to
/// which the tool adds the arguments of its calls.
fn runtime_reading_file_in_second_question() -> (tempfile::TempDir, Runtime, Arc<Mutex<Vec<Value>>>) {
    let call = json!({"toolCalls": [{"toolName": "read", "arguments": {"file": "attachment:a.csv"}}]});
    let (home, runtime) = scripted::scripted_runtime([
        scripted::plan_reply(&json!([])),
        scripted::text_reply("Thank you."),
        scripted::one_step_plan(),
        Ok(call.to_string()),
        scripted::completing_reply(),
        scripted::text_reply("Read."),
    ]);
    let received_arguments = Arc::new(Mutex::new(Vec::new()));
    let in_tool = Arc::clone(&received_arguments);
    let schema = json!({"name": "read", "description": "Reads.", "inputSchema": {"type": "object",
        "properties": {"file": {"type": "string"}}}});
    let tool = DirectTool::new(serde_json::from_value(schema).unwrap(), move |call| {
        in_tool.lock().unwrap().push(call.arguments.clone());
        std::future::ready(success(&json!(1)))
    });
    runtime.tools.registry().register(Arc::new(tool)).unwrap();
    (home, runtime, received_arguments)
}

#[tokio::test]
async fn a_later_question_of_the_thread_can_use_a_kept_file_of_an_earlier_one() {
    let base64 = "/wA=";
    for (file, expected_argument) in [(text_file("x,y"), "x,y"), (binary_file(base64), base64)] {
        let (_home, runtime, received_arguments) = runtime_reading_file_in_second_question();
        let first = question_with_file(file);
        let answer = ask(&runtime, first, CancellationToken::new()).await.unwrap();
        let later = question().in_thread(&answer.thread_id);
        let answer = ask(&runtime, later, CancellationToken::new()).await.unwrap();
        assert_eq!(
            *received_arguments.lock().unwrap(),
            [json!({"file": expected_argument})]
        );
        let sources: Vec<_> = answer.report.sources.iter().map(ToString::to_string).collect();
        assert_eq!(sources, ["a.csv, attached to an earlier question"]);
    }
}

#[tokio::test]
async fn a_file_belongs_to_its_question_unless_it_is_kept_or_named() {
    for (query, calls) in [("How many rows are there?", 0), ("How many rows are in a.csv?", 1)] {
        let (_home, runtime, received_arguments) = runtime_reading_file_in_second_question();
        let file = QueryAttachment {
            keep: false,
            ..text_file("x,y")
        };
        let answer = ask(&runtime, question_with_file(file), CancellationToken::new())
            .await
            .unwrap();
        let later = Question {
            query: query.to_owned(),
            ..question().in_thread(&answer.thread_id)
        };
        ask(&runtime, later, CancellationToken::new()).await.unwrap();
        assert_eq!(received_arguments.lock().unwrap().len(), calls, "{query}");
    }
}

#[tokio::test]
async fn a_question_of_another_thread_cannot_use_the_file() {
    let (_home, runtime, received_arguments) = runtime_reading_file_in_second_question();
    let first = question_with_file(text_file("x,y"));
    ask(&runtime, first, CancellationToken::new()).await.unwrap();
    ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    assert_eq!(*received_arguments.lock().unwrap(), Vec::<Value>::new());
}

#[tokio::test]
async fn the_message_of_a_question_names_its_files_and_the_store_has_their_content() {
    let (_home, runtime) = runtime_with_population_tool();
    let first = question_with_file(text_file("x,y"));
    let answer = ask(&runtime, first, CancellationToken::new()).await.unwrap();
    let messages = runtime
        .store
        .list_messages(&answer.thread_id, MessageOptions::default());
    let files = messages.await.unwrap()[0].attachments();
    assert_eq!((files[0].name.as_str(), files[0].bytes), ("a.csv", 3));
    let digest = files[0].digest.as_deref().unwrap();
    let stored = runtime.store.get_blob(&answer.thread_id, digest).await.unwrap();
    assert_eq!(stored.as_deref(), Some(&b"x,y"[..]));
}

// The history limit of a thread counts messages of people and the agent only (contract B32).
#[tokio::test]
async fn the_history_limit_counts_messages_of_people_and_the_agent_only() {
    let (_home, runtime) = runtime_with_population_tool();
    let config = ThreadConfig {
        history_limit: 2,
        ..ThreadConfig::default()
    };
    let new = NewThread {
        id: "t".to_owned(),
        config,
        ..NewThread::default()
    };
    runtime.store.create_thread(new).await.unwrap();
    let roles = [
        MessageRole::User,
        MessageRole::Ai,
        MessageRole::System,
        MessageRole::Tool,
        MessageRole::System,
    ];
    let messages = roles.iter().zip(1..).map(|(role, at)| ConversationMessage {
        message_id: at.to_string(),
        thread_id: "t".to_owned(),
        role: *role,
        content: at.to_string(),
        timestamp: at,
        metadata: JsonObject::new(),
    });
    runtime.store.append_messages("t", messages.collect()).await.unwrap();
    let asked = question().in_thread("t");
    let (start, _) = prepare::prepare(&runtime, asked, &CancellationToken::new())
        .await
        .unwrap();
    let contents: Vec<_> = start.history.iter().map(|message| message.content.as_str()).collect();
    // The first two messages are those of the person and the agent.
    assert_eq!(contents, ["1", "2"]);
}
