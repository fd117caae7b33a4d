//! Bindings generated from `wit/tool.wit`. Only [`crate::wire`] and [`crate::host`] use them directly.

wit_bindgen::generate!({
    path: "../wit",
    world: "tool-plugin",
    pub_export_macro: true,
    export_macro_name: "__export",
    default_bindings_module: "::art_sdk::__private::bindings",
    runtime_path: "::art_sdk::__private::wit_bindgen::rt",
});
