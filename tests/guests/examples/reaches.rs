//! Uses one interface of the host, and returns whether that worked. If the interface is not granted, the host may
//! abort the call instead.

#![cfg(target_family = "wasm")]

use std::time::SystemTime;

use art_sdk::http;
use bindings::wasi::random::random::get_random_u64;
use guests::bindings::art::tool::types::{ExecutionContext, Outcome, ToolSchema};
use guests::bindings::exports::art::tool::tool::Guest;
use guests::{plain_schema, success_outcome};

mod bindings {
    wit_bindgen::generate!({
        inline: r"
            package art:guests;
            world reaches {
                import wasi:random/random@0.2.0;
            }
            package wasi:random@0.2.0 {
                interface random {
                    get-random-bytes: func(len: u64) -> list<u8>;
                    get-random-u64: func() -> u64;
                }
            }
        ",
        generate_all,
    });
}

struct Reaches;

impl Guest for Reaches {
    fn schema() -> ToolSchema {
        plain_schema("reaches")
    }

    fn execute(input: String, _context: ExecutionContext) -> Outcome {
        let (interface, path, url) = (text(&input, "interface"), text(&input, "path"), text(&input, "url"));
        let is_reached = match interface {
            "clock" => SystemTime::now() > SystemTime::UNIX_EPOCH,
            "random" => get_random_u64() != get_random_u64(),
            "fs" => std::fs::read(path).is_ok(),
            "http" => http::get(url).is_ok(),
            // The interface `env`: a call with its grant can read this variable.
            _ => std::env::var_os("ART_TEST_GRANTED").is_some(),
        };
        success_outcome(is_reached.to_string())
    }
}

/// Returns the text of a field of the input. The function uses no JSON parser: a parser would draw random numbers for its hash
/// maps, and the host would abort every call without the grant of random numbers.
fn text<'a>(input: &'a str, name: &str) -> &'a str {
    let rest = input.split_once(&format!("\"{name}\":\"")).map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once('"')).map_or("", |(text, _)| text)
}

guests::bindings::export!(Reaches with_types_in guests::bindings);
