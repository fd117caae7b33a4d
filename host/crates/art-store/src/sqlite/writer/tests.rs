use super::*;

/// Returns a writer of a new database with the table `stored`.
fn writer() -> Writer {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch("CREATE TABLE stored (id INTEGER, padding BLOB)")
        .unwrap();
    Writer {
        connection,
        path: Path::new("x").into(),
        counters: Arc::default(),
        poison: None,
    }
}

/// Returns the query of a write that inserts a row with an identifier and returns the identifier.
fn insert(id: i64) -> impl FnOnce(&Connection) -> Result<i64, QueryError> + Send + 'static {
    insert_with_padding(id, 0)
}

/// Returns the same query as [`insert`], except that `padding_bytes` zeros are stored in the row.
fn insert_with_padding(
    id: i64,
    padding_bytes: i64,
) -> impl FnOnce(&Connection) -> Result<i64, QueryError> + Send + 'static {
    move |connection| {
        connection.execute("INSERT INTO stored VALUES (?1, zeroblob(?2))", [id, padding_bytes])?;
        Ok(id)
    }
}

/// A queued write, and the receiver of its result.
struct QueuedJob(Box<dyn Job>, oneshot::Receiver<Result<i64, StoreError>>);

fn job(query: impl FnOnce(&Connection) -> Result<i64, QueryError> + Send + 'static) -> QueuedJob {
    let (sender, receiver) = oneshot::channel();
    QueuedJob(Box::new(Write::new(query, Path::new("x").into(), sender)), receiver)
}

/// Runs and commits jobs as one group, and returns their results.
fn run_group(writer: &mut Writer, jobs: Vec<QueuedJob>) -> Vec<Result<i64, StoreError>> {
    let (mut group, results): (Vec<_>, Vec<_>) =
        jobs.into_iter().map(|QueuedJob(job, receiver)| (job, receiver)).unzip();
    writer.commit(&mut group);
    results
        .into_iter()
        .map(|mut receiver| receiver.try_recv().unwrap())
        .collect()
}

/// Returns the identifiers of all rows.
fn stored_ids(writer: &Writer) -> Vec<i64> {
    let mut statement = writer.connection.prepare("SELECT id FROM stored ORDER BY id").unwrap();
    statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn io_failure() -> QueryError {
    QueryError::Sqlite(rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_FSYNC),
        None,
    ))
}

#[test]
fn a_refused_write_is_undone_and_the_others_of_its_group_are_stored() {
    let mut writer = writer();
    let refused = |connection: &Connection| {
        insert(2)(connection)?;
        Err(QueryError::Store(crate::check::unknown_thread_error("t")))
    };
    let results = run_group(&mut writer, vec![job(insert(1)), job(refused), job(insert(3))]);
    assert!(matches!(
        results.as_slice(),
        [Ok(1), Err(StoreError::UnknownThread { .. }), Ok(3)]
    ));
    assert_eq!(stored_ids(&writer), [1, 3]);
    assert_eq!(writer.counters.stats(), WriteStats { writes: 3, commits: 1 });
}

#[test]
fn on_a_full_disk_only_acknowledged_writes_are_stored() {
    const MORE_THAN_FIVE_PAGES: i64 = 1 << 20;
    let mut writer = writer();
    // The database can have at most five pages, as on a full disk.
    writer.connection.execute_batch("PRAGMA max_page_count = 5").unwrap();
    let results = run_group(
        &mut writer,
        vec![job(insert(1)), job(insert_with_padding(2, MORE_THAN_FIVE_PAGES))],
    );
    assert!(
        matches!(results.last(), Some(Err(StoreError::NoSpace { .. }))),
        "{results:?}"
    );
    let acknowledged: Vec<_> = results.into_iter().filter_map(Result::ok).collect();
    assert_eq!(stored_ids(&writer), acknowledged);
    // Now there is space again.
    writer.connection.execute_batch("PRAGMA max_page_count = 5000").unwrap();
    assert!(matches!(
        run_group(&mut writer, vec![job(insert_with_padding(3, MORE_THAN_FIVE_PAGES))]).as_slice(),
        [Ok(3)]
    ));
}

#[test]
fn after_an_io_failure_the_whole_group_fails_and_later_writes_are_refused() {
    let mut writer = writer();
    let results = run_group(
        &mut writer,
        vec![job(insert(1)), job(|_| Err(io_failure())), job(insert(2))],
    );
    assert!(
        results
            .iter()
            .all(|result| matches!(result, Err(StoreError::Sqlite { .. })))
    );
    let later = run_group(&mut writer, vec![job(insert(3))]);
    assert!(matches!(later.as_slice(), [Err(StoreError::Poisoned { .. })]));
    assert!(stored_ids(&writer).is_empty());
    assert_eq!(writer.counters.stats(), WriteStats::default());
}

#[test]
fn a_write_is_made_even_if_its_caller_no_longer_waits() {
    let mut writer = writer();
    let QueuedJob(abandoned, receiver) = job(insert(1));
    drop(receiver);
    writer.commit(&mut vec![abandoned]);
    assert_eq!(stored_ids(&writer), [1]);
}
