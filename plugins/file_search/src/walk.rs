//! Finds the files to search.

use std::path::Path;

use art_sdk::prelude::*;
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use crate::input::FileSearchInput;

/// Maximum number of files that are searched.
pub(crate) const MAX_FILES: usize = 10_000;
/// Maximum depth of a file below the searched directory.
const MAX_DEPTH: usize = 64;

/// Calls `visit` with each file, in the order of the paths, until `visit` returns false or fails. Returns the number of
/// entries that could not be read.
pub(crate) fn for_each_file(input: &FileSearchInput, mut visit: impl FnMut(&Path) -> Result<bool>) -> Result<usize> {
    let mut unreadable = 0;
    for entry in walk_builder(input)?.build() {
        let Ok(entry) = entry else {
            unreadable += 1;
            continue;
        };
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && !visit(entry.path())? {
            break;
        }
    }
    Ok(unreadable)
}

fn walk_builder(input: &FileSearchInput) -> Result<WalkBuilder> {
    let mut builder = WalkBuilder::new(&input.path);
    builder
        // The tool may read only what is in `path`, so it does not use the `.gitignore` and `.ignore` files above this path
        // or the global ones in the home directory.
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .hidden(!input.hidden)
        .git_ignore(!input.hidden)
        .ignore(!input.hidden)
        .max_depth(Some(MAX_DEPTH))
        .sort_by_file_name(Ord::cmp);
    if let Some(glob) = &input.glob {
        let mut globs = OverrideBuilder::new(&input.path);
        let built = globs.add(glob).and_then(|globs| globs.build());
        let globs = built.map_err(|error| {
            ToolError::validation(format_args!(
                "`glob` is no pattern of names: {error}; for example `*.md`"
            ))
        })?;
        // A filter applies the globs, since with `WalkBuilder::overrides` they would also select hidden and ignored files.
        builder.filter_entry(move |entry| {
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            !globs.matched(entry.path(), is_directory).is_ignore()
        });
    }
    Ok(builder)
}
