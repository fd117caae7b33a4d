//! What calls and runs used: resources of tools, and tokens of models.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Resources that one tool call used, or all tool calls of a run together. They are measured also if a call fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolUsage {
    /// Fuel: about one unit for each instruction, plus the price of calls into the host.
    pub fuel: u64,
    /// Largest total size of linear memories and tables at one time, in bytes. Memory that a tool only reserves counts too.
    pub peak_memory_bytes: u64,
    /// Wall-clock time, in microseconds.
    pub wall_us: u64,
    /// Processor time, in microseconds. In the first time slice of a call (about 0.25 ms), wall-clock time is counted instead.
    pub cpu_us: u64,
    /// Size of the input, in bytes.
    pub bytes_in: u64,
    /// Size of the output, in bytes.
    pub bytes_out: u64,
    /// Number of calls from the tool into the host.
    pub host_calls: u64,
    /// Number of HTTP requests that the tool sent.
    #[serde(skip_serializing_if = "is_zero")]
    pub http_requests: u64,
    /// Size of the bodies of these HTTP requests and of their responses, in bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub http_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl AddAssign for ToolUsage {
    /// Adds each count; the peak becomes the larger of the two.
    fn add_assign(&mut self, other: Self) {
        self.fuel = self.fuel.saturating_add(other.fuel);
        self.peak_memory_bytes = self.peak_memory_bytes.max(other.peak_memory_bytes);
        self.wall_us = self.wall_us.saturating_add(other.wall_us);
        self.cpu_us = self.cpu_us.saturating_add(other.cpu_us);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        self.host_calls = self.host_calls.saturating_add(other.host_calls);
        self.http_requests = self.http_requests.saturating_add(other.http_requests);
        self.http_bytes = self.http_bytes.saturating_add(other.http_bytes);
    }
}

/// Work for which a model is called after the plan is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelWork {
    /// Carrying out a step that has no planned calls.
    Step,
    /// Writing the answer.
    Answer,
}

/// Model calls and tokens for carrying out one step or for writing one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelUsage {
    /// Number of model calls.
    pub model_calls: u64,
    /// Tokens of the requests.
    pub input_tokens: u64,
    /// Tokens of the replies.
    pub output_tokens: u64,
}

impl AddAssign for ModelUsage {
    fn add_assign(&mut self, other: Self) {
        self.model_calls = self.model_calls.saturating_add(other.model_calls);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

/// Tokens of one model call or of a run (contract C85).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// Input tokens.
    pub prompt_tokens: u64,
    /// Output tokens.
    pub completion_tokens: u64,
    /// Sum of both.
    pub total_tokens: u64,
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns usage in which every count is `n`.
    const fn usage(n: u64) -> ToolUsage {
        ToolUsage {
            fuel: n,
            peak_memory_bytes: n,
            wall_us: n,
            cpu_us: n,
            bytes_in: n,
            bytes_out: n,
            host_calls: n,
            http_requests: n,
            http_bytes: n,
        }
    }

    /// Returns usage in which every count is `n`.
    const fn tokens(n: u64) -> TokenUsage {
        TokenUsage {
            prompt_tokens: n,
            completion_tokens: n,
            total_tokens: n,
        }
    }

    #[test]
    fn tool_usage_adds_up_but_the_peak_is_the_larger_one() {
        for (first, second) in [(2, 3), (3, 2)] {
            let mut sum = usage(first);
            sum += usage(second);
            let expected = ToolUsage {
                peak_memory_bytes: 3,
                ..usage(5)
            };
            assert_eq!(sum, expected);
        }
    }

    #[test]
    fn model_usage_adds_up_and_stops_at_the_largest_number() {
        let model_usage = |n| ModelUsage {
            model_calls: n,
            input_tokens: n,
            output_tokens: n,
        };
        let mut sum = model_usage(2);
        sum += model_usage(3);
        assert_eq!(sum, model_usage(5));
        sum += model_usage(u64::MAX);
        assert_eq!(sum, model_usage(u64::MAX));
    }

    #[test]
    fn token_usage_of_several_calls_adds_up() {
        let mut sum = TokenUsage::default();
        for n in 1..=3 {
            sum += tokens(n);
        }
        assert_eq!(sum, tokens(6));
    }

    #[test]
    fn tool_usage_and_token_usage_stop_at_the_largest_number() {
        let (mut usage_sum, mut token_sum) = (usage(u64::MAX), tokens(u64::MAX));
        usage_sum += usage(1);
        token_sum += tokens(1);
        assert_eq!((usage_sum, token_sum), (usage(u64::MAX), tokens(u64::MAX)));
    }
}
