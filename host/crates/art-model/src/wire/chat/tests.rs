mod reply;
mod request;

use serde_json::json;

use crate::wire::{Api, KeyHeader, dialect};

#[test]
fn models_are_listed_and_the_key_is_a_bearer_token() {
    let wire = dialect(Api::OpenaiChat, "openai");
    assert_eq!((wire.models_path(), wire.key_header()), ("models", KeyHeader::Bearer));
    assert_eq!(
        wire.models(&json!({"object": "list", "data": [{"id": "a"}, {}, {"id": "b"}]})),
        ["a", "b"]
    );
    assert_eq!(wire.models(&json!({"error": {}})), Vec::<String>::new());
}
