//! `art runs replay FILE` with files that somebody crafted: every limit in them is at most that of this host, and a file that would
//! take much memory or time is refused.

use std::fs;
use std::path::PathBuf;

use art_runtime::Recording;
use art_store::JournalEntry;
use serde_json::{Value, json};

use crate::harness::{components, read_component};
use crate::home::Home;
use crate::program::CommandOutput;

/// A home with an exported run, whose file a test changes.
struct Exported {
    home: Home,
    file: PathBuf,
    recording: Recording,
}

impl Exported {
    /// Calls a tool directly, and exports the run.
    fn of_call(tool: &str, component: &str, arguments: &Value) -> Self {
        let home = Home::empty();
        home.add(tool, component);
        home.art(&["tool", "call", tool, &arguments.to_string()]);
        let file = home.dir.path().join("run.jsonl");
        let exported = home.art(&["runs", "export", "last", file.to_str().unwrap()]);
        assert_eq!(exported.code(), 0, "{exported}");
        let recording = Recording::from_file(fs::File::open(&file).unwrap()).unwrap();
        Self { home, file, recording }
    }

    /// Changes the events of a kind.
    fn change_events(&mut self, kind: &str, change: impl Fn(&mut Value)) {
        for entry in self.recording.entries.iter_mut().filter(|entry| entry.kind == kind) {
            let mut payload: Value = serde_json::from_str(&entry.payload).unwrap();
            change(&mut payload);
            entry.payload = payload.to_string();
        }
    }

    /// Writes the file anew, with the right digests.
    fn write(&mut self) {
        seal(&mut self.recording);
        fs::write(&self.file, self.recording.to_file().unwrap()).unwrap();
    }

    fn replay(&self) -> CommandOutput {
        Home::empty().art(&["--json", "runs", "replay", self.file.to_str().unwrap()])
    }
}

/// Computes the digests of the journal, as whoever changes a file can do.
fn seal(recording: &mut Recording) {
    const DOMAIN: &[u8] = b"art journal 1\0";
    let text = |hasher: &blake3::Hasher| format!("blake3:{}", hasher.finalize().to_hex());
    let mut hasher = blake3::Hasher::new();
    hasher.update(DOMAIN).update(recording.run.trace_id.as_bytes());
    let mut head = text(&hasher);
    for (sequence, entry) in (1_u64..).zip(&mut recording.entries) {
        let JournalEntry {
            kind,
            payload,
            timestamp,
            ..
        } = &*entry;
        let mut hasher = blake3::Hasher::new();
        hasher.update(DOMAIN);
        for value in [head.as_bytes(), kind.as_bytes(), payload.as_bytes()] {
            hasher.update(&(value.len() as u64).to_le_bytes()).update(value);
        }
        hasher.update(&sequence.to_le_bytes()).update(&timestamp.to_le_bytes());
        head = text(&hasher);
        entry.sequence = sequence;
        entry.digest.clone_from(&head);
    }
    recording.run.last_sequence = recording.entries.len() as u64;
    recording.run.head = head;
}

/// Returns limits that are as high as numbers are.
fn no_limits() -> Value {
    let (long, short) = (u64::MAX, u32::MAX);
    json!({
        "fuel": long, "timeoutMs": long, "memoryBytes": long, "tableElements": short, "inputBytes": long, "outputBytes": long,
        "logRecords": short, "logRecordBytes": short, "logBytes": short, "hostCalls": long, "handles": short,
    })
}

#[test]
fn an_endless_loop_with_the_limits_of_a_file_ends_at_the_limits_of_this_host() {
    let mut exported = Exported::of_call("hostile", components::HOSTILE, &json!({"attack": "loop"}));
    exported.change_events("tool_ended", |event| {
        event["end"]["intake"]["given"]["limits"] = no_limits()
    });
    exported.write();
    let replayed = exported.replay();
    // The call was recorded with the limits that this host has, so it ends in the same way.
    assert_eq!(replayed.code(), 0, "{replayed}");
    assert_eq!(replayed.json()["callsRun"], 1, "{replayed}");
}

#[test]
fn a_call_that_needs_the_limits_of_a_file_is_not_run_to_its_end() {
    for attack in ["log_lines", "grow"] {
        let mut exported = Exported::of_call(
            "hostile",
            components::HOSTILE,
            &json!({"attack": attack, "n": 10_000_000}),
        );
        exported.change_events("tool_ended", |event| {
            event["end"]["intake"]["given"]["limits"] = no_limits();
            event["end"]["ending"] = json!("success");
        });
        exported.write();
        let replayed = exported.replay().json();
        assert_eq!(replayed["difference"], Value::Null, "{attack}: {replayed}");
        assert_eq!(replayed["taken"][0]["reason"], "over_limits", "{attack}: {replayed}");
    }
}

#[test]
fn at_most_eight_components_of_a_file_are_compiled() {
    let mut exported = Exported::of_call("echo", components::ECHO, &json!({"text": "a"}));
    let event_of = |kind: &str| {
        let found = exported.recording.entries.iter().position(|entry| entry.kind == kind);
        found.unwrap_or_else(|| panic!("there is no `{kind}`"))
    };
    let announced = exported.recording.entries[event_of("tool_called")].clone();
    let place = event_of("tool_called");
    // Each of these components is another one, since it has another custom section at its end.
    let wasm = read_component(components::ECHO);
    exported.recording.components.clear();
    for number in 0..10_u8 {
        let mut wasm = wasm.clone();
        wasm.extend([0, 3, 1, b'x', number]);
        let mut payload: Value = serde_json::from_str(&announced.payload).unwrap();
        payload["toolDigest"] = json!(art_store::digest(&wasm).trim_start_matches("blake3:"));
        let entry = JournalEntry {
            payload: payload.to_string(),
            ..announced.clone()
        };
        exported.recording.entries.insert(place, entry);
        let name = format!("echo{number}\u{1b}[31m");
        exported
            .recording
            .components
            .push(art_runtime::Component { name, wasm });
    }
    exported.write();
    let replayed = exported.replay();
    let (notes, limit) = (replayed.stderr(), "at most 8 components");
    assert_eq!(notes.matches(limit).count(), 2, "{replayed}");
    assert!(!notes.contains('\u{1b}'), "{notes:?}");
}

#[test]
fn a_file_whose_events_would_take_much_memory_is_refused_before_they_are_parsed() {
    let small_objects = format!("[{}0]", r#"{"a":1},"#.repeat(4_000_000));
    let of_echo = || Exported::of_call("echo", components::ECHO, &json!({"text": "a"}));
    let refusal = |exported: &Exported| {
        for command in ["replay", "verify"] {
            let refused = exported.home.art(&["runs", command, exported.file.to_str().unwrap()]);
            assert_eq!(refused.code(), 1, "{refused}");
            let text = refused.stderr();
            assert!(text.contains("bytes of memory") && text.len() < 1_000, "{text}");
        }
    };
    // In an event.
    let mut in_event = of_echo();
    let entry = in_event.recording.entries.last_mut().unwrap();
    entry.payload = format!(r#"{{"kind":"x","x":{small_objects}}}"#);
    in_event.write();
    refusal(&in_event);
    // In a value to which several events refer.
    let mut in_value = of_echo();
    let value = small_objects
        .get(..small_objects.len() / 8 * 8 / 16)
        .unwrap()
        .trim_end_matches(',');
    let value = format!("{}]", value.rsplit_once(',').unwrap().0).into_bytes();
    let digest = art_store::digest(&value);
    in_value.recording.blobs.insert(digest.clone(), value);
    let values: Vec<_> = (0..20).map(|number| (format!("/x/{number}"), digest.clone())).collect();
    let entry = in_value.recording.entries.last_mut().unwrap();
    entry.payload = json!({"kind": "x", "x": [], "values": values}).to_string();
    in_value.write();
    refusal(&in_value);
    // In the summary of the run.
    let mut in_summary = of_echo();
    in_summary.recording.run.summary = serde_json::from_str(&format!("[{}0]", "[],".repeat(1_000_000))).unwrap();
    in_summary.write();
    refusal(&in_summary);
}
