//! A call sees its files as if it had changed them at once: random operations have the same results in a call and on the host itself.

use std::os::unix::fs::FileExt as _;

use super::*;

/// The paths that are used, in a directory.
const PATHS: [&str; 5] = ["a", "b", "c", "d/a", "d/b"];

/// An operation on one of the [`PATHS`] or on one of the open files, each by its number.
#[derive(Clone, Debug)]
enum Operation {
    Open {
        path: usize,
        creates: bool,
        truncates: bool,
    },
    Write {
        file: usize,
        offset: u64,
        byte: u8,
    },
    Append {
        file: usize,
        byte: u8,
    },
    Truncate {
        file: usize,
    },
    Close {
        file: usize,
    },
    Rename(usize, usize),
    Link(usize, usize),
    Remove(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    let (path, file, byte) = (0..PATHS.len(), 0..8_usize, b'A'..=b'Z');
    prop_oneof![
        3 => (path.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(path, creates, truncates)| Operation::Open { path, creates, truncates }),
        3 => (file.clone(), 0..4_u64, byte.clone())
            .prop_map(|(file, offset, byte)| Operation::Write { file, offset, byte }),
        1 => (file.clone(), byte).prop_map(|(file, byte)| Operation::Append { file, byte }),
        1 => file.clone().prop_map(|file| Operation::Truncate { file }),
        1 => file.prop_map(|file| Operation::Close { file }),
        3 => (path.clone(), path.clone()).prop_map(|(from, to)| Operation::Rename(from, to)),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Operation::Link(from, to)),
        1 => path.prop_map(Operation::Remove),
    ]
}

/// A call, and a directory on which the same operations are carried out without it.
struct Pair {
    fixture: Fixture,
    model: PathBuf,
    /// The open files of the call, each with that of the model.
    open: Vec<(Arc<OpenFile>, fs::File)>,
}

impl Pair {
    /// Creates both with the files `a`, `b` and `d/a`. The last two are names of one file if `is_linked` is set.
    fn new(is_linked: bool) -> Self {
        let fixture = fixture(Access::ReadWrite);
        let [inside, model] = ["inside", "model"].map(|path| fixture.host_path(path));
        fs::remove_file(inside.join("a.txt")).unwrap();
        for directory in [&inside, &model] {
            fs::create_dir_all(directory.join("d")).unwrap();
            fs::create_dir_all(directory.join("sub")).unwrap();
            fs::write(directory.join("a"), "old a").unwrap();
            fs::write(directory.join("b"), "old b").unwrap();
            match is_linked {
                true => fs::hard_link(directory.join("b"), directory.join("d/a")).unwrap(),
                false => fs::write(directory.join("d/a"), "old d").unwrap(),
            }
        }
        Self {
            fixture,
            model,
            open: Vec::new(),
        }
    }

    /// Carries out an operation on both, and asserts that both work or fail. An operation that the call refuses because the file is
    /// being written is left out.
    fn apply(&mut self, operation: &Operation) {
        let guest = |path: usize| format!("data/{}", PATHS[path]);
        let model = |path: usize| self.model.join(PATHS[path]);
        let tree = &self.fixture.tree;
        let changed = match *operation {
            Operation::Open {
                path,
                creates,
                truncates,
            } => return self.open(path, creates, truncates),
            Operation::Write { file, offset, byte } => {
                let Some((file, of_model)) = self.open.get(file) else {
                    return;
                };
                of_model.write_all_at(&[byte], offset).unwrap();
                return file.write(&[byte], offset).unwrap();
            }
            Operation::Append { file, byte } => {
                let Some((file, of_model)) = self.open.get(file) else {
                    return;
                };
                let length = of_model.metadata().unwrap().len();
                of_model.write_all_at(&[byte], length).unwrap();
                return file.append(&[byte]).unwrap();
            }
            Operation::Truncate { file } => {
                let Some((file, of_model)) = self.open.get(file) else {
                    return;
                };
                of_model.set_len(0).unwrap();
                return file.set_length(0).unwrap();
            }
            Operation::Close { file } => {
                if file < self.open.len() {
                    self.open.remove(file);
                }
                return;
            }
            Operation::Rename(from, to) => match tree.rename(("", &guest(from)), ("", &guest(to))).map_err(code) {
                Err(ErrorCode::Busy) => return,
                renamed => (renamed, fs::rename(model(from), model(to))),
            },
            Operation::Link(from, to) => (
                tree.link(("", &guest(from)), ("", &guest(to))).map_err(code),
                fs::hard_link(model(from), model(to)),
            ),
            Operation::Remove(path) => match tree.remove_file("", &guest(path)).map_err(code) {
                Err(ErrorCode::Busy) => return,
                removed => (removed, fs::remove_file(model(path))),
            },
        };
        assert_eq!(changed.0.is_ok(), changed.1.is_ok(), "{operation:?}: {changed:?}");
    }

    fn open(&mut self, path: usize, creates: bool, truncates: bool) {
        let flag_if = |is_set, flag| if is_set { flag } else { OpenFlags::empty() };
        let flags = flag_if(creates, OpenFlags::CREATE) | flag_if(truncates, OpenFlags::TRUNCATE);
        let read_write = DescriptorFlags::READ | DescriptorFlags::WRITE;
        let file = self.fixture.file(&format!("data/{}", PATHS[path]), flags, read_write);
        let mut options = fs::OpenOptions::new();
        let of_model = options
            .read(true)
            .write(true)
            .create(creates)
            .truncate(truncates)
            .open(self.model.join(PATHS[path]));
        assert_eq!(file.is_ok(), of_model.is_ok(), "{}", PATHS[path]);
        self.open.extend(file.ok().zip(of_model.ok()));
    }

    /// Asserts that the call sees the same as is in the model.
    fn assert_same_view(&self) {
        for path in PATHS {
            let seen = self.fixture.read(&format!("data/{path}")).ok();
            assert_eq!(seen, fs::read(self.model.join(path)).ok(), "{path}");
        }
        for (file, of_model) in &self.open {
            let mut expected = vec![0; 100];
            let read = of_model.read_at(&mut expected, 0).unwrap();
            expected.truncate(read);
            assert_eq!(file.read(100, 0).unwrap(), expected);
        }
        for directory in ["", "d"] {
            let names = names_in(&self.fixture.tree, &format!("data/{directory}"));
            let entries = fs::read_dir(self.model.join(directory)).unwrap();
            let mut expected: Vec<_> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            expected.sort();
            assert_eq!(names, expected);
        }
    }
}

/// Returns the number of random calls of each test, which `PROPTEST_CASES` sets.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").map_or(100, |cases| cases.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_call_that_has_ended_leaves_what_its_operations_would_have_left(
        is_linked: bool,
        operations in proptest::collection::vec(operation(), 0..24),
    ) {
        let mut pair = Pair::new(is_linked);
        for operation in &operations {
            pair.apply(operation);
            pair.assert_same_view();
        }
        pair.fixture.tree.finish_writes(true).unwrap();
        for path in PATHS {
            let found = fs::read(pair.fixture.host_path("inside").join(path)).ok();
            prop_assert_eq!(found, fs::read(pair.model.join(path)).ok(), "{}", path);
        }
        prop_assert_eq!(fs::read_dir(pair.fixture.host_path("inside")).unwrap().count(), fs::read_dir(&pair.model).unwrap().count());
    }

    #[test]
    fn a_call_that_is_stopped_leaves_whole_old_files(
        operations in proptest::collection::vec(operation(), 0..24),
    ) {
        let is_linked = false;
        let mut pair = Pair::new(is_linked);
        operations.iter().for_each(|operation| pair.apply(operation));
        let is_protected = pair.fixture.tree.take_notes().is_empty();
        pair.fixture.tree.finish_writes(false).unwrap();
        for path in PATHS.iter().filter(|_| is_protected) {
            let found = fs::read_to_string(pair.fixture.host_path("inside").join(path)).ok();
            let is_old = found.as_deref().is_none_or(|text| ["old a", "old b", "old d"].contains(&text));
            prop_assert!(is_old, "{}: {:?}", path, found);
        }
    }
}
