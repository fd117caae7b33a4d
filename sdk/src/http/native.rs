//! Requests in a native test, which are answered by a function of the test.

use std::cell::RefCell;

use super::{Request, Response};
use crate::{Result, ToolError};

/// The function that answers requests.
pub(crate) type Answer = Box<dyn FnMut(&Request) -> Result<Response>>;

thread_local! {
    static ANSWER: RefCell<Option<Answer>> = const { RefCell::new(None) };
}

/// Sets the function that answers the requests of this thread.
pub(crate) fn set_answer(answer: Answer) {
    ANSWER.set(Some(answer));
}

pub(super) fn send(request: &Request) -> Result<Response> {
    ANSWER.with_borrow_mut(|answer| match answer {
        Some(answer) => answer(request),
        None => Err(ToolError::config(
            "a native build sends no requests: answer them with `art_sdk::testing::answer_http`",
        )),
    })
}
