//! The rules of the house that no compiler checks: what each room may import, what it must never contain, and how
//! large a file may grow. ARCHITECTURE.md says why.

use std::fs;
use std::path::{Path, PathBuf};

/// A room of `src/`: the crates and rooms it may import, and texts it must not contain.
struct Room {
    path: &'static str,
    may_import: &'static [&'static str],
    must_not_contain: &'static [&'static str],
}

/// `types`, `limits`, `java`, `tracing` and std are free to all.
const FREE: &[&str] = &["std", "core", "self", "super", "types", "limits", "java", "tracing"];

const CLOCKS: &[&str] = &["Instant::now", "SystemTime::now", "tokio"];

const ROOMS: &[Room] = &[
    Room {
        path: "wire",
        may_import: &["anyhow", "bytes", "kafka_protocol", "uuid"],
        must_not_contain: CLOCKS,
    },
    Room {
        path: "coordinator",
        may_import: &["assignor", "coordinator", "java", "thin_vec", "topic_regex", "uuid"],
        must_not_contain: &[
            "Instant::now",
            "SystemTime::now",
            "tokio",
            "kafka_protocol",
            "HashMap<",
            "Mutex",
            "async ",
        ],
    },
    Room {
        path: "txn",
        may_import: &["txn"],
        must_not_contain: &[
            "Instant::now",
            "SystemTime::now",
            "tokio",
            "dashmap",
            "kafka_protocol",
            "HashMap<",
            "Mutex",
            "async ",
        ],
    },
    Room {
        path: "assignor",
        may_import: &["assignor"],
        must_not_contain: &["Instant::now", "SystemTime::now", "tokio", "HashMap<", "HashSet<"],
    },
    Room { path: "topic_regex", may_import: &["regex", "topic_regex"], must_not_contain: CLOCKS },
    Room { path: "log", may_import: &["bytes", "crc32c", "log"], must_not_contain: CLOCKS },
    Room { path: "catalog", may_import: &["uuid", "catalog"], must_not_contain: CLOCKS },
    Room { path: "config", may_import: &["config", "catalog"], must_not_contain: CLOCKS },
    Room { path: "cluster", may_import: &["cluster"], must_not_contain: CLOCKS },
    Room {
        path: "api",
        may_import: &[
            "api",
            "assignor",
            "wire",
            "coordinator",
            "cluster",
            "log",
            "catalog",
            "topics",
            "topic_regex",
            "txn",
            "config",
            "bytes",
            "kafka_protocol",
            "uuid",
        ],
        must_not_contain: CLOCKS,
    },
    Room { path: "store", may_import: &["assignor", "coordinator", "store"], must_not_contain: CLOCKS },
    Room { path: "simulate", may_import: &["assignor", "simulate"], must_not_contain: CLOCKS },
    Room { path: "observe", may_import: &["coordinator", "txn", "observe"], must_not_contain: CLOCKS },
];

/// Lines of a file over which a split along the protocol is due. Tables and tests may be longer.
const LINES_MAX: usize = 600;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

fn rust_files(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join(folder);
    let mut found = Vec::new();
    sources(&root, &mut found);
    let single = root.with_extension("rs");
    found.extend(single.exists().then_some(single));
    found.sort();
    found.into_iter().map(|path| (path.clone(), fs::read_to_string(&path).expect("UTF-8"))).collect()
}

/// Code without comments and without what follows `#[cfg(test)]`.
fn product_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .take_while(|line| line.trim() != "#[cfg(test)]")
        .filter(|line| !line.trim_start().starts_with("//"))
}

/// The first segment of each `use`; of `use crate::x`, the x.
fn imports(text: &str) -> Vec<String> {
    product_lines(text)
        .filter_map(|line| line.trim_start().trim_start_matches("pub ").strip_prefix("use "))
        .map(|path| path.strip_prefix("crate::").unwrap_or(path))
        .map(|path| path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

#[test]
fn rooms_import_only_what_they_may() {
    let mut wrong = Vec::new();
    for room in ROOMS {
        for (path, text) in rust_files(&format!("src/{}", room.path)) {
            // A test module in a file of its own may look further.
            if path.ends_with("tests.rs") || path.to_string_lossy().contains("test_") {
                continue;
            }
            let modules = text.lines().filter_map(|line| line.trim().split_once("mod "));
            let local_modules: Vec<&str> =
                modules.filter(|(before, _)| !before.contains("//")).map(|(_, m)| m).collect();
            for import in imports(&text) {
                let local = local_modules.iter().any(|m| m.trim_end_matches(';') == import);
                if !local && !FREE.contains(&&*import) && !room.may_import.contains(&&*import) {
                    wrong.push(format!("{}: {} must not import {import}", path.display(), room.path));
                }
            }
            for banned in room.must_not_contain {
                if product_lines(&text).any(|line| line.contains(banned)) {
                    wrong.push(format!("{}: {} must not contain {banned}", path.display(), room.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_stay_small_enough_to_read() {
    let too_long: Vec<String> = ["src", "protocol-tests/src", "protocol-tests/tests"]
        .iter()
        .flat_map(|folder| rust_files(folder))
        .filter(|(path, _)| !path.ends_with("guard_table.rs") && !path.ends_with("tests.rs"))
        .filter(|(_, text)| product_lines(text).count() > LINES_MAX)
        .map(|(path, text)| format!("{}: {} lines", path.display(), product_lines(&text).count()))
        .collect();
    assert!(too_long.is_empty(), "over {LINES_MAX} lines:\n{}", too_long.join("\n"));
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = ["todo!", "unimplemented!", "FIXME", "XXX", "#[ignore"];
    let found: Vec<String> = ["src", "protocol-tests/src"]
        .iter()
        .flat_map(|folder| rust_files(folder))
        .flat_map(|(path, text)| {
            let lines: Vec<String> = text
                .lines()
                .enumerate()
                .filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)))
                .map(|(n, line)| format!("{}:{}: {}", path.display(), n + 1, line.trim()))
                .collect();
            lines
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
