//! Generated bindings of `wasi:filesystem`. Streams, pollables and clocks use the types of `wasmtime_wasi`.

wasmtime::component::bindgen!({
    path: "../../../wit",
    inline: "
        package art:files;
        world files {
            import wasi:filesystem/types@0.2.12;
            import wasi:filesystem/preopens@0.2.12;
        }
    ",
    world: "art:files/files",
    imports: {
        // The functions whose work grows with the size of a file.
        "wasi:filesystem/types.[method]descriptor.write-via-stream": async | trappable,
        "wasi:filesystem/types.[method]descriptor.write": async | trappable,
        "wasi:filesystem/types.[method]descriptor.set-size": async | trappable,
        "wasi:filesystem/types.[method]descriptor.open-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.rename-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.unlink-file-at": async | trappable,
        default: trappable,
    },
    trappable_error_type: { "wasi:filesystem/types.error-code" => crate::capability::fs::Fault },
    with: {
        "wasi:io": wasmtime_wasi::p2::bindings::io,
        "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        "wasi:filesystem/types.descriptor": crate::capability::fs::Descriptor,
        "wasi:filesystem/types.directory-entry-stream": crate::capability::fs::Listing,
    },
    require_store_data_send: true,
});

pub(crate) use wasi::filesystem::preopens;
pub(crate) use wasi::filesystem::types;
