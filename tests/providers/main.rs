//! The provider suite: the program against providers that we did not write. See `README.md`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod connection;
mod doctor;
mod faults;
mod fixture;
mod mock;
#[path = "../program.rs"]
mod program;
mod recordings;
mod whole_runs;
mod world;

/// Where the build script put the components.
#[expect(dead_code, reason = "most of them are for the other tests")]
mod components {
    include!(concat!(env!("OUT_DIR"), "/components.rs"));
}

/// The tests of one provider in one mode.
macro_rules! every_case {
    ($connection:ident, $mode:ident, $($suite:ident: [$($case:ident),* $(,)?]),* $(,)?) => {
        $($(
            #[test]
            fn $case() {
                crate::$suite::$case(crate::connection::$connection, crate::connection::Mode::$mode);
            }
        )*)*
    };
}

/// The cases that hold in both modes.
macro_rules! both_modes {
    ($connection:ident, $mode:ident) => {
        every_case!(
            $connection, $mode,
            whole_runs: [
                two_dependent_steps_are_planned_executed_and_answered,
                each_request_is_of_the_kind_that_was_set,
                the_result_of_a_call_goes_back_beside_its_call,
                parallel_calls_of_one_reply_are_each_answered,
                a_call_that_fails_goes_back_with_its_error,
                a_call_of_no_tool_goes_back_with_its_error,
                a_name_in_another_case_is_no_name_of_a_tool,
                a_call_with_cut_arguments_goes_back_with_its_error,
                a_call_with_arguments_that_are_no_object_goes_back_with_its_error,
                a_call_with_an_argument_of_another_type_goes_back_with_its_error,
                a_call_with_an_argument_too_many_goes_back_with_its_error,
                a_chat_goes_on_from_what_was_found,
                the_tokens_of_all_calls_are_counted,
                thoughts_never_reach_the_answer,
            ],
            faults: [
                a_rate_limit_is_waited_out,
                an_endless_rate_limit_ends_the_run_and_the_thread_goes_on,
                a_rate_limit_of_an_hour_is_not_waited_out,
                a_rate_limit_without_a_time_is_tried_again,
                failures_of_the_provider_in_a_row_are_got_over,
                a_request_that_is_refused_is_not_made_again,
                a_connection_lost_before_the_first_token_is_tried_again,
                a_provider_that_fails_once_is_asked_again,
                a_reply_that_is_no_json_ends_the_run_at_once,
                a_refused_key_is_said_and_not_repeated,
                an_error_that_repeats_the_key_is_shown_without_it,
                an_unknown_model_is_named,
                a_call_that_ran_out_of_tokens_is_not_carried_out,
                a_call_that_was_held_back_is_not_carried_out,
                a_question_that_is_too_long_is_said,
                a_model_that_calls_for_ever_is_stopped,
                calls_with_one_identifier_are_each_answered,
                a_model_that_says_nothing_for_ever_is_stopped,
                calls_beyond_the_limit_of_a_reply_are_not_carried_out,
                a_reply_of_five_hundred_calls_is_not_carried_out,
                a_budget_of_tokens_ends_the_run,
            ],
        );
    };
}

/// The cases that only a reply in pieces has.
macro_rules! streams {
    ($connection:ident: [$($case:ident),* $(,)?]) => {
        $(
            #[test]
            fn $case() {
                crate::faults::$case(crate::connection::$connection);
            }
        )*
    };
    ($connection:ident) => {
        streams!($connection: [
            a_provider_that_does_not_answer_in_time_is_asked_again,
            an_answer_that_breaks_off_leaves_the_results,
            an_answer_that_stalls_leaves_the_results,
            a_call_that_breaks_off_is_not_carried_out,
        ]);
    };
}

/// A module for each provider, with one for each mode.
macro_rules! providers {
    ($($name:ident: $connection:ident),* $(,)?) => {
        $(mod $name {
            mod streaming {
                both_modes!($connection, Streaming);
                streams!($connection);
            }

            mod whole {
                both_modes!($connection, Whole);
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
