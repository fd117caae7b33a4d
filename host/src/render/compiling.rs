//! Progress of compiling tools for this machine, which takes seconds at the first start.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use art_core::text::printable;
use art_runtime::plugins::{CompileCount, CompileProgress};
use indicatif::{ProgressBar, ProgressStyle};

use super::{note, stderr_is_terminal};

/// How often the counter is redrawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Shows the progress of compilation on stderr: one line at the start, and on a terminal a counter that disappears at the end.
#[derive(Debug)]
pub(crate) struct CompilationDisplay {
    quiet: bool,
    counter: Mutex<Option<ProgressBar>>,
}

impl CompilationDisplay {
    pub(crate) const fn new(quiet: bool) -> Self {
        Self {
            quiet,
            counter: Mutex::new(None),
        }
    }

    /// Shows an event of the compilation.
    pub(crate) fn show(&self, event: CompileProgress<'_>) {
        if self.quiet {
            return;
        }
        match event {
            CompileProgress::Count(count) => self.show_count(count),
            CompileProgress::Slow(file) => self.print_above(&printable(&format!("`{file}` takes long to compile"))),
        }
    }

    fn show_count(&self, count: CompileCount) {
        if count.done == 0 {
            note(&announcement(count.total));
        }
        if stderr_is_terminal() {
            self.draw_counter(count);
        }
    }

    /// Prints a line above the counter, if there is one.
    fn print_above(&self, line: &str) {
        let counter = self.counter.lock().unwrap_or_else(PoisonError::into_inner);
        match counter.as_ref() {
            Some(bar) => bar.suspend(|| note(line)),
            None => note(line),
        }
    }

    fn draw_counter(&self, count: CompileCount) {
        let mut counter = self.counter.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = counter.get_or_insert_with(new_counter);
        bar.set_message(format!("{} of {}", count.done, count.total));
        if count.done == count.total {
            bar.finish_and_clear();
        }
    }
}

fn announcement(tools: usize) -> String {
    match tools {
        1 => "compiling 1 tool for this machine (first use only)".to_owned(),
        tools => format!("compiling {tools} tools for this machine (first use only)"),
    }
}

fn new_counter() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
    let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(REDRAW_INTERVAL);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_announcement_uses_singular_and_plural() {
        let announcements = [1, 8].map(announcement);
        assert_eq!(announcements[0], "compiling 1 tool for this machine (first use only)");
        assert_eq!(announcements[1], "compiling 8 tools for this machine (first use only)");
    }
}
