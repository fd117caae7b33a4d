//! Evaluates a set of cases.

use serde::{Deserialize, Serialize};

use super::cases::EvalCase;
use super::score::{CaseResult, ProposedCall, score};

/// The totals and the result of each case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvalReport {
    /// Number of cases.
    pub cases: usize,
    /// Cases in which all calls were right.
    pub cases_right: usize,
    /// Cases that could not be run.
    pub errors: usize,
    /// Expected calls.
    pub expected_calls: usize,
    /// Expected calls whose tool was called.
    pub tools_right: usize,
    /// Expected calls that were made with all required arguments, no unexpected ones, and only accepted values.
    pub calls_right: usize,
    /// Expected arguments.
    pub arguments: usize,
    /// Expected arguments with an accepted value.
    pub arguments_right: usize,
    /// Calls beyond the expected number, summed over all cases.
    pub invented: usize,
    /// Cases in which no tool fits.
    pub unanswerable: usize,
    /// Cases in which no tool fits and none was called.
    pub unanswerable_right: usize,
    /// The result of each case.
    pub results: Vec<CaseResult>,
}

impl EvalReport {
    /// Computes the totals of `results`.
    #[must_use]
    pub fn new(results: Vec<CaseResult>) -> Self {
        let sum = |field: fn(&CaseResult) -> usize| results.iter().map(field).sum();
        let count = |test: fn(&CaseResult) -> bool| results.iter().filter(|result| test(result)).count();
        Self {
            cases: results.len(),
            cases_right: count(CaseResult::is_right),
            errors: count(|result| result.error.is_some()),
            expected_calls: sum(|result| result.expected),
            tools_right: sum(|result| result.tools_right),
            calls_right: sum(|result| result.calls_right),
            arguments: sum(|result| result.arguments),
            arguments_right: sum(|result| result.arguments_right),
            invented: sum(|result| result.invented),
            unanswerable: count(|result| result.expected == 0),
            unanswerable_right: count(|result| result.expected == 0 && result.is_right()),
            results,
        }
    }
}

/// Obtains the calls of each case from `calls_for` in order, and scores them. A case that fails is scored without calls and
/// keeps its error.
pub async fn evaluate<F>(cases: &[EvalCase], mut calls_for: F) -> EvalReport
where
    F: AsyncFnMut(&EvalCase) -> Result<Vec<ProposedCall>, String>,
{
    let mut results = Vec::with_capacity(cases.len());
    for case in cases {
        results.push(match calls_for(case).await {
            Ok(calls) => score(case, &calls),
            Err(error) => CaseResult {
                error: Some(error),
                ..score(case, &[])
            },
        });
    }
    EvalReport::new(results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn case(line: usize) -> EvalCase {
        EvalCase {
            line,
            query: "q".into(),
            tools: None,
            expected: Vec::new(),
        }
    }

    #[test]
    fn a_case_that_cannot_be_run_is_not_right() {
        let cases = [case(1), case(2)];
        let run = evaluate(&cases, async |case: &EvalCase| {
            if case.line == 1 {
                Ok(Vec::new())
            } else {
                Err("broken".to_owned())
            }
        });
        let report = run.now_or_never().unwrap();
        assert_eq!(
            (
                report.cases,
                report.cases_right,
                report.errors,
                report.unanswerable_right
            ),
            (2, 1, 1, 1)
        );
    }
}
