//! The host's side of `wit/tool.wit`. Other modules use only the generated modules that are re-exported here.

wasmtime::component::bindgen!({
    path: "../../../wit",
    world: "tool-plugin",
    imports: { "art:tool/host.cancelled": trappable },
    exports: { default: async },
});

pub(crate) use art::tool::host;
pub(crate) use art::tool::types;
