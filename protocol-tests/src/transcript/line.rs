//! A command line: `verb GROUP WHO key=value key="a b" key=(x, y)`.

/// A command in its parts.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) verb: &'a str,
    /// What stands without a key: the group, who asks, a state.
    words: Vec<&'a str>,
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Line<'a> {
    /// None for an empty line.
    pub(super) fn parse(text: &'a str) -> Result<Option<Self>, String> {
        let mut tokens = tokens(text)?.into_iter();
        let Some(verb) = tokens.next() else { return Ok(None) };
        let mut line = Self { verb, words: Vec::new(), fields: Vec::new() };
        for token in tokens {
            match token.split_once('=') {
                Some((key, value)) => line.fields.push((key, unwrapped(value))),
                None => line.words.push(token),
            }
        }
        Ok(Some(line))
    }

    pub(super) fn group(&self) -> Result<&'a str, String> {
        self.words.first().copied().map(unwrapped).ok_or_else(|| "no group".to_owned())
    }

    /// The second word: who asks, or a state.
    pub(super) fn second(&self) -> Option<&'a str> {
        self.words.get(1).copied().map(unwrapped)
    }

    /// The third word: what is special about a command.
    pub(super) fn third(&self) -> Option<&'a str> {
        self.words.get(2).copied()
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.fields.iter().find(|(k, _)| *k == key).map(|(_, value)| *value)
    }

    pub(super) fn text(&self, key: &str) -> &'a str {
        self.get(key).unwrap_or_default()
    }

    pub(super) fn number(&self, key: &str, default: i64) -> Result<i64, String> {
        self.get(key)
            .map_or(Ok(default), |text| text.parse().map_err(|_| format!("{key}={text} is no number")))
    }

    pub(super) fn int(&self, key: &str, default: i32) -> Result<i32, String> {
        let number = self.number(key, i64::from(default))?;
        i32::try_from(number).map_err(|_| format!("{key}={number} is too large"))
    }

    pub(super) fn list(&self, key: &str) -> Vec<&'a str> {
        self.text(key).split(',').map(str::trim).filter(|item| !item.is_empty()).collect()
    }

    pub(super) fn fields(&self) -> &[(&'a str, &'a str)] {
        &self.fields
    }

    /// That no key is misspelt.
    pub(super) fn only(&self, keys: &[&str]) -> Result<(), String> {
        match self.fields.iter().find(|(key, _)| !keys.contains(key)) {
            Some((key, _)) => Err(format!("{} knows no {key}", self.verb)),
            None => Ok(()),
        }
    }
}

/// Splits at blanks that are not inside of quotes or parentheses.
fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let (mut start, mut quoted, mut depth) = (None, false, 0);
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if c == ' ' && !quoted && depth == 0 {
            if let Some(start) = start.take() {
                tokens.push(&text[start..i]);
            }
        } else {
            start.get_or_insert(i);
        }
    }
    if quoted || depth != 0 {
        return Err(format!("a quote or parenthesis is open in: {text}"));
    }
    tokens.extend(start.map(|start| &text[start..]));
    Ok(tokens)
}

fn unwrapped(value: &str) -> &str {
    let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    let listed = || value.strip_prefix('(').and_then(|v| v.strip_suffix(')'));
    quoted.or_else(listed).unwrap_or(value)
}
