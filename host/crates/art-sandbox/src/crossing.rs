//! The hook that runs before each call of a guest into the host. It stops a guest that exceeded its limits, and yields
//! when the time slice of the guest is over.

use std::pin::Pin;
use std::task::{Context, Poll};

use wasmtime::{CallHook, CallHookHandler, StoreContextMut};

use crate::state::CallState;

/// The guest made more calls into the host, or more expensive ones, than its limits allow.
#[derive(Debug, thiserror::Error)]
#[error("too many calls into the host")]
pub(crate) struct TooManyHostCalls;

/// Checks each call of the guest into the host, including calls of functions that the engine itself provides.
pub(crate) struct CrossingHook;

/// The future that a call into the host waits for. It is nearly always [`Proceed`], which has no size, so boxing it
/// does not allocate.
type Crossing<'a> = Pin<Box<dyn Future<Output = wasmtime::Result<()>> + Send + 'a>>;

impl CallHookHandler<CallState> for CrossingHook {
    fn handle_call_event<'handler, 'store, 'a>(
        &'handler self,
        mut store: StoreContextMut<'store, CallState>,
        crossing: CallHook,
    ) -> Crossing<'a>
    where
        'handler: 'a,
        'store: 'a,
    {
        // Crossings in other directions also happen while a stopped guest unwinds, and must not wait then.
        if !matches!(crossing, CallHook::CallingHost) {
            return Box::pin(Proceed);
        }
        let state = store.data_mut();
        let fuel = state.host_fuel();
        if state.meter.is_exceeded(fuel) {
            return Box::pin(std::future::ready(Err(wasmtime::Error::new(TooManyHostCalls))));
        }
        if state.meter.cross() {
            return Box::pin(async {
                tokio::task::yield_now().await;
                Ok(())
            });
        }
        Box::pin(Proceed)
    }
}

/// A future that is ready immediately.
struct Proceed;

impl Future for Proceed {
    type Output = wasmtime::Result<()>;

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}
