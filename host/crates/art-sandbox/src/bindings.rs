//! The host's side of `wit/tool.wit`. Other modules use only the generated modules that are re-exported here.

wasmtime::component::bindgen!({
    path: "../../../wit",
    world: "tool-plugin",
    // `cancelled` is trappable: if the guest asks for it in a replay, but the record has another answer, the guest traps.
    imports: { "art:tool/host.cancelled": trappable },
    exports: { default: async },
});

pub(crate) use art::tool::host;
pub(crate) use art::tool::types;
