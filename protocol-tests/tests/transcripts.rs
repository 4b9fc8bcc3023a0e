//! Every transcript of the core, compared with what the core does.

use std::fs;
use std::path::{Path, PathBuf};

use protocol_tests::transcript::{replay, replay_transactions};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("the folder is there").map(|e| e.expect("entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "txt") {
            found.push(path);
        }
    }
}

#[test]
fn the_core_does_what_the_transcripts_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let bless = std::env::var_os("RALLYPOINT_BLESS").is_some();
    let mut paths = Vec::new();
    files(&root, &mut paths);
    assert!(!paths.is_empty(), "no transcript in {}", root.display());
    let mut wrong = Vec::new();
    for path in paths {
        let expected = fs::read_to_string(&path).expect("a transcript is UTF-8");
        let name = path.strip_prefix(&root).expect("below the root").display().to_string();
        let replayed =
            if name.starts_with("txn") { replay_transactions(&expected) } else { replay(&expected) };
        match replayed {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(actual) if actual == expected => {}
            Ok(actual) if bless => fs::write(&path, actual).expect("the transcript can be written"),
            Ok(actual) => wrong.push(format!("{name}:\n{}", first_difference(&expected, &actual))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The first line that differs, with the lines of the step before it.
fn first_difference(expected: &str, actual: &str) -> String {
    let differs = expected.lines().zip(actual.lines()).position(|(e, a)| e != a);
    let at = differs.unwrap_or(expected.lines().count().min(actual.lines().count()));
    let context: Vec<&str> = actual.lines().take(at).collect();
    let start = context.iter().rposition(|line| line.is_empty()).map_or(0, |i| i + 1);
    format!(
        "{}\n- {}\n+ {}",
        context[start..].join("\n"),
        expected.lines().nth(at).unwrap_or("(end)"),
        actual.lines().nth(at).unwrap_or("(end)")
    )
}
