//! Model calls, tool calls, tokens and cost of questions, summed up.

use std::ops::AddAssign;

use art_core::agent::ExecutionMetadata;
use art_runtime::Answer;

use crate::render::units;

/// Resources that one or more questions used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct UsageSummary {
    questions: u32,
    model_calls: u64,
    tool_calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// Cost of the model calls with a known price, in US dollars.
    cost_usd: f64,
    /// Whether the price of at least one model call is unknown.
    has_unknown_price: bool,
    /// Number of model calls whose tokens and cost are estimates.
    estimated_calls: u64,
}

impl UsageSummary {
    /// Returns a line such as `2 model calls, 1 tool call, 1.2 k tokens in, 80 out, $0.0031, 1 model call estimated`.
    pub(crate) fn to_line(self) -> String {
        let mut parts = vec![
            with_noun(self.model_calls, "model call"),
            with_noun(self.tool_calls, "tool call"),
            format!("{} tokens in", units::count(self.input_tokens)),
            format!("{} out", units::count(self.output_tokens)),
        ];
        if self.cost_usd > 0.0 {
            parts.push(units::dollars(self.cost_usd));
        }
        if self.has_unknown_price {
            parts.push("price unknown".to_owned());
        }
        if self.estimated_calls > 0 {
            parts.push(format!("{} estimated", with_noun(self.estimated_calls, "model call")));
        }
        if self.questions != 1 {
            parts.insert(0, with_noun(self.questions.into(), "question"));
        }
        parts.join(", ")
    }
}

impl From<&Answer> for UsageSummary {
    fn from(answer: &Answer) -> Self {
        Self::from(&answer.report.response.metadata)
    }
}

impl From<&ExecutionMetadata> for UsageSummary {
    /// Returns the resources that one run used.
    fn from(metadata: &ExecutionMetadata) -> Self {
        Self {
            questions: 1,
            model_calls: metadata.llm_calls.into(),
            tool_calls: metadata.tool_calls.into(),
            input_tokens: metadata.tokens.prompt_tokens,
            output_tokens: metadata.tokens.completion_tokens,
            cost_usd: metadata.llm_metadata.cost_usd.unwrap_or_default(),
            // `llm_cost` is absent if there was no call, or if a call has no known price. `llm_metadata` sums up the calls with a
            // known price.
            has_unknown_price: metadata.llm_calls > 0 && metadata.llm_cost.is_none(),
            estimated_calls: metadata.estimated_calls.into(),
        }
    }
}

impl AddAssign for UsageSummary {
    fn add_assign(&mut self, other: Self) {
        self.questions = self.questions.saturating_add(other.questions);
        self.model_calls = self.model_calls.saturating_add(other.model_calls);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_usd += other.cost_usd;
        self.has_unknown_price |= other.has_unknown_price;
        self.estimated_calls = self.estimated_calls.saturating_add(other.estimated_calls);
    }
}

fn with_noun(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_summed_over_questions() {
        let one_question = UsageSummary {
            questions: 1,
            model_calls: 2,
            tool_calls: 1,
            input_tokens: 1_200,
            output_tokens: 80,
            cost_usd: 0.0031,
            has_unknown_price: false,
            estimated_calls: 0,
        };
        assert_eq!(
            one_question.to_line(),
            "2 model calls, 1 tool call, 1.2 k tokens in, 80 out, $0.0031"
        );
        let mut two_questions = one_question;
        two_questions += UsageSummary {
            cost_usd: 0.0,
            has_unknown_price: true,
            estimated_calls: 1,
            ..one_question
        };
        assert_eq!(
            two_questions.to_line(),
            "2 questions, 4 model calls, 2 tool calls, 2.4 k tokens in, 160 out, $0.0031, price unknown, 1 model call \
             estimated"
        );
    }
}
