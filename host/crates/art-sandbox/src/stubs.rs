//! Stubs for interfaces that a component imports but that are not granted.
//!
//! Standard libraries import the file system and the clocks even in a tool that never uses them, and the standard library of an
//! interpreter imports sockets, which are never granted. A stub gives no access to anything. The stub of the file system has a
//! function that returns a root directory, and that of the sockets has one that returns a network, but everything in them is
//! denied. All other functions of stubs answer "denied" if their result has such an error code, and end the call if it has none.

use art_core::capability::{Access, LinkSet};
use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{Component, Linker, LinkerInstance, Resource, ResourceType, Val};
use wasmtime::{AsContextMut, StoreContextMut};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, IoError};

use crate::inspect::{CLOCKS_PREFIX, FILESYSTEM_PREFIX, RANDOM_PREFIX, SOCKETS_PREFIX};
use crate::state::CallState;

/// A resource that a stub returns. It gives no access to anything.
struct StubResource;

/// The guest called a function of a stub whose result has no error code for "denied".
#[derive(Debug, thiserror::Error)]
#[error("the tool called `{0}`, which is not granted to it")]
pub(crate) struct NotGranted(String);

/// Returns a copy of `base` with a stub for each interface that `component` imports and that is not in `set`. `wasi:http`
/// needs no stub, since `base` itself denies the requests if `set` does not allow them.
pub(crate) fn link_stubs(
    base: &Linker<CallState>,
    component: &Component,
    set: LinkSet,
) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = base.clone();
    let engine = base.engine();
    for (name, item) in component.component_type().imports(engine) {
        let (true, ComponentItem::ComponentInstance(interface)) = (needs_stub(name, set), item.ty) else {
            continue;
        };
        let mut instance = linker.instance(name)?;
        let is_filesystem = name.starts_with(FILESYSTEM_PREFIX);
        for (item_name, item) in interface.exports(engine) {
            define_stub(&mut instance, item_name, &item.ty, is_filesystem)?;
        }
    }
    Ok(linker)
}

fn needs_stub(import: &str, set: LinkSet) -> bool {
    import.starts_with(SOCKETS_PREFIX)
        || import.starts_with(FILESYSTEM_PREFIX) && !set.fs
        || import.starts_with(CLOCKS_PREFIX) && !set.clock
        || import.starts_with(RANDOM_PREFIX) && !set.random
}

fn define_stub(
    instance: &mut LinkerInstance<'_, CallState>,
    name: &str,
    item: &ComponentItem,
    is_filesystem: bool,
) -> wasmtime::Result<()> {
    match item {
        ComponentItem::Resource(_) => instance.resource(name, resource_type(name), |_, _| Ok(())),
        ComponentItem::ComponentFunc(_) if name == "get-directories" => {
            instance.func_new(name, |store, _, _, results| {
                set_result(results, root_directories(store)?);
                Ok(())
            })
        }
        // The network has no rights, and no socket can be created in it.
        ComponentItem::ComponentFunc(_) if name == "instance-network" => {
            instance.func_new(name, |store, _, _, results| {
                set_result(results, new_stub_resource(store)?);
                Ok(())
            })
        }
        ComponentItem::ComponentFunc(function) => {
            let (function_name, denied) = (name.to_owned(), denied_answer(name, function));
            instance.func_new(name, move |mut store, _, params, results| {
                let Some(denied) = &denied else {
                    return Err(wasmtime::Error::new(NotGranted(function_name.clone())));
                };
                store.data_mut().meter.count_call();
                if is_filesystem {
                    record_denied_path(store.data_mut(), &function_name, params);
                }
                end_borrows(&mut store.as_context_mut(), params)?;
                set_result(results, denied.clone());
                Ok(())
            })
        }
        _ => Ok(()),
    }
}

/// Returns the list of directories of the guest. It has a root in which everything is denied. With an empty list, standard
/// libraries would fail without a further call, and no denial could name the path.
fn root_directories(store: StoreContextMut<'_, CallState>) -> wasmtime::Result<Val> {
    Ok(Val::List(vec![Val::Tuple(vec![
        new_stub_resource(store)?,
        Val::String("/".to_owned()),
    ])]))
}

/// Returns a resource without access to anything.
fn new_stub_resource(mut store: StoreContextMut<'_, CallState>) -> wasmtime::Result<Val> {
    store.data_mut().meter.count_call();
    Ok(Val::Resource(
        Resource::<StubResource>::new_own(0).try_into_resource_any(store)?,
    ))
}

/// Returns the answer of a stub's function: a readable directory if the function asks for the type or the flags of a descriptor,
/// and otherwise "access denied". `None` if the result of the function has no such answer.
fn denied_answer(name: &str, function: &ComponentFunc) -> Option<Val> {
    let Type::Result(result) = function.results().next()? else {
        return None;
    };
    let Type::Enum(codes) = result.err()? else { return None };
    let code = codes.names().find(|code| matches!(*code, "access" | "access-denied"))?;
    Some(Val::Result(match name {
        "[method]descriptor.get-type" => Ok(Some(Box::new(Val::Enum("directory".to_owned())))),
        "[method]descriptor.get-flags" => Ok(Some(Box::new(Val::Flags(vec!["read".to_owned()])))),
        _ => Err(Some(Box::new(Val::Enum(code.to_owned())))),
    }))
}

/// Stores a denial with the path that a call of the file system names.
fn record_denied_path(state: &mut CallState, name: &str, params: &[Val]) {
    let path = params.iter().find_map(|param| match param {
        Val::String(path) => Some(path),
        _ => None,
    });
    if let Some(path) = path {
        let denial = state.grants.denial_of_path(path, needed_access(name, params));
        state.outside.note_denial_by_stub(denial);
    }
}

/// Ends the loan of the resources that the guest passed to the function.
fn end_borrows(store: &mut StoreContextMut<'_, CallState>, params: &[Val]) -> wasmtime::Result<()> {
    for param in params {
        if let Val::Resource(resource) = param {
            // The conversion removes the resource from the loans that the engine tracks.
            Resource::<StubResource>::try_from_resource_any(*resource, store.as_context_mut())?;
        }
    }
    Ok(())
}

/// Returns the access that a call of the file system needs.
fn needed_access(name: &str, params: &[Val]) -> Access {
    // Parts of the names of functions that write.
    const WRITING: [&str; 7] = ["create", "unlink", "remove", "rename", "link-at", "symlink", "set-"];
    let is_writing_flag = |flag: &String| matches!(flag.as_str(), "create" | "truncate" | "write" | "mutate-directory");
    // The name of `readlink-at`, which only reads, contains `link-at`.
    let writes = WRITING.iter().any(|part| name.contains(part)) && !name.contains("readlink")
        || params
            .iter()
            .any(|param| matches!(param, Val::Flags(flags) if flags.iter().any(is_writing_flag)));
    if writes { Access::ReadWrite } else { Access::Read }
}

fn set_result(results: &mut [Val], value: Val) {
    if let Some(result) = results.first_mut() {
        *result = value;
    }
}

/// Returns the type of a resource of a stub. A resource of `wasi:io` must have the same type in the file system interfaces as in
/// `wasi:io`.
fn resource_type(name: &str) -> ResourceType {
    match name {
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        "pollable" => ResourceType::host::<DynPollable>(),
        "error" => ResourceType::host::<IoError>(),
        _ => ResourceType::host::<StubResource>(),
    }
}
