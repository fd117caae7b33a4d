//! Calls `wasi:filesystem` and its streams in ways in which the standard library does not.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;
use bindings::wasi::clocks::wall_clock::Datetime;
use bindings::wasi::filesystem::preopens::get_directories;
use bindings::wasi::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags};

mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package tests:raw;
            world files {
                import wasi:filesystem/types@0.2.12;
                import wasi:filesystem/preopens@0.2.12;
            }
        ",
        world: "tests:raw/files",
        generate_all,
    });
}

#[args]
struct In {
    /// The steps: each has the name of an attempt, a path, and a number if the attempt needs one.
    steps: Vec<Vec<String>>,
}

#[output]
struct Out {
    /// How each step ended.
    results: Vec<String>,
}

/// Calls `wasi:filesystem` in unusual ways, and returns how that ended.
#[tool(capabilities(fs(read_write, reason = "to perform the operations of a test")))]
fn raw_files(input: In) -> Result<Out> {
    let results = input.steps.iter().map(|step| {
        let part = |index: usize| step.get(index).map_or("", String::as_str);
        // Without a number in the step, the number is `u64::MAX`. An attempt that needs none ignores it.
        match attempt(part(0), part(1), part(2).parse().unwrap_or(u64::MAX)) {
            Ok(()) => "done".to_owned(),
            Err(error) => error.name().to_owned(),
        }
    });
    Ok(Out {
        results: results.collect(),
    })
}

fn attempt(name: &str, path: &str, number: u64) -> Result<(), ErrorCode> {
    // `wasi:filesystem` has only paths that are relative to a directory, which is `/` here.
    let path = path.trim_start_matches('/');
    match name {
        "times" => set_times(path, number),
        "open" => open(path, OpenFlags::empty(), DescriptorFlags::READ).map(drop),
        "open_directory" => open(path, OpenFlags::DIRECTORY, DescriptorFlags::READ).map(drop),
        "create" => open(path, OpenFlags::CREATE, read_write_flags()).map(drop),
        "truncate" => open(path, OpenFlags::TRUNCATE, DescriptorFlags::READ).map(drop),
        "set_size" => open(path, OpenFlags::CREATE, read_write_flags())?.set_size(number),
        "read_much" => open(path, OpenFlags::empty(), DescriptorFlags::READ)?
            .read(number, 0)
            .map(drop),
        "read_far" => open(path, OpenFlags::empty(), DescriptorFlags::READ)?
            .read(10, number)
            .map(drop),
        "write_far" => open(path, OpenFlags::CREATE, read_write_flags())?
            .write(b"x", number)
            .map(drop),
        "hold" => hold(path, number),
        "write_zeroes" => write_zeroes(path, number),
        "write_unchecked" => write_unchecked(path, number),
        _ => Err(ErrorCode::Unsupported),
    }
}

fn read_write_flags() -> DescriptorFlags {
    DescriptorFlags::READ | DescriptorFlags::WRITE
}

/// Returns the directory `/`, the only one that the host passes to the guest.
fn root() -> Result<Descriptor, ErrorCode> {
    get_directories()
        .into_iter()
        .next()
        .map(|(root, _)| root)
        .ok_or(ErrorCode::NoEntry)
}

fn open(path: &str, open_flags: OpenFlags, flags: DescriptorFlags) -> Result<Descriptor, ErrorCode> {
    root()?.open_at(PathFlags::SYMLINK_FOLLOW, path, open_flags, flags)
}

/// Sets times whose nanoseconds are out of range.
fn set_times(path: &str, seconds: u64) -> Result<(), ErrorCode> {
    let time = NewTimestamp::Timestamp(Datetime {
        seconds,
        nanoseconds: u32::MAX,
    });
    open(path, OpenFlags::empty(), read_write_flags())?.set_times(time, time)?;
    root()?.set_times_at(PathFlags::empty(), path, time, time)
}

/// Opens a file `count` times, and closes it only after the last time.
fn hold(path: &str, count: u64) -> Result<(), ErrorCode> {
    let all: Result<Vec<_>, _> = (0..count)
        .map(|_| open(path, OpenFlags::empty(), DescriptorFlags::READ))
        .collect();
    all.map(drop)
}

fn write_zeroes(path: &str, bytes: u64) -> Result<(), ErrorCode> {
    let stream = open(path, OpenFlags::CREATE, read_write_flags())?.write_via_stream(0)?;
    stream.write_zeroes(bytes).map_err(|_stream_error| ErrorCode::Io)
}

/// Writes without asking first how many bytes may be written.
fn write_unchecked(path: &str, bytes: u64) -> Result<(), ErrorCode> {
    let stream = open(path, OpenFlags::CREATE, read_write_flags())?.write_via_stream(0)?;
    stream
        .write(&vec![b'x'; bytes as usize])
        .map_err(|_stream_error| ErrorCode::Io)
}
