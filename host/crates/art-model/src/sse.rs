//! Parses server-sent events (WHATWG HTML, 9.2) from chunks of bytes of any size.
//!
//! Each byte is parsed once. Between two chunks, only the incomplete line and event are kept, with one limit for both.

#[cfg(test)]
mod tests;

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The `data` lines, joined with line feeds.
    pub(crate) data: String,
    /// Whether the stream ended without the blank line that ends the event, so that the event may be incomplete.
    pub(crate) is_incomplete: bool,
}

/// The error for a stream with an event or a line that is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventTooLong {
    /// The limit, in bytes.
    pub(crate) max_bytes: usize,
}

/// Splits a stream into server-sent events. Lines may end with LF, CRLF or CR; bytes that are not UTF-8 become U+FFFD.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    max_bytes: usize,
    /// The received part of the line whose end has not arrived.
    line: Vec<u8>,
    /// The received part of the event whose final blank line has not arrived.
    event: SseEvent,
    /// Whether the event has a `data` line, which may be empty.
    has_data: bool,
    /// Whether the last byte was a CR, so that a following LF belongs to it.
    after_cr: bool,
    /// Whether no complete line was read yet. The first line may begin with a byte order mark.
    is_first_line: bool,
    /// Whether an event or a line was too long. Nothing is decoded after it.
    has_exceeded_limit: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Default for SseDecoder {
    /// Accepts events of at most 1 MiB, which is enough for a whole reply in one event.
    fn default() -> Self {
        Self::new(1 << 20)
    }
}

impl SseDecoder {
    /// Creates a decoder. An incomplete event and its incomplete line may together have at most `max_bytes` bytes.
    pub(crate) const fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            line: Vec::new(),
            event: SseEvent {
                data: String::new(),
                is_incomplete: false,
            },
            has_data: false,
            after_cr: false,
            is_first_line: true,
            has_exceeded_limit: false,
        }
    }

    /// Parses `bytes` and adds to `out` the events that they complete.
    ///
    /// # Errors
    /// Fails if an event or a line is too long. Earlier events are in `out`; all later calls fail too.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), EventTooLong> {
        // Fails if the limit is already exceeded.
        self.check_limit(0)?;
        let mut rest = bytes;
        while let Some((&byte, following)) = rest.split_first() {
            if std::mem::take(&mut self.after_cr) && byte == b'\n' {
                rest = following;
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.check_limit(rest.len())?;
                self.line.extend_from_slice(rest);
                break;
            };
            let (line, tail) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            self.check_limit(line.len())?;
            self.after_cr = tail.first() == Some(&b'\r');
            self.end_line(line, out);
            rest = tail.get(1..).unwrap_or_default();
        }
        Ok(())
    }

    /// Ends the stream. An event without its final blank line, which some providers omit, is added and marked as
    /// [`SseEvent::is_incomplete`].
    ///
    /// # Errors
    /// Same as [`Self::push`].
    pub(crate) fn finish(&mut self, out: &mut Vec<SseEvent>) -> Result<(), EventTooLong> {
        // Fails if the limit is already exceeded.
        self.check_limit(0)?;
        if !self.line.is_empty() {
            self.end_line(&[], out);
        }
        self.event.is_incomplete = true;
        self.end_event(out);
        Ok(())
    }

    /// Fails if the incomplete event and the incomplete line, with `additional` more bytes, are together longer than the limit.
    /// After a failure, all later checks fail too.
    fn check_limit(&mut self, additional: usize) -> Result<(), EventTooLong> {
        let pending = self.line.len() + self.event.data.len();
        self.has_exceeded_limit |= pending.saturating_add(additional) > self.max_bytes;
        if self.has_exceeded_limit {
            return Err(EventTooLong {
                max_bytes: self.max_bytes,
            });
        }
        Ok(())
    }

    /// Appends `tail`, the rest of the line, to the buffered part and parses the whole line.
    fn end_line(&mut self, tail: &[u8], out: &mut Vec<SseEvent>) {
        if self.line.is_empty() {
            self.parse_line(tail, out);
            return;
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(tail);
        self.parse_line(&line, out);
        line.clear();
        self.line = line;
    }

    /// Parses a complete line. An empty line ends the event.
    fn parse_line(&mut self, line: &[u8], out: &mut Vec<SseEvent>) {
        let line = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if self.is_first_line => rest,
            _ => line,
        };
        self.is_first_line = false;
        if line.is_empty() {
            self.end_event(out);
            return;
        }
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
        let value = value.strip_prefix(b":").unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        self.parse_field(field, value);
    }

    /// Parses a field. Only `data` is used. Comments, which are fields with an empty name here, are ignored; so are `id` and
    /// `retry`, which are only for reconnecting, and `event`, because the type of an event is also in its data.
    fn parse_field(&mut self, field: &[u8], value: &[u8]) {
        if field != b"data" {
            return;
        }
        if self.has_data {
            self.event.data.push('\n');
        }
        self.has_data = true;
        self.event.data.push_str(&String::from_utf8_lossy(value));
    }

    /// Adds the event to `out`, unless it has no data, and starts the next one.
    fn end_event(&mut self, out: &mut Vec<SseEvent>) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            out.push(event);
        }
    }
}
