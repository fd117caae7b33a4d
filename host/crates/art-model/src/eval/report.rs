//! Evaluates a model with a set of cases, and sums up the results.

use serde::{Deserialize, Serialize};

use super::cases::EvalCase;
use super::score::{CaseResult, ProposedCall, score};

/// The totals and the result of each case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvalReport {
    /// Number of cases.
    pub cases: usize,
    /// Number of cases in which the model did not fail and made exactly the expected calls, with the right arguments.
    pub cases_right: usize,
    /// Number of cases for which no calls could be obtained from the model.
    pub errors: usize,
    /// Number of expected calls.
    pub expected_calls: usize,
    /// Number of expected calls whose tool was called.
    pub tools_right: usize,
    /// Number of expected calls that were made with all required arguments, no unexpected ones, and only accepted values.
    pub calls_right: usize,
    /// Number of required arguments of the expected calls.
    pub arguments: usize,
    /// Number of required arguments that had an accepted value.
    pub arguments_right: usize,
    /// Number of calls beyond the expected number, summed over all cases.
    #[serde(rename = "invented")]
    pub extra_calls: usize,
    /// Number of cases in which no tool fits, so that no call is expected.
    pub unanswerable: usize,
    /// Number of cases in which no tool fits and none was called.
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
            expected_calls: sum(|result| result.expected_calls),
            tools_right: sum(|result| result.tools_right),
            calls_right: sum(|result| result.calls_right),
            arguments: sum(|result| result.arguments),
            arguments_right: sum(|result| result.arguments_right),
            extra_calls: sum(|result| result.extra_calls),
            unanswerable: count(|result| result.expected_calls == 0),
            unanswerable_right: count(|result| result.expected_calls == 0 && result.is_right()),
            results,
        }
    }
}

/// Scores the calls that a model makes for each case. `calls_for` asks the model for them, one case after the other. If it fails,
/// the case is scored as if no call was made, and its result contains the error.
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

    fn case_without_expected_calls(line: usize) -> EvalCase {
        EvalCase {
            line,
            query: "q".into(),
            tools: None,
            expected: Vec::new(),
        }
    }

    #[test]
    fn a_case_whose_calls_cannot_be_obtained_is_not_right() {
        let cases = [1, 2].map(case_without_expected_calls);
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
