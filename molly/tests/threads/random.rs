//! Random programs on threads: every read returns the value of the serial run.
//!
//! `MOLLY_CASES` says how many.

use molly::random::Case;
use molly::{Network, Options, Pipeline, Plan};
use std::num::NonZeroU32;

fn cases() -> u64 {
    std::env::var("MOLLY_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(24)
}

#[test]
fn random_programs_read_what_the_serial_run_reads() {
    // In the last two, turns would be a circle, and would send what is overwritten.
    for seed in (0..cases()).chain([49, 73]) {
        let case = Case::new(seed, None);
        let network = Network {
            delays: Some(seed),
            eager: [0, 1, 1000][seed as usize % 3],
            ..Network::default()
        };
        let checked = molly::threads(&case.grid, &network, |rank| {
            rank.set_options(Options {
                pipeline: match seed % 5 {
                    4 => Pipeline::Chosen(NonZeroU32::MIN),
                    rows => NonZeroU32::new(rows as u32).into(),
                },
                ..Options::default()
            });
            if rank.rank() == 0 {
                let plan = rank.plan(&case.program, &case.sizes)?;
                case.check_plan(&plan)
                    .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
            }
            case.check(rank)
        });
        checked.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

#[test]
fn random_sweeps_in_place_read_the_same_in_turns_of_fewer_messages() {
    let (mut in_turns, mut saved) = (0, 0);
    for seed in 0..cases().div_ceil(2) {
        let case = Case::in_place(seed);
        let options = Options {
            pipeline: match seed % 4 {
                0 => Pipeline::Chosen(NonZeroU32::MIN),
                rows => NonZeroU32::new(rows as u32).into(),
            },
            ..Options::default()
        };
        let network = Network {
            delays: Some(seed),
            eager: [0, 1, 1000][seed as usize % 3],
            places: seed % 2 == 0,
            ..Network::default()
        };
        let checked = molly::threads(&case.grid, &network, |rank| {
            rank.set_options(options);
            case.check(rank)?;
            rank.plan(&case.program, &case.sizes)
        });
        let plan = &checked.unwrap_or_else(|error| panic!("seed {seed}: {error}"))[0];
        case.check_plan(plan)
            .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        if !plan.turns.is_empty() {
            let options = Options {
                pipeline: Pipeline::Off,
                ..options
            };
            let each = Plan::new(&case.program, &case.sizes, &case.grid, options).unwrap();
            let sent = |plan: &Plan| plan.check_progress(None).unwrap();
            let (each, sent) = (sent(&each), sent(plan));
            assert!(
                sent <= each,
                "seed {seed}: {sent} messages in turns, and {each} without"
            );
            in_turns += plan.turns.len();
            saved += each - sent;
        }
    }
    assert!(
        in_turns > 4 && saved > 20,
        "{in_turns} sweeps in turns, {saved} messages fewer"
    );
}

/// A place that had room too early would be read with something else in it, or written over.
#[test]
fn random_programs_read_the_same_when_messages_are_put_in_place() {
    let mut placed = 0;
    for seed in 0..cases() {
        let case = Case::new(1000 + seed, None);
        let network = Network {
            delays: Some(seed),
            places: true,
            ..Network::default()
        };
        let checked = molly::threads(&case.grid, &network, |rank| case.check(rank));
        let traffic = checked.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(traffic.iter().all(|rank| rank.unpacked == 0), "seed {seed}");
        placed += traffic.iter().map(|rank| rank.bytes).sum::<u64>();
    }
    assert!(placed > 0, "no case has a message");
}
