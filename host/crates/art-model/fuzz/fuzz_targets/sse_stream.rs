//! No bytes of a provider panic the host, and no split of them changes what they mean.
//!
//! The first byte says how long the pieces are. The seeds are the recorded streams of the tests; in `host/crates/art-model`:
//! `cargo +nightly fuzz run sse_stream fuzz/corpus/sse_stream src/wire/samples -- -max_len=8192 -max_total_time=60`.

#![no_main]

use art_model::{Api, replay};
use libfuzzer_sys::fuzz_target;

/// Each dialect, by a provider whose variant has the most ways to go.
const DIALECTS: [(Api, &str); 5] = [
    (Api::OpenaiChat, "deepseek"),
    (Api::OpenaiChat, "openrouter"),
    (Api::OpenaiResponses, "openai"),
    (Api::Anthropic, "anthropic"),
    (Api::Gemini, "gemini"),
];

fuzz_target!(|bytes: &[u8]| {
    let size = usize::from(bytes.first().copied().unwrap_or(0) % 61) + 1;
    for (api, provider) in DIALECTS {
        let whole = replay(api, provider, [bytes]);
        assert_eq!(replay(api, provider, bytes.chunks(size)), whole);
        let (first, rest) = bytes.split_at(bytes.len() / 2);
        assert_eq!(replay(api, provider, [first, rest]), whole);
    }
});
