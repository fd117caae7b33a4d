//! The hook that runs around each call of a guest into the host. It stops a guest that exceeded its limits, and yields
//! when the time slice of the guest is over.
//!
//! At the end of each interval of fuel the engine calls this hook and would then yield, which takes a microsecond even
//! if no other guest waits. So the hook turns that yield off until the guest continues, and itself yields only when the
//! time slice is over.

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

/// The future that a call into the host waits for. It is nearly always [`Proceed`], a type of size zero, so boxing
/// it does not allocate.
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
        let result = match crossing {
            CallHook::CallingHost => leave_guest(&mut store),
            CallHook::CallingWasm | CallHook::ReturningFromHost => enter_guest(&mut store).map(|()| false),
            CallHook::ReturningFromWasm => Ok(false),
        };
        match result {
            Ok(false) => Box::pin(Proceed),
            Ok(true) => Box::pin(async {
                tokio::task::yield_now().await;
                Ok(())
            }),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

/// Checks the limits before a call into the host, and returns whether the time slice is over. At other crossings the
/// guest must not yield, because they also happen while a stopped guest unwinds.
fn leave_guest(store: &mut StoreContextMut<'_, CallState>) -> wasmtime::Result<bool> {
    let fuel_left = store.get_fuel()?;
    let state = store.data_mut();
    let host_fuel = state.host_fuel();
    if state.meter.is_exceeded(host_fuel) {
        return Err(wasmtime::Error::new(TooManyHostCalls));
    }
    let slice_is_over = state.meter.cross(fuel_left);
    if state.meter.is_interval_over(fuel_left) {
        store.fuel_async_yield_interval(None)?;
    }
    Ok(slice_is_over)
}

/// Starts a new interval of fuel if the last one is over.
fn enter_guest(store: &mut StoreContextMut<'_, CallState>) -> wasmtime::Result<()> {
    let fuel_left = store.get_fuel()?;
    let meter = &mut store.data_mut().meter;
    if !meter.is_interval_over(fuel_left) {
        return Ok(());
    }
    let fuel = meter.start_interval(fuel_left);
    store.fuel_async_yield_interval(Some(fuel))
}

/// A future that is ready immediately.
struct Proceed;

impl Future for Proceed {
    type Output = wasmtime::Result<()>;

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}
