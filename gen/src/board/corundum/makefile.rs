//! The lists of files in a Makefile of Corundum's.
//!
//! This is no make: it knows assignments, comments and lines that go on, and leaves out what depends on conditions or on
//! variables.

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
    fn words_of_one_variable_are_taken_and_nothing_that_is_not_certain() {
        let makefile = "A = old\nA = a b # c\nA+=d\nA +=  e \\\n  f\\\n\n# A += no\nAB += no\nB = $(A)\n\
                        ifdef X\nA += no\nifeq (1,1)\nA += no\nelse\nA += no\nendif\nA += no\nendif\n\
                        A += $(X)/no no% *.no g\nall: A\n\tA += no\nA ?= h\nA += i \\";
        assert_eq!(values(makefile, "A"), ["a", "b", "d", "e", "f", "g", "h", "i"]);
        assert_eq!(values(makefile, "C"), [""; 0]);
        assert_eq!(values("A := x\nA\n=\n", "A"), ["x"]);
    }
}
