//! Fills the memory of its host: creates objects of `wasi:http` and of files, sets large values in them, and keeps them.

#![cfg(target_family = "wasm")]

use std::fs::{File, ReadDir, create_dir, read_dir};

use art_sdk::prelude::*;
use bindings::wasi::http::outgoing_handler::handle;
use bindings::wasi::http::types::{
    Fields, Method, OutgoingBody, OutgoingRequest, OutgoingResponse, OutputStream, RequestOptions, Scheme,
};
use bindings::wasi::io::poll::Pollable;

mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package tests:fills;
            world client {
                import wasi:http/outgoing-handler@0.2.12;
            }
        ",
        world: "tests:fills/client",
        generate_all,
    });
}

#[args]
struct In {
    /// What to fill: `methods`, `authorities`, `headers`, `small_headers`, `bodies`, `replaced` or `anything`.
    attack: String,
    /// Number of objects, or of random calls.
    #[serde(default)]
    n: usize,
    /// Decides the order and the sizes of random calls.
    #[serde(default)]
    seed: u64,
    /// A granted folder with the file `a.txt`, for random calls.
    #[serde(default)]
    folder: String,
}

/// Fills the memory of its host. Never to be enabled outside of tests.
#[tool(capabilities(fs(read_write, reason = "to list files and to stage changes")))]
fn fills(input: In, ctx: &Context) -> Result<String> {
    let request = || OutgoingRequest::new(Fields::new());
    let long = "x".repeat(2_000_000);
    match input.attack.as_str() {
        "methods" => drop(keep(input.n, || {
            let request = request();
            request.set_method(&Method::Other(long.clone())).ok();
            request
        })),
        "authorities" => drop(keep(input.n, || {
            let request = request();
            request.set_authority(Some(&long)).ok();
            request
        })),
        "headers" => drop(keep(input.n, || headers_of(&[(); 1].map(|()| vec![b'x'; 30_000])))),
        "small_headers" => drop(keep(input.n, || headers_of(&vec![b"x".to_vec(); 700]))),
        "bodies" => drop(keep(input.n, || {
            let request = request();
            let body = request.body().ok()?;
            let stream = body.write().ok()?;
            for _ in 0..2 {
                stream.write(&[b'x'; 8_000]).ok();
            }
            drop(stream);
            OutgoingBody::finish(body, Some(headers_of(&[vec![b'x'; 30_000]]))).ok();
            Some(request)
        })),
        // A value that replaces another one takes no more than the largest of them.
        "replaced" => {
            let request = request();
            for _ in 0..input.n {
                request.set_method(&Method::Other(long.clone())).ok();
                request.set_method(&Method::Get).ok();
                drop(headers_of(&[vec![b'x'; 30_000]]).clone());
            }
        }
        _ => Kept::default().fill(&input, ctx),
    }
    Ok("survived".to_owned())
}

/// Creates `n` objects and keeps all of them.
fn keep<T>(n: usize, create: impl Fn() -> T) -> Vec<T> {
    (0..n).map(|_| create()).collect()
}

/// Returns headers with these values of one name.
fn headers_of(values: &[Vec<u8>]) -> Fields {
    let fields = Fields::new();
    fields.set("x-test", values).ok();
    fields
}

/// A linear congruential generator: the same seed gives the same numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Returns a text whose length is small, medium or large.
    fn text(&mut self) -> String {
        let bound = [10, 5_000, 700_000].get(self.below(3)).copied().unwrap_or(10);
        "x".repeat(self.below(bound) + 1)
    }
}

/// All objects that were created and not dropped. They are dropped in this order, because an object cannot be dropped while another
/// one depends on it.
#[derive(Default)]
struct Kept {
    pollables: Vec<Pollable>,
    streams: Vec<OutputStream>,
    bodies: Vec<OutgoingBody>,
    fields: Vec<Fields>,
    requests: Vec<OutgoingRequest>,
    responses: Vec<OutgoingResponse>,
    options: Vec<RequestOptions>,
    lists: Vec<ReadDir>,
    files: Vec<File>,
}

impl Kept {
    /// Makes `n` random calls of everything that is imported.
    fn fill(&mut self, input: &In, ctx: &Context) {
        let numbers = &mut Numbers(input.seed);
        for index in 0..input.n {
            match numbers.below(12) {
                0 | 1 => self.create(numbers),
                2..6 => self.set_header(numbers),
                6..8 => self.set_text(numbers),
                8 => self.open_body(numbers),
                9 => self.use_files(&input.folder, index),
                10 => self.drop_some(numbers),
                _ => use_host(numbers, ctx),
            }
        }
    }

    fn create(&mut self, numbers: &mut Numbers) {
        match numbers.below(6) {
            0 => {
                let request = OutgoingRequest::new(self.take_fields());
                self.requests.push(request);
            }
            1 => {
                let response = OutgoingResponse::new(self.take_fields());
                response.set_status_code(404).ok();
                self.fields.push(response.headers());
                self.responses.push(response);
            }
            2 => self.options.push(RequestOptions::new()),
            3 => self.fields.extend(self.fields.last().map(Fields::clone)),
            4 => self.fields.extend(self.requests.last().map(OutgoingRequest::headers)),
            _ => self.fields.push(Fields::new()),
        }
    }

    fn take_fields(&mut self) -> Fields {
        self.fields.pop().unwrap_or_else(Fields::new)
    }

    fn set_header(&mut self, numbers: &mut Numbers) {
        // Few names and short texts, because the call ends when the headers of one object are too large.
        let name = format!("x-{}", numbers.below(3));
        let values: Vec<_> = (0..numbers.below(150)).map(|_| b"x".to_vec()).collect();
        let text = vec![b'x'; numbers.below(3_000)];
        let Some(fields) = self.fields.last() else { return };
        let result = match numbers.below(4) {
            0 => fields.set(&name, &values),
            1 => fields.set(&name, &[text]),
            2 => fields.delete(&name),
            _ => Fields::from_list(&[(name, text)]).map(|fields| self.fields.push(fields)),
        };
        result.ok();
    }

    fn set_text(&mut self, numbers: &mut Numbers) {
        let text = numbers.text();
        let Some(request) = self.requests.last() else { return };
        let result = match numbers.below(4) {
            0 => request.set_method(&Method::Other(text)),
            1 => request.set_authority(Some(&text)),
            2 => request.set_scheme(Some(&Scheme::Other(text))),
            _ => request.set_path_with_query(Some(&format!("/{text}"))),
        };
        result.ok();
    }

    fn open_body(&mut self, numbers: &mut Numbers) {
        let body = match numbers.below(2) {
            0 => self.requests.last().map(OutgoingRequest::body),
            _ => self.responses.last().map(OutgoingResponse::body),
        };
        let Some(Ok(body)) = body else { return };
        if let Ok(stream) = body.write() {
            for _ in 0..2 {
                stream.write(&[b'x'; 8_000]).ok();
            }
            self.pollables.push(stream.subscribe());
            self.streams.push(stream);
        }
        self.bodies.push(body);
    }

    fn use_files(&mut self, folder: &str, index: usize) {
        self.lists.extend(read_dir(folder));
        self.files.extend(File::open(format!("{folder}/a.txt")));
        create_dir(format!("{folder}/{}{index}", "d".repeat(200))).ok();
    }

    fn drop_some(&mut self, numbers: &mut Numbers) {
        match numbers.below(8) {
            0 => self.fields.truncate(2),
            1 => self.requests.truncate(2),
            2 => self.responses.truncate(2),
            3 => self.lists.truncate(2),
            4 => self.files.truncate(2),
            5 => {
                self.pollables.clear();
                self.streams.clear();
            }
            6 => {
                if let (true, Some(body)) = (self.streams.is_empty(), self.bodies.pop()) {
                    OutgoingBody::finish(body, self.fields.pop()).ok();
                }
            }
            _ => {
                if let Some(request) = self.requests.pop() {
                    handle(request, self.options.pop()).ok();
                }
            }
        }
    }
}

/// Calls the host in ways that leave no object.
fn use_host(numbers: &mut Numbers, ctx: &Context) {
    let text = numbers.text();
    match numbers.below(3) {
        0 => ctx.info(&text),
        1 => ctx.progress(&text, json!({"text": text})),
        _ => _ = std::env::var("PATH"),
    }
}
