use super::*;

fn writer() -> Writer {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch("CREATE TABLE stored (x INTEGER, filling BLOB)")
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
        connection.execute("INSERT INTO stored VALUES (?1, zeroblob(?2))", [x, filling])?;
        Ok(x)
    }
}

struct QueuedJob(Box<dyn Job>, oneshot::Receiver<Result<i64, StoreError>>);

fn job(work: impl FnOnce(&Connection) -> Result<i64, Fault> + Send + 'static) -> QueuedJob {
    let (sender, receiver) = oneshot::channel();
    QueuedJob(Box::new(Write::new(work, Path::new("x").into(), sender)), receiver)
}

fn run(writer: &mut Writer, jobs: Vec<QueuedJob>) -> Vec<Result<i64, StoreError>> {
    let (mut group, results): (Vec<_>, Vec<_>) =
        jobs.into_iter().map(|QueuedJob(job, receiver)| (job, receiver)).unzip();
    writer.commit(&mut group);
    results
        .into_iter()
        .map(|mut receiver| receiver.try_recv().unwrap())
        .collect()
}

fn stored(writer: &Writer) -> Vec<i64> {
    let mut statement = writer.connection.prepare("SELECT x FROM stored ORDER BY x").unwrap();
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
fn a_refused_write_is_undone_and_the_others_of_its_group_are_stored() {
    let mut writer = writer();
    let refused = |connection: &Connection| {
        insert(2, 0)(connection)?;
        Err(Fault::Store(crate::check::unknown_thread("t")))
    };
    let results = run(&mut writer, vec![job(insert(1, 0)), job(refused), job(insert(3, 0))]);
    assert!(matches!(
        results.as_slice(),
        [Ok(1), Err(StoreError::UnknownThread { .. }), Ok(3)]
    ));
    assert_eq!(stored(&writer), [1, 3]);
    assert_eq!(writer.counters.stats(), WriteStats { writes: 3, commits: 1 });
}

#[test]
fn on_a_full_disk_only_acknowledged_writes_are_stored() {
    let mut writer = writer();
    writer.connection.execute_batch("PRAGMA max_page_count = 5").unwrap();
    let results = run(&mut writer, vec![job(insert(1, 0)), job(insert(2, 1 << 20))]);
    assert!(
        matches!(results.last(), Some(Err(StoreError::NoSpace { .. }))),
        "{results:?}"
    );
    let acknowledged: Vec<_> = results.into_iter().filter_map(Result::ok).collect();
    assert_eq!(stored(&writer), acknowledged);
    writer.connection.execute_batch("PRAGMA max_page_count = 5000").unwrap();
    assert!(matches!(
        run(&mut writer, vec![job(insert(3, 1 << 20))]).as_slice(),
        [Ok(3)]
    ));
}

#[test]
fn after_an_io_failure_the_whole_group_fails_and_later_writes_are_refused() {
    let mut writer = writer();
    let results = run(
        &mut writer,
        vec![job(insert(1, 0)), job(|_| Err(io_failure())), job(insert(2, 0))],
    );
    assert!(
        results
            .iter()
            .all(|result| matches!(result, Err(StoreError::Sqlite { .. })))
    );
    let later = run(&mut writer, vec![job(insert(3, 0))]);
    assert!(matches!(later.as_slice(), [Err(StoreError::Poisoned { .. })]));
    assert!(stored(&writer).is_empty());
    assert_eq!(writer.counters.stats(), WriteStats::default());
}

#[test]
fn a_write_is_made_even_if_its_caller_was_dropped() {
    let mut writer = writer();
    let QueuedJob(abandoned, receiver) = job(insert(1, 0));
    drop(receiver);
    writer.commit(&mut vec![abandoned]);
    assert_eq!(stored(&writer), [1]);
}
