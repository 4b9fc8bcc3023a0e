//! RE2/J's syntax → that of the `regex` crate.

use std::iter::Peekable;
use std::str::Chars;

use crate::limits::REGEX_WIDE_CLASSES_MAX;

/// The most repetitions that RE2/J takes.
const REPEAT_MAX: u32 = 1_000;

/// Rewrites an expression, or says why RE2/J does not take it.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut translation =
        Translation { rest: pattern.chars().peekable(), out: String::new(), wide_classes: 0 };
    translation.outside()?;
    if translation.wide_classes > REGEX_WIDE_CLASSES_MAX {
        return Err(format!("expression has more than {REGEX_WIDE_CLASSES_MAX} classes beyond ASCII"));
    }
    Ok(translation.out)
}

struct Translation<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    /// How many classes, or ends of ranges in classes, are beyond ASCII.
    wide_classes: usize,
}

impl Translation<'_> {
    /// Reads what is not in a class.
    fn outside(&mut self) -> Result<(), String> {
        // Whether the last thing read was a repetition, which RE2/J does not repeat once more.
        let mut repeated = false;
        while let Some(c) = self.rest.next() {
            let is_repetition = match c {
                '\\' => {
                    self.escape(false)?;
                    false
                }
                '[' => {
                    self.class()?;
                    false
                }
                '(' => {
                    self.out.push('(');
                    self.group()?;
                    false
                }
                '*' | '+' | '?' => {
                    self.repetition(c.to_string(), repeated)?;
                    true
                }
                '{' => match self.bounds()? {
                    Some(bounds) => {
                        self.repetition(bounds, repeated)?;
                        true
                    }
                    None => {
                        self.out.push_str("\\{");
                        false
                    }
                },
                '}' => {
                    self.out.push_str("\\}");
                    false
                }
                _ => {
                    self.out.push(c);
                    false
                }
            };
            repeated = is_repetition;
        }
        Ok(())
    }

    fn repetition(&mut self, operator: String, repeated: bool) -> Result<(), String> {
        if repeated {
            return Err("invalid nested repetition operator".to_owned());
        }
        self.out.push_str(&operator);
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        Ok(())
    }

    /// Reads `{2}`, `{2,}` or `{2,3}`; anything else is a literal brace.
    fn bounds(&mut self) -> Result<Option<String>, String> {
        let mut ahead = self.rest.clone();
        let inner: String = ahead.by_ref().take_while(|c| *c != '}').collect();
        let consumed = self.rest.clone().any(|c| c == '}');
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let (min, max) = inner.split_once(',').map_or((inner.as_str(), None), |(min, max)| (min, Some(max)));
        let is_bounds = consumed && is_number(min) && max.is_none_or(|max| max.is_empty() || is_number(max));
        if !is_bounds {
            return Ok(None);
        }
        let count = |text: &str| text.parse::<u32>().ok().filter(|count| *count <= REPEAT_MAX);
        let least = count(min);
        let most = max.filter(|max| !max.is_empty()).map(count);
        if least.is_none() || most.is_some_and(|most| most.is_none() || most < least) {
            return Err("invalid repeat count".to_owned());
        }
        self.rest = ahead;
        Ok(Some(format!("{{{inner}}}")))
    }

    /// Reads the flags after an opening parenthesis: RE2/J has `i`, `m`, `s` and `U`.
    fn group(&mut self) -> Result<(), String> {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('?') {
            return Ok(());
        }
        match ahead.next() {
            Some('P' | '<') => Ok(()),
            _ => {
                let flags = self.rest.clone().skip(1).take_while(|c| *c != ')' && *c != ':');
                match flags.clone().find(|c| !"imsU-".contains(*c)) {
                    Some(_) => Err("invalid or unsupported Perl syntax".to_owned()),
                    None => Ok(()),
                }
            }
        }
    }

    /// Reads a class, in which `&`, `~` and a bracket are literal, and so is a dash after a class like `\d`.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        if self.rest.next_if_eq(&']').is_some() {
            self.out.push_str("\\]");
        }
        while let Some(c) = self.rest.next() {
            match c {
                ']' => {
                    self.out.push(']');
                    return Ok(());
                }
                '[' if self.rest.peek() == Some(&':') => self.named_class(),
                '[' | '&' | '~' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '\\' => {
                    let is_class =
                        matches!(self.rest.peek(), Some('d' | 'D' | 's' | 'S' | 'w' | 'W' | 'p' | 'P'));
                    self.escape(true)?;
                    if is_class && self.rest.peek() == Some(&'-') {
                        self.rest.next();
                        self.out.push_str("\\-");
                    }
                }
                '-' if self.out.ends_with('[') || self.rest.peek() == Some(&']') => self.out.push_str("\\-"),
                _ => {
                    self.wide_classes += usize::from(!c.is_ascii());
                    self.out.push(c);
                }
            }
        }
        Err("missing closing ]".to_owned())
    }

    /// Copies `[:alpha:]`, of which the first bracket has been read.
    fn named_class(&mut self) {
        self.out.push('[');
        for c in self.rest.by_ref() {
            self.out.push(c);
            if c == ']' {
                return;
            }
        }
    }

    /// Reads what follows a backslash. `\d`, `\s`, `\w` and `\b` are about ASCII.
    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let Some(c) = self.rest.next() else {
            return Err("trailing backslash at end of expression".to_owned());
        };
        match c {
            'Q' => self.quote(in_class),
            'd' => self.ascii("0-9", false, in_class),
            'D' => self.ascii("0-9", true, in_class),
            's' => self.ascii(r"\t\n\f\r ", false, in_class),
            'S' => self.ascii(r"\t\n\f\r ", true, in_class),
            'w' => self.ascii("0-9A-Za-z_", false, in_class),
            'W' => self.ascii("0-9A-Za-z_", true, in_class),
            'b' if !in_class => self.out.push_str(r"(?-u:\b)"),
            // Between characters only, which `(?-u:\B)` is not.
            'B' if !in_class => self.out.push_str(r"\B"),
            'A' | 'z' | 'a' | 'f' | 't' | 'n' | 'r' | 'v' => {
                self.out.push('\\');
                self.out.push(c);
            }
            'p' | 'P' | 'x' => {
                self.wide_classes += usize::from(c != 'x' || in_class);
                self.out.push('\\');
                self.out.push(c);
                self.braced();
            }
            '0'..='7' => self.octal(c)?,
            'C' if !in_class => self.out.push('.'),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => {
                let is_meta = regex::escape(c.encode_utf8(&mut [0; 4])).len() > 1;
                if is_meta || in_class {
                    self.out.push('\\');
                }
                self.out.push(c);
            }
            _ => return Err("invalid escape sequence".to_owned()),
        }
        Ok(())
    }

    /// Copies `{…}`, if that is what follows.
    fn braced(&mut self) {
        if self.rest.peek() != Some(&'{') {
            return;
        }
        for c in self.rest.by_ref() {
            self.out.push(c);
            if c == '}' {
                return;
            }
        }
    }

    fn ascii(&mut self, class: &str, negated: bool, in_class: bool) {
        match (negated, in_class) {
            (false, true) => self.out.push_str(class),
            (false, false) => self.out.push_str(&format!("[{class}]")),
            (true, _) => self.out.push_str(&format!("[^{class}]")),
        }
    }

    /// `\0`, or `\1` to `\7` with one or two more octal digits: a lone digit would be a back-reference.
    fn octal(&mut self, first: char) -> Result<(), String> {
        let mut code = first.to_digit(8).unwrap_or(0);
        if first != '0' && !self.rest.peek().is_some_and(|c| c.is_digit(8)) {
            return Err("invalid escape sequence".to_owned());
        }
        for _ in 0..2 {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(8)) else { break };
            code = code * 8 + digit;
            self.rest.next();
        }
        self.out.push_str(&format!("\\x{{{code:x}}}"));
        Ok(())
    }

    /// Copies what stands between `\Q` and `\E`, or the end, as literals.
    fn quote(&mut self, in_class: bool) {
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.peek() == Some(&'E') {
                self.rest.next();
                return;
            }
            if in_class && c.is_ascii_punctuation() {
                self.out.push('\\');
                self.out.push(c);
            } else {
                self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
            }
        }
    }
}
