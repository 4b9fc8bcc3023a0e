//! Parts of a document that are read off the sources. With `RALLYPOINT_BLESS=1` they are written instead of compared.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the workspace.
///
/// # Panics
/// Never, in a workspace.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

/// Checks what stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->` in a document.
///
/// # Panics
/// It is not what is expected, or the document has no such part.
pub fn check(document: &str, name: &str, expected: &str) {
    let path = root().join(document);
    let text = fs::read_to_string(&path).expect("the document is there");
    let (begin, end) = (format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->"));
    let (before, rest) = text.split_once(&begin).expect("the part begins");
    let (actual, after) = rest.split_once(&end).expect("the part ends");
    if actual == expected {
        return;
    }
    assert!(
        std::env::var_os("RALLYPOINT_BLESS").is_some(),
        "{document}'s part {name:?} is not what the sources say; scripts/bless writes it:\n{expected}"
    );
    fs::write(&path, format!("{before}{begin}{expected}{end}{after}")).expect("the document can be written");
}
