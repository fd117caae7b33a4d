mod reply;
mod request;

use serde_json::json;

use crate::protocol::{KeyHeader, Protocol, codec};

#[test]
fn models_are_listed_and_the_key_is_a_bearer_token() {
    let codec = codec(Protocol::OpenaiChat, "openai");
    assert_eq!((codec.models_path(), codec.key_header()), ("models", KeyHeader::Bearer));
    assert_eq!(
        codec.models(&json!({"object": "list", "data": [{"id": "a"}, {}, {"id": "b"}]})),
        ["a", "b"]
    );
    assert_eq!(codec.models(&json!({"error": {}})), Vec::<String>::new());
}
