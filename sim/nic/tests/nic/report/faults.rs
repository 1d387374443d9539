//! Faults and profiles of a real program.

use super::{Shown, config, run};
use crate::kit::program;
use spinneret_nic::report::{End, Finished, Options, ProfileReport, Recorder, Symbols};

fn record(packets: &[Vec<u8>], options: Options) -> Finished {
    let program = program("tests/faults");
    let mut recorder = Recorder::new(options, Some(&program), &config()).unwrap();
    let cluster = run(&program, packets, &mut recorder);
    recorder.finish(&End::default(), cluster.profile())
}

/// Packets that make the program fail in these ways.
fn ways(ways: impl IntoIterator<Item = u8>) -> Vec<Vec<u8>> {
    ways.into_iter()
        .map(|way| [way, 1, 0].into_iter().chain([0; 61]).collect())
        .collect()
}

/// Whether a text has these parts, one behind another.
fn has(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(place) = rest.find(part) else {
            panic!("`{part}` is missing in `{rest}` of\n{text}")
        };
        rest = &rest[place + part.len()..];
    }
}

#[test]
fn each_fault_is_described_with_its_source_line() {
    let shown = Shown::default();
    let options = Options {
        faults_in_full: 100,
        ..shown.options()
    };
    let summary = record(&ways(0..=16), options).summary;
    let text = shown.text();
    for parts in [
        &["[", "] no fault 1"][..],
        &[
            "faults_ph failed on packet 1 (message 1), HPU ",
            "illegal instruction 0x00000000",
            "<faults_ph",
            "faults.c:",
        ],
        &["packet 2 ", "handlers may not use csrrs", "mhartid"],
        &[
            "packet 4 ",
            "load from 0x40000000, which does not belong to this task (no memory)",
        ],
        &[
            "packet 5 ",
            "store or atomic operation at 0x40000000, which this task may not write",
        ],
        &[
            "packet 6 ",
            "load from 0x10000400",
            "L1 of cluster 0, contexts and stacks",
        ],
        &[
            "packet 7 ",
            "0x1d000100, which this task may not write (program memory)",
        ],
        &["packet 8 ", "jump to 0x40000000", "no code of the program"],
        &[
            "packet 9 ",
            "the watchdog ended it: it ran for 20000 clocks",
            "faults.c:",
            "case 9: for",
        ],
        &["packet 10 ", "dive", "faults.c:"],
        &["packet 11 ", "it terminated itself: abort"],
        &["packet 12 ", "unknown environment call"],
        &["packet 15 ", "packets)", "case 15:"],
    ] {
        has(&text, parts);
    }
    for harmless in [0, 3, 13, 16] {
        assert!(!text.contains(&format!("on packet {harmless} ")), "{text}");
    }
    let handler = &summary.handlers[0];
    assert_eq!(
        (handler.handler.as_str(), handler.packets, handler.failures),
        ("faults_ph", 17, 13)
    );
    assert_eq!(summary.faults.iter().map(|kind| kind.count).sum::<u64>(), 13);
    assert!(summary.broken.is_empty());
}

#[test]
fn alternatives_to_atomic_instructions_are_named() {
    let shown = Shown::default();
    record(&ways(22..=24), shown.options());
    let text = shown.text();
    for (packet, instruction) in [(0, "amoadd.w"), (1, "amoswap.w"), (2, "lr.w")] {
        let failed = format!("faults_ph failed on packet {packet} ");
        has(
            &text,
            &[
                &failed,
                "atomic instructions work on words of L2",
                "amo_add",
                instruction,
            ],
        );
    }
}

#[test]
fn inlined_code_is_traced_to_its_handler() {
    let program = program("tests/faults");
    let symbols = Symbols::new(&program);
    let handler = program
        .functions
        .iter()
        .find(|function| function.name == "faults_ph")
        .unwrap();
    let all = (handler.address..handler.address + handler.size).step_by(2);
    let inlined = all
        .map(|pc| symbols.places(pc))
        .find(|places| places.len() > 1)
        .expect("something is inlined");
    assert_eq!(inlined.last().unwrap().function.as_deref(), Some("faults_ph"));
    assert_ne!(inlined[0].function.as_deref(), Some("faults_ph"));
}

#[test]
fn only_first_faults_are_described_in_full() {
    let shown = Shown::default();
    let options = Options {
        faults_in_full: 2,
        ..shown.options()
    };
    let summary = record(&ways([4, 4, 4, 5, 4, 1]), options).summary;
    let text = shown.text();
    assert_eq!(text.matches("failed on packet").count(), 2, "{text}");
    has(
        &text,
        &[
            "packet 0 ",
            "packet 3 ",
            "further kinds of faults and refusals are only counted",
        ],
    );
    let kinds: Vec<_> = summary
        .faults
        .iter()
        .map(|kind| (kind.cause.as_str(), kind.count))
        .collect();
    assert_eq!(
        kinds,
        [
            ("load not allowed", 4),
            ("store not allowed", 1),
            ("illegal instruction", 1)
        ]
    );
    has(
        &summary.to_string(),
        &["failed: 4 x load not allowed in faults_ph+0x", " of faults_ph"],
    );
}

#[test]
fn a_profile_finds_the_hot_line() {
    let profile: ProfileReport = record(&ways([9]), Options::silent()).summary.profile.unwrap();
    let (function, line) = (&profile.functions[0], &profile.lines[0]);
    assert_eq!(function.function, "faults_ph");
    assert!(line.file.ends_with("faults.c"), "{line:?}");
    assert!(
        line.source.as_ref().unwrap().starts_with("case 9: for (;;) {}"),
        "{line:?}"
    );
    // The loop runs until the watchdog; before it the handler began, with a cold instruction cache.
    assert!((19_700..20_000).contains(&line.cycles), "{line:?}");
    let functions: u64 = profile
        .functions
        .iter()
        .map(|cost| cost.cycles + cost.waited)
        .sum();
    assert_eq!(functions + profile.unknown, profile.cycles);
    has(
        &profile.to_string(),
        &[
            "instructions",
            "faults_ph",
            "source",
            "faults/faults.c:",
            "case 9: for",
        ],
    );
}

#[test]
fn profiles_exclude_idle_time() {
    let profile = record(&ways([0]), Options::silent()).summary.profile.unwrap();
    let waited: u64 = profile.functions.iter().map(|cost| cost.waited).sum();
    assert_eq!(waited, 0, "{profile}");
    assert!(
        profile
            .functions
            .iter()
            .any(|cost| cost.function == "next_task" && cost.cycles > 0)
    );
}
