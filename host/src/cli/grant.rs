//! `art grant`

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Subcommands of `art grant`.
#[derive(Debug, Subcommand)]
pub enum GrantCommand {
    /// List what each tool asks for and what it is granted
    #[command(after_help = "Examples:\n  art grant list\n  art grant list file_read")]
    List {
        /// Only this tool
        tool: Option<String>,
    },
    /// Grant files, addresses, environment variables or limits to a tool
    ///
    /// A grant is made for the component that is in the plugins folder now: a component that replaces it has to be approved. What
    /// the tool does not ask for cannot be granted. The grants are in the home, in a file with the digest of the component. A file
    /// beside the component is not read.
    #[command(after_help = "Examples:\n  art grant add file_read --read ~/notes\n  \
                            art grant add file_write --write ~/notes --stage\n  \
                            art grant add http_fetch --http https://example.com/\n  \
                            art grant add web_search --http https://api.example.com/v1 --secret SEARCH_KEY\n  \
                            art grant add csv_query --limit timeout_ms=60000")]
    Add(Box<AddArgs>),
    /// Take grants back
    #[command(
        after_help = "Examples:\n  art grant revoke file_read ~/notes\n  art grant revoke http_fetch https://example.com/\n  \
                            art grant revoke file_read --all"
    )]
    Revoke {
        /// The tool
        tool: String,
        /// Paths, addresses, environment variables or limits, as `art grant list` prints them
        #[arg(required_unless_present = "all")]
        grants: Vec<String>,
        /// Take everything back
        #[arg(long, conflicts_with = "grants")]
        all: bool,
    },
    /// Propose the smallest grants for what a tool was seen to do
    ///
    /// Without ARGUMENTS, the recorded calls of the tool are read. With ARGUMENTS, the tool is called now, as `art tool call`
    /// does. What is not granted is denied and counted. The proposal adds what was denied, narrows the grants to what was used of
    /// them, and leaves out those that were never used.
    #[command(
        after_help = "Examples:\n  art grant learn file_read\n  art grant learn file_read '{\"path\":\"notes/a.txt\"}' --apply"
    )]
    Learn(LearnArgs),
    /// Show how the component of a tool has changed since its grants were made, and make the same grants for the new component
    #[command(after_help = "Examples:\n  art grant approve file_read\n  art grant approve file_read --yes")]
    Approve {
        /// The tool
        tool: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// `art grant learn`
#[derive(Debug, Args)]
pub struct LearnArgs {
    /// The tool
    pub tool: String,
    /// Arguments of a call, as JSON; may be given several times
    pub arguments: Vec<String>,
    /// Make the proposed grants
    #[arg(long)]
    pub apply: bool,
    /// Do not ask
    #[arg(long, requires = "apply")]
    pub yes: bool,
    /// Number of runs to read, the newest first
    #[arg(long, value_name = "N", default_value_t = 200, conflicts_with = "arguments")]
    pub runs: usize,
}

/// `art grant add`
#[derive(Debug, Args)]
pub struct AddArgs {
    /// The tool
    pub tool: String,
    /// File or directory that the tool may read; may be given several times
    #[arg(long, value_name = "PATH")]
    pub read: Vec<PathBuf>,
    /// File or directory that the tool may read and write; may be given several times
    #[arg(long, value_name = "PATH")]
    pub write: Vec<PathBuf>,
    /// Stage what the tool writes: keep it apart from the files until you have seen and committed it
    #[arg(long, requires = "write")]
    pub stage: bool,
    /// Maximum number of bytes that one call may add to the files
    #[arg(long, value_name = "BYTES", requires = "write")]
    pub max_bytes: Option<u64>,
    /// Maximum number of files that one call may create
    #[arg(long, value_name = "N", requires = "write")]
    pub max_files: Option<u64>,
    /// Address that the tool may send requests to: `https://HOST/PATH`, with everything below; may be given several times
    #[arg(long, value_name = "URL")]
    pub http: Vec<String>,
    /// Method of the requests, instead of GET and HEAD; may be given several times
    #[arg(long, value_name = "METHOD", requires = "http")]
    pub method: Vec<String>,
    /// The address may be one that is not public, such as 127.0.0.1
    #[arg(long, requires = "http")]
    pub private: bool,
    /// Secret that the host adds to each request; `art secret set` stores it, and the tool never sees it
    #[arg(long, value_name = "NAME", requires = "http")]
    pub secret: Option<String>,
    /// Header with the secret, instead of `authorization`
    #[arg(long, value_name = "NAME", requires = "secret")]
    pub header: Option<String>,
    /// Text before the secret in the header, instead of `Bearer ` in `authorization` and of nothing elsewhere
    #[arg(long, value_name = "TEXT", requires = "secret")]
    pub prefix: Option<String>,
    /// Environment variable that the tool can read; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::parse_name_and_value)]
    pub env: Vec<(String, String)>,
    /// Limit of each call: fuel, timeout_ms, memory_bytes or output_bytes; may be given several times
    #[arg(long, value_name = "NAME=NUMBER", value_parser = super::parse_name_and_value)]
    pub limit: Vec<(String, String)>,
}
