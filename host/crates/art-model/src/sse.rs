//! Parses server-sent events (WHATWG HTML, 9.2) from bytes that arrive in pieces of any size.
//!
//! Each byte is read once. Between two pieces, only the incomplete line and event are kept, with a bound on both
//! together.

#[cfg(test)]
mod tests;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// Its `data` lines joined with a line feed.
    pub(crate) data: String,
    /// The stream ended before the blank line that ends the event, which may be incomplete.
    pub(crate) cut: bool,
}

/// An event is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    /// The limit, in bytes.
    pub(crate) max: usize,
}

/// Reads events. Lines end with LF, CRLF or CR in any mix; bytes that are not UTF-8 become U+FFFD.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    max: usize,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The last byte was a CR, so a LF that follows belongs to it.
    after_cr: bool,
    /// No line was read, so one may begin with a byte order mark.
    first: bool,
    failed: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Default for SseDecoder {
    /// Accepts events of at most 1 MiB, which is enough for a whole reply in one event.
    fn default() -> Self {
        Self::new(1 << 20)
    }
}

impl SseDecoder {
    /// Creates a decoder for events of at most `max` bytes, including the incomplete line.
    pub(crate) const fn new(max: usize) -> Self {
        Self {
            max,
            line: Vec::new(),
            event: SseEvent {
                data: String::new(),
                cut: false,
            },
            has_data: false,
            after_cr: false,
            first: true,
            failed: false,
        }
    }

    /// Parses `bytes` and adds the events that become complete to `out`.
    ///
    /// # Errors
    /// When an event is too long. Earlier events are in `out`; no further ones follow, also in later calls.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        self.check(0)?;
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if std::mem::take(&mut self.after_cr) && byte == b'\n' {
                rest = after;
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.check(rest.len())?;
                self.line.extend_from_slice(rest);
                break;
            };
            let (line, tail) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            self.check(line.len())?;
            self.after_cr = tail.first() == Some(&b'\r');
            self.end_line(line, out);
            rest = tail.get(1..).unwrap_or_default();
        }
        Ok(())
    }

    /// Ends the stream. An event without its blank line is added all the same, because some providers omit it; it is
    /// marked as [`SseEvent::cut`].
    ///
    /// # Errors
    /// As [`Self::push`].
    pub(crate) fn finish(&mut self, out: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        self.check(0)?;
        if !self.line.is_empty() {
            self.end_line(&[], out);
        }
        self.event.cut = true;
        self.dispatch(out);
        Ok(())
    }

    /// Checks that `more` bytes of a line fit.
    fn check(&mut self, more: usize) -> Result<(), TooLong> {
        let kept = self.line.len() + self.event.data.len();
        self.failed |= kept.saturating_add(more) > self.max;
        if self.failed {
            return Err(TooLong { max: self.max });
        }
        Ok(())
    }

    /// Reads the incomplete line, completed by `tail`.
    fn end_line(&mut self, tail: &[u8], out: &mut Vec<SseEvent>) {
        if self.line.is_empty() {
            self.read(tail, out);
            return;
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(tail);
        self.read(&line, out);
        line.clear();
        self.line = line;
    }

    fn read(&mut self, line: &[u8], out: &mut Vec<SseEvent>) {
        let line = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if self.first => rest,
            _ => line,
        };
        self.first = false;
        if line.is_empty() {
            self.dispatch(out);
            return;
        }
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
        let value = value.strip_prefix(b":").unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        self.field(field, value);
    }

    /// Reads a field. Comments are fields without a name. The fields `id` and `retry` are for reconnecting, and the
    /// data repeat what `event` says, so all are ignored.
    fn field(&mut self, field: &[u8], value: &[u8]) {
        if field != b"data" {
            return;
        }
        if self.has_data {
            self.event.data.push('\n');
        }
        self.has_data = true;
        self.event.data.push_str(&String::from_utf8_lossy(value));
    }

    fn dispatch(&mut self, out: &mut Vec<SseEvent>) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            out.push(event);
        }
    }
}
