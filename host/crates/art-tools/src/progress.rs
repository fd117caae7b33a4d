//! What a caller may hear of its calls before the whole batch has ended.

use art_core::tool::ParsedToolCall;

use crate::report::ToolReport;

/// How far a call is. A call that was refused, found no place in the queue or was not run for another reason does not run,
/// so nothing but its report tells of it.
#[derive(Clone, Debug, PartialEq)]
pub enum CallProgress {
    /// The call has a place and runs now. Its arguments are the validated ones, defaults included.
    Started(ParsedToolCall),
    /// A call that had started has ended, in whatever way, and was recorded. The report is the one that the batch gives.
    Ended(Box<ToolReport>),
}
