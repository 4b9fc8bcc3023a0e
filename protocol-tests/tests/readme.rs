//! The parts of README that are read off the sources: the table of APIs, and where we differ from Kafka.
//!
//! With `RALLYPOINT_BLESS=1` they are written instead of compared.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use protocol_tests::blessed::{check, root};
use rallypoint::wire::api_table;

#[test]
fn lists_what_is_served_and_where_it_differs() {
    check("README.md", "apis", &apis());
    check("README.md", "differences", &differences());
}

fn apis() -> String {
    let mut table = String::from("| key | API | versions |\n|---|---|---|\n");
    for api in api_table::served() {
        let _ = writeln!(table, "| {} | {} | {}–{} |", api.key, api.name, api.version_min, api.version_max);
    }
    table
}

/// Every comment that begins with `Differs from Kafka:`, up to the end of its paragraph.
fn differences() -> String {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    files.sort();
    let mut list = String::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let name = path.strip_prefix(root().join("src")).expect("below src").display().to_string();
        let mut lines = text.lines().map(str::trim_start);
        while let Some(line) = lines.next() {
            let Some((_, start)) = line.split_once("Differs from Kafka: ") else { continue };
            let mut sentence = start.to_owned();
            for more in lines.by_ref().map_while(|l| l.strip_prefix("//")) {
                let more = more.trim_start_matches(['/', '!']).trim();
                if more.is_empty() {
                    break;
                }
                sentence = format!("{sentence} {more}");
            }
            let _ = writeln!(list, "- `{name}`: {sentence}");
        }
    }
    list
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}
