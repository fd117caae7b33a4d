//! Compiled code on disk, authenticated.
//!
//! Loading compiled code runs it, so a file is used only when its tag proves that this host wrote it, for this component
//! and this engine. The key lies in the same private directory. Files are replaced whole and never written to again, so that
//! code can be run from where it lies.

use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use art_files::{NotRegular, open_regular};
use wasmtime::Engine;

use crate::error::CacheError;
use crate::schema_text::SchemaText;

const KEY_FILE: &str = "key";
const TAG_BYTES: u64 = blake3::OUT_LEN as u64;
/// A compiled component is about three times the size of its source.
const MAX_FILE_BYTES: u64 = 512 << 20;
/// Bytes of all files together: some thousand tools.
const MAX_CACHE_BYTES: u64 = 1 << 30;
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A private directory of compiled components.
#[derive(Debug)]
pub(crate) struct CodeCache {
    directory: PathBuf,
    key: [u8; blake3::KEY_LEN],
    /// Tells this build of the host from others.
    host: Vec<u8>,
    max_bytes: u64,
}

/// What a file of the cache holds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Compiled code.
    Code,
    /// Why the component is refused for what it is.
    Refusal,
    /// What the component answered when it was asked for its schema.
    Schema,
    /// Why the component was left as it was, for a day.
    Left,
}

impl Kind {
    const fn extension(self) -> &'static str {
        match self {
            Self::Code => "cwasm",
            Self::Refusal => "refused",
            Self::Schema => "schema",
            Self::Left => "left",
        }
    }
}

impl CodeCache {
    /// Opens or makes the directory.
    pub(crate) fn open(directory: &Path) -> Result<Self, CacheError> {
        make_private(directory)?;
        let key = load_or_make_key(&directory.join(KEY_FILE))?;
        Ok(Self {
            directory: directory.to_owned(),
            key,
            host: this_host(),
            max_bytes: MAX_CACHE_BYTES,
        })
    }

    /// The file with the compiled code of the component with this digest, when it is there and genuine. The code is followed by
    /// its tag.
    pub(crate) fn get(&self, engine: &Engine, digest: &blake3::Hash) -> Option<File> {
        let (file, _) = self.genuine(Kind::Code, engine, digest)?;
        note_use(&file);
        Some(file)
    }

    /// Whether there is compiled code, be it genuine or not.
    pub(crate) fn has(&self, engine: &Engine, digest: &blake3::Hash) -> bool {
        self.path(Kind::Code, engine, digest).is_file()
    }

    /// Why this host refused the component, when it did.
    pub(crate) fn refusal(&self, engine: &Engine, digest: &blake3::Hash) -> Option<String> {
        self.text(Kind::Refusal, engine, digest)
    }

    /// Why this host left the component as it was within the last day, when it did.
    pub(crate) fn left(&self, engine: &Engine, digest: &blake3::Hash) -> Option<String> {
        let written = fs::metadata(self.path(Kind::Left, engine, digest))
            .ok()?
            .modified()
            .ok()?;
        let is_new = written.elapsed().is_ok_and(|age| age < A_DAY);
        is_new.then(|| self.text(Kind::Left, engine, digest)).flatten()
    }

    /// What the component answered when this host asked it for its schema.
    pub(crate) fn schema(&self, engine: &Engine, digest: &blake3::Hash) -> Option<SchemaText> {
        serde_json::from_str(&self.text(Kind::Schema, engine, digest)?).ok()
    }

    fn text(&self, kind: Kind, engine: &Engine, digest: &blake3::Hash) -> Option<String> {
        let (file, bytes) = self.genuine(kind, engine, digest)?;
        let mut text = String::new();
        (&file).rewind().ok()?;
        file.take(bytes).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// Stores compiled code, in place of what was not used for longest. A failure costs only the next start its speed.
    pub(crate) fn put(&self, engine: &Engine, digest: &blake3::Hash, code: &[u8]) {
        let stored = self
            .write(Kind::Code, engine, digest, code)
            .and_then(|()| self.shrink());
        self.warn_of(stored);
    }

    /// Remembers why the component is refused.
    pub(crate) fn refuse(&self, engine: &Engine, digest: &blake3::Hash, reason: &str) {
        let stored = self.write(Kind::Refusal, engine, digest, reason.as_bytes());
        self.warn_of(stored);
    }

    /// Remembers for a day why the component was left as it is.
    pub(crate) fn leave(&self, engine: &Engine, digest: &blake3::Hash, reason: &str) {
        let stored = self.write(Kind::Left, engine, digest, reason.as_bytes());
        self.warn_of(stored);
    }

    /// Remembers what the component answered when it was asked for its schema.
    pub(crate) fn put_schema(&self, engine: &Engine, digest: &blake3::Hash, answer: &SchemaText) {
        let text = serde_json::to_vec(answer).map_err(Into::into);
        let stored = text.and_then(|text| self.write(Kind::Schema, engine, digest, &text));
        self.warn_of(stored);
    }

    fn warn_of(&self, stored: std::io::Result<()>) {
        if let Err(error) = stored {
            tracing::warn!(%error, directory = %self.directory.display(), "failed to store compiled code");
        }
    }

    /// The file when its tag is right, and the bytes of its content.
    fn genuine(&self, kind: Kind, engine: &Engine, digest: &blake3::Hash) -> Option<(File, u64)> {
        let mut file = open_regular(&self.path(kind, engine, digest)).ok()?;
        let length = file.metadata().ok()?.len();
        let bytes = length.checked_sub(TAG_BYTES)?;
        if length > MAX_FILE_BYTES {
            return None;
        }
        let mut hasher = self.hasher(kind, engine, digest);
        hasher.update_reader((&file).take(bytes)).ok()?;
        let mut tag = [0; blake3::OUT_LEN];
        file.read_exact(&mut tag).ok()?;
        // `blake3::Hash` compares in constant time.
        (hasher.finalize() == tag).then_some((file, bytes))
    }

    fn write(&self, kind: Kind, engine: &Engine, digest: &blake3::Hash, content: &[u8]) -> std::io::Result<()> {
        let path = self.path(kind, engine, digest);
        // Written aside and renamed, so that a reader sees the whole file or none.
        let aside = path.with_extension(art_core::id::random());
        let tag = self.hasher(kind, engine, digest).update(content).finalize();
        let written = private_file(&aside).and_then(|mut file| {
            file.write_all(content)?;
            file.write_all(tag.as_bytes())?;
            fs::rename(&aside, &path)
        });
        written.inspect_err(|_| drop(fs::remove_file(&aside)))
    }

    /// Removes what was not used for longest, until the rest is within the bound.
    fn shrink(&self) -> std::io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let found = entry.metadata()?;
            if entry.file_name() != KEY_FILE && found.is_file() {
                files.push((found.modified()?, found.len(), entry.path()));
            }
        }
        files.sort();
        let mut held: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in files {
            if held <= self.max_bytes {
                break;
            }
            // Another host may have removed it.
            drop(fs::remove_file(path));
            held = held.saturating_sub(bytes);
        }
        Ok(())
    }

    fn path(&self, kind: Kind, engine: &Engine, digest: &blake3::Hash) -> PathBuf {
        let (digest, engine) = (digest.to_hex(), engine_hash(engine));
        self.directory
            .join(format!("{digest}-{engine:016x}.{}", kind.extension()))
    }

    /// Begins a tag, which binds the content to its kind, its source and the engine, so that a file cannot stand in for another.
    fn hasher(&self, kind: Kind, engine: &Engine, digest: &blake3::Hash) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher
            .update(&[kind as u8])
            .update(digest.as_bytes())
            .update(&engine_hash(engine).to_le_bytes());
        // What code does is decided by the engine, what is refused and how long a tool may think by the rest of the host.
        if !matches!(kind, Kind::Code) {
            hasher.update(&self.host);
        }
        hasher
    }
}

/// Files that are used are younger than those that are not, to the day.
fn note_use(file: &File) {
    let age = file.metadata().and_then(|found| found.modified());
    let is_old = age.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > A_DAY));
    if is_old && let Err(error) = file.set_modified(SystemTime::now()) {
        tracing::debug!(%error, "the use of compiled code is not noted");
    }
}

/// The program that runs, as far as its file tells, and the version of this crate.
fn this_host() -> Vec<u8> {
    let found = std::env::current_exe().and_then(fs::metadata);
    let file = found.map_or([0; 3], |found| {
        [found.mtime(), found.mtime_nsec(), found.size().cast_signed()]
    });
    let file = file.into_iter().flat_map(i64::to_le_bytes);
    env!("CARGO_PKG_VERSION").bytes().chain(file).collect()
}

fn engine_hash(engine: &Engine) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

fn make_private(directory: &Path) -> Result<(), CacheError> {
    let io = |source| CacheError::Io {
        path: directory.to_owned(),
        source,
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(io)?;
    let found = fs::symlink_metadata(directory).map_err(io)?;
    let not_private = |reason| {
        Err(CacheError::NotPrivate {
            path: directory.to_owned(),
            reason,
        })
    };
    if !found.is_dir() {
        return not_private("it is a link or a file");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return not_private("it belongs to another user");
    }
    if found.permissions().mode() & 0o022 != 0 {
        return not_private("other users may write to it");
    }
    Ok(())
}

fn load_or_make_key(path: &Path) -> Result<[u8; blake3::KEY_LEN], CacheError> {
    let io = |source| CacheError::Io {
        path: path.to_owned(),
        source,
    };
    match read_key(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => make_key(path).and_then(|()| read_key(path)).map_err(io),
        Err(error) if is_worthless(&error) => {
            tracing::warn!(path = %path.display(), %error, "the key of the cache is replaced; tools are compiled again");
            replace_key(path).and_then(|()| read_key(path)).map_err(io)
        }
        key => key.map_err(io),
    }
}

fn read_key(path: &Path) -> std::io::Result<[u8; blake3::KEY_LEN]> {
    let mut file = open_regular(path)?;
    if file.metadata()?.len() != blake3::KEY_LEN as u64 {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut key = [0; blake3::KEY_LEN];
    file.read_exact(&mut key)?;
    Ok(key)
}

/// Whether what is there is no key and will never be one. What it was a key to is a cache: it is made again.
fn is_worthless(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::InvalidData || NotRegular::is_cause_of(error)
}

/// Makes the key whole or not at all; of two hosts that start at the same time, one makes it.
fn make_key(path: &Path) -> std::io::Result<()> {
    let aside = write_key(path)?;
    let linked = fs::hard_link(&aside, path);
    fs::remove_file(&aside)?;
    match linked {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}

/// Puts a new key in place of what is there. Of two hosts that do so at the same time, one compiles for itself this once.
fn replace_key(path: &Path) -> std::io::Result<()> {
    fs::rename(write_key(path)?, path)
}

/// Writes a new key beside `path`, and gives where.
fn write_key(path: &Path) -> std::io::Result<PathBuf> {
    let mut key = [0; blake3::KEY_LEN];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let aside = path.with_extension(format!("tmp-{}", art_core::id::random()));
    let mut file = private_file(&aside)?;
    file.write_all(&key)?;
    file.sync_all()?;
    Ok(aside)
}

/// A new file that only this user can read.
fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, CodeCache, Engine) {
        let dir = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(&dir.path().join("code")).unwrap();
        (dir, cache, Engine::default())
    }

    #[test]
    fn what_was_stored_is_found_again_by_a_new_host() {
        let (dir, cache, engine) = cache();
        let digest = blake3::hash(b"source");
        cache.put(&engine, &digest, b"code");
        let again = CodeCache::open(&dir.path().join("code")).unwrap();
        let mut found = Vec::new();
        let mut file = again.get(&engine, &digest).unwrap();
        file.rewind().and_then(|()| file.read_to_end(&mut found)).unwrap();
        assert!(found.starts_with(b"code"));
    }

    #[test]
    fn a_changed_byte_makes_the_file_worthless() {
        let (_dir, cache, engine) = cache();
        let digest = blake3::hash(b"source");
        cache.put(&engine, &digest, b"code");
        let path = cache.path(Kind::Code, &engine, &digest);
        for at in 0..fs::read(&path).unwrap().len() {
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert!(cache.get(&engine, &digest).is_none(), "byte {at}");
            bytes[at] ^= 1;
            fs::write(&path, &bytes).unwrap();
        }
    }

    #[test]
    fn the_code_of_another_component_is_not_accepted() {
        let (_dir, cache, engine) = cache();
        let (a, b) = (blake3::hash(b"a"), blake3::hash(b"b"));
        cache.put(&engine, &a, b"code");
        fs::rename(cache.path(Kind::Code, &engine, &a), cache.path(Kind::Code, &engine, &b)).unwrap();
        assert!(cache.get(&engine, &b).is_none());
    }

    #[test]
    fn a_refusal_is_found_again_and_is_no_code() {
        let (_dir, cache, engine) = cache();
        let digest = blake3::hash(b"source");
        cache.refuse(&engine, &digest, "60 s");
        assert_eq!(cache.refusal(&engine, &digest).unwrap(), "60 s");
        let [refusal, code] = [Kind::Refusal, Kind::Code].map(|kind| cache.path(kind, &engine, &digest));
        fs::rename(refusal, code).unwrap();
        assert!(cache.get(&engine, &digest).is_none());
    }

    #[test]
    fn what_was_left_is_left_for_a_day() {
        let (_dir, cache, engine) = cache();
        let digest = blake3::hash(b"source");
        cache.leave(&engine, &digest, "no time");
        assert_eq!(cache.left(&engine, &digest).unwrap(), "no time");
        assert!(cache.refusal(&engine, &digest).is_none());
        let file = File::open(cache.path(Kind::Left, &engine, &digest)).unwrap();
        file.set_modified(SystemTime::now() - A_DAY).unwrap();
        assert!(cache.left(&engine, &digest).is_none());
    }

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let (_dir, mut cache, engine) = cache();
        cache.max_bytes = 2 * (TAG_BYTES + 4);
        let digests = [&b"a"[..], b"b", b"c"].map(blake3::hash);
        let [a, b, c] = &digests;
        for (digest, days) in [(a, 3), (b, 2)] {
            cache.put(&engine, digest, b"code");
            let file = File::open(cache.path(Kind::Code, &engine, digest)).unwrap();
            file.set_modified(SystemTime::now() - days * A_DAY).unwrap();
        }
        // A use makes the older one the younger one.
        assert!(cache.get(&engine, a).is_some());
        cache.put(&engine, c, b"code");
        let held = digests.map(|digest| cache.get(&engine, &digest).is_some());
        assert_eq!(held, [true, false, true]);
        assert!(cache.directory.join(KEY_FILE).exists());
    }

    #[test]
    fn a_directory_that_others_may_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(
            CodeCache::open(dir.path()),
            Err(CacheError::NotPrivate { .. })
        ));
    }

    #[test]
    fn a_link_in_place_of_the_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("link")).unwrap();
        assert!(matches!(
            CodeCache::open(&dir.path().join("link")),
            Err(CacheError::NotPrivate { .. })
        ));
    }
}
