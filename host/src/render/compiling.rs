//! Progress of compiling tools for this machine, which takes seconds at the first start.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use art_core::text::printable;
use art_runtime::plugins::{CompileCount, CompileProgress};
use indicatif::{ProgressBar, ProgressStyle};

use super::{note, stderr_is_terminal};

/// How often the progress is redrawn.
const TICK: Duration = Duration::from_millis(100);

/// Shows the progress of compilation: one line, and on a terminal a counter that disappears at the end.
#[derive(Debug)]
pub(crate) struct Compiling {
    quiet: bool,
    counter: Mutex<Option<ProgressBar>>,
}

impl Compiling {
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
            CompileProgress::Count(compiled) => self.show_count(compiled),
            CompileProgress::Slow(file) => self.print_above(&printable(&format!("`{file}` takes long to compile"))),
        }
    }

    fn show_count(&self, compiled: CompileCount) {
        if compiled.done == 0 {
            note(&announcement(compiled.total));
        }
        if stderr_is_terminal() {
            self.draw(compiled);
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

    fn draw(&self, compiled: CompileCount) {
        let mut counter = self.counter.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = counter.get_or_insert_with(spinner);
        bar.set_message(format!("{} of {}", compiled.done, compiled.total));
        if compiled.done == compiled.total {
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

fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
    let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(TICK);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_announcement_uses_singular_and_plural() {
        let lines = [1, 8].map(announcement);
        assert_eq!(lines[0], "compiling 1 tool for this machine (first use only)");
        assert_eq!(lines[1], "compiling 8 tools for this machine (first use only)");
    }
}
