//! Says what is wrong with a `base_url` under which a server does not have what a request asks for.

use reqwest::Url;

/// Segments with which the paths of requests begin. A `base_url` that ends with such a path is the address of one request.
const REQUEST_SEGMENTS: [&str; 5] = ["chat", "completions", "messages", "models", "responses"];

/// Returns how to correct a `base_url`, as the end of a sentence about it.
pub(super) fn correction(base_url: &Url) -> String {
    let segments: Vec<&str> = base_url
        .path()
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    let request = segments.iter().position(|segment| REQUEST_SEGMENTS.contains(segment));
    if let Some(request) = request.and_then(|start| segments.get(start..)) {
        return format!("correct `base_url`: leave `/{}` out of it", request.join("/"));
    }
    if let Some([repeated, _]) = segments.windows(2).find(|pair| pair.first() == pair.last()) {
        return format!("correct `base_url`, which has `/{repeated}` twice");
    }
    if segments.iter().any(|segment| is_version(segment)) {
        return "check `base_url` and `api`".to_owned();
    }
    "correct `base_url`, which often ends in `/v1`".to_owned()
}

/// Returns whether a segment is the version of an interface, such as `v1` or `v1beta`.
fn is_version(segment: &str) -> bool {
    segment
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correction_depends_on_what_the_address_ends_with() {
        let texts = [
            "http://h",
            "http://h/api/",
            "http://h/v1/v1",
            "http://h/v1/chat/completions",
            "http://h/v1/messages",
            "http://h/api/v3",
        ]
        .map(|url| format!("{url}: {}", correction(&Url::parse(url).unwrap())));
        insta::assert_snapshot!(texts.join("\n"), @r"
        http://h: correct `base_url`, which often ends in `/v1`
        http://h/api/: correct `base_url`, which often ends in `/v1`
        http://h/v1/v1: correct `base_url`, which has `/v1` twice
        http://h/v1/chat/completions: correct `base_url`: leave `/chat/completions` out of it
        http://h/v1/messages: correct `base_url`: leave `/messages` out of it
        http://h/api/v3: check `base_url` and `api`
        ");
    }
}
