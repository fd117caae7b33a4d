//! The resources that this process uses: memory, threads and open files.

use std::fs;

const MIB: u64 = 1 << 20;
/// Maximum growth of the resident memory, in bytes.
const RSS_MARGIN: u64 = 64 * MIB;
/// Maximum growth of the number of threads, and of the number of open files.
const COUNT_MARGIN: u64 = 4;

/// The resources of this process. Memory is in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resources {
    /// The resident memory.
    pub(crate) rss: u64,
    /// The largest resident memory so far.
    pub(crate) peak_rss: u64,
    pub(crate) threads: u64,
    pub(crate) files: u64,
}

impl Resources {
    /// Reads the current resources of this process.
    pub(crate) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").expect("Linux provides it");
        Self {
            rss: field(&status, "VmRSS:") << 10,
            peak_rss: field(&status, "VmHWM:") << 10,
            threads: field(&status, "Threads:"),
            files: fs::read_dir("/proc/self/fd").expect("Linux provides it").count() as u64,
        }
    }

    /// Fails if memory, threads or open files have grown too much since `before`.
    pub(crate) fn check_growth_since(&self, before: &Self) -> Result<(), String> {
        let is_growth_small = self.rss < before.rss + RSS_MARGIN
            && self.threads <= before.threads + COUNT_MARGIN
            && self.files <= before.files + COUNT_MARGIN;
        is_growth_small
            .then_some(())
            .ok_or_else(|| format!("{before:?} became {self:?}"))
    }
}

/// Returns the memory of this process that is not backed by files, in bytes. Linux reports it as proportional size: a page that
/// several processes map counts for each of them in part. For the pages of the program file, this part depends on how many
/// processes run it, so the pages of files are left out.
pub(crate) fn own_memory() -> u64 {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").expect("Linux provides it");
    (field(&rollup, "Pss_Anon:") + field(&rollup, "Pss_Shmem:")) << 10
}

/// Returns the number in the line of a field.
fn field(text: &str, name: &str) -> u64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .expect("the field");
    line.trim_end_matches("kB").trim().parse().expect("a number")
}
