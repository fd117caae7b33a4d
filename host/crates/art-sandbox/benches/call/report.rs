//! Prints tables of ratios.

/// A row of a table: a name, a measured value, and its ratio to the value with which it is compared.
pub(crate) struct Row {
    name: String,
    value: String,
    ratio: f64,
}

impl Row {
    pub(crate) fn new(name: &str, value: String, ratio: f64) -> Self {
        Self {
            name: name.to_owned(),
            value,
            ratio,
        }
    }
}

/// Prints a table.
pub(crate) fn print_table(title: &str, rows: &[Row]) {
    println!("\n{title}");
    for Row { name, value, ratio } in rows {
        println!("  {name:<32} {value:>14} {ratio:>9.2}x");
    }
}

/// Returns the median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap()
}

/// Returns the smallest value, which other work on the machine disturbed least.
pub(crate) fn fastest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}
