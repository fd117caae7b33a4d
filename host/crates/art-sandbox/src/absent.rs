//! Interfaces that a component imports but was not granted.
//!
//! The standard library of Rust imports the file system even in a tool that never opens a file. Such an import is
//! satisfied with functions that trap, and with a list of directories that is empty: what was not granted is not there.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, LinkerInstance, ResourceType, Val};

use crate::inspect::INERT;
use crate::state::CallState;

struct Absent;

/// A linker for `component` in which every inert import is present and useless.
pub(crate) fn link_absent(base: &Linker<CallState>, component: &Component) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = base.clone();
    let engine = base.engine();
    for (name, item) in component.component_type().imports(engine) {
        let (true, ComponentItem::ComponentInstance(interface)) = (name.starts_with(INERT), item.ty) else {
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
        ComponentItem::Resource(_) => instance.resource(name, ResourceType::host::<Absent>(), |_, _| Ok(())),
        ComponentItem::ComponentFunc(_) if name == "get-directories" => instance.func_new(name, |_, _, _, results| {
            if let Some(result) = results.first_mut() {
                *result = Val::List(Vec::new());
            }
            Ok(())
        }),
        ComponentItem::ComponentFunc(_) => {
            let message = format!("`{name}` of the file system was called, which was not granted");
            instance.func_new(name, move |_, _, _, _| Err(wasmtime::Error::msg(message.clone())))
        }
        _ => Ok(()),
    }
}
