//! Components that are not offered any more, because a canary (a decoy secret) was seen in what they sent, returned or logged.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use art_files::{open_regular, read_text};

use crate::config::Config;

/// Maximum size of the file with the list, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A component in quarantine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// Digest of the component, in hexadecimal.
    pub digest: String,
    /// Name of its tool.
    pub tool: String,
    /// Name of the canary that was seen.
    pub canary: String,
}

/// The list of components in quarantine: a file with one line for each, `DIGEST TOOL CANARY`. Removing a line ends
/// the quarantine of its component.
#[derive(Clone, Debug)]
pub struct Quarantine {
    /// The path of the file; an empty path if there is no home. Then the list stays empty.
    path: PathBuf,
}

impl Quarantine {
    /// Returns the list that belongs to a configuration. Its file is in the folder of grants.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            path: match config.grants.as_os_str().is_empty() {
                true => PathBuf::new(),
                false => config.grants.join("quarantine"),
            },
        }
    }

    /// Returns the path of the file.
    #[must_use]
    pub const fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Returns the components in quarantine; none if the file does not exist. Lines that do not describe a component
    /// are left out.
    ///
    /// # Errors
    /// Fails if the file cannot be read. Then no component should be offered, since each may be in quarantine.
    pub fn list(&self) -> std::io::Result<Vec<Quarantined>> {
        if self.path.as_os_str().is_empty() {
            return Ok(Vec::new());
        }
        let file = match open_regular(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        let text = read_text(file, MAX_FILE_BYTES)?;
        Ok(text.lines().filter_map(parse_line).collect())
    }

    /// Adds a component, and creates the file if it does not exist. Does nothing if the component is in the list already, or if
    /// there is no home.
    pub(crate) fn add(&self, digest: &str, tool: &str, canary: &str) -> std::io::Result<()> {
        let is_listed = self.list()?.iter().any(|listed| listed.digest == digest);
        if is_listed || self.path.as_os_str().is_empty() {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            super::create_private_folder(folder)?;
        }
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)?;
        // Someone who edited the file may have left its last line without an end.
        let line_end = if self.ends_within_line()? { "\n" } else { "" };
        file.write_all(format!("{line_end}{digest} {tool} {canary}\n").as_bytes())?;
        file.sync_all()
    }

    fn ends_within_line(&self) -> std::io::Result<bool> {
        let text = read_text(open_regular(&self.path)?, MAX_FILE_BYTES)?;
        Ok(!text.is_empty() && !text.ends_with('\n'))
    }
}

fn parse_line(line: &str) -> Option<Quarantined> {
    let mut words = line.split_whitespace().map(str::to_owned);
    Some(Quarantined {
        digest: words.next()?,
        tool: words.next()?,
        canary: words.next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_that_is_added_twice_is_listed_once() {
        let home = tempfile::tempdir().unwrap();
        let config = Config {
            grants: home.path().join("grants"),
            ..Config::default()
        };
        let quarantine = Quarantine::new(&config);
        assert_eq!(quarantine.list().unwrap(), []);
        for _ in 0..2 {
            quarantine.add("00ff", "leaky", "DECOY").unwrap();
        }
        let expected = Quarantined {
            digest: "00ff".to_owned(),
            tool: "leaky".to_owned(),
            canary: "DECOY".to_owned(),
        };
        assert_eq!(quarantine.list().unwrap(), [expected]);
    }

    #[test]
    fn a_component_that_is_added_after_a_line_without_an_end_is_listed() {
        let home = tempfile::tempdir().unwrap();
        let config = Config {
            grants: home.path().join("grants"),
            ..Config::default()
        };
        let quarantine = Quarantine::new(&config);
        quarantine.add("00ff", "leaky", "DECOY").unwrap();
        let text = std::fs::read_to_string(quarantine.path()).unwrap();
        std::fs::write(quarantine.path(), text.trim_end()).unwrap();
        quarantine.add("11ff", "other", "DECOY").unwrap();
        let digests: Vec<_> = quarantine
            .list()
            .unwrap()
            .into_iter()
            .map(|listed| listed.digest)
            .collect();
        assert_eq!(digests, ["00ff", "11ff"]);
    }

    #[test]
    fn without_a_home_an_added_component_is_not_listed() {
        let quarantine = Quarantine::new(&Config::default());
        quarantine.add("00ff", "leaky", "DECOY").unwrap();
        assert_eq!(quarantine.list().unwrap(), []);
    }
}
