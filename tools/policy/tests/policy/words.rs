//! Pages and comments use plain words: none of `words.txt`, and no sentence whose subject is "What ..." or "Who ...".

use crate::pages::pages;
use crate::{read, root};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose doc comments and comments are checked, besides all pages.
const SOURCES: &[&str] = &[
    "bench",
    "bsp",
    "gen",
    "hdl",
    "host/c/src",
    "host/include",
    "host/lib",
    "host/program/src",
    "host/rules/src",
    "host/slmp/src",
    "host/src",
    "isa",
    "kernel",
    "molly",
    "mpi",
    "python",
    "regmap",
    "rpc",
    "runtime",
    "sim/benches",
    "sim/cluster",
    "sim/fabric",
    "sim/fixtures",
    "sim/fuzz",
    "sim/interop",
    "sim/models",
    "sim/nic",
    "sim/packets",
    "sim/pci",
    "sim/src",
    "sim/tests",
    "sim/verilate",
    "tb",
    "tools/policy",
    "tools/skip",
    "tools/vm",
    "verilog",
];
/// Words that begin a subject without a name.
const SUBJECTS: [&str; 4] = ["What", "Who", "Whoever", "Whatever"];

/// A phrase that is not used, and its replacement.
struct Entry {
    phrase: String,
    instead: String,
}

/// The entries of a list: a phrase, a tab and the replacement on each line.
fn entries(list: &str) -> Vec<Entry> {
    let lines = list
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (phrase, instead) = line
                .split_once('\t')
                .unwrap_or_else(|| panic!("words.txt: `{line}` has no tab and replacement"));
            Entry {
                phrase: phrase.to_lowercase(),
                instead: instead.to_owned(),
            }
        })
        .collect()
}

/// Lines of prose that belong together, with their numbers. Code is blanked.
#[derive(Default)]
struct Paragraph {
    lines: Vec<(usize, String)>,
    is_heading: bool,
}

impl Paragraph {
    fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|(_, line)| line.as_str()).collect();
        lines.join(" ")
    }

    /// The number of the line at a position of the text.
    fn line_at(&self, position: usize) -> usize {
        let mut end = 0;
        for (number, line) in &self.lines {
            end += line.len() + 1;
            if position < end {
                return *number;
            }
        }
        self.lines.last().map_or(0, |(number, _)| *number)
    }
}

/// Replaces inline code by blanks of the same length.
fn without_code(line: &str) -> String {
    let mut is_code = false;
    line.chars()
        .flat_map(|letter| {
            is_code ^= letter == '`';
            let blank = is_code || letter == '`';
            let count = if blank { letter.len_utf8() } else { 1 };
            std::iter::repeat_n(if blank { ' ' } else { letter }, count)
        })
        .collect()
}

/// The paragraphs of lines of Markdown. An item of a list and a cell of a table is a paragraph.
fn paragraphs<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<Paragraph> {
    let mut found: Vec<Paragraph> = vec![Paragraph::default()];
    let mut is_fenced = false;
    for (number, line) in lines {
        let line = line.trim();
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        let item = ["- ", "* "].iter().find_map(|mark| line.strip_prefix(mark));
        let item = item.or_else(|| {
            let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
            rest.strip_prefix(". ").filter(|_| rest.len() < line.len())
        });
        if is_fence || is_fenced || line.is_empty() {
            found.push(Paragraph::default());
        } else if line.starts_with('|') {
            let cells = without_code(line);
            let cells = cells.split('|').map(|cell| Paragraph {
                lines: vec![(number, cell.trim().to_owned())],
                is_heading: false,
            });
            found.extend(cells);
            found.push(Paragraph::default());
        } else {
            if item.is_some() || line.starts_with('#') {
                found.push(Paragraph::default());
            }
            if let Some(last) = found.last_mut() {
                last.is_heading |= line.starts_with("# ") || line.starts_with("##");
                let text = item.unwrap_or(line).trim_start_matches('*');
                last.lines.push((number, without_code(text)));
            }
        }
    }
    found
}

/// The comments of a source file.
fn comments(path: &Path, text: &str) -> Vec<Paragraph> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let mut is_inside = false;
    let mut lines = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        let comment = match extension {
            Some("rs") => ["///", "//!", "//"]
                .iter()
                .find_map(|mark| line.strip_prefix(mark)),
            Some("py") => {
                let quotes = line.matches("\"\"\"").count();
                let was_inside = is_inside;
                is_inside ^= quotes == 1;
                match was_inside || quotes > 0 {
                    true => Some(line.trim_matches('"')),
                    false => line.strip_prefix('#'),
                }
            }
            _ => {
                let start = line.split_once("/*").map(|(_, comment)| comment);
                let was_inside = is_inside;
                is_inside = (was_inside || start.is_some()) && !line.contains("*/");
                let comment = match start {
                    Some(comment) => Some(comment),
                    None if was_inside => Some(line),
                    None => line.split_once("// ").map(|(_, comment)| comment),
                };
                comment.map(|comment| comment.trim_end_matches("*/").trim_start_matches('*'))
            }
        };
        // An empty line ends a paragraph.
        lines.push((number, comment.unwrap_or_default()));
    }
    paragraphs(lines.into_iter())
}

/// The positions of a phrase in a text, as whole words.
fn positions<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '-');
    text.match_indices(phrase).map(|(at, _)| at).filter(move |at| {
        !is_part(text[..*at].chars().next_back()) && !is_part(text[at + phrase.len()..].chars().next())
    })
}

/// The complaints about paragraphs: the line, the words, and what to write.
fn complaints(entries: &[Entry], paragraphs: &[Paragraph]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for paragraph in paragraphs {
        let text = paragraph.text();
        let lower = text.to_ascii_lowercase();
        for Entry { phrase, instead } in entries {
            let here = positions(&lower, phrase);
            found.extend(here.map(|at| (paragraph.line_at(at), format!("`{phrase}`: write {instead}"))));
        }
        let mut start = 0;
        for sentence in text.split_inclusive(['.', '?', '!']) {
            let words = sentence.trim_start();
            let first = words.split(' ').next().unwrap_or_default();
            let is_subject = SUBJECTS.contains(&first) && !words.ends_with('?');
            if is_subject && !paragraph.is_heading {
                let at = start + sentence.len() - words.len();
                found.push((
                    paragraph.line_at(at),
                    format!("a sentence that begins with `{first}`: name its subject"),
                ));
            }
            start += sentence.len();
        }
    }
    found
}

/// The files below a folder with comments that are checked.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("the folder can be read").path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            sources(&path, found);
        } else if matches!(extension, Some("rs" | "c" | "h" | "py")) {
            found.push(path);
        }
    }
}

#[test]
fn pages_and_comments_use_plain_words() {
    let entries = entries(&read("tools/policy/words.txt"));
    assert!(entries.len() > 50, "words.txt has only {} entries", entries.len());
    let mut found = Vec::new();
    let mut add = |path: &Path, paragraphs: &[Paragraph]| {
        for (line, complaint) in complaints(&entries, paragraphs) {
            let path = path.strip_prefix(root()).unwrap_or(path);
            found.push(format!("{}:{line}: {complaint}", path.display()));
        }
    };
    // Old entries of the changelog keep their words.
    for (path, text) in pages().iter().filter(|(path, _)| !path.ends_with("CHANGELOG.md")) {
        add(path, &paragraphs((1..).zip(text.lines())));
    }
    let mut files = Vec::new();
    for folder in SOURCES {
        sources(&root().join(folder), &mut files);
    }
    for path in files {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        add(&path, &comments(&path, &text));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The complaints about a page, as one line each.
fn about(page: &str) -> Vec<String> {
    let entries = entries("in vain\twithout success\nroad\tpath");
    let found = complaints(&entries, &paragraphs((1..).zip(page.lines())));
    found
        .into_iter()
        .map(|(line, complaint)| format!("{line}: {complaint}"))
        .collect()
}

#[test]
fn phrases_are_found_in_prose_across_lines_and_not_in_code() {
    assert_eq!(
        about("It waits in\nvain.\n\n| a | the Road |"),
        ["1: `in vain`: write without success", "4: `road`: write path"]
    );
    let right = "The broadcast and `road` pass.\n\n```text\nin vain\n```\n\n- in\n- vain";
    assert_eq!(about(right), [""; 0]);
}

#[test]
fn sentences_need_a_subject_with_a_name() {
    let subject = |line, word| format!("{line}: a sentence that begins with `{word}`: name its subject");
    assert_eq!(
        about("# What is sPIN\n\nIt ends. What\nremains is lost.\n- Who waits?\n- Whoever waits, loses."),
        [subject(3, "What"), subject(6, "Whoever")]
    );
}

#[test]
fn comments_of_all_languages_are_read() {
    let entries = entries("road\tpath");
    for (name, text) in [
        ("a.rs", "let road = 1;\n/// A road.\nfn f() {}"),
        (
            "a.c",
            "int road;\n/* The\n * road. */\nint a; // no comment of a whole line",
        ),
        ("a.py", "road = 1\n\"\"\"The road.\"\"\"\nroad = 2"),
    ] {
        let found = complaints(&entries, &comments(Path::new(name), text));
        let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
        let wanted = if name == "a.c" { [3] } else { [2] };
        assert_eq!(lines, wanted, "{name}");
    }
}
