//! Checks the rules in `host/CONTRACTS.md`, which have identifiers such as `C48`: each identifier that a comment or a document
//! cites is listed there, and each rule is cited in the files that its row names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CONTRACTS: &str = "host/CONTRACTS.md";

/// The identifier of each rule, and the files that implement it, relative to the root of the workspace.
type Rules = BTreeMap<String, Vec<String>>;

/// An occurrence of an identifier in a file.
struct Citation {
    identifier: String,
    path: String,
    line: usize,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rules() -> Rules {
    let document = std::fs::read_to_string(root().join(CONTRACTS)).unwrap();
    document.lines().filter_map(parse_rule).collect()
}

/// Returns the rule in a row such as ``| C48 | .. | `crates/art-core/src/agent.rs` |``.
fn parse_rule(line: &str) -> Option<(String, Vec<String>)> {
    let mut cells = line.strip_prefix("| ")?.split(" | ");
    let identifier = cells.next().filter(|cell| is_identifier(cell))?;
    let files = cells.last()?.split('`').skip(1).step_by(2);
    Some((identifier.to_owned(), files.map(workspace_path).collect()))
}

/// Converts a path relative to the folder of `host/CONTRACTS.md` to one relative to the root of the workspace.
fn workspace_path(path: &str) -> String {
    match path.strip_prefix("../") {
        Some(path) => path.to_owned(),
        None => format!("host/{path}"),
    }
}

/// Returns whether `word` can be an identifier such as `C48`, `M01`, `P33a` or `S003`: a letter that `host/CONTRACTS.md` uses,
/// one to three digits, and possibly a lower-case letter.
fn is_identifier(word: &str) -> bool {
    let Some(rest) = word.strip_prefix(['A', 'B', 'C', 'D', 'M', 'P', 'Q', 'R', 'S', 'T', 'X']) else {
        return false;
    };
    let digits = rest.trim_end_matches(|c: char| c.is_ascii_lowercase());
    rest.len() - digits.len() <= 1 && (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Returns the Rust, Markdown and WIT files of the project, relative to the root. Leaves out `host/CONTRACTS.md` itself, hidden
/// and built files, and plugins, which do not implement rules of the host.
fn sources() -> Vec<String> {
    let mut found = Vec::new();
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(root().join(&directory)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = directory.join(&name);
            if entry.file_type().unwrap().is_dir() {
                let is_hidden = name.starts_with('.') && name != ".github";
                if !is_hidden && name != "target" && path != Path::new("plugins") {
                    directories.push(path);
                }
            } else if name.ends_with(".rs") || name.ends_with(".md") || name.ends_with(".wit") {
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found.retain(|path| path != CONTRACTS);
    found
}

/// Returns the prose of a line: the whole line in a Markdown file, and the comment in a line of code.
fn prose<'a>(path: &str, line: &'a str) -> &'a str {
    if path.ends_with(".md") {
        return line;
    }
    let mut comments = line.match_indices("//").map(|(at, _)| line.split_at(at));
    // After a colon, `//` belongs to a URL.
    let comment = comments.find(|(before, _)| !before.ends_with(':'));
    comment.map_or("", |(_, comment)| comment)
}

/// Returns the identifiers in `prose`, except in backticks, which mark code.
fn identifiers(prose: &str) -> impl Iterator<Item = &str> {
    let outside = prose.split('`').step_by(2);
    let words = outside.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| is_identifier(word))
}

fn citations() -> Vec<Citation> {
    let mut found = Vec::new();
    for path in sources() {
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        for (at, line) in text.lines().enumerate() {
            found.extend(identifiers(prose(&path, line)).map(|identifier| Citation {
                identifier: identifier.to_owned(),
                path: path.clone(),
                line: at + 1,
            }));
        }
    }
    found
}

#[test]
fn every_cited_rule_is_in_the_contracts() {
    let rules = rules();
    let unknown: Vec<_> = citations()
        .into_iter()
        .filter(|citation| !rules.contains_key(&citation.identifier))
        .map(|citation| format!("{}:{}: `{}`", citation.path, citation.line, citation.identifier))
        .collect();
    assert!(
        unknown.is_empty(),
        "not in {CONTRACTS}: add a line there, or put words that are not citations in backticks:\n{}",
        unknown.join("\n")
    );
}

#[test]
fn every_rule_is_cited_where_it_is_implemented() {
    let mut cited: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for citation in citations() {
        cited.entry(citation.identifier).or_default().push(citation.path);
    }
    let mut faults = Vec::new();
    for (identifier, files) in rules() {
        let citing = cited.get(&identifier).map(Vec::as_slice).unwrap_or_default();
        if files.is_empty() {
            faults.push(format!("`{identifier}` names no file"));
        }
        let missing = files.iter().filter(|file| !citing.contains(file));
        faults.extend(missing.map(|file| format!("`{identifier}` is not cited in {file}, but in {citing:?}")));
    }
    assert!(faults.is_empty(), "in {CONTRACTS}:\n{}", faults.join("\n"));
}

#[test]
fn identifiers_are_distinguished_from_other_words() {
    let found: Vec<_> = identifiers("(C48, P33a) of `B2`, BM25, UTF8, M01: R2-D2, S3000 and a B").collect();
    assert_eq!(found, ["C48", "P33a", "M01", "R2", "D2"]);
}
