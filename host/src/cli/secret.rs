//! `art secret`

use clap::Subcommand;

/// Subcommands of `art secret`.
#[derive(Debug, Subcommand)]
pub enum SecretCommand {
    /// Store a secret, which is read from stdin or asked for
    ///
    /// The secret is kept in a file that only you can read, and is added to the requests whose grant names it
    /// (`art grant add --secret`). No tool sees it. A variable `ART_SECRET_SEARCH_KEY` in the environment is used instead of the
    /// stored secret `SEARCH_KEY`.
    #[command(
        after_help = "Examples:\n  art secret set SEARCH_KEY\n  art secret set SEARCH_KEY --from-env MY_KEY\n  \
                            pass show search | art secret set SEARCH_KEY\n  art secret set DECOY --canary < decoy.txt"
    )]
    Set {
        /// The name: letters, digits and `_`
        name: String,
        /// Take the value of this environment variable
        #[arg(long, value_name = "VAR")]
        from_env: Option<String>,
        /// The secret is a decoy, which is never sent: a tool is stopped, and not loaded again, if its request, output or log
        /// contains the decoy
        #[arg(long)]
        canary: bool,
        /// Keep the value in the keyring of the desktop (a Secret Service) instead of the file
        ///
        /// Needs a program that was built with the feature `keyring`.
        #[arg(long)]
        keyring: bool,
    },
    /// List the names of the secrets
    #[command(after_help = "Example:\n  art secret list")]
    List,
    /// Remove a secret
    #[command(after_help = "Example:\n  art secret rm SEARCH_KEY")]
    Rm {
        /// The name
        name: String,
    },
}
