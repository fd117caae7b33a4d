//! Compiled code on disk, authenticated.
//!
//! Loading compiled code runs it, so a file is used only when its tag proves that this host wrote it, for this component
//! and this engine. The key lies in the same private directory.

use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use wasmtime::Engine;

use crate::error::CacheError;

const KEY_FILE: &str = "key";
const TAG_BYTES: usize = blake3::OUT_LEN;
/// A compiled component is about three times the size of its source.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// A private directory of compiled components.
#[derive(Debug)]
pub(crate) struct CodeCache {
    directory: PathBuf,
    key: [u8; blake3::KEY_LEN],
}

impl CodeCache {
    /// Opens or makes the directory.
    pub(crate) fn open(directory: &Path) -> Result<Self, CacheError> {
        make_private(directory)?;
        let key = load_or_make_key(&directory.join(KEY_FILE))?;
        Ok(Self {
            directory: directory.to_owned(),
            key,
        })
    }

    /// Compiled code of the component with this digest, when it is there and genuine.
    pub(crate) fn get(&self, engine: &Engine, digest: &blake3::Hash) -> Option<Vec<u8>> {
        let mut stored = Vec::new();
        File::open(self.path(engine, digest))
            .ok()?
            .take(MAX_FILE_BYTES)
            .read_to_end(&mut stored)
            .ok()?;
        let code = stored.split_off(TAG_BYTES.min(stored.len()));
        let expected = self.tag(engine, digest, &code);
        // `blake3::Hash` compares in constant time.
        let genuine = <[u8; TAG_BYTES]>::try_from(stored).is_ok_and(|tag| expected == tag);
        genuine.then_some(code)
    }

    /// Stores compiled code. A failure costs only the next start its speed.
    pub(crate) fn put(&self, engine: &Engine, digest: &blake3::Hash, code: &[u8]) {
        if let Err(error) = self.write(engine, digest, code) {
            tracing::warn!(%error, directory = %self.directory.display(), "failed to store compiled code");
        }
    }

    fn write(&self, engine: &Engine, digest: &blake3::Hash, code: &[u8]) -> std::io::Result<()> {
        let path = self.path(engine, digest);
        // Written aside and renamed, so that a reader sees the whole file or none.
        let aside = path.with_extension(art_core::id::random());
        let tag = self.tag(engine, digest, code);
        let written = private_file(&aside).and_then(|mut file| {
            file.write_all(tag.as_bytes())?;
            file.write_all(code)?;
            fs::rename(&aside, &path)
        });
        written.inspect_err(|_| drop(fs::remove_file(&aside)))
    }

    fn path(&self, engine: &Engine, digest: &blake3::Hash) -> PathBuf {
        self.directory
            .join(format!("{}-{:016x}.cwasm", digest.to_hex(), engine_hash(engine)))
    }

    /// Binds the code to its source and to the engine, so that a file cannot stand in for another.
    fn tag(&self, engine: &Engine, digest: &blake3::Hash, code: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher
            .update(digest.as_bytes())
            .update(&engine_hash(engine).to_le_bytes())
            .update(code);
        hasher.finalize()
    }
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
        key => key.map_err(io),
    }
}

fn read_key(path: &Path) -> std::io::Result<[u8; blake3::KEY_LEN]> {
    let mut key = [0; blake3::KEY_LEN];
    File::open(path)?.read_exact(&mut key)?;
    Ok(key)
}

/// Makes the key whole or not at all; of two hosts that start at the same time, one makes it.
fn make_key(path: &Path) -> std::io::Result<()> {
    let mut key = [0; blake3::KEY_LEN];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let aside = path.with_extension(format!("tmp-{}", art_core::id::random()));
    let mut file = private_file(&aside)?;
    file.write_all(&key)?;
    file.sync_all()?;
    let linked = fs::hard_link(&aside, path);
    fs::remove_file(&aside)?;
    match linked {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
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
        assert_eq!(again.get(&engine, &digest).unwrap(), b"code");
    }

    #[test]
    fn a_changed_byte_makes_the_file_worthless() {
        let (_dir, cache, engine) = cache();
        let digest = blake3::hash(b"source");
        cache.put(&engine, &digest, b"code");
        let path = cache.path(&engine, &digest);
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
        fs::rename(cache.path(&engine, &a), cache.path(&engine, &b)).unwrap();
        assert!(cache.get(&engine, &b).is_none());
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
