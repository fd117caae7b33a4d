//! Calls from a tool to the host. In a component, `Host` calls the imported functions of the interface `host` (`wit/tool.wit`).
//! In a test, which runs natively and not as WebAssembly, there is no host, and `Host` records the calls.

#[cfg(target_family = "wasm")]
pub(crate) use component::Host;
#[cfg(not(target_family = "wasm"))]
pub(crate) use native::Host;

#[cfg(target_family = "wasm")]
mod component {
    use serde_json::{Map, Value};

    use crate::Level;
    use crate::bindings::art::tool::host;

    #[derive(Debug)]
    pub(crate) struct Host;

    impl Host {
        pub(crate) fn log(&self, level: Level, message: &str) {
            let level = match level {
                Level::Trace => host::Level::Trace,
                Level::Debug => host::Level::Debug,
                Level::Info => host::Level::Info,
                Level::Warn => host::Level::Warn,
                Level::Error => host::Level::Error,
            };
            host::log(level, message);
        }

        pub(crate) fn progress(&self, title: &str, metadata: Option<&Map<String, Value>>) {
            let metadata = metadata.map(crate::wire::object_text);
            host::progress(Some(title), metadata.as_deref());
        }

        pub(crate) fn cancelled(&self) -> bool {
            host::cancelled()
        }
    }
}

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::cell::{Cell, RefCell};

    use serde_json::{Map, Value};

    use crate::Level;
    use crate::testing::Progress;

    #[derive(Debug, Default)]
    pub(crate) struct Host {
        pub(crate) log_lines: RefCell<Vec<(Level, String)>>,
        pub(crate) progress_reports: RefCell<Vec<Progress>>,
        pub(crate) cancelled: Cell<bool>,
    }

    impl Host {
        pub(crate) fn log(&self, level: Level, message: &str) {
            self.log_lines.borrow_mut().push((level, message.to_owned()));
        }

        pub(crate) fn progress(&self, title: &str, metadata: Option<&Map<String, Value>>) {
            let report = Progress {
                title: title.to_owned(),
                metadata: metadata.cloned().unwrap_or_default(),
            };
            self.progress_reports.borrow_mut().push(report);
        }

        pub(crate) fn cancelled(&self) -> bool {
            self.cancelled.get()
        }
    }
}
