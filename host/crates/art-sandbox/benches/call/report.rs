//! Tables of ratios.

use std::path::Path;

/// One line of a table.
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
pub(crate) fn table(title: &str, rows: &[Row]) {
    println!("\n{title}");
    for Row { name, value, ratio } in rows {
        println!("  {name:<32} {value:>14} {ratio:>9.2}x");
    }
}

/// The calls that Criterion measured, against native code and against the floor.
pub(crate) fn calls() {
    let (Some(native), Some(floor)) = (median("native"), median("fresh")) else {
        return;
    };
    let names = [
        "native",
        "warm",
        "fresh",
        "sandbox",
        "sandbox_from_another_thread",
        "tool_system",
        "defaults",
    ];
    println!("\none call                                     median      native       fresh");
    for name in names {
        if let Some(nanos) = median(name) {
            println!(
                "  {name:<32} {:>11.2} us {:>9.1}x {:>10.2}x",
                nanos / 1e3,
                nanos / native,
                nanos / floor
            );
        }
    }
}

fn median(name: &str) -> Option<f64> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root, Into::into);
    let text = std::fs::read_to_string(target.join(format!("criterion/call/{name}/new/estimates.json"))).ok()?;
    serde_json::from_str::<serde_json::Value>(&text)
        .ok()?
        .get("median")?
        .get("point_estimate")?
        .as_f64()
}
