//! The host's side of `wit/tool.wit`. No other module uses generated paths.

wasmtime::component::bindgen!({
    path: "../../../wit",
    world: "tool-plugin",
    exports: { default: async },
});

pub(crate) use art::tool::host;
pub(crate) use art::tool::types;
