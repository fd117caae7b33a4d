//! Performs the file operations in its input, through the standard library.

#![cfg(target_family = "wasm")]

use std::collections::BTreeSet;
use std::ffi::{CString, c_char, c_int};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::{Duration, SystemTime};

use art_sdk::prelude::*;

#[args]
struct In {
    /// The steps. Each is a list of the name of an operation, a path and, if the operation needs it, an extra value.
    steps: Vec<Vec<String>>,
}

#[output]
struct Out {
    /// What each step returned, or the kind of its error.
    results: Vec<String>,
}

/// Performs the file operations in its input.
#[tool(capabilities(fs(read_write, reason = "to perform the operations of a test")))]
fn files(input: In) -> Result<Out> {
    let results = input.steps.iter().map(|step| {
        let part = |index: usize| step.get(index).map_or("", String::as_str);
        match run_step(part(0), part(1), part(2)) {
            Ok(text) => text,
            Err(error) => format!("error: {}", error.kind()),
        }
    });
    Ok(Out {
        results: results.collect(),
    })
}

fn run_step(operation: &str, path: &str, extra: &str) -> io::Result<String> {
    match operation {
        "read" => fs::read_to_string(path),
        "size" => Ok(fs::metadata(path)?.len().to_string()),
        "type" => Ok(file_type_name(fs::metadata(path)?.file_type())),
        "link_type" => Ok(file_type_name(fs::symlink_metadata(path)?.file_type())),
        "list" => list(path),
        "canonicalize" => Ok(fs::canonicalize(path)?.to_string_lossy().into_owned()),
        "read_link" => Ok(fs::read_link(path)?.to_string_lossy().into_owned()),
        "modified" => modified(path),
        "read_repeatedly" => read_repeatedly(path, number(extra)),
        "race" => race(path, number(extra)),
        "read_from" => read_from(path, number(extra)),
        _ => change(operation, path, extra).map(|()| "done".to_owned()),
    }
}

/// Performs an operation that returns no text.
fn change(operation: &str, path: &str, extra: &str) -> io::Result<()> {
    match operation {
        "write" => fs::write(path, extra),
        "append" => OpenOptions::new().append(true).open(path)?.write_all(extra.as_bytes()),
        "create_new" => File::create_new(path)?.write_all(extra.as_bytes()),
        "overwrite" => overwrite(path, extra),
        "fill" => fill(path, number(extra)),
        "set_len" => OpenOptions::new().write(true).open(path)?.set_len(number(extra)),
        "set_modified" => {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(number(extra));
            OpenOptions::new().write(true).open(path)?.set_modified(time)
        }
        // Sets the time through a file that is open only for reading.
        "set_modified_read_only" => File::open(path)?.set_modified(SystemTime::UNIX_EPOCH),
        "create_dir" => fs::create_dir(path),
        "create_dir_all" => fs::create_dir_all(path),
        "create_many" => (0..number(extra)).try_for_each(|index| fs::write(format!("{path}/{index}"), "")),
        "remove_dir" => fs::remove_dir(path),
        "remove_dir_all" => fs::remove_dir_all(path),
        "remove_file" => fs::remove_file(path),
        "rename" => fs::rename(path, extra),
        "copy" => fs::copy(path, extra).map(drop),
        "hard_link" => fs::hard_link(path, extra),
        "symlink" => symlink(extra, path),
        "trap" => std::process::abort(),
        "panic" => panic_after_looking_for_source(extra),
        _ => Err(io::Error::other(format!("there is no operation `{operation}`"))),
    }
}

/// Parses a number. A text that is not a number gives 0.
fn number(text: &str) -> u64 {
    text.parse().unwrap_or_default()
}

/// Panics as an interpreter does: it first looks for its source, to show the line of the error.
#[expect(clippy::panic, reason = "a test needs a guest that panics")]
fn panic_after_looking_for_source(message: &str) -> ! {
    drop(fs::read("/program/source.py"));
    panic!("{message}")
}

fn file_type_name(file_type: fs::FileType) -> String {
    let name = match file_type {
        _ if file_type.is_dir() => "directory",
        _ if file_type.is_file() => "file",
        _ if file_type.is_symlink() => "link",
        _ => "other",
    };
    name.to_owned()
}

fn list(path: &str) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        match entry {
            Ok(entry) => names.push(entry.file_name().to_string_lossy().into_owned()),
            Err(error) => names.push(format!("error: {}", error.kind())),
        }
    }
    names.sort();
    Ok(names.join(","))
}

/// Returns the time of the last change in seconds since 1970.
fn modified(path: &str) -> io::Result<String> {
    let since = fs::metadata(path)?.modified()?.duration_since(SystemTime::UNIX_EPOCH);
    Ok(since.map_or(0, |since| since.as_secs()).to_string())
}

/// Opens and reads a file `times` times, and counts how often that failed.
fn read_repeatedly(path: &str, times: u64) -> io::Result<String> {
    let failed = (0..times).filter(|_| fs::read(path).is_err()).count();
    Ok(format!("{failed} failed"))
}

/// Reads and writes a file `times` times. Meanwhile the test exchanges a directory in its path with a link that leads out of the
/// granted directory. Returns each different text that was read, and each kind of error of a read, once.
fn race(path: &str, times: u64) -> io::Result<String> {
    let mut seen = BTreeSet::new();
    for _ in 0..times {
        let text = fs::read_to_string(path).unwrap_or_else(|error| error.kind().to_string());
        seen.insert(text);
        // The file in the granted directory already has the text `inside`, so only a file outside of it would change.
        drop(
            OpenOptions::new()
                .write(true)
                .open(path)
                .and_then(|mut file| file.write_all(b"inside")),
        );
    }
    Ok(seen.into_iter().collect::<Vec<_>>().join(","))
}

/// Reads a file from the byte at `at` to its end.
fn read_from(path: &str, at: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(at))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Writes over a file from its second byte on.
fn overwrite(path: &str, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    file.seek(SeekFrom::Start(1))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Writes a file of `bytes` bytes, rounded up to a whole number of KiB.
fn fill(path: &str, bytes: u64) -> io::Result<()> {
    let mut file = File::create(path)?;
    for _ in 0..bytes.div_ceil(1024) {
        file.write_all(&[b'x'; 1024])?;
    }
    Ok(())
}

/// Calls `symlink` of libc, since the standard library creates symbolic links only with unstable features.
#[expect(unsafe_code, reason = "`symlink` of libc is called with two texts that end in NUL")]
fn symlink(target: &str, path: &str) -> io::Result<()> {
    unsafe extern "C" {
        fn symlink(target: *const c_char, path: *const c_char) -> c_int;
    }
    let (target, path) = (CString::new(target)?, CString::new(path)?);
    // SAFETY: both texts live until the call returns.
    match unsafe { symlink(target.as_ptr(), path.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
