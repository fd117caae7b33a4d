//! The first start: tools are compiled for this machine, which takes seconds.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use art_core::text::printable;
use art_runtime::plugins::{CompileCount, CompileProgress as Told};
use indicatif::{ProgressBar, ProgressStyle};

use super::{note, notes_are_live};

/// How often the count is drawn.
const TICK: Duration = Duration::from_millis(100);

/// Tells a person who waits what the program does: in one line, and on a terminal with a count that goes away.
#[derive(Debug)]
pub(crate) struct Compiling {
    quiet: bool,
    count: Mutex<Option<ProgressBar>>,
}

impl Compiling {
    pub(crate) const fn new(quiet: bool) -> Self {
        Self {
            quiet,
            count: Mutex::new(None),
        }
    }

    pub(crate) fn tell(&self, told: Told<'_>) {
        if self.quiet {
            return;
        }
        match told {
            Told::Count(compiled) => self.count(compiled),
            Told::Slow(file) => self.note(&printable(&format!("`{file}` takes long to compile"))),
        }
    }

    fn count(&self, compiled: CompileCount) {
        if compiled.done == 0 {
            note(&announcement(compiled.of));
        }
        if notes_are_live() {
            self.draw(compiled);
        }
    }

    /// Says a line above the count.
    fn note(&self, line: &str) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        match count.as_ref() {
            Some(bar) => bar.suspend(|| note(line)),
            None => note(line),
        }
    }

    fn draw(&self, compiled: CompileCount) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = count.get_or_insert_with(spinner);
        bar.set_message(format!("{} of {}", compiled.done, compiled.of));
        if compiled.done == compiled.of {
            bar.finish_and_clear();
        }
    }
}

fn announcement(tools: usize) -> String {
    match tools {
        1 => "compiling 1 tool for this machine, once".to_owned(),
        tools => format!("compiling {tools} tools for this machine, once"),
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
    fn one_tool_is_told_as_one() {
        let told = [1, 8].map(announcement);
        assert_eq!(told[0], "compiling 1 tool for this machine, once");
        assert_eq!(told[1], "compiling 8 tools for this machine, once");
    }
}
