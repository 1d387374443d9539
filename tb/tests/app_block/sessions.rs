//! Random sessions of software at the BAR, legal and illegal accesses mixed with traffic: hardware and the register model
//! agree on every read.

use crate::support::bench_with;
use rand::RngExt;
use spinneret_sim::test_run::run_test;
use spinneret_tb::app::{Actions, Behaviour, Clocks, Context, Session};

/// Sessions, spread over benches with different clocks and pauses.
const BENCHES: usize = 10;
const SESSIONS: usize = 10;
/// Accesses of a session.
const ACCESSES: usize = 60;

#[test]
fn hardware_and_register_model_agree_on_every_read() {
    run_test("app_sessions", 1, |run| {
        let mut rng = run.rng("sessions");
        for number in 0..BENCHES {
            let clocks = Clocks::random(&mut rng);
            let behaviour = Behaviour::random(&mut rng);
            let mut bench = bench_with(run, clocks, &behaviour);
            let contexts = std::array::from_fn(|number| {
                Some(Context::new(number, Actions::of(rng.random_range(0..16))))
            });
            bench.bring_up(contexts);
            // Registers that are in force keep their values, so every other bench has none in force.
            if number % 2 == 1 {
                bench.withdraw();
            }
            let mut session = Session::new(bench.sim.rng("session"));
            for _ in 0..SESSIONS {
                session.run(&mut bench, ACCESSES);
                session.compare(&mut bench);
            }
            bench.finish();
        }
    });
}
