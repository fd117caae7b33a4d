//! The table of all threats, each with the number of attacks that the host withstood.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use super::fixture::Withstood;
use super::manifest::{Manifest, SECTIONS, manifest};

const MIB: u64 = 1 << 20;
/// What the threats of each section are about.
const TITLES: [&str; 8] = [
    "time and memory of a guest",
    "memory and handles of the host",
    "loading and replacing components",
    "schemas and outputs",
    "files",
    "requests",
    "secrets",
    "other calls and persons",
];

/// The attacks that were made.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// An item for each attack that ended as expected: the identifier of its threat, and the time by which its call exceeded the
    /// time limit, if that limit ended the call.
    withstood: Vec<(String, Option<Duration>)>,
    /// A message for each attack that ended otherwise.
    failures: Vec<String>,
}

impl Table {
    /// Adds an attack that belongs to the threat `id`.
    pub(crate) fn add(&mut self, id: &str, result: Result<Withstood, String>) {
        match result {
            Ok(attack) => self.withstood.push((id.to_owned(), attack.overrun)),
            Err(failure) => self.failures.push(failure),
        }
    }

    /// Prints the table, writes it to a file, and panics if an attack did not end as expected.
    pub(crate) fn print_and_check(&self, peak_memory: u64) {
        let text = self.text(peak_memory);
        std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("attacks.txt"), &text).unwrap();
        print(&text);
        assert!(self.failures.is_empty(), "{}", self.failures.join("\n"));
    }

    fn text(&self, peak_memory: u64) -> String {
        let manifest = manifest();
        let mut text = String::new();
        for (id, threat) in &manifest {
            let of_threat = |(threat_id, _): &&(String, Option<Duration>)| threat_id == id;
            let attacks = self.withstood.iter().filter(of_threat).count();
            let (status, tests) = (threat.status(), threat.tests.values().map(Vec::len).sum::<usize>());
            let attack = &threat.attack;
            writeln!(
                text,
                "{id}  {status:14}  {attacks:3} attacks  {tests:3} tests  {attack}"
            )
            .unwrap();
        }
        for line in count_rows(&manifest) {
            writeln!(text, "{line}").unwrap();
        }
        let worst_overrun = self
            .withstood
            .iter()
            .filter_map(|(_, overrun)| *overrun)
            .max()
            .unwrap_or_default();
        writeln!(
            text,
            "attacks run: {}, host failures: {}, worst overrun of a time limit: {:.1} ms, peak memory: {} MiB",
            self.withstood.len() + self.failures.len(),
            self.failures.len(),
            worst_overrun.as_secs_f64() * 1_000.0,
            peak_memory / MIB,
        )
        .unwrap();
        text
    }
}

#[expect(clippy::print_stdout, reason = "whoever runs `all_attacks` wants to see the table")]
fn print(text: &str) {
    println!("{text}");
}

/// Returns the rows of the table in the README, which count the threats and the attacks of each section and of all sections.
pub(crate) fn count_rows(manifest: &Manifest) -> Vec<String> {
    let mut lines: Vec<_> = SECTIONS
        .iter()
        .zip(TITLES)
        .map(|((section, _), title)| count_row(&format!("{section}: {title}"), manifest, |id| id.starts_with(*section)))
        .collect();
    lines.push(count_row("all", manifest, |_| true));
    lines
}

/// Returns the row for the threats whose identifiers `belongs` accepts. The columns are in the order of the README.
fn count_row(title: &str, manifest: &Manifest, belongs: impl Fn(&str) -> bool) -> String {
    let threats: Vec<_> = manifest
        .iter()
        .filter(|(id, _)| belongs(id))
        .map(|(_, threat)| threat)
        .collect();
    let count = |status: &str| threats.iter().filter(|threat| threat.status() == status).count();
    let attacks: usize = threats.iter().map(|threat| threat.run.len()).sum();
    format!(
        "| {title} | {} | {} | {attacks} | {} | {} | {} |",
        threats.len(),
        count("attacked"),
        count("tested"),
        count("not applicable"),
        count("not done"),
    )
}
