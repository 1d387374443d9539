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

/// The error about the rule in a file with one rule, without file, line and place.
fn rule_error(entry: &str) -> String {
    let text = error(&format!("[[ruleset]]\nrules = [{entry}]\n"));
    let place = "rules.toml:2: ruleset 0, rule 0: ";
    text.strip_prefix(place)
        .unwrap_or_else(|| panic!("{text:?} must name its place"))
        .to_owned()
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
fn the_example_of_the_documentation_is_read() {
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
fn every_named_rule_of_the_documentation_has_the_numbers_given_there() {
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

#[test]
fn unknown_names_are_reported_with_what_was_probably_meant() {
    assert_eq!(
        rule_error("'ipv5'"),
        "there is no rule \"ipv5\": did you mean \"ipv4\"?"
    );
    assert_eq!(
        rule_error("{ udp-port = 1 }"),
        "there is no rule \"udp-port\": did you mean \"udp-dport\"?"
    );
    assert!(rule_error("'quantum-entangled'").ends_with(
        "known are always, never, ipv4, ip-proto, udp-sport, udp-dport, icmp-echo-request, slmp, slmp-eom, \
         slmp-syn, slmp-ack"
    ));
    assert_eq!(
        error("[[rulset]]\nrules=['ipv4']"),
        "rules.toml:1: unknown key \"rulset\": did you mean \"ruleset\"?"
    );
    assert_eq!(
        error("[[ruleset]]\nname = 'x'\nrules = ['ipv4']\nmod = 'or'"),
        "rules.toml:4: ruleset 0 (\"x\"): unknown key \"mod\": did you mean \"mode\"?"
    );
}

#[test]
fn values_in_the_wrong_place_are_explained() {
    assert_eq!(
        rule_error("'udp-dport'"),
        "\"udp-dport\" needs a value: write { udp-dport = 9330 }"
    );
    assert_eq!(
        rule_error("{ ipv4 = true }"),
        "\"ipv4\" takes no value: write it as \"ipv4\", without braces"
    );
    assert_eq!(
        rule_error("{ ip-proto = 'udp' }"),
        "ip-proto must be a number from 0 to 255: ip-proto = 255, or a range, ip-proto = \"1-255\", not \"udp\""
    );
    assert_eq!(
        rule_error("{ ip-proto = 256 }"),
        "ip-proto must be a whole number from 0 to 255, not 256"
    );
    assert_eq!(
        rule_error("{ udp-dport = -1 }"),
        "udp-dport must be a whole number from 0 to 65535, not -1"
    );
    assert_eq!(
        rule_error("{ udp-dport = 1.5 }"),
        "udp-dport must be a whole number from 0 to 65535, not 1.5"
    );
    assert_eq!(
        rule_error("{ udp-dport = '9-3' }"),
        "the range \"9-3\" ends before it starts: write udp-dport = \"3-9\""
    );
    assert!(rule_error("{ ip-proto = 17, udp-dport = 9330 }").starts_with("a rule has one name: "));
    assert!(rule_error("{}").starts_with("the rule is empty: write a name such as \"ipv4\""));
    assert!(rule_error("3").starts_with("a rule cannot be 3: write a name such as \"ipv4\""));
    assert!(rule_error("['ipv4']").starts_with("a rule cannot be a list: "));
}

#[test]
fn raw_rules_are_complete_and_in_range() {
    assert_eq!(
        rule_error("{ idx = 3, mask = 1, start = 0 }"),
        "\"end\" is missing: a raw rule needs idx, mask, start and end"
    );
    assert_eq!(
        rule_error("{ idx = 3, mask = 1, start = 0, end = 1, value = 3 }"),
        "a raw rule has idx, mask, start and end, but not \"value\""
    );
    assert_eq!(
        rule_error("{ idx = 3, mask = 0x1_0000_0000, start = 0, end = 1 }"),
        "mask must be a whole number from 0 to 0xffffffff, not 0x100000000"
    );
}

#[test]
fn rules_that_can_never_match_are_refused() {
    let error = rule_error("{ idx = 3, mask = 0xff, start = 5, end = 4 }");
    assert!(
        error.starts_with("the rule can never match: start 0x5 is greater than end 0x4; "),
        "{error}"
    );
    let error = rule_error("{ idx = 3, mask = 0xff, start = 0x100, end = 0x1ff }");
    let reason = "the rule can never match: mask 0xff leaves no value from start 0x100 to end 0x1ff; ";
    assert!(error.starts_with(reason), "{error}");
    assert!(
        error.ends_with("write \"never\" if nothing is to match"),
        "{error}"
    );
}

#[test]
fn rules_beyond_the_inspected_bytes_are_refused() {
    assert_eq!(
        rule_error("{ idx = 32, mask = 1, start = 0, end = 1 }"),
        "the rule looks at word 32, but the matcher inspects words 0 to 31 (bytes 0 to 127 of a frame): \
         use a smaller idx, or a matcher that inspects more bytes (--inspected-bytes)"
    );
    let small = MatcherParams {
        data_width_bits: 64,
        inspected_bytes: 33,
        ..MatcherParams::REFERENCE
    };
    let parse = |entry: &str| {
        let text = format!("[[ruleset]]\nrules = [{entry}]\nend-of-message = 'slmp-eom'\n");
        RuleFile::parse("rules.toml", text.as_bytes(), &small)
            .expect_err("the matcher is small")
            .to_string()
    };
    let error = parse("'ipv4'");
    assert!(
        error.starts_with("rules.toml:3: ruleset 0, end-of-message rule: the rule looks at word 10, "),
        "{error}"
    );
    assert!(
        error.contains("words 0 to 9 (bytes 0 to 39 of a frame)"),
        "{error}"
    );
}

#[test]
fn too_many_rules_and_rulesets_are_counted() {
    let text = "[[ruleset]]\nrules = ['ipv4', 'ipv4', 'ipv4',\n 'ipv4']\n";
    assert_eq!(
        error(text),
        "rules.toml:2: ruleset 0: there are 4 rules, but the matcher has 3 for a ruleset"
    );
    assert_eq!(
        error("[[ruleset]]\nrules = ['slmp', 'ipv4']\n"),
        "rules.toml:2: ruleset 0: there are 4 rules, but the matcher has 3 for a ruleset"
    );
    assert_eq!(
        error(&"[[ruleset]]\nrules = ['ipv4']\n".repeat(5)),
        "rules.toml:9: there are 5 rulesets, but the matcher has 4: join or remove some"
    );
}

#[test]
fn slmp_is_three_rules_and_fits_only_where_three_rules_do() {
    let text = "[[ruleset]]\nmode = 'or'\nrules = ['ipv4', 'slmp']\n";
    assert_eq!(
        error(text),
        "rules.toml:3: ruleset 0, rule 1: \"slmp\" is three rules that must all match: \
         use it in a ruleset with mode = \"and\""
    );
    let text = "[[ruleset]]\nrules = ['ipv4']\nend-of-message = 'slmp'\n";
    assert_eq!(
        error(text),
        "rules.toml:3: ruleset 0, end-of-message rule: \"slmp\" is three rules: write end-of-message = \"slmp-eom\""
    );
}

#[test]
fn incomplete_rulesets_are_explained() {
    assert!(error("").starts_with("rules.toml:1: there is no ruleset: write [[ruleset]] and below it"));
    assert!(error("# nothing\n").starts_with("rules.toml:1: there is no ruleset: "));
    assert!(error("ruleset = []").starts_with("rules.toml:1: there is no ruleset: "));
    assert!(error("ruleset = 3").starts_with("rules.toml:1: \"ruleset\" must be a list of tables: "));
    assert!(error("ruleset = [3]").starts_with("rules.toml:1: \"ruleset\" must be a list of tables: "));
    assert!(error("[ruleset]\nrules = ['ipv4']").contains("\"ruleset\" must be a list of tables: "));
    assert_eq!(
        error("[[ruleset]]\nmode = 'or'\n"),
        "rules.toml:1: ruleset 0: \"rules\" is missing: write rules = [\"ipv4\"] or the like"
    );
    assert!(error("[[ruleset]]\nrules = []\n").starts_with("rules.toml:2: ruleset 0: \"rules\" is empty: "));
    assert!(error("[[ruleset]]\nrules = 'ipv4'\n").contains("\"rules\" must be a list, not \"ipv4\": "));
    assert_eq!(
        error("[[ruleset]]\nrules = ['ipv4']\nmode = 'xor'\n"),
        "rules.toml:3: ruleset 0: mode must be \"and\" or \"or\", not \"xor\""
    );
    assert!(error("[[ruleset]]\nname = 3\nrules = ['ipv4']\n").contains("\"name\" must be text"));
    assert!(error("[[ruleset]]\nname = ''\nrules = ['ipv4']\n").contains("\"name\" is empty"));
    assert!(error("[[ruleset]]\nname = \"a\\u0007\"\nrules = ['ipv4']\n").contains("control characters"));
}

#[test]
fn what_is_not_toml_is_reported_with_its_line() {
    let text = error("[[ruleset]]\nrules = ['ipv4']\nrules = ['ipv4']\n");
    assert_eq!(text, "rules.toml:3: this is not TOML: duplicate key");
    let text = error("[[ruleset]]\n\nrules = ['ipv4'\n");
    assert!(
        text.starts_with("rules.toml:") && text.contains("this is not TOML: "),
        "{text}"
    );
    let text = error("idx 3 mask");
    assert!(text.starts_with("rules.toml:1: this is not TOML: "), "{text}");
}

#[test]
fn what_is_not_text_is_reported_with_its_byte() {
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
fn files_that_cannot_be_read_are_named() {
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
fn deep_nesting_is_refused_and_does_not_exhaust_the_stack() {
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
    fn raw_rules_mean_their_numbers(idx in 0u32..32, mask: u32, start: u32, span in 0u32..1000) {
        let end = start.saturating_add(span);
        let text = format!("[[ruleset]]\nrules = [{{ idx = {idx}, mask = {mask:#x}, start = {start}, end = {end:#x} }}]\n");
        let rule = raw(idx, mask, start, end);
        match parse(&text) {
            Ok(file) => prop_assert_eq!(&file.rulesets[0].ruleset.rules[..], &[rule][..]),
            Err(error) => prop_assert!(!rule.can_match(), "{}", error),
        }
    }
}
