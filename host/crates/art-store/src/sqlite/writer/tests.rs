use super::*;

fn writer() -> Writer {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch("CREATE TABLE kept (x INTEGER, filling BLOB)")
        .unwrap();
    Writer {
        connection,
        path: Path::new("x").into(),
        counters: Arc::default(),
        poison: None,
    }
}

fn insert(x: i64, filling: i64) -> impl FnOnce(&Connection) -> Result<i64, Fault> + Send + 'static {
    move |connection| {
        connection.execute("INSERT INTO kept VALUES (?1, zeroblob(?2))", [x, filling])?;
        Ok(x)
    }
}

struct Asked(Box<dyn Job>, oneshot::Receiver<Result<i64, StoreError>>);

fn job(work: impl FnOnce(&Connection) -> Result<i64, Fault> + Send + 'static) -> Asked {
    let (reply, answer) = oneshot::channel();
    Asked(Box::new(Write::new(work, Path::new("x").into(), reply)), answer)
}

fn run(writer: &mut Writer, jobs: Vec<Asked>) -> Vec<Result<i64, StoreError>> {
    let (mut group, answers): (Vec<_>, Vec<_>) = jobs.into_iter().map(|Asked(job, answer)| (job, answer)).unzip();
    writer.commit(&mut group);
    answers
        .into_iter()
        .map(|mut answer| answer.try_recv().unwrap())
        .collect()
}

fn kept(writer: &Writer) -> Vec<i64> {
    let mut statement = writer.connection.prepare("SELECT x FROM kept ORDER BY x").unwrap();
    statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn io_failure() -> Fault {
    Fault::Sqlite(rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_FSYNC),
        None,
    ))
}

#[test]
fn a_refused_write_leaves_nothing_and_the_others_of_its_group_are_kept() {
    let mut writer = writer();
    let refused = |connection: &Connection| {
        insert(2, 0)(connection)?;
        Err(Fault::Store(crate::check::unknown_thread("t")))
    };
    let answers = run(&mut writer, vec![job(insert(1, 0)), job(refused), job(insert(3, 0))]);
    assert!(matches!(
        answers.as_slice(),
        [Ok(1), Err(StoreError::UnknownThread { .. }), Ok(3)]
    ));
    assert_eq!(kept(&writer), [1, 3]);
    assert_eq!(writer.counters.stats(), WriteStats { writes: 3, commits: 1 });
}

#[test]
fn a_full_disk_keeps_nothing_that_was_not_acknowledged_and_the_store_works_again_when_there_is_space() {
    let mut writer = writer();
    writer.connection.execute_batch("PRAGMA max_page_count = 5").unwrap();
    let answers = run(&mut writer, vec![job(insert(1, 0)), job(insert(2, 1 << 20))]);
    assert!(
        matches!(answers.last(), Some(Err(StoreError::NoSpace { .. }))),
        "{answers:?}"
    );
    let acknowledged: Vec<_> = answers.into_iter().filter_map(Result::ok).collect();
    assert_eq!(kept(&writer), acknowledged);
    writer.connection.execute_batch("PRAGMA max_page_count = 5000").unwrap();
    assert!(matches!(
        run(&mut writer, vec![job(insert(3, 1 << 20))]).as_slice(),
        [Ok(3)]
    ));
}

#[test]
fn after_an_io_failure_the_whole_group_fails_and_nothing_more_is_written() {
    let mut writer = writer();
    let answers = run(
        &mut writer,
        vec![job(insert(1, 0)), job(|_| Err(io_failure())), job(insert(2, 0))],
    );
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer, Err(StoreError::Sqlite { .. })))
    );
    let later = run(&mut writer, vec![job(insert(3, 0))]);
    assert!(matches!(later.as_slice(), [Err(StoreError::Poisoned { .. })]));
    assert!(kept(&writer).is_empty());
    assert_eq!(writer.counters.stats(), WriteStats::default());
}

#[test]
fn a_write_whose_caller_is_gone_is_still_done() {
    let mut writer = writer();
    let Asked(abandoned, answer) = job(insert(1, 0));
    drop(answer);
    writer.commit(&mut vec![abandoned]);
    assert_eq!(kept(&writer), [1]);
}
