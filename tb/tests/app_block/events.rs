//! What the application tells of in `events.pending`.

use crate::support::{send_matched, started};
use spinneret_regmap::{bar, events, guard};
use spinneret_sim::axil::Response;
use spinneret_sim::test_run::run_test;
use spinneret_tb::app::{Actions, Clocks};

/// All lines.
const LINES: u32 = (1 << events::LINES) - 1;
/// A round of the statistics.
const ROUND: u64 = 1000;

#[test]
fn host_writes_standard_output_and_errors_become_pending() {
    run_test("app_events", 1, |run| {
        let mut rng = run.rng("packets");
        let actions = Actions {
            copy: true,
            ..Actions::NONE
        };
        let mut bench = started(run, Clocks::EQUAL, actions);
        let pending = events::PENDING.offset;
        bench.run(ROUND);
        bench.set(pending, LINES);
        assert_eq!(bench.get(pending), 0);
        // While nobody says which context asks, all of them are meant.
        for (by_context, expected) in [(0, 0b1111), (1, 0b0100)] {
            bench.set(guard::BY_CONTEXT.offset, by_context);
            send_matched(&mut bench, &mut rng, 2, 300);
            bench.settle();
            assert_eq!(bench.get(pending), expected);
            bench.set(pending, LINES);
        }
        let nowhere = bench.bar_read(bar::UNMAPPED.start);
        assert_eq!(nowhere.1, Response::DecodeError);
        bench.run(ROUND);
        assert_eq!(bench.get(pending), 1 << events::ERRORS_LINE);
        bench.set(pending, LINES);
        assert_eq!(bench.get(pending), 0, "what moved was told");
        assert_eq!(bench.get(events::SENT.offset), 0, "no line is enabled");
        bench.set(events::ENABLE.offset, LINES);
        bench.bar_read(bar::UNMAPPED.start);
        bench.run(ROUND);
        assert_eq!(bench.get(events::SENT.offset), 1);
        bench.finish();
    });
}

#[test]
fn a_word_of_standard_output_becomes_pending() {
    run_test("app_events_stdout", 1, |run| {
        let mut rng = run.rng("packets");
        let actions = Actions {
            print: true,
            ..Actions::NONE
        };
        let mut bench = started(run, Clocks::EQUAL, actions);
        let pending = events::PENDING.offset;
        for _ in 0..2 {
            bench.set(pending, LINES);
            send_matched(&mut bench, &mut rng, 0, 300);
            bench.settle();
            assert_eq!(bench.get(pending), 1 << events::STDOUT_LINE);
            bench.read_stdout();
        }
        bench.finish();
    });
}
