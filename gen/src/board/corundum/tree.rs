//! Reading the trees that a board is built in, and what can be wrong with them.

use crate::error::failed;
use anyhow::{anyhow, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the error for a directory that is something else.
pub(super) fn not_a_checkout(path: &Path, what: &str, file: &str, repository: &str) -> anyhow::Error {
    anyhow!(
        "{} is not {what}: it has no {file}; give the root of a checkout of {repository}",
        path.display()
    )
}

/// Returns the error for files that the tree's own list names and that are not there.
pub(super) fn missing_files(list: &Path, first: &Path, count: usize, advice: &str) -> anyhow::Error {
    let (list, first) = (list.display(), first.display());
    match count {
        1 => anyhow!("{list} names a file that is not there, {first}: {advice}"),
        _ => anyhow!("{list} names {count} files that are not there, the first of them {first}: {advice}"),
    }
}

/// The absolute path of a directory that is there and that make can handle.
pub(super) fn open(option: &'static str, path: &Path) -> anyhow::Result<PathBuf> {
    if !path.is_dir() {
        bail!("`{option} {}`: no such directory", path.display());
    }
    let absolute = path.canonicalize().map_err(failed("read", path.display()))?;
    check_path(&absolute)?;
    Ok(absolute)
}

/// Refuses a path that make or a shell would take for something else; Corundum's own Makefiles quote nothing.
pub(super) fn check_path(path: &Path) -> anyhow::Result<()> {
    let shown = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+@,".contains(c);
    match shown.chars().find(|c| !plain(*c)) {
        Some(character) => bail!(
            "{shown} cannot be used: `{character}` in a path has another meaning for make; move the directory"
        ),
        None => Ok(()),
    }
}

/// A file that has to be readable text.
pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).map_err(failed("read", path.display()))
}

/// A file whose comments may be in any encoding.
pub(super) fn read_lossy(path: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(path).map_err(failed("read", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A file relative to a folder of a tree, both as text, without `..` in it, so that it can be read.
pub(super) fn joined(root: &Path, folder: &str, file: &str) -> PathBuf {
    if file.starts_with('/') {
        return PathBuf::from(file);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(file.split('/')) {
        match part {
            "." | "" => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    root.join(parts.join("/"))
}

/// Directives that begin something that may not count.
const CONDITIONS: [&str; 4] = ["ifeq", "ifneq", "ifdef", "ifndef"];

/// The values of a variable, as far as they are plain words outside of conditions.
pub(super) fn values(makefile: &str, variable: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut depth = 0_usize;
    for line in logical_lines(makefile) {
        let first = line.split_whitespace().next().unwrap_or_default();
        depth += usize::from(CONDITIONS.contains(&first));
        depth = depth.saturating_sub(usize::from(first == "endif"));
        // A line of a recipe is for the shell.
        if depth > 0 || line.starts_with('\t') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let adds = name.ends_with(['+', '?']);
        if name.trim_end_matches(['+', ':', '?']).trim() != variable {
            continue;
        }
        if !adds {
            all.clear();
        }
        let plain = |word: &&str| !word.contains(['$', '%', '*']);
        all.extend(value.split_whitespace().filter(plain).map(str::to_owned));
    }
    all
}

/// Lines without comments, joined where they go on.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        let mut whole = open.take().unwrap_or_default();
        match line.strip_suffix('\\') {
            Some(begin) => {
                whole.push_str(begin);
                whole.push(' ');
                open = Some(whole);
            }
            None => {
                whole.push_str(line);
                lines.push(whole);
            }
        }
    }
    lines.extend(open);
    let code = |line: &String| line.split('#').next().unwrap_or_default().to_owned();
    lines.iter().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::values;

    #[test]
    fn reads_only_unconditional_words_of_a_variable() {
        let makefile = "A = old\nA = a b # c\nA+=d\nA +=  e \\\n  f\\\n\n# A += no\nAB += no\nB = $(A)\n\
                        ifdef X\nA += no\nifeq (1,1)\nA += no\nelse\nA += no\nendif\nA += no\nendif\n\
                        A += $(X)/no no% *.no g\nall: A\n\tA += no\nA ?= h\nA += i \\";
        assert_eq!(values(makefile, "A"), ["a", "b", "d", "e", "f", "g", "h", "i"]);
        assert_eq!(values(makefile, "C"), [""; 0]);
        assert_eq!(values("A := x\nA\n=\n", "A"), ["x"]);
    }
}
