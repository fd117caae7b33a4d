//! The hook that runs at each crossing, that is, whenever execution passes from a guest to the host or back. It stops a guest
//! that exceeded its limits, and yields when the time slice of the guest is over.
//!
//! The engine does not read the clock, so the fuel of a guest is divided into intervals: at the end of each interval the engine
//! calls the host, and so this hook, which reads the clock. The engine would then yield, which takes a microsecond even if no
//! other guest waits. So the hook turns that yield off until the guest continues, and itself yields only when the time slice is
//! over.

use std::pin::Pin;
use std::task::{Context, Poll};

use wasmtime::{CallHook, CallHookHandler, StoreContextMut};

use crate::state::CallState;

/// The guest made more calls into the host, or more expensive ones, than its limits allow.
#[derive(Debug, thiserror::Error)]
#[error("too many calls into the host")]
pub(crate) struct TooManyHostCalls;

/// The hook that the engine runs at each crossing. A guest also crosses to the host when an instruction, such as `memory.grow`,
/// calls a function of the engine itself.
pub(crate) struct CrossingHook;

/// The future of the hook, for which a crossing waits. It is nearly always [`Proceed`], a type of size zero, so boxing it does
/// not allocate.
type HookFuture<'a> = Pin<Box<dyn Future<Output = wasmtime::Result<()>> + Send + 'a>>;

impl CallHookHandler<CallState> for CrossingHook {
    fn handle_call_event<'handler, 'store, 'a>(
        &'handler self,
        mut store: StoreContextMut<'store, CallState>,
        crossing: CallHook,
    ) -> HookFuture<'a>
    where
        'handler: 'a,
        'store: 'a,
    {
        let must_yield = match crossing {
            CallHook::CallingHost => leave_guest(&mut store),
            CallHook::CallingWasm | CallHook::ReturningFromHost => enter_guest(&mut store).map(|()| false),
            CallHook::ReturningFromWasm => Ok(false),
        };
        match must_yield {
            Ok(false) => Box::pin(Proceed),
            Ok(true) => Box::pin(async {
                tokio::task::yield_now().await;
                Ok(())
            }),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

/// Counts a crossing from the guest to the host, and returns whether the guest must yield because its time slice is over. If the
/// interval of fuel is over, turns off the yield of the engine.
///
/// A guest must not yield at other kinds of crossings, because they also happen while a stopped guest unwinds.
fn leave_guest(store: &mut StoreContextMut<'_, CallState>) -> wasmtime::Result<bool> {
    let fuel_left = store.get_fuel()?;
    let meter = &mut store.data_mut().meter;
    let slice_is_over = meter.count_crossing(fuel_left);
    if meter.is_interval_over(fuel_left) {
        store.fuel_async_yield_interval(None)?;
    }
    Ok(slice_is_over)
}

/// Checks the limits of the calls into the host, of the fuel that they cost and of the memory that they fill, before the guest
/// continues. Starts a new interval of fuel if the last one is over.
///
/// The limits are checked here, right after the call into the host that may have exceeded them. If they were checked at the next
/// crossing to the host, the clock would decide how much fuel a stopped guest has used: that crossing may be the end of an
/// interval, whose length depends on the clock.
fn enter_guest(store: &mut StoreContextMut<'_, CallState>) -> wasmtime::Result<()> {
    let state = store.data_mut();
    let host_fuel = state.host_fuel();
    if state.meter.exceeds_limits(host_fuel) {
        return Err(wasmtime::Error::new(TooManyHostCalls));
    }
    state.host_memory.check().map_err(wasmtime::Error::new)?;
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

#[cfg(test)]
mod tests {
    use art_core::capability::CallGrants;
    use art_core::limits::Limits;
    use proptest::prelude::*;
    use tokio_util::sync::CancellationToken;
    use wasmtime::component::{Component, Linker};
    use wasmtime::{Engine, Store};

    use super::*;
    use crate::engine::compiling_engine;
    use crate::instrument::instrument;
    use crate::meter::MAX_INTERVAL_FUEL;

    const FUEL: u64 = 3_000_000;

    /// A guest that computes, calls the host, and uses the instructions for which the engine calls its runtime. A call of
    /// `$straight`, a function without a loop, comes before each of these instructions. The engine checks the fuel that
    /// `$straight` used only when the next function or loop begins, so an interval may already be over at the instruction.
    const GUEST: &str = r#"
        (component
          (import "ask" (func $ask))
          (core func $ask_core (canon lower (func $ask)))
          (core module $module
            (import "" "ask" (func $ask))
            (memory 1)
            (table $table 4 1000 funcref)
            (elem $elements func $compute)
            (data $data "abcdefgh")
            (func $compute (param $n i32)
              (loop $again
                (local.set $n (i32.sub (local.get $n) (i32.const 1)))
                (br_if $again (i32.gt_s (local.get $n) (i32.const 0)))))
            (func $straight
              (drop (i32.add (i32.const 1) (i32.const 2)))
              (drop (i32.add (i32.const 3) (i32.const 4))))
            (func $recurse (param $n i32)
              (if (local.get $n) (then (call $recurse (i32.sub (local.get $n) (i32.const 1))))))
            (func (export "run") (param $n i32) (param $rounds i32)
              (loop $again
                (call $compute (local.get $n))
                (call $straight) (call $ask)
                (call $straight) (drop (table.grow $table (ref.null func) (i32.const 1)))
                (call $straight) (table.set $table (i32.const 0) (ref.func $compute))
                (call $straight) (drop (table.get $table (i32.const 0)))
                (call $straight) (table.init $table $elements (i32.const 1) (i32.const 0) (i32.const 1))
                (call $straight) (memory.init $data (i32.const 0) (i32.const 0) (i32.const 8))
                (call $straight) (memory.copy (i32.const 9) (i32.const 0) (local.get $n))
                (call $straight) (memory.fill (i32.const 9) (i32.const 0) (local.get $n))
                (call $straight) (drop (memory.grow (i32.const 1)))
                (call $recurse (local.get $n))
                (local.set $rounds (i32.sub (local.get $rounds) (i32.const 1)))
                (br_if $again (i32.gt_s (local.get $rounds) (i32.const 0))))))
          (core instance $instance (instantiate $module
            (with "" (instance (export "ask" (func $ask_core))))))
          (func (export "run") (param "n" u32) (param "rounds" u32)
            (canon lift (core func $instance "run"))))
    "#;

    struct Guest {
        component: Component,
        linker: Linker<CallState>,
    }

    impl Guest {
        fn new() -> Self {
            let engine: Engine = compiling_engine().unwrap();
            let wasm = instrument(&wat::parse_str(GUEST).unwrap()).unwrap();
            let mut linker = Linker::new(&engine);
            let ask = |mut store: StoreContextMut<'_, CallState>, (): ()| {
                store.data_mut().count_call();
                Ok(())
            };
            linker.root().func_wrap("ask", ask).unwrap();
            Self {
                component: Component::new(&engine, wasm).unwrap(),
                linker,
            }
        }

        /// Runs the guest once, with intervals of these amounts of fuel. After the last amount, the first is used again. Returns
        /// the error, if there is one, the fuel that is left, and the number of host calls.
        fn run(&self, arguments: (u32, u32), limits: &Limits, interval_fuel: Vec<u64>) -> (Option<String>, u64, u64) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let mut state = CallState::new(limits, CallGrants::by_default(), CancellationToken::new());
                state.meter.test_intervals = Some(interval_fuel.into_iter().cycle());
                let mut store = Store::new(self.component.engine(), state);
                store.limiter(|state| &mut state.limiter);
                store.call_hook_async(CrossingHook);
                store.set_fuel(limits.fuel).unwrap();
                store.fuel_async_yield_interval(Some(MAX_INTERVAL_FUEL)).unwrap();
                let instance = self
                    .linker
                    .instantiate_async(&mut store, &self.component)
                    .await
                    .unwrap();
                let run = instance.get_typed_func::<(u32, u32), ()>(&mut store, "run").unwrap();
                let result = run.call_async(&mut store, arguments).await;
                let error = result.err().map(|error| error.root_cause().to_string());
                (error, store.get_fuel().unwrap(), store.data().meter.host_calls())
            })
        }
    }

    #[test]
    fn the_fuel_and_the_error_of_a_call_do_not_depend_on_the_intervals() {
        let guest = Guest::new();
        let few_calls = Limits {
            fuel: FUEL,
            host_calls: 10,
            ..Limits::EXECUTE
        };
        let little_fuel = Limits {
            fuel: 20_000,
            ..Limits::EXECUTE
        };
        let enough_of_both = Limits {
            fuel: FUEL,
            ..Limits::EXECUTE
        };
        let (n, rounds) = (0_u32..400, 1_u32..25);
        let limits_index = 0_usize..3;
        let interval_fuel = prop::collection::vec(1_u64..6_000, 1..20);
        let inputs = (n, rounds, limits_index, interval_fuel);
        proptest!(ProptestConfig::with_cases(300), |((n, rounds, limits_index, interval_fuel) in inputs)| {
            let limits = [&enough_of_both, &few_calls, &little_fuel][limits_index];
            let with_long_intervals = guest.run((n, rounds), limits, vec![MAX_INTERVAL_FUEL]);
            prop_assert_eq!(guest.run((n, rounds), limits, interval_fuel), with_long_intervals);
        });
    }
}
