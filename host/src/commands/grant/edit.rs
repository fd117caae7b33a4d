//! Adds grants to a policy, and removes revoked grants from it.

use std::path::{Component, Path, PathBuf};

use art_core::capability::{Access, FsGrant, HttpGrant, HttpScope, SecretHeader, ToolPolicy};
use art_runtime::grants::{StoredGrants, canonical, resolved};

use crate::cli::AddArgs;
use crate::error::CommandError;
use crate::render;

/// Returns the policy with the grants of the command line added. An added grant replaces the earlier one for the same path,
/// address, variable or limit.
pub(super) fn with_added(mut policy: ToolPolicy, args: &AddArgs) -> Result<ToolPolicy, CommandError> {
    for path in &args.read {
        add_fs_grant(&mut policy, fs_grant(path, Access::Read)?);
    }
    for path in &args.write {
        let mut grant = fs_grant(path, Access::ReadWrite)?;
        grant.stage = args.stage;
        grant.max_bytes = args.max_bytes.unwrap_or(grant.max_bytes);
        grant.max_files = args.max_files.unwrap_or(grant.max_files);
        add_fs_grant(&mut policy, grant);
    }
    for url in &args.http {
        let grant = http_grant(url, args)?;
        policy.http.retain(|other| other.url != grant.url);
        policy.http.push(grant);
    }
    policy.env.extend(args.env.iter().cloned());
    for (name, value) in &args.limit {
        let value = value.replace('_', "").parse();
        let value = value.map_err(|_not_a_number| {
            CommandError::Usage(format!(
                "the limit `{name}` takes a whole number, such as `{name}=60000`"
            ))
        })?;
        policy.limits.insert(name.clone(), value);
    }
    Ok(policy)
}

fn add_fs_grant(policy: &mut ToolPolicy, grant: FsGrant) {
    policy.fs.retain(|other| other.path != grant.path);
    policy.fs.push(grant);
}

/// Returns the grant of a path as it is written, and of the path to which that leads now. Notes that nothing is there, which may
/// be a mistake in writing.
fn fs_grant(path: &Path, access: Access) -> Result<FsGrant, CommandError> {
    let canonical = canonical(path).map_err(CommandError::file("grant", path))?;
    if !canonical.exists() {
        render::note(&format!("there is nothing at `{}` yet", canonical.display()));
    }
    Ok(FsGrant::new(written(path).unwrap_or_else(|| canonical.clone()), access).with_resolved(canonical))
}

/// Returns the absolute form of a path without following links, or `None` if it has `..`, whose meaning depends on links.
fn written(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let leads_upwards = absolute.components().any(|part| part == Component::ParentDir);
    (!leads_upwards).then(|| absolute.components().collect())
}

fn http_grant(url: &str, args: &AddArgs) -> Result<HttpGrant, CommandError> {
    let invalid = |error: String| CommandError::Usage(error);
    let scope: HttpScope = url.parse().map_err(|error| invalid(format!("{error}")))?;
    let methods: Vec<_> = args.method.iter().map(|method| method.to_ascii_uppercase()).collect();
    let secret = args.secret.clone().map(|name| SecretHeader {
        name,
        header: args.header.clone().unwrap_or_else(|| "authorization".to_owned()),
        prefix: args.prefix.clone(),
    });
    Ok(HttpGrant {
        url: scope,
        methods: match methods.is_empty() {
            true => vec!["GET".to_owned(), "HEAD".to_owned()],
            false => methods,
        },
        private: args.private,
        secret,
    })
}

/// Removes the grants for the paths, addresses, variables and limits in `revoked` from the stored grants of a tool. Fails if one
/// of `revoked` is not granted.
pub(super) fn remove_revoked(granted: &mut [StoredGrants], revoked: &[String]) -> Result<(), CommandError> {
    for text in revoked {
        let mut is_granted = false;
        for stored in &mut *granted {
            is_granted |= remove_grant(&mut stored.policy, text);
        }
        if !is_granted {
            return Err(CommandError::Usage(format!(
                "`{text}` is not granted (hint: `art grant list` prints what is)"
            )));
        }
    }
    Ok(())
}

/// Removes the grant for the path, address, variable or limit `text`. Returns whether there was one. A text without a slash is the
/// name of a variable or a limit if there is one, and else a path in the current directory.
fn remove_grant(policy: &mut ToolPolicy, text: &str) -> bool {
    let before = policy.clone();
    policy.env.remove(text);
    policy.limits.remove(text);
    if *policy != before && !text.contains('/') {
        return true;
    }
    revoke_path(policy, text);
    let scope = text.parse::<HttpScope>().ok();
    policy.http.retain(|grant| Some(&grant.url) != scope.as_ref());
    *policy != before
}

/// Removes the grant of a path. If there is none with the path as it is written, removes those that lead to the same place.
fn revoke_path(policy: &mut ToolPolicy, text: &str) {
    let written = written(Path::new(text)).unwrap_or_else(|| text.into());
    let place = resolved(Path::new(text));
    let is_granted_as_written = policy.fs.iter().any(|grant| grant.path == written);
    policy.fs.retain(|grant| match is_granted_as_written {
        true => grant.path != written,
        false => grant.base() != place,
    });
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    /// The command line of `art grant add`.
    #[derive(Parser)]
    struct AddCommandLine {
        #[command(flatten)]
        args: AddArgs,
    }

    /// Adds the grants that `art grant add tool` adds with these options.
    fn add(policy: ToolPolicy, options: &[&str]) -> ToolPolicy {
        let words = ["add", "tool"].iter().chain(options);
        with_added(policy, &AddCommandLine::try_parse_from(words).unwrap().args).unwrap()
    }

    fn stored(policy: ToolPolicy) -> StoredGrants {
        StoredGrants {
            tool: "tool".to_owned(),
            file: "tool".to_owned(),
            policy,
        }
    }

    #[test]
    fn a_grant_of_the_same_path_replaces_the_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let policy = add(ToolPolicy::default(), &["--read", path]);
        let policy = add(policy, &["--write", path, "--stage", "--max-bytes", "1000"]);
        let [grant] = &policy.fs[..] else { panic!("{policy:?}") };
        assert!(grant.stage && grant.max_bytes == 1_000 && grant.access.may_write());
    }

    #[test]
    fn a_path_through_a_link_is_granted_as_it_is_written_with_its_target_and_revoked_either_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let (target, link) = (path.join("target"), path.join("link"));
        std::fs::create_dir(&target).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let policy = add(ToolPolicy::default(), &["--read", link.to_str().unwrap()]);
        assert_eq!(
            (policy.fs[0].path.as_path(), policy.fs[0].base()),
            (link.as_path(), target.as_path())
        );
        for written in [&link, &target, &folder.path().join("./target/../link/")] {
            let mut granted = [stored(policy.clone())];
            remove_revoked(&mut granted, &[written.to_str().unwrap().to_owned()]).unwrap();
            assert!(granted[0].policy.fs.is_empty(), "{written:?}");
        }
    }

    #[test]
    fn a_name_of_a_variable_is_not_a_path_in_the_current_directory_unless_there_is_no_such_variable() {
        let current = std::env::current_dir().unwrap();
        let path = current.join("A");
        let policy = add(
            ToolPolicy::default(),
            &["--env", "A=1", "--read", path.to_str().unwrap()],
        );
        let mut granted = [stored(policy)];
        remove_revoked(&mut granted, &["A".to_owned()]).unwrap();
        assert!(granted[0].policy.env.is_empty());
        assert_eq!(granted[0].policy.fs.len(), 1);
        remove_revoked(&mut granted, &["A".to_owned()]).unwrap();
        assert!(granted[0].policy.fs.is_empty());
    }

    #[test]
    fn a_text_before_the_secret_is_kept_as_it_is_written() {
        for prefix in ["Token ", ""] {
            let options = ["--http", "https://a.example/", "--secret", "KEY", "--prefix", prefix];
            let policy = add(ToolPolicy::default(), &options);
            let secret = policy.http[0].secret.clone().unwrap();
            assert_eq!(secret.prefix(), prefix);
        }
    }

    #[test]
    fn added_grants_can_be_revoked_and_others_cannot() {
        let options = [
            "--http",
            "https://a.example/",
            "--env",
            "A=1",
            "--limit",
            "timeout_ms=60_000",
        ];
        let policy = add(ToolPolicy::default(), &options);
        let mut granted = [stored(policy)];
        assert!(remove_revoked(&mut granted, &["https://b.example/".to_owned()]).is_err());
        let revoked = ["https://a.example", "A", "timeout_ms"].map(str::to_owned);
        remove_revoked(&mut granted, &revoked).unwrap();
        assert!(granted[0].policy.is_empty());
    }
}
