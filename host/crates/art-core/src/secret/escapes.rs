//! Reads characters that are written as escapes: in JSON and other string literals, in URLs, and in HTML.

/// How many escapes may be one within another: a JSON text in a JSON text in a URL has three.
pub(super) const MAX_LAYERS: usize = 3;
/// Maximum number of characters in an entity of HTML, between its `&` and its `;`.
const MAX_ENTITY: usize = 9;

/// More bytes are needed to tell whether there is an escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Incomplete;

/// A character of a text, and how many bytes of the text it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) character: u8,
    pub(super) len: usize,
}

/// Returns whether an escape may begin with this byte.
pub(super) const fn begins_escape(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%' | b'&')
}

/// Returns the character at the start of `bytes`, read with at most `layers` escapes one within another, or `None` at the end of the
/// text. A character that begins no escape of an ASCII character is returned as it is.
///
/// # Errors
/// Fails if the text does not end here (`is_complete` is false) and what follows decides.
pub(super) fn read_character(bytes: &[u8], layers: usize, is_complete: bool) -> Result<Option<Written>, Incomplete> {
    let Some(layers_within) = layers.checked_sub(1) else {
        let written = bytes.first().map(|byte| Written {
            character: *byte,
            len: 1,
        });
        return if written.is_some() || is_complete {
            Ok(written)
        } else {
            Err(Incomplete)
        };
    };
    let Some(first) = read_character(bytes, layers_within, is_complete)? else {
        return Ok(None);
    };
    let mut rest = Characters {
        bytes,
        read: first.len,
        layers: layers_within,
        is_complete,
    };
    let escaped = match first.character {
        b'\\' => rest.backslash_escape()?,
        b'%' => rest.code(2)?,
        b'&' => rest.entity()?,
        _ => None,
    };
    let escaped = escaped.and_then(|code| u8::try_from(code).ok()).filter(u8::is_ascii);
    Ok(Some(escaped.map_or(first, |character| Written {
        character,
        len: rest.read,
    })))
}

/// The characters of an escape after its first one.
struct Characters<'a> {
    bytes: &'a [u8],
    /// How many bytes were read.
    read: usize,
    layers: usize,
    is_complete: bool,
}

impl Characters<'_> {
    fn next(&mut self) -> Result<Option<u8>, Incomplete> {
        let rest = self.bytes.get(self.read..).unwrap_or_default();
        let written = read_character(rest, self.layers, self.is_complete)?;
        self.read += written.map_or(0, |written| written.len);
        Ok(written.map(|written| written.character))
    }

    /// Reads what follows a backslash.
    fn backslash_escape(&mut self) -> Result<Option<u32>, Incomplete> {
        Ok(match self.next()? {
            Some(b'u') => return self.code(4),
            Some(b'x') => return self.code(2),
            Some(b'n') => Some(u32::from(b'\n')),
            Some(b'r') => Some(u32::from(b'\r')),
            Some(b't') => Some(u32::from(b'\t')),
            Some(character @ (b'"' | b'\'' | b'/' | b'\\')) => Some(u32::from(character)),
            _ => None,
        })
    }

    /// Reads the code of a character as `digits` hexadecimal digits.
    fn code(&mut self, digits: usize) -> Result<Option<u32>, Incomplete> {
        let mut code = 0;
        for _ in 0..digits {
            let Some(digit) = self.next()?.and_then(|digit| char::from(digit).to_digit(16)) else {
                return Ok(None);
            };
            code = code * 16 + digit;
        }
        Ok(Some(code))
    }

    /// Reads an entity of HTML after its `&`: a number, or the name of a character that every encoder writes as an entity.
    fn entity(&mut self) -> Result<Option<u32>, Incomplete> {
        let mut entity = String::new();
        loop {
            match self.next()? {
                Some(b';') => return Ok(code_of_entity(&entity)),
                Some(character) if character.is_ascii_alphanumeric() || character == b'#' => {
                    entity.push(char::from(character));
                }
                _ => return Ok(None),
            }
            if entity.len() > MAX_ENTITY {
                return Ok(None);
            }
        }
    }
}

fn code_of_entity(entity: &str) -> Option<u32> {
    let named = match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = entity.strip_prefix('#')?;
            return match number.strip_prefix(['x', 'X']) {
                Some(number) => u32::from_str_radix(number, 16).ok(),
                None => number.parse().ok(),
            };
        }
    };
    Some(u32::from(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, layers: usize) -> (char, usize) {
        let written = read_character(text.as_bytes(), layers, true).unwrap().unwrap();
        (char::from(written.character), written.len)
    }

    #[test]
    fn an_escape_is_read_as_the_character_that_it_stands_for() {
        for (text, character) in [
            ("\\u0041", 'A'),
            ("\\u002F", '/'),
            ("\\u002f", '/'),
            ("\\x41", 'A'),
            ("\\/", '/'),
            ("\\\"", '"'),
            ("\\\\", '\\'),
            ("\\n", '\n'),
            ("%2F", '/'),
            ("%2f", '/'),
            ("&#65;", 'A'),
            ("&#x41;", 'A'),
            ("&#X0041;", 'A'),
            ("&amp;", '&'),
        ] {
            assert_eq!(read(&format!("{text}bc"), 1), (character, text.len()), "{text}");
        }
    }

    #[test]
    fn what_is_no_escape_of_an_ascii_character_is_read_as_it_is() {
        for text in [
            "\\",
            "\\q",
            "\\u004",
            "\\u00e9",
            "\\ud83d\\ude00",
            "%",
            "%4",
            "%zz",
            "%e9",
            "&",
            "&amp",
            "&foo;",
            "&#;",
            "&#999;",
        ] {
            assert_eq!(read(text, MAX_LAYERS), (char::from(text.as_bytes()[0]), 1), "{text}");
        }
    }

    #[test]
    fn escapes_within_escapes_are_read_as_deep_as_asked() {
        assert_eq!(read("%2541", 1), ('%', 3));
        assert_eq!(read("%2541", 2), ('A', 5));
        assert_eq!(read("\\\\u0041", 2), ('A', 7));
        assert_eq!(read("%5C%5C%22", 3), ('"', 9));
        assert_eq!(read("\\u0026#65;", 2), ('A', 10));
    }

    #[test]
    fn an_escape_that_is_cut_off_is_incomplete_until_the_text_ends() {
        for text in ["\\u0041", "%41", "&#x41;", "%2541", "\\\\u0041"] {
            for cut in 1..text.len() {
                let part = &text.as_bytes()[..cut];
                assert_eq!(
                    read_character(part, MAX_LAYERS, false),
                    Err(Incomplete),
                    "{text} cut at {cut}"
                );
                assert!(read_character(part, MAX_LAYERS, true).is_ok());
            }
        }
    }
}
