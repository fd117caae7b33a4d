//! Calls of the tool with the bare engine (wasmtime), without the sandbox. The engine has either the fastest settings, whose time
//! is a lower bound for the sandbox, or its default settings.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store, StoreLimits,
    StoreLimitsBuilder,
};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

use crate::guest::{ADD_INPUT, READ_INPUT};

mod bindings {
    wasmtime::component::bindgen!({ path: "../../../wit", world: "tool-plugin", exports: { default: async } });
}
use bindings::art::tool::{host, types};
use bindings::{ToolPlugin, ToolPluginPre};

/// Fuel of a call, if fuel is counted.
const FUEL: u64 = 2_000_000_000;
/// Fuel after which a call yields, so that its time limit, if it has one, is checked.
const YIELD_INTERVAL_FUEL: u64 = 1_000_000;
/// Time limit of a call in a fresh instance.
const TIMEOUT: Duration = Duration::from_secs(30);

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    limits: StoreLimits,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl types::Host for State {}

impl host::Host for State {
    fn log(&mut self, _: host::Level, _: String) {}
    fn progress(&mut self, _: Option<String>, _: Option<String>) {}
    fn cancelled(&mut self) -> bool {
        false
    }
}

/// An engine, a component and a runtime on the current thread.
pub(crate) struct BareEngine {
    engine: Engine,
    linker: Linker<State>,
    component: Component,
    runtime: tokio::runtime::Runtime,
    /// Whether fuel is counted and memory is limited.
    is_metered: bool,
    /// The directory that each call opens, to read a file in it.
    directory: Option<PathBuf>,
}

impl BareEngine {
    /// Creates an engine with the fastest settings that we know (pool, resident memory, `PAGEMAP_SCAN` if the system has it,
    /// no concurrency), with fuel and a memory limit.
    pub(crate) fn best(wasm: &[u8]) -> Self {
        let mut config = Config::new();
        config.consume_fuel(true).concurrency_support(false);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(Enabled::Yes)));
        let engine = Engine::new(&config).or_else(|_| {
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(Enabled::No)));
            Engine::new(&config)
        });
        let is_metered = true;
        Self::new(engine.unwrap(), wasm, is_metered)
    }

    /// Creates an engine with its default settings, which neither count fuel nor limit memory.
    pub(crate) fn defaults(wasm: &[u8]) -> Self {
        let is_metered = false;
        Self::new(Engine::default(), wasm, is_metered)
    }

    fn new(engine: Engine, wasm: &[u8], is_metered: bool) -> Self {
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        host::add_to_linker::<_, wasmtime::component::HasSelf<State>>(&mut linker, |state| state).unwrap();
        types::add_to_linker::<_, wasmtime::component::HasSelf<State>>(&mut linker, |state| state).unwrap();
        let component = Component::from_binary(&engine, wasm).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        Self {
            engine,
            linker,
            component,
            runtime,
            is_metered,
            directory: None,
        }
    }

    /// Lets each call read a file in this directory. The read blocks the thread of the call.
    pub(crate) fn with_directory(mut self, directory: PathBuf) -> Self {
        self.directory = Some(directory);
        self
    }

    fn store(&self) -> Store<State> {
        let limits = StoreLimitsBuilder::new().memory_size(64 << 20).build();
        let state = State {
            wasi: self.wasi(),
            table: ResourceTable::new(),
            limits,
        };
        let mut store = Store::new(&self.engine, state);
        if self.is_metered {
            store.limiter(|state| &mut state.limits);
            store.set_fuel(FUEL).unwrap();
            store.fuel_async_yield_interval(Some(YIELD_INTERVAL_FUEL)).unwrap();
        }
        store
    }

    fn wasi(&self) -> WasiCtx {
        let mut builder = WasiCtx::builder();
        if let Some(directory) = &self.directory {
            let opened = builder.preopened_dir(directory, "/bench", FsPerms::ReadOnly);
            opened.unwrap().allow_blocking_current_thread(true);
        }
        builder.build()
    }

    /// Returns the input of each call, and the output that it has to have.
    fn input_and_output(&self) -> (&'static str, &'static str) {
        match self.directory {
            // The sum of 4,096 bytes that are all 128.
            Some(_) => (READ_INPUT, r#"{"value":524288}"#),
            None => (ADD_INPUT, r#"{"value":42}"#),
        }
    }

    /// Links the component, so that each instance needs no linking.
    fn link(&self) -> ToolPluginPre<State> {
        ToolPluginPre::new(self.linker.instantiate_pre(&self.component).unwrap()).unwrap()
    }

    /// Measures calls of one instance that is reused. The engine must count fuel.
    pub(crate) fn time_warm(&self, iterations: u64) -> Duration {
        self.runtime.block_on(async {
            let mut store = self.store();
            let tool = self.link().instantiate_async(&mut store).await.unwrap();
            let start = Instant::now();
            for _ in 0..iterations {
                store.set_fuel(FUEL).unwrap();
                call(&tool, &mut store, self.input_and_output()).await;
            }
            start.elapsed()
        })
    }

    /// Measures calls, each in a fresh instance and with a timeout.
    pub(crate) fn time_fresh(&self, iterations: u64) -> Duration {
        let linked = self.link();
        self.runtime.block_on(async {
            let start = Instant::now();
            for _ in 0..iterations {
                let mut store = self.store();
                let call_with_timeout = tokio::time::timeout(TIMEOUT, async {
                    let tool = linked.instantiate_async(&mut store).await.unwrap();
                    call(&tool, &mut store, self.input_and_output()).await;
                });
                call_with_timeout.await.unwrap();
            }
            start.elapsed()
        })
    }

    /// Measures calls, each in a fresh instance for which the component is linked again.
    pub(crate) fn time_fresh_and_link(&self, iterations: u64) -> Duration {
        self.runtime.block_on(async {
            let start = Instant::now();
            for _ in 0..iterations {
                let mut store = self.store();
                let tool = ToolPlugin::instantiate_async(&mut store, &self.component, &self.linker)
                    .await
                    .unwrap();
                call(&tool, &mut store, self.input_and_output()).await;
            }
            start.elapsed()
        })
    }
}

async fn call(tool: &ToolPlugin, store: &mut Store<State>, (input, output): (&str, &str)) {
    let empty = String::new;
    let context = types::ExecutionContext {
        thread_id: empty(),
        trace_id: empty(),
        call_id: empty(),
        user_id: None,
        session_id: None,
        hitl: None,
    };
    let outcome = tool
        .art_tool_tool()
        .call_execute(store, &input.to_owned(), &context)
        .await
        .unwrap();
    assert!(matches!(outcome, types::Outcome::Success(success) if success.output == output));
}

fn pool(pagemap_scan: Enabled) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(16)
        .total_core_instances(128)
        .total_memories(32)
        .total_tables(64)
        .total_stacks(16);
    pool.max_memory_size(64 << 20)
        .linear_memory_keep_resident(4 << 20)
        .table_keep_resident(64 << 10);
    pool.async_stack_keep_resident(64 << 10).pagemap_scan(pagemap_scan);
    pool
}
