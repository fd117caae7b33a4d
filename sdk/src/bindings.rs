//! The generated side of `wit/tool.wit`. Only [`crate::wire`] and [`crate::context`] name what is in here.

wit_bindgen::generate!({
    path: "../wit",
    world: "tool-plugin",
    pub_export_macro: true,
    export_macro_name: "__export",
    default_bindings_module: "::art_sdk::__private::bindings",
    runtime_path: "::art_sdk::__private::wit_bindgen::rt",
});
