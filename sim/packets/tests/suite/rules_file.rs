//! Rule files: what they mean, and what is said about those that are wrong.

use proptest::prelude::*;
use spinneret_packets::reference::matcher::RuleTable;
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MAX_FILE_BYTES, MatcherParams, RuleFile, RuleFileError, Ruleset};

fn parse(text: &str) -> Result<RuleFile, RuleFileError> {
    RuleFile::parse("rules.toml", text.as_bytes(), &MatcherParams::BOARD)
}

/// The rules of a file with one ruleset whose rules are the given text.
fn rules(entries: &str) -> Vec<Rule> {
    let file = parse(&format!("[[ruleset]]\nrules = [{entries}]\n")).expect("the rules are right");
    file.rulesets[0].ruleset.rules.clone()
}

fn error(text: &str) -> String {
    parse(text).expect_err("the file is wrong").to_string()
}

fn raw(idx: u32, mask: u32, start: u32, end: u32) -> Rule {
    Rule {
        idx,
        mask,
        start,
        end,
        relative: false,
    }
}

#[test]
fn the_example_in_the_documentation_is_accepted() {
    let page = include_str!("../../../../docs/rules.md");
    let example = page
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let file = parse(example.expect("the page has an example")).expect("the example is right");
    let names: Vec<_> = file.rulesets.iter().map(|set| set.name.as_deref()).collect();
    assert_eq!(
        names,
        [Some("slmp"), Some("ping"), Some("media"), Some("neighbours")]
    );
    let sets: Vec<_> = file.rulesets.iter().map(|set| &set.ruleset).collect();
    assert_eq!(
        sets[0].rules,
        [
            Rule::IPV4,
            Rule::ip_protocol(17, 17),
            Rule::udp_destination_port(9330, 9330)
        ]
    );
    assert_eq!(sets[0].end_of_message, Rule::SLMP_END_OF_MESSAGE);
    assert_eq!((sets[1].join, sets[3].join), (Join::And, Join::Or));
    assert_eq!(sets[2].rules[2], raw(9, 0xffff_0000, 5000 << 16, 5999 << 16));
    assert_eq!(sets[3].rules[1], raw(3, 0xffff_0000, 0x0806_0000, 0x0806_0000));
    assert_eq!(sets[3].end_of_message, Ruleset::USUAL_END);
}

#[test]
fn named_rules_have_the_numbers_in_the_documentation() {
    let page = include_str!("../../../../docs/rules.md");
    let mut seen = 0;
    for line in page
        .lines()
        .filter(|line| line.starts_with("| `\"") || line.starts_with("| `{"))
    {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let entry = columns[1]
            .trim_matches('`')
            .replace("= N", "= 77")
            .replace("= P", "= 1234");
        let numbers = columns[3]
            .replace("P << 16", "80871424")
            .replace('N', "77")
            .replace('P', "1234");
        if numbers.is_empty() {
            continue;
        }
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let n: Vec<u32> = numbers
            .split(", ")
            .map(|text| number(text).expect("a number"))
            .collect();
        let relative = entry.contains("relative");
        let rule = Rule {
            relative,
            ..raw(n[0], n[1], n[2], n[3])
        };
        assert_eq!(rules(&entry), [rule], "{entry}");
        seen += 1;
    }
    assert_eq!(seen, 10 + 6);
}

#[test]
fn values_may_be_numbers_or_ranges() {
    assert_eq!(rules("{ ip-proto = 0x11 }"), [Rule::ip_protocol(17, 17)]);
    assert_eq!(rules("{ ip-proto = '1-17' }"), [Rule::ip_protocol(1, 17)]);
    assert_eq!(rules("{ udp-sport = '53' }"), [Rule::udp_source_port(53, 53)]);
    assert_eq!(
        rules("{ udp-dport = '0-65535' }"),
        [Rule::udp_destination_port(0, 65535)]
    );
    assert_eq!(
        rules("{ slmp = '9330-9333' }")[2],
        Rule::udp_destination_port(9330, 9333)
    );
    assert_eq!(
        rules("{ idx = 31, mask = 0xffff_ffff, start = 0, end = 4294967295 }"),
        [raw(31, u32::MAX, 0, u32::MAX)]
    );
    assert_eq!(rules("{ idx = 0, mask = 0, start = 1, end = 0 }"), [Rule::NEVER]);
}

#[test]
fn unused_rules_change_nothing_and_unused_rulesets_never_match() {
    let text = "[[ruleset]]\nmode = 'and'\nrules = ['ipv4']\n[[ruleset]]\nmode = 'or'\nrules = ['ipv4']\n";
    let table =
        parse(text).map(|file| RuleTable::of(&MatcherParams::REFERENCE, &file).expect("the rules fit"));
    let table = table.expect("the file is right");
    let sets = table.rulesets();
    assert_eq!(sets[0].rules, [Rule::IPV4, Rule::ALWAYS, Rule::ALWAYS]);
    assert_eq!(sets[1].rules, [Rule::IPV4, Rule::NEVER, Rule::NEVER]);
    assert_eq!(
        (sets[2].join, &sets[2].rules[..]),
        (Join::Or, &[Rule::NEVER; 3][..])
    );
    let ends: Vec<_> = sets.iter().map(|set| set.end_of_message).collect();
    let usual = Ruleset::USUAL_END;
    assert_eq!(ends, [usual, usual, Rule::NEVER, Rule::NEVER]);
}

/// Wrong rules, each of which is all of a ruleset.
const WRONG_RULES: &[&str] = &[
    // Unknown names
    "'ipv5'",
    "'quantum-entangled'",
    "{ udp-port = 1 }",
    "{ name = 'slmp-emo' }",
    // Values in the wrong place
    "'udp-dport'",
    "{ ipv4 = true }",
    "{ ip-proto = 'udp' }",
    "{ ip-proto = 256 }",
    "{ udp-dport = -1 }",
    "{ udp-dport = 1.5 }",
    "{ udp-dport = '9-3' }",
    "{ ip-proto = 17, udp-dport = 9330 }",
    "{}",
    "3",
    "['ipv4']",
    // Raw rules that are incomplete, out of range, or can never match
    "{ idx = 3, mask = 1, start = 0 }",
    "{ idx = 3, mask = 1, start = 0, end = 1, value = 3 }",
    "{ idx = 3, mask = 0x1_0000_0000, start = 0, end = 1 }",
    "{ idx = 3, mask = 0xff, start = 5, end = 4 }",
    "{ idx = 3, mask = 0xff, start = 0x100, end = 0x1ff }",
    "{ idx = 32, mask = 1, start = 0, end = 1 }",
    // Rules that count from the IP payload
    "{ idx = 23, mask = 0, start = 0, end = 0, relative = 'ip-payload' }",
    "{ idx = 0, mask = 0, start = 0, end = 0, relative = 'payload' }",
    "{ udp-dport = 1, relative = true }",
    "{ name = 'always', relative = 'ip-payload' }",
    "{ name = 'never', relative = 'ip-payload' }",
    "{ name = 'ipv4', relative = 'ip-payload' }",
    "{ ip-proto = 17, relative = 'ip-payload' }",
    "{ slmp = 9330, relative = 'ip-payload' }",
    "{ slmp-eom = 1, relative = 'ip-payload' }",
    "{ relative = 'ip-payload' }",
    "{ name = 3, relative = 'ip-payload' }",
    "{ name = 'ipv4', udp-dport = 1, relative = 'ip-payload' }",
];

/// Wrong files.
const WRONG_FILES: &[&str] = &[
    // Unknown keys
    "[[rulset]]\nrules=['ipv4']",
    "[[ruleset]]\nname = 'x'\nrules = ['ipv4']\nmod = 'or'",
    // Too many
    "[[ruleset]]\nrules = ['ipv4', 'ipv4', 'ipv4',\n 'ipv4']\n",
    "[[ruleset]]\nrules = ['slmp', 'ipv4']\n",
    "[[ruleset]]\nrules = ['never']\n[[ruleset]]\nrules = ['never']\n[[ruleset]]\nrules = ['never']\n\
     [[ruleset]]\nrules = ['never']\n[[ruleset]]\nrules = ['never']\n",
    // SLMP is three rules
    "[[ruleset]]\nmode = 'or'\nrules = ['ipv4', 'slmp']\n",
    "[[ruleset]]\nrules = ['ipv4']\nend-of-message = 'slmp'\n",
    // Incomplete
    "",
    "# nothing\n",
    "ruleset = []",
    "ruleset = 3",
    "ruleset = [3]",
    "[ruleset]\nrules = ['ipv4']",
    "[[ruleset]]\nmode = 'or'\n",
    "[[ruleset]]\nrules = []\n",
    "[[ruleset]]\nrules = 'ipv4'\n",
    "[[ruleset]]\nrules = ['ipv4']\nmode = 'xor'\n",
    "[[ruleset]]\nname = 3\nrules = ['ipv4']\n",
    "[[ruleset]]\nname = ''\nrules = ['ipv4']\n",
    "[[ruleset]]\nname = \"a\\u0007\"\nrules = ['ipv4']\n",
    // Not TOML
    "[[ruleset]]\nrules = ['ipv4']\nrules = ['ipv4']\n",
    "[[ruleset]]\n\nrules = ['ipv4'\n",
    "idx 3 mask",
];

/// All messages about files that can be read: each is one line, and begins with file and line.
#[test]
fn messages_name_the_place_the_problem_and_the_fix() {
    let board = MatcherParams::BOARD;
    let small = MatcherParams {
        data_width_bits: 64,
        inspected_bytes: 33,
        ..MatcherParams::REFERENCE
    };
    let narrow = MatcherParams {
        data_width_bits: 64,
        inspected_bytes: 20,
        ..board
    };
    let of_rule = |entry: &str| format!("[[ruleset]]\nrules = [{entry}]");
    let relative = of_rule("{ idx = 0, mask = 0, start = 0, end = 0, relative = 'ip-payload' }");
    let all = WRONG_RULES.iter().map(|entry| (&board, of_rule(entry), *entry));
    let all = all.chain(WRONG_FILES.iter().map(|text| (&board, (*text).to_owned(), *text)));
    let all = all.chain([
        (
            &small,
            "[[ruleset]]\nrules = ['ipv4']\nend-of-message = 'slmp-eom'".to_owned(),
            "33 bytes are inspected",
        ),
        (&narrow, relative.clone(), "20 bytes are inspected"),
        (
            &MatcherParams::REFERENCE,
            relative.clone(),
            "no option ip_relative",
        ),
    ]);
    let said = all.map(|(params, text, shown)| {
        let error = RuleFile::parse("rules.toml", text.as_bytes(), params).expect_err("the file is wrong");
        let error = error.to_string();
        assert!(
            error.starts_with("rules.toml:") && !error.contains('\n'),
            "{text}: {error}"
        );
        format!("{shown:?}\n{error}\n")
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
}

#[test]
fn invalid_utf8_is_reported_with_its_byte() {
    let error = RuleFile::parse("r", b"# a\n# \xff\n", &MatcherParams::REFERENCE).expect_err("not text");
    assert_eq!(
        error.to_string(),
        "r:2: byte 6 is not UTF-8 text; docs/rules.md describes the format"
    );
    let large = vec![b'#'; MAX_FILE_BYTES as usize + 1];
    let error = RuleFile::parse("r", &large, &MatcherParams::REFERENCE).expect_err("too large");
    assert!(error.to_string().starts_with("r: larger than 1 MiB"), "{error}");
}

#[test]
fn unreadable_files_are_named() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    let path = directory.path().join("missing.toml");
    let error = RuleFile::read(&path, &MatcherParams::REFERENCE)
        .expect_err("there is no file")
        .to_string();
    assert!(
        error.starts_with(&format!("{}: cannot read the rule file: ", path.display())),
        "{error}"
    );
    let error = RuleFile::read(directory.path(), &MatcherParams::REFERENCE)
        .expect_err("a directory")
        .to_string();
    assert!(error.contains("cannot read the rule file"), "{error}");
    std::fs::write(&path, "[[ruleset]]\nrules = ['ipv4']\n").expect("the scratch directory is writable");
    assert!(RuleFile::read(&path, &MatcherParams::REFERENCE).is_ok());
}

#[test]
fn deep_nesting_is_rejected_without_exhausting_the_stack() {
    let text = format!("ruleset = {}", "[".repeat(200_000));
    assert!(error(&text).starts_with("rules.toml:1: "));
    let text = format!("[[ruleset]]\nrules = [{}]", "{ a = ".repeat(50_000));
    assert!(error(&text).starts_with("rules.toml:"));
}

/// Fragments that rule files are made of, so that random files get past the TOML parser.
fn fragment() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "[[ruleset]]\n",
        "rules = ",
        "mode = ",
        "name = ",
        "end-of-message = ",
        "\"ipv4\"",
        "'slmp'",
        "'or'",
        "[",
        "]",
        "{",
        "}",
        "udp-dport",
        "ip-proto",
        "idx",
        "mask",
        "start",
        "end",
        " = ",
        ", ",
        "3",
        "0xffffffff",
        "-1",
        "'1-2'",
        "'-'",
        "\n",
        "1e9",
        "true",
        "ruleset",
        ".",
        "'''",
        "\u{feff}",
        "é",
        "1979-05-27",
    ])
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = RuleFile::parse("fuzz", &bytes, &MatcherParams::REFERENCE);
    }

    #[test]
    fn arbitrary_fragments_never_panic(fragments in proptest::collection::vec(fragment(), 0..40)) {
        let text = fragments.concat();
        if let Err(error) = parse(&text) {
            prop_assert!(error.to_string().starts_with("rules.toml:"), "{}", error);
        }
    }

    #[test]
    fn raw_rules_use_their_numbers(idx in 0u32..32, mask: u32, start: u32, span in 0u32..1000) {
        let end = start.saturating_add(span);
        let text = format!("[[ruleset]]\nrules = [{{ idx = {idx}, mask = {mask:#x}, start = {start}, end = {end:#x} }}]\n");
        let rule = raw(idx, mask, start, end);
        match parse(&text) {
            Ok(file) => prop_assert_eq!(&file.rulesets[0].ruleset.rules[..], &[rule][..]),
            Err(error) => prop_assert!(!rule.can_match(), "{}", error),
        }
    }
}
