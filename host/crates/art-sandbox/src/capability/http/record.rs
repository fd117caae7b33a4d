//! Records what a guest learns about its requests: whether and how each was answered. When a recorded call is replayed, the guest
//! gets everything from the record, and nothing is sent.
//!
//! Each answer that the guest gets is an entry of the record, which is called a crossing. Here, all crossings are of the kind
//! [`Response`](CrossingKind::Response). The bytes that the guest reads from a body are recorded by `io/streams.rs`.

use art_core::intake::{Answer, Body, CrossingKind, HttpFailure, ResponseAnswer};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::{BodyExt, Empty};
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::FieldMap;
use wasmtime_wasi_http::p2::bindings::http::types::{self, DnsErrorPayload, ErrorCode};
use wasmtime_wasi_http::p2::body::{HostFutureTrailers, HostIncomingBody, HostOutgoingBody};
use wasmtime_wasi_http::p2::types::{HostFutureIncomingResponse, HostIncomingResponse};

use crate::state::CallState;

/// The interface in which the functions that depend on the network are replaced.
const INTERFACE: &str = "wasi:http/types@0.2.12";

/// The answer when a guest asks for a response or its trailers: `None` if they have not arrived, `Some(Err(()))` if the guest
/// already took them, and otherwise the result.
type Arrival<T> = Option<Result<Result<T, ErrorCode>, ()>>;
type Response = Resource<HostIncomingResponse>;
type Trailers = Option<Resource<FieldMap>>;

/// Links the functions whose results depend on the network, in place of those of `wasmtime_wasi_http`, which record nothing.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let mut interface = linker.instance(INTERFACE)?;
    interface.func_wrap(
        "[method]future-incoming-response.get",
        |mut store: StoreContextMut<'_, CallState>, (future,): (Resource<HostFutureIncomingResponse>,)| {
            Ok((store.data_mut().get_response(future)?,))
        },
    )?;
    interface.func_wrap(
        "[method]future-trailers.get",
        |mut store: StoreContextMut<'_, CallState>, (future,): (Resource<HostFutureTrailers>,)| {
            Ok((store.data_mut().get_trailers(future)?,))
        },
    )?;
    interface.func_wrap(
        "[static]outgoing-body.finish",
        |mut store: StoreContextMut<'_, CallState>,
         (body, trailers): (Resource<HostOutgoingBody>, Option<Resource<FieldMap>>)| {
            Ok((store.data_mut().finish_body(body, trailers)?,))
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

impl CallState {
    /// Returns the next recorded answer about a request, and adds it to the record that the replay itself makes. `None` if the
    /// call is not a replay.
    fn recorded_answer(&mut self) -> wasmtime::Result<Option<ResponseAnswer>> {
        match self.outside.next_recorded(CrossingKind::Response)? {
            Some(Answer::Response(answer)) => {
                self.outside.record(Answer::Response(answer.clone()));
                Ok(Some(answer))
            }
            Some(_) => Err(self.unfit_answer_error()),
            None => Ok(None),
        }
    }

    /// Returns the error for a recorded answer that the called function cannot give to the guest.
    fn unfit_answer_error(&mut self) -> wasmtime::Error {
        self.outside.unfit_answer_error(CrossingKind::Response)
    }

    /// Returns the response if it has arrived, and records what the guest gets.
    fn get_response(&mut self, future: Resource<HostFutureIncomingResponse>) -> wasmtime::Result<Arrival<Response>> {
        if let Some(recorded) = self.recorded_answer()? {
            // Counts this use of a host function. In a call of the tool that is not a replay, `self.http()` counts it.
            self.meter.count_call();
            return self.recorded_response(recorded);
        }
        let arrival = types::HostFutureIncomingResponse::get(&mut self.http(), future)?;
        // The call that is recorded gets the same error codes as its replay will get.
        let arrival = arrival.map(|unless_taken| unless_taken.map(|result| result.map_err(|code| as_replayed(&code))));
        let answer = match &arrival {
            None => ResponseAnswer::NotReady,
            Some(Err(())) => ResponseAnswer::Taken,
            Some(Ok(Err(code))) => ResponseAnswer::Failed(failure_of(code)),
            Some(Ok(Ok(response))) => {
                self.charge_incoming_response(response)?;
                let response = self.table.get(response)?;
                ResponseAnswer::Head(response.status, recorded_fields(&response.headers))
            }
        };
        self.outside.record(Answer::Response(answer));
        Ok(arrival)
    }

    /// Returns what the guest got when it asked for a response in the recorded call.
    fn recorded_response(&mut self, recorded: ResponseAnswer) -> wasmtime::Result<Arrival<Response>> {
        let (status, headers) = match recorded {
            ResponseAnswer::NotReady => return Ok(None),
            ResponseAnswer::Taken => return Ok(Some(Err(()))),
            ResponseAnswer::Failed(failure) => return Ok(Some(Ok(Err(code_of(failure))))),
            ResponseAnswer::Head(status, headers) => (status, headers),
            // Only other functions have these answers.
            ResponseAnswer::Done | ResponseAnswer::Trailers(_) => return Err(self.unfit_answer_error()),
        };
        let headers = self.field_map(headers)?;
        // What the guest reads of the body comes from the record.
        let body = Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync();
        let response = self.table.push(HostIncomingResponse {
            status,
            headers,
            body: Some(HostIncomingBody::new(body)),
        })?;
        self.charge_incoming_response(&response)?;
        Ok(Some(Ok(Ok(response))))
    }

    /// Returns the trailers of a response if they have arrived, and records what the guest gets.
    fn get_trailers(&mut self, future: Resource<HostFutureTrailers>) -> wasmtime::Result<Arrival<Trailers>> {
        if let Some(recorded) = self.recorded_answer()? {
            // Counts this use of a host function. In a call of the tool that is not a replay, `self.http()` counts it.
            self.meter.count_call();
            return self.recorded_trailers(recorded);
        }
        let arrival = types::HostFutureTrailers::get(&mut self.http(), future)?;
        // The call that is recorded gets the same error codes as its replay will get.
        let arrival = arrival.map(|unless_taken| unless_taken.map(|result| result.map_err(|code| as_replayed(&code))));
        let answer = match &arrival {
            None => ResponseAnswer::NotReady,
            Some(Err(())) => ResponseAnswer::Taken,
            Some(Ok(Err(code))) => ResponseAnswer::Failed(failure_of(code)),
            Some(Ok(Ok(None))) => ResponseAnswer::Done,
            Some(Ok(Ok(Some(trailers)))) => {
                self.charge_trailers(trailers)?;
                ResponseAnswer::Trailers(recorded_fields(self.table.get(trailers)?))
            }
        };
        self.outside.record(Answer::Response(answer));
        Ok(arrival)
    }

    /// Returns what the guest got when it asked for trailers in the recorded call.
    fn recorded_trailers(&mut self, recorded: ResponseAnswer) -> wasmtime::Result<Arrival<Trailers>> {
        match recorded {
            ResponseAnswer::NotReady => Ok(None),
            ResponseAnswer::Taken => Ok(Some(Err(()))),
            ResponseAnswer::Failed(failure) => Ok(Some(Ok(Err(code_of(failure))))),
            ResponseAnswer::Done => Ok(Some(Ok(Ok(None)))),
            ResponseAnswer::Trailers(trailers) => {
                let trailers = self.field_map(trailers)?;
                let trailers = self.table.push(trailers)?;
                self.charge_trailers(&trailers)?;
                Ok(Some(Ok(Ok(Some(trailers)))))
            }
            ResponseAnswer::Head(..) => Err(self.unfit_answer_error()),
        }
    }

    /// Ends the body of a request. The trailers are dropped here, because none are sent. A replay writes nothing, so it takes the
    /// result from the record.
    fn finish_body(
        &mut self,
        body: Resource<HostOutgoingBody>,
        trailers: Option<Resource<FieldMap>>,
    ) -> wasmtime::Result<Result<(), ErrorCode>> {
        if let Some(trailers) = trailers {
            self.give_back(trailers.rep());
            self.table.delete(trailers)?;
        }
        if let Some(recorded) = self.recorded_answer()? {
            types::HostOutgoingBody::drop(&mut self.http(), body)?;
            return match recorded {
                ResponseAnswer::Done => Ok(Ok(())),
                ResponseAnswer::Failed(failure) => Ok(Err(code_of(failure))),
                _ => Err(self.unfit_answer_error()),
            };
        }
        let finished = types::HostOutgoingBody::finish(&mut self.http(), body, None);
        let finished = match finished {
            Ok(()) => Ok(()),
            Err(error) => Err(as_replayed(&error.downcast()?)),
        };
        let answer = match &finished {
            Ok(()) => ResponseAnswer::Done,
            Err(code) => ResponseAnswer::Failed(failure_of(code)),
        };
        self.outside.record(Answer::Response(answer));
        Ok(finished)
    }

    /// Returns recorded headers or trailers for the guest. Fails if the record has an invalid name or value.
    fn field_map(&mut self, fields: Vec<(String, Body)>) -> wasmtime::Result<FieldMap> {
        let mut map = HeaderMap::new();
        for (name, Body(value)) in fields {
            let field = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            let (name, value) = field.ok_or_else(|| self.unfit_answer_error())?;
            // A map has a maximum size.
            map.try_append(name, value)
                .map_err(|_too_many| self.unfit_answer_error())?;
        }
        // The guest's use of the host function was counted already.
        let (http, _) = self.uncounted_http_and_table();
        Ok(http.fields(map))
    }
}

/// Returns headers or trailers as they are recorded.
fn recorded_fields(map: &HeaderMap) -> Vec<(String, Body)> {
    let field =
        |(name, value): (&HeaderName, &HeaderValue)| (name.as_str().to_owned(), Body(value.as_bytes().to_vec()));
    map.iter().map(field).collect()
}

/// Returns the code that a replay will read from the record if `original` is recorded. It is another code if `original` cannot be
/// recorded exactly. The guest already gets this code in the call that is recorded, so that the replay is equal to it.
fn as_replayed(original: &ErrorCode) -> ErrorCode {
    code_of(failure_of(original))
}

/// Defines how error codes are recorded: the plain ones, which have no value, and those with a number or a text.
macro_rules! codes {
    (
        plain: $($plain:ident)*;
        number: $($number:ident)*;
        text: $($text:ident)*;
    ) => {
        /// Returns the recorded form of a code. A code whose value has another type is recorded as an internal error.
        fn failure_of(code: &ErrorCode) -> HttpFailure {
            let (name, text, number) = match code {
                $(ErrorCode::$plain => (stringify!($plain), None, None),)*
                $(ErrorCode::$number(number) => (stringify!($number), None, number.map(u64::from)),)*
                $(ErrorCode::$text(text) => (stringify!($text), text.clone(), None),)*
                ErrorCode::DnsError(DnsErrorPayload { rcode, info_code }) => {
                    ("DnsError", rcode.clone(), info_code.map(u64::from))
                }
                other => ("InternalError", Some(format!("{other:?}")), None),
            };
            HttpFailure { code: name.to_owned(), text, number }
        }

        /// Returns the code of a recorded failure. An unknown name becomes an internal error.
        fn code_of(failure: HttpFailure) -> ErrorCode {
            let HttpFailure { code, text, number } = failure;
            match code.as_str() {
                $(stringify!($plain) => ErrorCode::$plain,)*
                $(stringify!($number) => ErrorCode::$number(number.and_then(|number| number.try_into().ok())),)*
                $(stringify!($text) => ErrorCode::$text(text),)*
                "DnsError" => ErrorCode::DnsError(DnsErrorPayload {
                    rcode: text,
                    info_code: number.and_then(|number| number.try_into().ok()),
                }),
                _ => ErrorCode::InternalError(Some(code)),
            }
        }
    };
}

codes! {
    plain: DnsTimeout DestinationNotFound DestinationUnavailable DestinationIpProhibited DestinationIpUnroutable
        ConnectionRefused ConnectionTerminated ConnectionTimeout ConnectionReadTimeout ConnectionWriteTimeout
        ConnectionLimitReached TlsProtocolError TlsCertificateError HttpRequestDenied HttpRequestLengthRequired
        HttpRequestMethodInvalid HttpRequestUriInvalid HttpRequestUriTooLong HttpResponseIncomplete HttpResponseTimeout
        HttpUpgradeFailed HttpProtocolError LoopDetected ConfigurationError;
    number: HttpRequestBodySize HttpRequestHeaderSectionSize HttpRequestTrailerSectionSize HttpResponseHeaderSectionSize
        HttpResponseBodySize HttpResponseTrailerSectionSize;
    text: HttpResponseTransferCoding HttpResponseContentCoding InternalError;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_after_it_was_recorded() {
        let dns = ErrorCode::DnsError(DnsErrorPayload {
            rcode: Some("NXDOMAIN".to_owned()),
            info_code: Some(3),
        });
        for original in [
            ErrorCode::ConnectionRefused,
            ErrorCode::HttpResponseBodySize(Some(u64::MAX)),
            ErrorCode::HttpRequestHeaderSectionSize(None),
            ErrorCode::HttpResponseContentCoding(Some("br".to_owned())),
            dns,
        ] {
            assert_eq!(format!("{:?}", as_replayed(&original)), format!("{original:?}"));
        }
    }

    #[test]
    fn a_code_that_cannot_be_recorded_becomes_an_internal_error() {
        let original = ErrorCode::HttpRequestHeaderSize(None);
        let replayed = as_replayed(&original);
        assert!(matches!(replayed, ErrorCode::InternalError(Some(_))));
        assert_eq!(format!("{:?}", as_replayed(&replayed)), format!("{replayed:?}"));
    }
}
