//! The provider suite: the program against a third-party mock of every provider. See `README.md`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic is the failure of a test"
)]

mod connection;
mod doctor;
mod environment;
mod faults;
mod fixture;
mod mock;
#[path = "../program.rs"]
mod program;
mod recordings;
mod whole_runs;

/// The paths of the components.
#[expect(dead_code, reason = "most components are for the other tests")]
mod components {
    include!(concat!(env!("OUT_DIR"), "/components.rs"));
}

/// Generates a test for each case, which is a function of a module, for one provider and one mode.
macro_rules! every_case {
    ($connection:ident, $mode:ident, $($module:ident: [$($case:ident),* $(,)?]),* $(,)?) => {
        $($(
            #[test]
            fn $case() {
                crate::$module::$case(crate::connection::$connection, crate::connection::Mode::$mode);
            }
        )*)*
    };
}

/// Generates, for one mode, the tests of the cases that apply to both modes.
macro_rules! cases_of_both_modes {
    ($connection:ident, $mode:ident) => {
        every_case!(
            $connection, $mode,
            whole_runs: [
                a_query_of_two_dependent_steps_is_planned_executed_and_answered,
                each_request_has_the_model_and_the_mode_and_the_key_of_the_configuration,
                the_result_of_a_tool_call_is_sent_to_the_model_with_the_call,
                each_parallel_call_of_one_reply_gets_its_own_result,
                the_model_corrects_a_failed_call,
                the_model_corrects_a_call_of_an_unknown_tool,
                a_tool_name_in_another_letter_case_is_unknown,
                the_model_corrects_a_call_with_truncated_arguments,
                the_model_corrects_a_call_with_a_list_as_arguments,
                the_model_corrects_a_call_with_an_argument_of_another_type,
                the_model_corrects_a_call_with_an_unknown_argument,
                a_chat_sends_the_earlier_answer_with_the_next_question,
                the_tokens_of_all_model_calls_are_counted,
                a_report_contains_thoughts_only_in_the_field_thoughts_of_each_step,
                an_answer_without_a_plan_needs_one_model_call,
                a_run_whose_planner_calls_tools_itself_needs_two_model_calls,
                a_plan_that_states_five_calls_needs_two_model_calls,
                a_plan_with_one_step_left_to_the_model_needs_four_model_calls,
            ],
            faults: [
                a_rate_limit_is_waited_out,
                an_endless_rate_limit_ends_the_run_and_the_conversation_goes_on,
                a_rate_limit_of_an_hour_is_not_waited_out,
                a_rate_limit_with_an_invalid_time_is_retried,
                consecutive_failures_of_the_provider_are_retried,
                a_refused_request_is_not_retried,
                a_connection_lost_before_the_first_token_is_retried,
                a_single_failure_of_the_provider_is_retried,
                a_reply_that_is_not_json_ends_the_run_immediately,
                a_refused_key_is_reported_and_not_shown,
                an_error_that_repeats_the_key_is_shown_without_it,
                an_unknown_model_is_named,
                a_call_cut_off_at_the_token_limit_is_not_run,
                a_call_that_the_provider_blocked_is_not_run,
                a_question_that_is_too_long_is_reported,
                a_model_that_calls_forever_is_stopped,
                calls_with_the_same_identifier_are_each_answered,
                a_model_that_returns_nothing_forever_is_stopped,
                calls_over_the_limit_of_a_reply_are_not_run,
                a_reply_of_five_hundred_calls_is_not_run,
                a_budget_of_tokens_ends_the_run,
            ],
        );
    };
}

/// Generates the tests of the cases that apply to streamed replies only.
macro_rules! cases_of_streams {
    ($connection:ident: [$($case:ident),* $(,)?]) => {
        $(
            #[test]
            fn $case() {
                crate::faults::$case(crate::connection::$connection);
            }
        )*
    };
    ($connection:ident) => {
        cases_of_streams!($connection: [
            a_provider_that_does_not_answer_in_time_is_retried,
            if_the_answer_breaks_off_the_results_of_the_steps_are_shown_instead,
            if_the_answer_stalls_the_results_of_the_steps_are_shown_instead,
            an_answer_of_the_planner_after_its_calls_is_shown_while_it_arrives,
            a_call_that_breaks_off_is_not_run,
        ]);
    };
}

/// Generates a module for each provider, with a module for each mode.
macro_rules! providers {
    ($($name:ident: $connection:ident),* $(,)?) => {
        $(mod $name {
            mod streaming {
                cases_of_both_modes!($connection, Streaming);
                cases_of_streams!($connection);
            }

            mod whole {
                cases_of_both_modes!($connection, Whole);
            }
        })*
    };
}

providers! {
    openai: OPENAI,
    openai_chat: OPENAI_CHAT,
    anthropic: ANTHROPIC,
    gemini: GEMINI,
    openrouter: OPENROUTER,
    deepseek: DEEPSEEK,
    groq: GROQ,
    ollama: OLLAMA,
    compatible: COMPATIBLE,
}
