use super::*;
use proptest::prelude::*;

/// Decodes a stream that arrives in `pieces`, with a limit of `max_bytes`. Returns the events, and whether all of them are
/// within the limit.
fn decode<'a>(max_bytes: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<SseEvent>, bool) {
    let (mut decoder, mut out) = (SseDecoder::new(max_bytes), Vec::new());
    for piece in pieces {
        if decoder.push(piece, &mut out).is_err() {
            return (out, false);
        }
    }
    let fits = decoder.finish(&mut out).is_ok();
    (out, fits)
}

/// Returns the data of each event of a stream.
fn decode_data(text: &[u8]) -> Vec<String> {
    let (events, fits) = decode(1 << 20, [text]);
    assert!(fits);
    events.into_iter().map(|event| event.data).collect()
}

/// Streams with line ends, fields and characters of all kinds.
const SAMPLES: &[&[u8]] = &[
    b"\xEF\xBB\xBFevent: a\r\ndata: 1\r\n\r\ndata: 2\n\n: note\r\rdata\rdata: x\r\r",
    b"id: 7\nretry: 10\ndata:  two spaces\ndata:none\n\nevent: lonely\n\ndata: last",
    "data: {\"t\":\"gr\u{fc}\u{df}e \u{1f980}\"}\n\ndata: \n\n".as_bytes(),
    b"data: \xFF\xFE bad \xE2\x82\r\n\r\n\n\r\n\r\r\ndata: [DONE]\r\n",
];

#[test]
fn lines_end_with_lf_crlf_or_cr_in_any_mix() {
    for text in [
        "data: a\n\ndata: b\n\n",
        "data: a\r\n\r\ndata: b\r\n\r\n",
        "data: a\r\rdata: b\r\r",
    ] {
        assert_eq!(decode_data(text.as_bytes()), ["a", "b"]);
    }
    assert_eq!(decode_data(b"data: a\r\n\ndata: b\r\r\n"), ["a", "b"]);
}

#[test]
fn a_crlf_split_between_two_pieces_is_one_line_end() {
    let (events, _) = decode(100, [b"data: a\r".as_slice(), b"\ndata: b\r\n\r", b"\n"]);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].data, "a\nb");
}

#[test]
fn the_data_lines_of_an_event_are_joined_and_its_type_is_ignored() {
    let read = decode_data(b"event: one\ndata: a\ndata\ndata:b\n\ndata: c\n\n");
    assert_eq!(read, ["a\n\nb", "c"]);
}

#[test]
fn one_space_after_the_colon_is_not_part_of_the_value() {
    assert_eq!(decode_data(b"data:a\n\ndata: a\n\ndata:  a\n\n"), ["a", "a", " a"]);
}

#[test]
fn comments_other_fields_and_events_without_data_are_skipped() {
    assert_eq!(
        decode_data(b": hi\nid: 1\nretry: 2\nnoise\n\nevent: ping\n\ndata: x\n\n"),
        ["x"]
    );
}

#[test]
fn a_byte_order_mark_is_removed_from_the_first_line_only() {
    assert_eq!(decode_data(b"\xEF\xBB\xBFdata: a\n\n"), ["a"]);
    assert_eq!(decode_data(b"\n\xEF\xBB\xBFdata: a\n\n"), Vec::<String>::new());
}

#[test]
fn an_event_cut_off_by_the_end_of_the_stream_is_returned_as_incomplete() {
    let (events, _) = decode(100, [b"data: a\n\ndata: b".as_slice()]);
    let incomplete: Vec<bool> = events.iter().map(|event| event.is_incomplete).collect();
    assert_eq!(incomplete, [false, true]);
}

#[test]
fn an_event_that_is_too_long_ends_the_stream() {
    let (events, fits) = decode(16, [b"data: ok\n\ndata: 0123456789abcdef\n\ndata: no\n\n".as_slice()]);
    assert_eq!((events.len(), fits), (1, false));
    let many_lines = "data: 1234\n".repeat(8);
    let (_, fits) = decode(16, [many_lines.as_bytes()]);
    assert!(!fits);
    let (_, fits) = decode(16, [b": a comment that does not end".as_slice()]);
    assert!(!fits);
}

#[test]
fn the_limit_applies_to_each_event_separately() {
    let text = "data: 1234\n\n".repeat(100);
    assert_eq!(decode(16, [text.as_bytes()]).0.len(), 100);
}

#[test]
fn after_an_event_that_is_too_long_all_calls_fail() {
    let (mut decoder, mut out) = (SseDecoder::new(8), Vec::new());
    assert_eq!(
        decoder.push(b"data: 123456789", &mut out),
        Err(EventTooLong { max_bytes: 8 })
    );
    assert_eq!(
        decoder.push(b"\n\ndata: 1\n\n", &mut out),
        Err(EventTooLong { max_bytes: 8 })
    );
    assert_eq!(
        (decoder.finish(&mut out), out.len()),
        (Err(EventTooLong { max_bytes: 8 }), 0)
    );
}

#[test]
fn splitting_a_sample_does_not_change_its_events() {
    for sample in SAMPLES {
        let expected = decode(64, [*sample]);
        for first in 0..=sample.len() {
            for second in first..=sample.len() {
                let pieces = [&sample[..first], &sample[first..second], &sample[second..]];
                assert_eq!(decode(64, pieces), expected, "split at {first} and {second}");
            }
        }
        assert_eq!(decode(64, sample.chunks(1)), expected);
    }
}

/// Generates streams in which line ends, colons and invalid characters are likely.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"event:".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn splitting_a_stream_does_not_change_its_events(stream in stream(), sizes in proptest::collection::vec(1usize..9, 1..20), max in 1usize..60) {
        let mut pieces = Vec::new();
        let mut rest = stream.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, tail) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = tail;
        }
        prop_assert_eq!(decode(max, pieces), decode(max, [stream.as_slice()]));
    }

    #[test]
    fn the_limit_bounds_the_size_of_events(stream in stream(), max in 1usize..40) {
        for event in decode(max, [stream.as_slice()]).0 {
            // Each byte that is not UTF-8 becomes U+FFFD, which has three bytes: hence `3 * max`. The `+ 3` is a margin.
            prop_assert!(event.data.len() <= 3 * max + 3);
        }
    }
}
