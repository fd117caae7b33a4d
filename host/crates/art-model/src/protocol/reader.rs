//! Decodes the bytes of a streamed reply into the events of the reply.

use art_core::stream::StreamEvent;

use super::{Codec, Decoder, fault};
use crate::sse::{EventTooLong, SseDecoder, SseEvent};

/// Decodes one streamed reply, in pieces of any size.
#[derive(Debug)]
pub(crate) struct ReplyReader {
    /// Splits the bytes into server-sent events.
    sse: SseDecoder,
    /// Decodes the server-sent events into the events of the reply.
    decoder: Box<dyn Decoder>,
    /// Whether the reply ended with `End` or `Error`.
    has_ended: bool,
}

impl ReplyReader {
    /// Creates a reader for a reply in the protocol of `codec`.
    pub(crate) fn new(codec: &dyn Codec) -> Self {
        Self {
            sse: SseDecoder::default(),
            decoder: codec.decoder(),
            has_ended: false,
        }
    }

    /// Decodes `bytes` and adds the events of the reply to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) {
        self.decode(out, |sse, events| sse.push(bytes, events));
    }

    /// Ends the stream and adds the last events of the reply to `out`. An incomplete reply ends with an error.
    pub(crate) fn finish(&mut self, out: &mut Vec<StreamEvent>) {
        self.decode(out, SseDecoder::finish);
        if !self.has_ended {
            self.has_ended = true;
            self.decoder.finish(out);
        }
    }

    /// Returns whether the reply ended with `End` or `Error`. Later bytes are ignored.
    pub(crate) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Obtains server-sent events with `split`, and adds the events of the reply that they contain to `out`.
    fn decode(
        &mut self,
        out: &mut Vec<StreamEvent>,
        split: impl FnOnce(&mut SseDecoder, &mut Vec<SseEvent>) -> Result<(), EventTooLong>,
    ) {
        if self.has_ended {
            return;
        }
        let mut sse_events = Vec::new();
        let result = split(&mut self.sse, &mut sse_events);
        for event in &sse_events {
            let length_before = out.len();
            self.decoder.decode_event(event, out);
            let added = out.get(length_before..).unwrap_or_default();
            if matches!(added.last(), Some(StreamEvent::End | StreamEvent::Error(_))) {
                self.has_ended = true;
                return;
            }
        }
        if let Err(error) = result {
            self.has_ended = true;
            let reason = format!("an event has more than {} bytes", error.max_bytes);
            out.push(StreamEvent::Error(fault::unreadable_reply(&reason)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Protocol, codec};

    fn reader() -> ReplyReader {
        ReplyReader::new(&*codec(Protocol::OpenaiChat, "openai"))
    }

    #[test]
    fn bytes_after_the_end_of_a_reply_are_ignored() {
        // An `End` that `out` already contains does not end the reply.
        let (mut reader, mut out) = (reader(), vec![StreamEvent::End]);
        reader.push(b": wait\n\n", &mut out);
        assert!(!reader.has_ended());
        reader.push(b"data: [DONE]\n\ndata: {oops\n\n", &mut out);
        assert!(reader.has_ended());
        reader.finish(&mut out);
        // Only metadata and another `End` were added.
        assert_eq!(out.len(), 3);
    }

    #[test]
    fn an_event_that_is_too_long_ends_the_reply_with_an_error() {
        let (mut reader, mut out) = (reader(), Vec::new());
        reader.push(
            b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: ",
            &mut out,
        );
        // The event becomes longer than 1 MiB.
        for _ in 0..200 {
            reader.push(&[b'x'; 8192], &mut out);
        }
        reader.finish(&mut out);
        assert_eq!(out.len(), 2);
        let Some(StreamEvent::Error(error)) = out.last() else {
            panic!("no error");
        };
        insta::assert_snapshot!(error, @"the provider's reply cannot be read: an event has more than 1048576 bytes");
    }
}
