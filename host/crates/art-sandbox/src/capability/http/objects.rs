//! Charges the account of the call for the objects of `wasi:http` that a guest fills: headers, requests and responses, with all
//! that is set in them. Without this, a guest that sends nothing could still fill the memory of the host.

use std::collections::BTreeMap;

use http::HeaderMap;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, LinkerInstance, Resource, ResourceType};
use wasmtime_wasi_http::p2::bindings::http::outgoing_handler;
use wasmtime_wasi_http::p2::bindings::http::types::{self, ErrorCode, HeaderError, Method, RequestOptions, Scheme};
use wasmtime_wasi_http::p2::body::HostOutgoingBody;
use wasmtime_wasi_http::p2::types::{
    HostFutureIncomingResponse, HostIncomingResponse, HostOutgoingRequest, HostOutgoingResponse,
};
use wasmtime_wasi_http::{FieldMap, WasiHttpCtxView};

use super::limits::BODY_PART_BYTES;
use crate::host_memory::{Charge, HostMemory};
use crate::state::CallState;

/// The interface with the functions that fill objects.
const TYPES: &str = "wasi:http/types@0.2.12";
/// The interface with the function that sends a request.
const HANDLER: &str = "wasi:http/outgoing-handler@0.2.12";

/// Upper bound of the memory of one entry of a [`HeaderMap`], with its index, in bytes.
const ENTRY_BYTES: usize = 128;
/// Upper bound of the memory of each further value of a name. The list of these values doubles when it is full.
const EXTRA_VALUE_BYTES: usize = 2 * 80;
/// What the allocator adds to a text that is allocated by itself.
const ALLOCATION_BYTES: usize = 32;
/// The parts of a body that wait in a channel, and the channel.
const BODY_BYTES: usize = 2 * BODY_PART_BYTES + (4 << 10);

type Request = Resource<HostOutgoingRequest>;
type Response = Resource<HostOutgoingResponse>;
type Fields = Resource<FieldMap>;

/// What the objects of one call take. The keys are the numbers of the objects in the table.
#[derive(Debug, Default)]
pub(super) struct Objects {
    memory: HostMemory,
    /// The headers that an object has or is.
    headers: BTreeMap<u32, Charge>,
    /// The texts that were set in a request, and the body of a request or response.
    parts: BTreeMap<u32, Charge>,
}

impl Objects {
    pub(super) fn new(memory: HostMemory) -> Self {
        Self {
            memory,
            ..Self::default()
        }
    }

    /// Charges for headers. A map keeps its memory when entries are removed, so the charge does not become smaller.
    fn charge_headers(&mut self, object: u32, map: &HeaderMap) {
        let charge = self.headers.entry(object).or_insert_with(|| self.memory.charge(0));
        charge.raise_to(map_bytes(map));
    }

    /// Charges for another handle of the headers of an object. It is charged in full, because it may outlive the object.
    fn charge_copy(&mut self, object: u32, copy: u32) {
        if let Some(charge) = self.headers.get(&object).map(Charge::for_copy) {
            self.headers.insert(copy, charge);
        }
    }

    /// Charges for the parts of an object, in place of those that it had before.
    fn charge_parts(&mut self, object: u32, bytes: usize) {
        self.parts.insert(object, self.memory.charge(bytes));
    }

    /// Passes the charge for headers on to the request or response that took them.
    fn move_headers(&mut self, from: u32, to: u32) {
        if let Some(charge) = self.headers.remove(&from) {
            self.headers.insert(to, charge);
        }
    }

    /// Gives back what an object took, which is no longer in the table.
    pub(super) fn give_back(&mut self, object: u32) {
        self.headers.remove(&object);
        self.parts.remove(&object);
    }
}

/// Returns an upper bound of the memory of a map, in bytes.
fn map_bytes(map: &HeaderMap) -> usize {
    let names: usize = map.keys().map(|name| name.as_str().len() + ALLOCATION_BYTES).sum();
    let values: usize = map.values().map(|value| value.len() + ALLOCATION_BYTES).sum();
    let extra_values = map.len().saturating_sub(map.keys_len());
    map.capacity() * ENTRY_BYTES + extra_values * EXTRA_VALUE_BYTES + names + values
}

fn request_bytes(request: &HostOutgoingRequest) -> usize {
    let method = match &request.method {
        Method::Other(name) => name.len(),
        _ => 0,
    };
    let scheme = match &request.scheme {
        Some(Scheme::Other(name)) => name.len(),
        _ => 0,
    };
    let texts = [&request.authority, &request.path_with_query];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    let body = if request.body.is_some() { BODY_BYTES } else { 0 };
    method + scheme + texts + body
}

impl CallState {
    fn objects(&mut self) -> &mut Objects {
        let (http, _) = self.uncounted_http_and_table();
        &mut http.objects
    }

    fn charge_fields(&mut self, fields: &Fields) -> wasmtime::Result<()> {
        let (http, table) = self.uncounted_http_and_table();
        http.objects.charge_headers(fields.rep(), table.get(fields)?);
        Ok(())
    }

    fn charge_request(&mut self, request: &Request) -> wasmtime::Result<()> {
        let (http, table) = self.uncounted_http_and_table();
        http.objects
            .charge_parts(request.rep(), request_bytes(table.get(request)?));
        Ok(())
    }

    /// Charges for the headers of a response that arrived, or that a replay has from its record.
    pub(super) fn charge_incoming_response(
        &mut self,
        response: &Resource<HostIncomingResponse>,
    ) -> wasmtime::Result<()> {
        let (http, table) = self.uncounted_http_and_table();
        http.objects
            .charge_headers(response.rep(), &table.get(response)?.headers);
        Ok(())
    }

    /// Charges for trailers that arrived.
    pub(super) fn charge_trailers(&mut self, trailers: &Fields) -> wasmtime::Result<()> {
        self.charge_fields(trailers)
    }

    /// Gives back what an object took that was removed from the table.
    pub(super) fn give_back(&mut self, object: u32) {
        self.objects().give_back(object);
    }
}

type Store<'a> = StoreContextMut<'a, CallState>;
type Interface<'a> = LinkerInstance<'a, CallState>;

/// Links the functions that fill or drop objects, in place of those of `wasmtime_wasi_http`, which charge for nothing.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let mut interface = linker.instance(TYPES)?;
    link_fields(&mut interface)?;
    link_request(&mut interface)?;
    link_request_texts(&mut interface)?;
    link_responses(&mut interface)?;
    linker.allow_shadowing(false);
    Ok(())
}

fn link_fields(interface: &mut Interface<'_>) -> wasmtime::Result<()> {
    interface.func_wrap(
        "[static]fields.from-list",
        |mut store: Store<'_>, (entries,): (Vec<(String, Vec<u8>)>,)| {
            let state = store.data_mut();
            let created = unless_header_error(types::HostFields::from_list(&mut state.http(), entries))?;
            if let Ok(fields) = &created {
                state.charge_fields(fields)?;
            }
            Ok((created,))
        },
    )?;
    interface.func_wrap(
        "[method]fields.set",
        |mut store: Store<'_>, (fields, name, values): (Fields, String, Vec<Vec<u8>>)| {
            change_fields(store.data_mut(), &fields, |mut http, fields| {
                types::HostFields::set(&mut http, fields, name, values)
            })
        },
    )?;
    interface.func_wrap(
        "[method]fields.append",
        |mut store: Store<'_>, (fields, name, value): (Fields, String, Vec<u8>)| {
            change_fields(store.data_mut(), &fields, |mut http, fields| {
                types::HostFields::append(&mut http, fields, name, value)
            })
        },
    )?;
    interface.func_wrap("[method]fields.clone", |mut store: Store<'_>, (fields,): (Fields,)| {
        let (state, original) = (store.data_mut(), fields.rep());
        let copy = types::HostFields::clone(&mut state.http(), fields)?;
        state.objects().charge_copy(original, copy.rep());
        Ok((copy,))
    })?;
    interface.resource("fields", ResourceType::host::<FieldMap>(), |mut store, number| {
        store.data_mut().give_back(number);
        types::HostFields::drop(&mut store.data_mut().http(), Resource::new_own(number))
    })
}

/// Changes headers, and charges for them as they are then.
fn change_fields(
    state: &mut CallState,
    fields: &Fields,
    change: impl FnOnce(WasiHttpCtxView<'_>, Fields) -> Result<(), wasmtime_wasi_http::p2::HeaderError>,
) -> wasmtime::Result<(Result<(), HeaderError>,)> {
    let changed = unless_header_error(change(state.http(), Resource::new_borrow(fields.rep())))?;
    state.charge_fields(fields)?;
    Ok((changed,))
}

/// Returns the error as the guest gets it, or fails with an error that ends the call.
fn unless_header_error<T>(
    result: Result<T, wasmtime_wasi_http::p2::HeaderError>,
) -> wasmtime::Result<Result<T, HeaderError>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) => Ok(Err(error.downcast()?)),
    }
}

fn link_request(interface: &mut Interface<'_>) -> wasmtime::Result<()> {
    interface.func_wrap(
        "[constructor]outgoing-request",
        |mut store: Store<'_>, (headers,): (Fields,)| {
            let (state, headers_number) = (store.data_mut(), headers.rep());
            let request = types::HostOutgoingRequest::new(&mut state.http(), headers)?;
            state.objects().move_headers(headers_number, request.rep());
            Ok((request,))
        },
    )?;
    interface.func_wrap(
        "[method]outgoing-request.headers",
        |mut store: Store<'_>, (request,): (Request,)| {
            let (state, number) = (store.data_mut(), request.rep());
            let headers = types::HostOutgoingRequest::headers(&mut state.http(), request)?;
            state.objects().charge_copy(number, headers.rep());
            Ok((headers,))
        },
    )?;
    interface.func_wrap(
        "[method]outgoing-request.body",
        |mut store: Store<'_>, (request,): (Request,)| -> wasmtime::Result<(Result<Resource<HostOutgoingBody>, ()>,)> {
            let (state, borrowed) = (store.data_mut(), Resource::new_borrow(request.rep()));
            let body = types::HostOutgoingRequest::body(&mut state.http(), borrowed)?;
            state.charge_request(&request)?;
            Ok((body,))
        },
    )?;
    interface.resource(
        "outgoing-request",
        ResourceType::host::<HostOutgoingRequest>(),
        |mut store, number| {
            store.data_mut().give_back(number);
            types::HostOutgoingRequest::drop(&mut store.data_mut().http(), Resource::new_own(number))
        },
    )
}

fn link_request_texts(interface: &mut Interface<'_>) -> wasmtime::Result<()> {
    interface.func_wrap(
        "[method]outgoing-request.set-method",
        |mut store: Store<'_>, (request, method): (Request, Method)| {
            change_request(store.data_mut(), &request, |mut http, request| {
                types::HostOutgoingRequest::set_method(&mut http, request, method)
            })
        },
    )?;
    interface.func_wrap(
        "[method]outgoing-request.set-path-with-query",
        |mut store: Store<'_>, (request, path): (Request, Option<String>)| {
            change_request(store.data_mut(), &request, |mut http, request| {
                types::HostOutgoingRequest::set_path_with_query(&mut http, request, path)
            })
        },
    )?;
    interface.func_wrap(
        "[method]outgoing-request.set-scheme",
        |mut store: Store<'_>, (request, scheme): (Request, Option<Scheme>)| {
            change_request(store.data_mut(), &request, |mut http, request| {
                types::HostOutgoingRequest::set_scheme(&mut http, request, scheme)
            })
        },
    )?;
    interface.func_wrap(
        "[method]outgoing-request.set-authority",
        |mut store: Store<'_>, (request, authority): (Request, Option<String>)| {
            change_request(store.data_mut(), &request, |mut http, request| {
                types::HostOutgoingRequest::set_authority(&mut http, request, authority)
            })
        },
    )
}

/// Sets a text of a request, and charges for the texts that the request has then.
fn change_request(
    state: &mut CallState,
    request: &Request,
    change: impl FnOnce(WasiHttpCtxView<'_>, Request) -> wasmtime::Result<Result<(), ()>>,
) -> wasmtime::Result<(Result<(), ()>,)> {
    let changed = change(state.http(), Resource::new_borrow(request.rep()))?;
    state.charge_request(request)?;
    Ok((changed,))
}

fn link_responses(interface: &mut Interface<'_>) -> wasmtime::Result<()> {
    interface.func_wrap(
        "[constructor]outgoing-response",
        |mut store: Store<'_>, (headers,): (Fields,)| {
            let (state, headers_number) = (store.data_mut(), headers.rep());
            let response = types::HostOutgoingResponse::new(&mut state.http(), headers)?;
            state.objects().move_headers(headers_number, response.rep());
            Ok((response,))
        },
    )?;
    interface.func_wrap(
        "[method]outgoing-response.headers",
        |mut store: Store<'_>, (response,): (Response,)| {
            let (state, number) = (store.data_mut(), response.rep());
            let headers = types::HostOutgoingResponse::headers(&mut state.http(), response)?;
            state.objects().charge_copy(number, headers.rep());
            Ok((headers,))
        },
    )?;
    interface.func_wrap(
        "[method]outgoing-response.body",
        |mut store: Store<'_>,
         (response,): (Response,)|
         -> wasmtime::Result<(Result<Resource<HostOutgoingBody>, ()>,)> {
            let (state, number) = (store.data_mut(), response.rep());
            let body = types::HostOutgoingResponse::body(&mut state.http(), response)?;
            state.objects().charge_parts(number, BODY_BYTES);
            Ok((body,))
        },
    )?;
    interface.resource(
        "outgoing-response",
        ResourceType::host::<HostOutgoingResponse>(),
        |mut store, number| {
            store.data_mut().give_back(number);
            types::HostOutgoingResponse::drop(&mut store.data_mut().http(), Resource::new_own(number))
        },
    )?;
    interface.func_wrap(
        "[method]incoming-response.headers",
        |mut store: Store<'_>, (response,): (Resource<HostIncomingResponse>,)| {
            let (state, number) = (store.data_mut(), response.rep());
            let headers = types::HostIncomingResponse::headers(&mut state.http(), response)?;
            state.objects().charge_copy(number, headers.rep());
            Ok((headers,))
        },
    )?;
    interface.resource(
        "incoming-response",
        ResourceType::host::<HostIncomingResponse>(),
        |mut store, number| {
            store.data_mut().give_back(number);
            types::HostIncomingResponse::drop(&mut store.data_mut().http(), Resource::new_own(number))
        },
    )
}

/// Links the function that sends a request. `view` decides whether it can be sent. The request is given back, because it leaves
/// the table, and few requests are open at a time.
pub(super) fn link_handler(
    linker: &mut Linker<CallState>,
    view: fn(&mut CallState) -> WasiHttpCtxView<'_>,
) -> wasmtime::Result<()> {
    linker.instance(HANDLER)?.func_wrap(
        "handle",
        move |mut store: Store<'_>, (request, options): (Request, Option<Resource<RequestOptions>>)| {
            store.data_mut().give_back(request.rep());
            let sent = outgoing_handler::Host::handle(&mut view(store.data_mut()), request, options);
            let sent: Result<Resource<HostFutureIncomingResponse>, ErrorCode> = match sent {
                Ok(response) => Ok(response),
                Err(error) => Err(error.downcast()?),
            };
            Ok((sent,))
        },
    )
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn map_of(names: usize, values_of_each: usize, value_bytes: usize) -> HeaderMap {
        let mut map = HeaderMap::new();
        for name in 0..names {
            let name = HeaderName::try_from(format!("x-{name}")).unwrap();
            for _ in 0..values_of_each {
                map.append(name.clone(), HeaderValue::try_from("v".repeat(value_bytes)).unwrap());
            }
        }
        map
    }

    #[test]
    fn many_small_values_are_charged_more_than_their_texts() {
        assert_eq!(map_bytes(&HeaderMap::new()), 0);
        assert!(map_bytes(&map_of(1, 800, 1)) > 800 * 150);
        assert!(map_bytes(&map_of(200, 1, 0)) > 200 * ENTRY_BYTES);
        assert!(map_bytes(&map_of(1, 1, 30_000)) < 32_000);
    }

    #[test]
    fn headers_are_charged_for_each_object_that_has_them_until_it_is_dropped() {
        let memory = HostMemory::default();
        let mut objects = Objects::new(memory.clone());
        objects.charge_headers(1, &map_of(1, 1, 9 << 20));
        memory.check().unwrap();
        objects.charge_copy(1, 2);
        memory.check().unwrap_err();
        objects.move_headers(1, 3);
        objects.give_back(2);
        memory.check().unwrap();
        // The map would keep its memory even if it were emptied.
        objects.charge_headers(3, &HeaderMap::new());
        objects.charge_parts(4, 8 << 20);
        memory.check().unwrap_err();
        objects.charge_parts(4, 1 << 20);
        memory.check().unwrap();
        objects.give_back(3);
        objects.charge_parts(5, 14 << 20);
        memory.check().unwrap();
    }
}
