//! Requests of a tool that runs in a test, outside WebAssembly. A function of the test answers them.

use std::cell::RefCell;

use super::{Request, Response};
use crate::{Result, ToolError};

/// The function that answers requests.
pub(crate) type Responder = Box<dyn FnMut(&Request) -> Result<Response>>;

thread_local! {
    static RESPONDER: RefCell<Option<Responder>> = const { RefCell::new(None) };
}

/// Sets the function that answers the requests of this thread.
pub(crate) fn set_responder(responder: Responder) {
    RESPONDER.set(Some(responder));
}

pub(super) fn send(request: &Request) -> Result<Response> {
    RESPONDER.with_borrow_mut(|responder| match responder {
        Some(responder) => responder(request),
        None => Err(ToolError::config(
            "a tool outside WebAssembly sends no requests: answer them with `art_sdk::testing::answer_http`",
        )),
    })
}
