//! Changes the text of a query before the engine runs it, without changing the names of the columns of its result.

use std::ops::Range;

use graphitesql::QueryResult;

/// A range of a query and the text to put in its place.
pub(crate) type Edit = (Range<usize>, String);

/// A query with changes.
pub(crate) struct RewrittenQuery<'q> {
    pub(crate) sql: String,
    original: &'q str,
    /// The end of each new text in `sql`, and of what it replaces in `original`.
    ends: Vec<(usize, usize)>,
}

impl<'q> RewrittenQuery<'q> {
    /// Makes these changes, whose ranges do not overlap.
    pub(crate) fn new(original: &'q str, mut edits: Vec<Edit>) -> Self {
        edits.sort_by_key(|(range, _)| range.start);
        let mut rewritten = Self {
            sql: String::new(),
            original,
            ends: Vec::new(),
        };
        let mut end = 0;
        for (range, text) in edits {
            rewritten
                .sql
                .push_str(original.get(end..range.start).unwrap_or_default());
            rewritten.sql.push_str(&text);
            end = range.end;
            rewritten.ends.push((rewritten.sql.len(), end));
        }
        rewritten.sql.push_str(original.get(end..).unwrap_or_default());
        rewritten
    }

    /// Gives the columns of the result the names that they have in the original query. A column without a name of its own has its
    /// expression as its name.
    pub(crate) fn restore_names(&self, mut result: QueryResult) -> QueryResult {
        let mut end = 0;
        for name in result.columns.iter_mut().filter(|_| !self.ends.is_empty()) {
            // The columns are in the order of the query.
            if let Some(start) = self.sql.get(end..).and_then(|rest| rest.find(name.as_str())) {
                let range = end + start..end + start + name.len();
                end = range.end;
                if let Some(original) = self
                    .original
                    .get(self.original_offset(range.start)..self.original_offset(range.end))
                {
                    *name = original.to_owned();
                }
            }
        }
        result
    }

    /// Converts an offset in `sql` to one in `original`.
    fn original_offset(&self, offset: usize) -> usize {
        let earlier = self.ends.iter().rev().find(|(end, _)| *end <= offset);
        earlier.map_or(offset, |(end, original_end)| original_end + (offset - end))
    }
}
