//! The hook at each call of a guest into the host: stops a guest over its limits, and yields when its turn is over.

use std::pin::Pin;
use std::task::{Context, Poll};

use wasmtime::{CallHook, CallHookHandler, StoreContextMut};

use crate::state::CallState;

/// The guest called the host more often than its fuel and its limits allow.
#[derive(Debug, thiserror::Error)]
#[error("too many calls into the host")]
pub(crate) struct TooManyHostCalls;

/// Checks each call of the guest into the host, calls of the engine's own services included.
pub(crate) struct CrossingHook;

/// What a call into the host waits for. Nearly always it is [`Proceed`], whose box has no size and needs no allocation.
type Crossing<'a> = Pin<Box<dyn Future<Output = wasmtime::Result<()>> + Send + 'a>>;

impl CallHookHandler<CallState> for CrossingHook {
    fn handle_call_event<'handler, 'store, 'a>(
        &'handler self,
        store: StoreContextMut<'store, CallState>,
        crossing: CallHook,
    ) -> Crossing<'a>
    where
        'handler: 'a,
        'store: 'a,
    {
        // A guest that was stopped crosses back while it unwinds; it must not wait then.
        if !matches!(crossing, CallHook::CallingHost) {
            return Box::pin(Proceed);
        }
        let state = store.data();
        let meter = &state.meter;
        if meter.is_over(state.host_fuel()) {
            return Box::pin(std::future::ready(Err(wasmtime::Error::new(TooManyHostCalls))));
        }
        if meter.turn().is_over() {
            return Box::pin(async {
                tokio::task::yield_now().await;
                Ok(())
            });
        }
        Box::pin(Proceed)
    }
}

/// A future that is ready at once.
struct Proceed;

impl Future for Proceed {
    type Output = wasmtime::Result<()>;

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}
