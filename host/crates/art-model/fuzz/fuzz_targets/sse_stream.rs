//! Checks that no reply of a provider causes a panic, and that splitting it into chunks does not change its events.
//!
//! The first byte determines the length of the chunks. The seeds are the recorded streams of the tests. Run in
//! `host/crates/art-model`:
//! `cargo +nightly fuzz run sse_stream fuzz/corpus/sse_stream src/protocol/samples -- -max_len=8192 -max_total_time=60`.

#![no_main]

use art_model::{Protocol, replay};
use libfuzzer_sys::fuzz_target;

/// Each protocol with a provider that uses it. `OpenaiChat` comes with two providers: the decoder has the most special cases for
/// them.
const PROTOCOLS: [(Protocol, &str); 5] = [
    (Protocol::OpenaiChat, "deepseek"),
    (Protocol::OpenaiChat, "openrouter"),
    (Protocol::OpenaiResponses, "openai"),
    (Protocol::Anthropic, "anthropic"),
    (Protocol::Gemini, "gemini"),
];

/// Maximum length of a chunk, in bytes. It is small, so that most streams are split in many places.
const MAX_CHUNK_SIZE: u8 = 61;

fuzz_target!(|bytes: &[u8]| {
    let chunk_size = usize::from(bytes.first().copied().unwrap_or(0) % MAX_CHUNK_SIZE) + 1;
    for (protocol, provider) in PROTOCOLS {
        let expected = replay(protocol, provider, [bytes]);
        assert_eq!(replay(protocol, provider, bytes.chunks(chunk_size)), expected);
        let (first, rest) = bytes.split_at(bytes.len() / 2);
        assert_eq!(replay(protocol, provider, [first, rest]), expected);
    }
});
