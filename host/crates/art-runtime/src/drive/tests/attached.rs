//! Files of questions that later questions of the thread use.

use std::sync::Mutex;

use super::*;

fn question_with_file(name: &str, text: Option<&str>, base64: Option<&str>) -> Question {
    let attachment = QueryAttachment {
        name: name.to_owned(),
        media_type: "text/csv".to_owned(),
        text: text.unwrap_or_default().to_owned(),
        base64: base64.map(str::to_owned),
    };
    Question {
        attachments: vec![attachment],
        ..question()
    }
}

/// Returns a runtime that answers one question without a tool, and whose model then calls a tool with `attachment:NAME`. Also
/// returns the list to which the tool adds the arguments of its calls.
fn runtime_reading(name: &str) -> (tempfile::TempDir, Runtime, Arc<Mutex<Vec<Value>>>) {
    let call = json!({"toolCalls": [{"toolName": "read", "arguments": {"file": format!("attachment:{name}")}}]});
    let (home, runtime) = scripted::scripted_runtime([
        scripted::plan_reply(&json!([])),
        scripted::text_reply("Thank you."),
        scripted::one_step_plan(),
        Ok(call.to_string()),
        scripted::completing_reply(),
        scripted::text_reply("Read."),
    ]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let in_tool = Arc::clone(&seen);
    let schema = json!({"name": "read", "description": "Reads.", "inputSchema": {"type": "object",
        "properties": {"file": {"type": "string"}}}});
    let tool = DirectTool::new(serde_json::from_value(schema).unwrap(), move |call| {
        in_tool.lock().unwrap().push(call.arguments.clone());
        std::future::ready(success(&json!(1)))
    });
    runtime.tools.registry().register(Arc::new(tool)).unwrap();
    (home, runtime, seen)
}

#[tokio::test]
async fn a_later_question_of_the_thread_can_use_a_file_of_an_earlier_one() {
    for (file, content) in [
        (question_with_file("a.csv", Some("x,y"), None), "x,y"),
        (question_with_file("a.csv", None, Some("/wA=")), "/wA="),
    ] {
        let (_home, runtime, seen) = runtime_reading("a.csv");
        let answer = ask(&runtime, file, CancellationToken::new()).await.unwrap();
        let later = question().in_thread(&answer.thread_id);
        ask(&runtime, later, CancellationToken::new()).await.unwrap();
        assert_eq!(*seen.lock().unwrap(), [json!({"file": content})]);
    }
}

#[tokio::test]
async fn a_question_of_another_thread_cannot_use_the_file() {
    let (_home, runtime, seen) = runtime_reading("a.csv");
    let file = question_with_file("a.csv", Some("x,y"), None);
    ask(&runtime, file, CancellationToken::new()).await.unwrap();
    ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), Vec::<Value>::new());
}

#[tokio::test]
async fn the_message_of_a_question_names_its_files_and_the_store_has_their_content() {
    let (_home, runtime) = runtime_with_population_tool();
    let file = question_with_file("a.csv", Some("x,y"), None);
    let answer = ask(&runtime, file, CancellationToken::new()).await.unwrap();
    let messages = runtime
        .store
        .list_messages(&answer.thread_id, MessageOptions::default());
    let files = messages.await.unwrap()[0].attachments();
    assert_eq!((files[0].name.as_str(), files[0].bytes), ("a.csv", 3));
    let digest = files[0].digest.as_deref().unwrap();
    let stored = runtime.store.get_blob(&answer.thread_id, digest).await.unwrap();
    assert_eq!(stored.as_deref(), Some(&b"x,y"[..]));
}

// B32: the history limit.
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
    let shown: Vec<_> = start.history.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(shown, ["1", "2"]);
}
