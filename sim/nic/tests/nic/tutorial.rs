//! The tutorial works as it is written: its blocks are run in their order, as one script, in an empty folder.
//!
//! | block | is |
//! |---|---|
//! | `sh` | commands; the first that fails ends the script |
//! | `text` | what the commands before it print, both outputs together; `...` stands for anything, also for many lines |
//! | `console` | not run, because it needs privileges or another terminal |
//! | any other | a file, saved under the last name in backticks before it |
//!
//! The first block says where the clone is and builds the command, which cargo has done for this test already.

use crate::kit::{library, ok, root};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The block that people need instead of what the test sets up.
const PREPARATION: &str = "export SPINNERET=$HOME/spinneret
cargo build --release --manifest-path \"$SPINNERET/Cargo.toml\" --bin spinneret
export PATH=$SPINNERET/target/release:$PATH
";
/// Longest that all of it takes, in seconds.
const LIMIT: &str = "300";

/// A fenced block of a document.
#[derive(Debug)]
struct Block<'d> {
    language: &'d str,
    text: String,
    /// Its first line in the document.
    line: usize,
    /// The last name in backticks in front of it.
    name: Option<&'d str>,
}

/// All blocks of a document.
fn blocks(document: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    let mut name = None;
    for (line, number) in document.lines().zip(1..) {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                let text = String::new();
                open = Some(Block {
                    language,
                    text,
                    line: number + 1,
                    name,
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => {
                let _ = writeln!(block.text, "{line}");
            }
            (None, None) => name = line.split('`').skip(1).step_by(2).last().or(name),
        }
    }
    assert!(open.is_none(), "the last block has no end");
    blocks
}

/// The script that a document is, which leaves what the commands of a block print in a file that has its line for a name.
fn script(blocks: &[Block<'_>], outputs: &Path) -> String {
    // Background processes end with the script.
    let mut script = "set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n".to_owned();
    for block in blocks {
        let Block {
            language, text, line, ..
        } = block;
        let _ = match *language {
            "sh" => writeln!(
                script,
                "exec >'{}' 2>&1\n{text}",
                outputs.join(line.to_string()).display()
            ),
            "text" | "console" => Ok(()),
            _ => {
                let name = block
                    .name
                    .unwrap_or_else(|| panic!("the file of line {line} has no name"));
                writeln!(script, "cat >'{name}' <<'END OF FILE'\n{text}END OF FILE")
            }
        };
    }
    script
}

/// Whether a text is what was expected: the parts between `...` have to come in their order.
fn check(expected: &str, found: &str) -> Result<(), String> {
    let parts: Vec<&str> = expected.trim_end().split("...").collect();
    let mut rest = found.trim_end();
    for (number, part) in parts.iter().enumerate() {
        let (is_first, is_last) = (number == 0, number + 1 == parts.len());
        let at = match (is_first, is_last) {
            (true, true) => (rest == *part).then_some(0),
            (true, false) => rest.starts_with(part).then_some(0),
            (false, true) => rest.ends_with(part).then(|| rest.len() - part.len()),
            (false, false) => rest.find(part),
        };
        let at = at.ok_or_else(|| format!("`{part}` is not in its place"))?;
        rest = &rest[at + part.len()..];
    }
    Ok(())
}

/// Runs a document in an empty folder.
fn run(document: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("there is room");
    let outputs = tempfile::tempdir().expect("there is room");
    let blocks = blocks(document);
    let command = Path::new(env!("CARGO_BIN_EXE_spinneret"))
        .parent()
        .expect("it is in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        [command.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&path)),
    );
    let ended = Command::new("timeout")
        .args([LIMIT, "bash", "-c", &script(&blocks, outputs.path())])
        .current_dir(&folder)
        .env("SPINNERET", checkout())
        .env("PATH", path.expect("it is a path"))
        .env("LIBRARY", library())
        .env("CARGO_NET_OFFLINE", "true")
        .env(
            "CARGO_TARGET_DIR",
            command.parent().expect("it is in the folder of results"),
        )
        .output()
        .expect("bash is there");
    let output = |line: usize| std::fs::read_to_string(outputs.path().join(line.to_string()));
    // If the script has failed, it was in the last block that has begun.
    let mut begun = blocks.iter().rev().map(|block| block.line);
    let failed = match ended.status.success() {
        true => None,
        false => begun.find(|line| output(*line).is_ok()),
    };
    let mut before = None;
    for block in &blocks {
        match (block.language, before) {
            ("sh", _) => {
                if failed == Some(block.line) {
                    let printed = output(block.line).unwrap_or_default();
                    return Err(format!("line {}: {}: {printed}", block.line, ended.status));
                }
                before = Some(block.line);
            }
            ("text", Some(line)) => {
                let found = output(line).unwrap_or_default();
                check(&block.text, &found).map_err(|error| {
                    format!(
                        "line {}: {error}; the commands of line {line} print:\n{found}",
                        block.line
                    )
                })?;
                before = None;
            }
            ("text", None) => return Err(format!("line {}: output of no commands", block.line)),
            _ => {}
        }
    }
    match ended.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{}: {}",
            ended.status,
            String::from_utf8_lossy(&ended.stderr)
        )),
    }
}

/// The root of the checkout, without links.
fn checkout() -> PathBuf {
    ok(root().canonicalize())
}

#[test]
fn the_tutorial_works() {
    let document = std::fs::read_to_string(checkout().join("docs/tutorial.md")).expect("it is there");
    assert!(
        document.contains(PREPARATION),
        "the preparation has changed, and so has to this test"
    );
    let document = document.replace(PREPARATION, &"\n".repeat(PREPARATION.lines().count()));
    run(&document).unwrap_or_else(|error| panic!("docs/tutorial.md, {error}"));
}

/// A new folder, whose commands leave files in it: each works again, and so do others that write there.
#[test]
fn every_command_of_a_new_folder_works_twice() {
    let readme = checkout().join("sim/nic/src/cli/new/README.md");
    let readme = std::fs::read_to_string(readme)
        .expect("it is there")
        .replace("NAME", "dns");
    assert!(
        readme.contains("--pcap FILE"),
        "FILE has changed, and so has to this test"
    );
    let capture = checkout().join("sim/captures/lan.pcap");
    let readme = readme.replace("FILE", &capture.display().to_string());
    let more = "```sh\nspinneret run . --generate udp,dport=9000,count=5 >a.log\n\
                spinneret run . --generate udp,dport=9000,count=5 --json >x.json\n\
                spinneret run . --generate udp,dport=9000,count=5 --out in.pcap --report r.html --plot p.svg >/dev/null\n\
                spinneret run . --pcap in.pcap --out replies.pcap --out-host h.pcap >/dev/null\n```\n";
    let made = "```sh\nspinneret new dns >told\nsed -n 's/^  //p' told >commands\n[ $(wc -l <commands) = 2 ]\n\
                sh -e commands\nsh -e commands\ncd dns\n```\n";
    // The test of the folder finds handlers that fail, and SPINNERET may be the folder of the tutorial.
    let broken = "```sh\n[ -d \"$SPINNERET\" ]\n\
                  sed -i 's/spin_swap_ends(packet);/*(volatile int *)0x40000000 = 1;/' dns.c\n\
                  if make test; then exit 1; fi\n\
                  spinneret run . --generate udp,dport=9000,count=5 --allow-faults\n```\n\
                  ```text\n...error: handlers failed 20 times...failed: 5 x...\n```\n";
    let document = [made, &readme, more, &readme, more, broken].concat();
    run(&document).unwrap_or_else(|error| panic!("spinneret new, {error}"));
}

/// The first error of a document.
fn problem(document: &str) -> String {
    run(document).expect_err("it is wrong")
}

#[test]
fn errors_in_a_document_are_found() {
    let right = "```sh\nmkdir a\n```\nInto `a/b.txt`:\n```toml\none\ntwo $HOME\n```\n\
                 ```sh\ncat a/b.txt\necho three >&2\n```\n```text\none\n...$HOME\nthree\n```\n";
    run(right).unwrap_or_else(|error| panic!("{error}"));
    let wrong = |from, to| problem(&right.replace(from, to));
    assert!(
        wrong("\none\n...", "\nten\n...")
            .contains("line 14: `ten\n` is not in its place; the commands of line 10 print:\none\ntwo")
    );
    assert!(wrong("three\n```\n", "four\n```\n").contains("four` is not in its place"));
    assert!(wrong("...$HOME", "two").contains("is not in its place"));
    assert!(wrong("cat a/b.txt", "cat a/c.txt").contains("No such file"));
    assert!(wrong("mkdir a", "mkdir b").contains("line 2: exit status: 1"));
    assert!(
        wrong("echo three >&2", "echo ouch; exit 3")
            .contains("line 10: exit status: 3: one\ntwo $HOME\nouch")
    );
    assert!(problem("Into `a/b`:\n```c\n```\n").contains("exit status: 1"));
    assert!(problem("```text\nnothing\n```\n").contains("line 2: output of no commands"));
    assert!(problem("```sh\ntrue\n```\n```text\nmore\n```\n").contains("`more` is not in its place"));
}
