//! Stubs for interfaces that a component imports but that are not granted.
//!
//! Rust's standard library imports the file system even in a tool that never opens a file. All functions of a stub
//! trap, except for the one that lists the directories, which returns an empty list.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, LinkerInstance, ResourceType, Val};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, IoError};

use crate::inspect::STUBBED_PREFIX;
use crate::state::CallState;

/// Type of the resources that a stub defines.
struct Stub;

/// The guest called a function of a stub.
#[derive(Debug, thiserror::Error)]
#[error("the tool called `{0}` of the file system, which is not granted to it")]
pub(crate) struct NotGranted(String);

/// Returns a copy of `base` with a stub for each import of `component` that is not granted.
pub(crate) fn link_stubs(base: &Linker<CallState>, component: &Component) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = base.clone();
    let engine = base.engine();
    for (name, item) in component.component_type().imports(engine) {
        let (true, ComponentItem::ComponentInstance(interface)) = (name.starts_with(STUBBED_PREFIX), item.ty) else {
            continue;
        };
        let mut instance = linker.instance(name)?;
        for (item_name, item) in interface.exports(engine) {
            define(&mut instance, item_name, &item.ty)?;
        }
    }
    Ok(linker)
}

fn define(instance: &mut LinkerInstance<'_, CallState>, name: &str, item: &ComponentItem) -> wasmtime::Result<()> {
    match item {
        ComponentItem::Resource(_) => instance.resource(name, resource(name), |_, _| Ok(())),
        ComponentItem::ComponentFunc(_) if name == "get-directories" => {
            instance.func_new(name, |mut store, _, _, results| {
                store.data_mut().meter.count_call();
                if let Some(result) = results.first_mut() {
                    *result = Val::List(Vec::new());
                }
                Ok(())
            })
        }
        ComponentItem::ComponentFunc(_) => {
            let function = name.to_owned();
            instance.func_new(name, move |_, _, _, _| {
                Err(wasmtime::Error::new(NotGranted(function.clone())))
            })
        }
        _ => Ok(()),
    }
}

/// Returns the type of a resource. The resources of `wasi:io` must have the same types in the file system interfaces.
fn resource(name: &str) -> ResourceType {
    match name {
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        "pollable" => ResourceType::host::<DynPollable>(),
        "error" => ResourceType::host::<IoError>(),
        _ => ResourceType::host::<Stub>(),
    }
}
