//! Converts between rows and values, and runs statements.

use art_core::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::fault::QueryError;
use crate::check;
use crate::error::StoreError;
use crate::record::Owner;

/// Converts an integer for SQLite, which has no unsigned integers. A number above `i64::MAX` becomes `i64::MAX`. Only the bounds
/// of filters can be that large; all stored values are far below.
pub(super) fn to_integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the maximum number of rows for a list with the requested limit.
pub(super) fn limit_parameter(requested: Option<usize>) -> i64 {
    i64::try_from(check::list_limit(requested)).unwrap_or(i64::MAX)
}

/// Returns an unsigned integer from a row.
///
/// # Errors
/// Fails if it is negative, which the store never writes, or no integer.
pub(super) fn get_u64(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let number = row.get::<_, i64>(index)?;
    u64::try_from(number).map_err(|_negative| rusqlite::Error::IntegralValueOutOfRange(index, number))
}

/// Same as [`get_u64`], or `None` if the row has no value.
pub(super) fn get_optional_u64(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<u64>> {
    match row.get_ref(index)? {
        ValueRef::Null => Ok(None),
        _ => get_u64(row, index).map(Some),
    }
}

/// Returns the exclusive upper and lower bound of a time filter.
pub(super) fn time_bounds(before: Option<Timestamp>, after: Option<Timestamp>) -> (i64, i64) {
    (before.map_or(i64::MAX, to_integer), after.map_or(-1, to_integer))
}

/// Returns the name that an enum value has in JSON.
pub(super) fn to_name<T: Serialize>(value: T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// Returns the enum value that has that name in JSON. `what` and `id` are for the error: what the value is, and the identifier of
/// the record that has it.
pub(super) fn from_name<T: DeserializeOwned>(what: &'static str, id: &str, name: String) -> Result<T, StoreError> {
    serde_json::from_value(Value::String(name)).map_err(|source| StoreError::Decode {
        what,
        id: id.to_owned(),
        source,
    })
}

/// Returns names as one text such as `,A,B,`, in which `instr` finds `,A,` but no part of a name. The text is empty if there are
/// no names.
pub(super) fn name_list(names: impl Iterator<Item = String>) -> String {
    names.fold(String::new(), |list, name| {
        let start = if list.is_empty() { "," } else { "" };
        format!("{list}{start}{name},")
    })
}

/// Returns a `WHERE` clause and the values of its parameters. Each filter is a pair: a condition with one parameter, and
/// the value of this parameter. Filters whose value is `None` are left out; the clause is empty if no filter has a value.
pub(super) fn conditions<'a>(filters: &[(&str, Option<&'a dyn ToSql>)]) -> (String, Vec<&'a dyn ToSql>) {
    let with_value = filters
        .iter()
        .filter_map(|(condition, value)| Some((*condition, (*value)?)));
    let (conditions, values): (Vec<_>, Vec<_>) = with_value.unzip();
    match conditions.as_slice() {
        [] => (String::new(), values),
        conditions => (format!("WHERE {}", conditions.join(" AND ")), values),
    }
}

/// Converts the optional value of a filter to a parameter of a statement.
pub(super) fn parameter<T: ToSql>(value: Option<&T>) -> Option<&dyn ToSql> {
    value.map(|value| value as &dyn ToSql)
}

/// Converts an owner to the parameter of the condition `user_id IS ?`. Returns `None` for [`Owner::Anyone`], since a query for
/// the threads of all owners has no such condition.
pub(super) fn owner_parameter(owner: &Owner) -> Option<&dyn ToSql> {
    match owner {
        Owner::Anyone => None,
        Owner::User(user) => Some(user),
    }
}

/// Returns all rows of a query, each as `read` converts it.
pub(super) fn query_all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, QueryError>,
) -> Result<Vec<T>, QueryError> {
    query_while(connection, sql, params, |row| read(row).map(Some))
}

/// Returns the rows of a query as `read` converts them, up to the first one for which `read` returns `None`.
pub(super) fn query_while<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<Option<T>, QueryError>,
) -> Result<Vec<T>, QueryError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        let Some(value) = read(row)? else { break };
        values.push(value);
    }
    Ok(values)
}

/// Returns the first row of a query as `read` converts it, or `None` if there is no row.
pub(super) fn query_first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, QueryError>,
) -> Result<Option<T>, QueryError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(read).transpose()
}

/// Runs a statement that changes rows, and returns their number.
pub(super) fn execute(connection: &Connection, sql: &str, params: impl Params) -> Result<usize, QueryError> {
    Ok(connection.prepare_cached(sql)?.execute(params)?)
}
