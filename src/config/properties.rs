//! Java's `.properties` syntax: text → pairs of key and value, in file order.
//!
//! Source: the documentation of `java.util.Properties.load`.

/// Reads every pair in `text`. A line without a separator is a key with an empty value.
///
/// # Errors
/// A `\u` that is not followed by four hexadecimal digits, with the number of its line (from 1).
pub fn parse(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    for (number, line) in logical_lines(text) {
        let (key, value) = split(&line);
        let unescaped = |text| unescape(text).map_err(|error| format!("line {number}: {error}"));
        pairs.push((unescaped(key)?, unescaped(value)?));
    }
    Ok(pairs)
}

/// Lines that say something, without leading blanks, joined with those that continue them,
/// each with the number of its first natural line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut continued = false;
    for (at, line) in natural_lines(text).enumerate() {
        let line = line.trim_start_matches(is_blank);
        if !continued && (line.is_empty() || line.starts_with(['#', '!'])) {
            continue;
        }
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        let goes_on = backslashes % 2 == 1;
        let part = if goes_on { &line[..line.len() - 1] } else { line };
        match lines.last_mut() {
            Some((_, last)) if continued => last.push_str(part),
            _ => lines.push((at + 1, part.to_owned())),
        }
        continued = goes_on;
    }
    lines
}

/// Splits at `\n`, `\r` and `\r\n`.
fn natural_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

/// Splits at the first blank, `=` or `:` that is not escaped, with the blanks around it and one `=` or `:`.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|c| {
        let ends = !escaped && (is_blank(c) || matches!(c, '=' | ':'));
        escaped = c == '\\' && !escaped;
        ends
    });
    let Some(end) = end else { return (line, "") };
    let rest = line[end..].trim_start_matches(is_blank);
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (&line[..end], rest.trim_start_matches(is_blank))
}

fn unescape(text: &str) -> Result<String, &'static str> {
    // Escapes may name the halves of a surrogate pair, so the text is put together in UTF-16.
    let mut units = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let meant = match c {
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some('u') => {
                    units.push(hex_unit(&mut chars)?);
                    continue;
                }
                Some(other) => other,
                None => break,
            },
            plain => plain,
        };
        units.extend_from_slice(meant.encode_utf16(&mut [0; 2]));
    }
    Ok(String::from_utf16_lossy(&units))
}

fn hex_unit(chars: &mut std::str::Chars<'_>) -> Result<u16, &'static str> {
    const MALFORMED: &str = "Malformed \\uxxxx encoding.";
    (0..4).try_fold(0, |unit, _| {
        let digit = chars.next().and_then(|c| c.to_digit(16)).ok_or(MALFORMED)?;
        // Four digits fill exactly 16 bits, so nothing is lost.
        Ok(unit << 4 | digit as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text).expect("valid properties")
    }

    fn pair(text: &str) -> (String, String) {
        pairs(text).into_iter().next().unwrap_or_default()
    }

    #[test]
    fn comments_and_blank_lines_say_nothing() {
        assert_eq!(pairs("# a=1\n  ! b=2\n\n \t\n"), []);
        assert_eq!(pair("a=1 # not a comment"), ("a".into(), "1 # not a comment".into()));
    }

    #[test]
    fn a_key_ends_at_a_separator_or_a_blank() {
        for text in ["a=1", "a:1", "a 1", "a = 1", "a\t:\t1", "  a=1", "a=1\r\n"] {
            assert_eq!(pair(text), ("a".into(), "1".into()), "{text:?}");
        }
        assert_eq!(pair("a"), ("a".into(), String::new()));
        assert_eq!(pair("a=:1"), ("a".into(), ":1".into()));
        assert_eq!(pair("a=1 "), ("a".into(), "1 ".into()));
        assert_eq!(pair("=1"), (String::new(), "1".into()));
        assert_eq!(pair(r"a\=b\ c=1"), ("a=b c".into(), "1".into()));
    }

    #[test]
    fn a_backslash_at_the_end_continues_the_line() {
        assert_eq!(pair("a=1,\\\n   2,\\\r\n\t3"), ("a".into(), "1,2,3".into()));
        assert_eq!(pairs("a=1\\\\\nb=2"), [("a".into(), "1\\".into()), ("b".into(), "2".into())]);
        assert_eq!(pair("a=1\\\n# 2"), ("a".into(), "1# 2".into()));
        assert_eq!(pair("a=1\\"), ("a".into(), "1".into()));
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(pair(r"a=\t\n\u00e9\:\q\\"), ("a".into(), "\t\n\u{e9}:q\\".into()));
        assert_eq!(pair(r"a=\uD83D\uDE00"), ("a".into(), "\u{1f600}".into()));
        assert_eq!(parse("a=1\nb=\\u12"), Err("line 2: Malformed \\uxxxx encoding.".into()));
        assert_eq!(parse("a=\\u00g0"), Err("line 1: Malformed \\uxxxx encoding.".into()));
    }

    #[test]
    fn order_and_repetition_are_kept() {
        assert_eq!(pairs("b=1\ra=2\nb=3").len(), 3);
    }
}
