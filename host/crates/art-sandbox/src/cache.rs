//! The cache of compiled code, schemas, refusals and catalogues: a private directory with authenticated files.
//!
//! The host executes compiled code without checking it, so a file is used only if its tag, a keyed digest at its end, proves that
//! this host wrote it for this component and this engine. The key is in the same private directory. A file is replaced as a whole
//! and never modified, so code can be mapped and executed in place.
//!
//! The name of a file has the digest of the component, the hash of the engine's configuration, and an extension for the kind of
//! the content. A *refusal* is the reason why a component is never loaded by this build of the host, and a *postponement* the
//! reason why it is not loaded for a day. A *catalogue* lists what the files of a plugins folder contain; its name has the
//! digest of the folder's path in place of that of a component.

use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use art_files::{NotRegular, open_regular, writable_by_others};
use wasmtime::Engine;

use crate::error::CacheError;
use crate::schema_text::SchemaText;

const KEY_FILE: &str = "key";
const TAG_BYTES: u64 = blake3::OUT_LEN as u64;
/// Maximum size of one file, in bytes. Compiled code is about three times as large as its component.
const MAX_FILE_BYTES: u64 = 512 << 20;
/// Maximum size of all files together, in bytes. A few thousand tools fit.
const MAX_CACHE_BYTES: u64 = 1 << 30;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A private directory with compiled code, and with what else the host stores about components.
#[derive(Debug)]
pub(crate) struct CodeCache {
    directory: PathBuf,
    key: [u8; blake3::KEY_LEN],
    /// Identifies this build of the host.
    host_build: Vec<u8>,
    max_bytes: u64,
    /// Identifies the configuration of the engines, which is the same for all engines of a sandbox.
    engine_hash: OnceLock<u64>,
}

/// The kind of the content of a file in the cache.
#[derive(Clone, Copy, Debug)]
enum ContentKind {
    /// Compiled code.
    Code,
    /// The reason why the component is refused permanently.
    Refusal,
    /// The result of `schema()`.
    Schema,
    /// The reason why the component is not loaded for a day.
    Postponement,
    /// The catalogue of a plugins folder.
    Catalog,
}

impl ContentKind {
    const fn extension(self) -> &'static str {
        match self {
            Self::Code => "cwasm",
            Self::Refusal => "refused",
            Self::Schema => "schema",
            Self::Postponement => "postponed",
            Self::Catalog => "catalog",
        }
    }
}

impl CodeCache {
    /// Opens the directory, and creates it if it does not exist.
    ///
    /// # Errors
    /// Fails with [`CacheError::NotPrivate`] when it is not a directory of the current user, or others can write to it, and with
    /// [`CacheError::Io`] when it cannot be used.
    pub(crate) fn open(directory: &Path) -> Result<Self, CacheError> {
        open_private_directory(directory)?;
        // A process that was killed may have left a key behind.
        if let Err(error) = art_files::remove_left_behind(directory) {
            let folder = directory.display();
            tracing::warn!(%error, %folder, "failed to remove files that killed processes have left behind");
        }
        let key = read_or_create_key(&directory.join(KEY_FILE))?;
        Ok(Self {
            directory: directory.to_owned(),
            key,
            host_build: host_build(),
            max_bytes: MAX_CACHE_BYTES,
            engine_hash: OnceLock::new(),
        })
    }

    /// Returns the authenticated file with the compiled code of a component, if there is one. In the file, the code is followed
    /// by its tag.
    pub(crate) fn code(&self, engine: &Engine, digest: &blake3::Hash) -> Option<File> {
        let (file, _) = self.open_authenticated(ContentKind::Code, engine, digest)?;
        record_use(&file);
        Some(file)
    }

    /// Returns whether there is a file with compiled code, without authenticating it.
    pub(crate) fn has_code(&self, engine: &Engine, digest: &blake3::Hash) -> bool {
        self.path(ContentKind::Code, engine, digest).is_file()
    }

    /// Returns the reason why this host refused the component permanently, if it did.
    pub(crate) fn refusal(&self, engine: &Engine, digest: &blake3::Hash) -> Option<String> {
        self.read_text(ContentKind::Refusal, engine, digest)
    }

    /// Returns the reason why this host postponed loading the component, if it did so within the last day.
    pub(crate) fn postponement(&self, engine: &Engine, digest: &blake3::Hash) -> Option<String> {
        let written = fs::metadata(self.path(ContentKind::Postponement, engine, digest))
            .ok()?
            .modified()
            .ok()?;
        let is_recent = written.elapsed().is_ok_and(|age| age < DAY);
        is_recent
            .then(|| self.read_text(ContentKind::Postponement, engine, digest))
            .flatten()
    }

    /// Returns the stored result of `schema()`.
    pub(crate) fn schema(&self, engine: &Engine, digest: &blake3::Hash) -> Option<SchemaText> {
        serde_json::from_str(&self.read_text(ContentKind::Schema, engine, digest)?).ok()
    }

    /// Returns the stored catalogue of a folder. `folder` is the digest of the folder's path.
    pub(crate) fn catalog(&self, engine: &Engine, folder: &blake3::Hash) -> Option<String> {
        self.read_text(ContentKind::Catalog, engine, folder)
    }

    /// Stores the catalogue of a folder.
    pub(crate) fn put_catalog(&self, engine: &Engine, folder: &blake3::Hash, text: &str) {
        let stored = self.write(ContentKind::Catalog, engine, folder, text.as_bytes());
        self.log_failure(stored);
    }

    fn read_text(&self, kind: ContentKind, engine: &Engine, digest: &blake3::Hash) -> Option<String> {
        let (file, content_bytes) = self.open_authenticated(kind, engine, digest)?;
        let mut text = String::new();
        (&file).rewind().ok()?;
        file.take(content_bytes).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// Stores compiled code, and removes the least recently used files if the cache is too large. Logs a failure, which
    /// only makes the next start slower.
    pub(crate) fn put_code(&self, engine: &Engine, digest: &blake3::Hash, code: &[u8]) {
        let stored = self
            .write(ContentKind::Code, engine, digest, code)
            .and_then(|()| self.shrink());
        self.log_failure(stored);
    }

    /// Stores the reason why the component is refused permanently.
    pub(crate) fn put_refusal(&self, engine: &Engine, digest: &blake3::Hash, reason: &str) {
        let stored = self.write(ContentKind::Refusal, engine, digest, reason.as_bytes());
        self.log_failure(stored);
    }

    /// Stores the reason why the component is not loaded for a day.
    pub(crate) fn put_postponement(&self, engine: &Engine, digest: &blake3::Hash, reason: &str) {
        let stored = self.write(ContentKind::Postponement, engine, digest, reason.as_bytes());
        self.log_failure(stored);
    }

    /// Stores the result of `schema()`.
    pub(crate) fn put_schema(&self, engine: &Engine, digest: &blake3::Hash, schema: &SchemaText) {
        let text = serde_json::to_vec(schema).map_err(Into::into);
        let stored = text.and_then(|text| self.write(ContentKind::Schema, engine, digest, &text));
        self.log_failure(stored);
    }

    fn log_failure(&self, stored: std::io::Result<()>) {
        if let Err(error) = stored {
            tracing::warn!(%error, directory = %self.directory.display(), "failed to write to the cache of compiled code");
        }
    }

    /// Returns a file and the size of its content in bytes, if its tag is valid.
    fn open_authenticated(&self, kind: ContentKind, engine: &Engine, digest: &blake3::Hash) -> Option<(File, u64)> {
        let mut file = open_regular(&self.path(kind, engine, digest)).ok()?;
        let file_bytes = file.metadata().ok()?.len();
        let content_bytes = file_bytes.checked_sub(TAG_BYTES)?;
        if file_bytes > MAX_FILE_BYTES {
            return None;
        }
        let mut hasher = self.hasher(kind, engine, digest);
        hasher.update_reader((&file).take(content_bytes)).ok()?;
        let mut tag = [0; blake3::OUT_LEN];
        file.read_exact(&mut tag).ok()?;
        // `blake3::Hash` compares in constant time.
        (hasher.finalize() == tag).then_some((file, content_bytes))
    }

    fn write(&self, kind: ContentKind, engine: &Engine, digest: &blake3::Hash, content: &[u8]) -> std::io::Result<()> {
        let path = self.path(kind, engine, digest);
        // The content is written to a temporary file, which is then renamed, so that a reader sees the whole file or none.
        let temporary = path.with_extension(art_core::id::random());
        let tag = self.hasher(kind, engine, digest).update(content).finalize();
        let written = create_private_file(&temporary).and_then(|mut file| {
            file.write_all(content)?;
            file.write_all(tag.as_bytes())?;
            fs::rename(&temporary, &path)
        });
        written.inspect_err(|_| drop(fs::remove_file(&temporary)))
    }

    /// Removes the files with the oldest modification times until the rest is within the maximum size. For compiled code, this
    /// is the time of the last use; see [`record_use`].
    fn shrink(&self) -> std::io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if entry.file_name() != KEY_FILE && metadata.is_file() {
                files.push((metadata.modified()?, metadata.len(), entry.path()));
            }
        }
        files.sort();
        let mut total_bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in files {
            if total_bytes <= self.max_bytes {
                break;
            }
            // Another process may have removed the file already.
            drop(fs::remove_file(path));
            total_bytes = total_bytes.saturating_sub(bytes);
        }
        Ok(())
    }

    fn path(&self, kind: ContentKind, engine: &Engine, digest: &blake3::Hash) -> PathBuf {
        let (digest, engine) = (digest.to_hex(), self.engine_hash(engine));
        self.directory
            .join(format!("{digest}-{engine:016x}.{}", kind.extension()))
    }

    fn engine_hash(&self, engine: &Engine) -> u64 {
        *self.engine_hash.get_or_init(|| hash_engine(engine))
    }

    /// Returns a hasher for the tag of a file. The tag also covers the kind, the component and the engine, so that no
    /// file is accepted in place of another.
    fn hasher(&self, kind: ContentKind, engine: &Engine, digest: &blake3::Hash) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher
            .update(&[kind as u8])
            .update(digest.as_bytes())
            .update(&self.engine_hash(engine).to_le_bytes());
        // Compiled code depends on the engine only. All other kinds also depend on this build of the host, for example on its
        // limits.
        if !matches!(kind, ContentKind::Code) {
            hasher.update(&self.host_build);
        }
        hasher
    }
}

/// Sets the modification time to now, at most once a day, so that [`CodeCache::shrink`] knows when the file was last
/// used.
fn record_use(file: &File) {
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    let is_old = modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > DAY));
    if is_old && let Err(error) = file.set_modified(SystemTime::now()) {
        tracing::debug!(%error, "failed to record the use of compiled code");
    }
}

/// Returns bytes that identify this build: the version of this crate, and the time and size of the program's file.
fn host_build() -> Vec<u8> {
    let metadata = std::env::current_exe().and_then(fs::metadata);
    let time_and_size = metadata.map_or([0; 3], |metadata| {
        [metadata.mtime(), metadata.mtime_nsec(), metadata.size().cast_signed()]
    });
    let time_and_size = time_and_size.into_iter().flat_map(i64::to_le_bytes);
    env!("CARGO_PKG_VERSION").bytes().chain(time_and_size).collect()
}

fn hash_engine(engine: &Engine) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

fn open_private_directory(directory: &Path) -> Result<(), CacheError> {
    let io_error = |source| CacheError::Io {
        path: directory.to_owned(),
        source,
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(io_error)?;
    let metadata = fs::symlink_metadata(directory).map_err(io_error)?;
    let not_private = |reason| {
        Err(CacheError::NotPrivate {
            path: directory.to_owned(),
            reason,
        })
    };
    if !metadata.is_dir() {
        return not_private("it is a link or a file");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return not_private("it belongs to another user");
    }
    if metadata.permissions().mode() & 0o022 != 0 {
        return not_private("other users may write to it");
    }
    Ok(())
}

fn read_or_create_key(path: &Path) -> Result<[u8; blake3::KEY_LEN], CacheError> {
    let io_error = |source| CacheError::Io {
        path: path.to_owned(),
        source,
    };
    check_key_is_private(path)?;
    match read_key(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            create_key(path).and_then(|()| read_key(path)).map_err(io_error)
        }
        Err(error) if is_unusable_key(&error) => {
            tracing::warn!(path = %path.display(), %error, "the key of the cache is invalid and is replaced; tools are compiled again");
            replace_key(path).and_then(|()| read_key(path)).map_err(io_error)
        }
        key => key.map_err(io_error),
    }
}

/// Refuses a key that others could have written, since they could then pass off code as compiled by this host.
fn check_key_is_private(path: &Path) -> Result<(), CacheError> {
    let problem = fs::symlink_metadata(path).ok().as_ref().and_then(writable_by_others);
    match problem {
        Some(reason) => Err(CacheError::NotPrivate {
            path: path.to_owned(),
            reason,
        }),
        None => Ok(()),
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

/// Returns whether an error of [`read_key`] means that the file is not a key. Such a file can safely be replaced, because only
/// the cache depends on it.
fn is_unusable_key(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::InvalidData || NotRegular::is_cause_of(error)
}

/// Creates the key atomically. If another process has just created a key, that key stays and no other is stored.
fn create_key(path: &Path) -> std::io::Result<()> {
    match art_files::create(path, write_key) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

/// Replaces the file by a new key. If another process does so at the same time, one of the two keys is lost, and components whose
/// files were authenticated with the lost key are compiled again.
fn replace_key(path: &Path) -> std::io::Result<()> {
    art_files::replace(path, write_key)
}

fn write_key(file: &mut File) -> std::io::Result<()> {
    let mut key = [0; blake3::KEY_LEN];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    file.write_all(&key)
}

/// Creates a file that only the current user can read and write.
fn create_private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an empty cache in a new directory, and an engine.
    fn cache() -> (tempfile::TempDir, CodeCache, Engine) {
        let dir = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(&dir.path().join("code")).unwrap();
        (dir, cache, Engine::default())
    }

    #[test]
    fn stored_code_is_found_after_a_restart() {
        let (dir, cache, engine) = cache();
        let digest = blake3::hash(b"source");
        cache.put_code(&engine, &digest, b"code");
        let reopened = CodeCache::open(&dir.path().join("code")).unwrap();
        let mut stored = Vec::new();
        let mut file = reopened.code(&engine, &digest).unwrap();
        file.rewind().and_then(|()| file.read_to_end(&mut stored)).unwrap();
        assert!(stored.starts_with(b"code"));
    }

    #[test]
    fn a_file_with_a_changed_byte_is_not_accepted() {
        let (_dir, cache, engine) = cache();
        let digest = blake3::hash(b"source");
        cache.put_code(&engine, &digest, b"code");
        let path = cache.path(ContentKind::Code, &engine, &digest);
        let original = fs::read(&path).unwrap();
        for changed_index in 0..original.len() {
            let mut bytes = original.clone();
            bytes[changed_index] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert!(cache.code(&engine, &digest).is_none(), "byte {changed_index}");
        }
        fs::write(&path, &original).unwrap();
        assert!(cache.code(&engine, &digest).is_some());
    }

    #[test]
    fn the_code_of_another_component_is_not_accepted() {
        let (_dir, cache, engine) = cache();
        let (a, b) = (blake3::hash(b"a"), blake3::hash(b"b"));
        cache.put_code(&engine, &a, b"code");
        fs::rename(
            cache.path(ContentKind::Code, &engine, &a),
            cache.path(ContentKind::Code, &engine, &b),
        )
        .unwrap();
        assert!(cache.code(&engine, &b).is_none());
    }

    #[test]
    fn a_stored_refusal_is_found_and_is_not_accepted_as_code() {
        let (_dir, cache, engine) = cache();
        let digest = blake3::hash(b"source");
        cache.put_refusal(&engine, &digest, "too large");
        assert_eq!(cache.refusal(&engine, &digest).unwrap(), "too large");
        let [refusal, code] = [ContentKind::Refusal, ContentKind::Code].map(|kind| cache.path(kind, &engine, &digest));
        fs::rename(refusal, code).unwrap();
        assert!(cache.code(&engine, &digest).is_none());
    }

    #[test]
    fn a_postponement_lasts_for_a_day() {
        let (_dir, cache, engine) = cache();
        let digest = blake3::hash(b"source");
        cache.put_postponement(&engine, &digest, "no time");
        assert_eq!(cache.postponement(&engine, &digest).unwrap(), "no time");
        assert!(cache.refusal(&engine, &digest).is_none());
        let file = File::open(cache.path(ContentKind::Postponement, &engine, &digest)).unwrap();
        file.set_modified(SystemTime::now() - DAY).unwrap();
        assert!(cache.postponement(&engine, &digest).is_none());
    }

    #[test]
    fn the_least_recently_used_code_is_removed_first() {
        let (_dir, mut cache, engine) = cache();
        let code = b"code";
        let bytes_of_a_file = code.len() as u64 + TAG_BYTES;
        cache.max_bytes = 2 * bytes_of_a_file;
        let digests = [&b"a"[..], b"b", b"c"].map(blake3::hash);
        let [a, b, c] = &digests;
        for (digest, days_since_use) in [(a, 3), (b, 2)] {
            cache.put_code(&engine, digest, code);
            let file = File::open(cache.path(ContentKind::Code, &engine, digest)).unwrap();
            file.set_modified(SystemTime::now() - days_since_use * DAY).unwrap();
        }
        // Loading the code of `a` sets its time of use to now, so the code of `b` is removed to make room for `c`.
        assert!(cache.code(&engine, a).is_some());
        cache.put_code(&engine, c, code);
        let is_stored = digests.map(|digest| cache.code(&engine, &digest).is_some());
        assert_eq!(is_stored, [true, false, true]);
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
