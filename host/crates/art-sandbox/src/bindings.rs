//! The host's side of `wit/tool.wit`. Nothing else names generated paths.

wasmtime::component::bindgen!({
    path: "../../../wit",
    world: "tool-plugin",
    exports: { default: async },
});

pub(crate) use art::tool::host;
pub(crate) use art::tool::types;
