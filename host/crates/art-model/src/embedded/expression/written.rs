//! An expression as one tool can read it.

/// Functions that a calculator may lack, and other names that they go by.
const FUNCTIONS: &[(&str, &[&str])] = &[
    ("mean", &["mean", "average", "avg"]),
    ("median", &["median"]),
    ("max", &["max", "maximum"]),
    ("min", &["min", "minimum"]),
    ("cbrt", &["cbrt"]),
];
/// Rewrites of one expression, so that it ends.
const REWRITES: usize = 64;

/// `text` in the words of a tool that is described by the lower-case `shown`: a function that is not shown there is spelled
/// out with signs, and there is no expression where it cannot be.
pub(in super::super) fn written(text: &str, shown: &str) -> Option<String> {
    let mut text = text.to_owned();
    let shows = |name: &str| shown.contains(&format!("{name}(")) || shown.contains(&format!("`{name}`"));
    for _ in 0..REWRITES {
        let unknown = FUNCTIONS
            .iter()
            .filter(|(name, _)| !shows(name))
            .find_map(|(name, others)| Some((find_call(&text, name)?, *name, *others)));
        let Some((at, name, others)) = unknown else {
            return Some(unwrapped(&percentages(&text, shown)).to_owned());
        };
        let open = at + name.len();
        let close = closing(&text, open)?;
        let inner = text.get(open + 1..close)?;
        let known = others.iter().find(|other| shows(other));
        let call = known.map_or_else(|| spelled(name, inner), |other| Some(format!("{other}({inner})")))?;
        text = format!("{}{call}{}", text.get(..at)?, text.get(close + 1..)?);
    }
    None
}

fn spelled(name: &str, inner: &str) -> Option<String> {
    match name {
        "mean" => {
            let arguments = arguments(inner);
            Some(format!("(({}) / {})", arguments.join(" + "), arguments.len()))
        }
        "cbrt" => Some(format!("(({inner}) ^ (1 / 3))")),
        _ => None,
    }
}

/// `17.5% of 2340` is for tools that show that they read it.
fn percentages(text: &str, shown: &str) -> String {
    if shown.contains("% of") {
        text.to_owned()
    } else {
        text.replace("% of ", " / 100 * ")
    }
}

/// `text` without a pair of brackets around all of it.
pub(super) fn unwrapped(text: &str) -> &str {
    let whole = text.starts_with('(') && closing(text, 0) == Some(text.len() - 1);
    text.get(1..text.len().max(2) - 1).filter(|_| whole).unwrap_or(text)
}

/// Where the function `name` is called.
fn find_call(text: &str, name: &str) -> Option<usize> {
    let call = format!("{name}(");
    let free = |at: &usize| {
        !text
            .get(..*at)
            .is_some_and(|head| head.ends_with(char::is_alphanumeric))
    };
    text.match_indices(&call).map(|(at, _)| at).find(free)
}

/// The bracket that closes the one at byte `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The arguments between the commas that stand in no inner bracket.
fn arguments(inner: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let pieces = inner.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    pieces.map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_a_tool_shows_is_called() {
        assert_eq!(
            written("mean(4, 8, 15)", "such as `mean(1, 2)`").as_deref(),
            Some("mean(4, 8, 15)")
        );
        assert_eq!(
            written("mean(4, 8)", "has average(x)").as_deref(),
            Some("average(4, 8)")
        );
    }

    #[test]
    fn a_function_that_a_tool_does_not_show_is_spelled_out_or_there_is_no_expression() {
        assert_eq!(
            written("mean(4, 8, 15)", "sums and averages").as_deref(),
            Some("(4 + 8 + 15) / 3")
        );
        assert_eq!(
            written("2 * mean(4, mean(1, 3))", "").as_deref(),
            Some("2 * ((4 + ((1 + 3) / 2)) / 2)")
        );
        assert_eq!(written("max(4, 8)", "an expression"), None);
    }

    #[test]
    fn a_percentage_of_a_number_is_spelled_out_for_tools_that_do_not_show_it() {
        assert_eq!(written("25% of 80", "").as_deref(), Some("25 / 100 * 80"));
        assert_eq!(written("25% of 80", "`17.5% of 2340`").as_deref(), Some("25% of 80"));
    }

    #[test]
    fn brackets_around_all_of_it_go() {
        assert_eq!(unwrapped("(1 + 2)"), "1 + 2");
        assert_eq!(unwrapped("(1 + 2) * (3)"), "(1 + 2) * (3)");
        assert_eq!((unwrapped("("), unwrapped("()"), unwrapped("")), ("(", "", ""));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_written_or_refused(text in "(mean|max|cbrt|\\(|\\)|,| |1|é|% of ){0,20}") {
            if let Some(text) = written(&text, "max(1, 2)") {
                proptest::prop_assert_eq!(find_call(&text, "mean"), None);
            }
        }
    }
}
