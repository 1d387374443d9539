//! `pspin_tx_inject`: each line of its contract, and random traffic against its reference model.

use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, each, patterns, with};
use spinneret_tb::tx_inject::{Completion, TxReference, TxWidths};

/// Cycles until a counter shows an event.
const COUNTER_LATENCY: u64 = 2;

struct Tb<M> {
    sim: Simulation<M>,
    host: StreamSource,
    ours: StreamSource,
    wire: StreamSink,
    reference: TxReference,
    widths: TxWidths,
}

impl<M: Model> Finish for Tb<M> {}

impl<M: Model> Tb<M> {
    /// Pauses of the sources and of the sinks.
    fn new(run: &mut TestRun, pauses: (Pause, Pause)) -> Self {
        let mut sim = run.simulation::<M>();
        let host = sim.source("s_axis_nic_tx", pauses.0.clone());
        let ours = sim.source("s_axis_pspin_tx", pauses.0.clone());
        let wire = sim.sink("m_axis_nic_tx", pauses.1.clone());
        let reference = TxReference::attach(&mut sim, pauses);
        sim.reset();
        Self {
            sim,
            host,
            ours,
            wire,
            reference,
            widths: TxWidths::of::<M>(),
        }
    }

    fn drain(&mut self) {
        let (host, ours, reference) = (&self.host, &self.ours, &self.reference);
        self.sim
            .run_until(|_| host.is_idle() && ours.is_idle() && reference.is_idle());
        self.sim.run(COUNTER_LATENCY);
    }

    fn frames(&self) -> Vec<Frame> {
        self.wire
            .receive_all()
            .into_iter()
            .map(|received| received.frame)
            .collect()
    }

    fn completions(&self) -> Vec<Completion> {
        self.reference
            .completions()
            .into_iter()
            .map(|(completion, _)| completion)
            .collect()
    }
}

const NEVER: (Pause, Pause) = (Pause::Never, Pause::Never);

fn odd(run: &mut TestRun) -> Tb<models::PspinTxInjectOdd> {
    Tb::new(run, NEVER)
}

/// Frames of both sides, one in sixteen of the host's with one of our tags, and completions of both.
fn random_traffic<M: Model>(frames: usize) {
    let widths = TxWidths::of::<M>();
    each(0x0001_72c4, patterns(), |run, pauses| {
        let mut rng = run.rng("traffic");
        let mut tb = Tb::<M>::new(run, pauses);
        let (mut host, mut ours, mut completions) = (Vec::new(), Vec::new(), Vec::new());
        let (mut conflicts, mut swallowed) = (0, 0);
        for _ in 0..frames {
            let frame = widths.random_frame(&mut rng, 6 * widths.bytes);
            if rng.random() {
                let conflict = rng.random_range(0..16) == 0;
                let user = frame.user & !widths.host_bit();
                let user = if conflict { user } else { user | widths.host_bit() };
                conflicts += u64::from(conflict);
                tb.host.send(frame.clone().with_user(user));
                host.push(frame.with_user(user));
            } else {
                tb.ours.send(frame.clone());
                let user = widths.ours(frame.user);
                ours.push(frame.with_user(user));
            }
            let of_host = rng.random();
            let completion = widths.random_completion(&mut rng, of_host);
            tb.reference.complete(completion);
            swallowed += u64::from(!of_host);
            completions.extend(of_host.then_some(completion));
        }
        tb.drain();
        let mut left = (host.into_iter().peekable(), ours.into_iter().peekable());
        for frame in tb.frames() {
            let found = left.0.next_if_eq(&frame).or_else(|| left.1.next_if_eq(&frame));
            assert!(
                found.is_some(),
                "a frame that is not the next of either side: {frame:x?}"
            );
        }
        assert_eq!(
            (left.0.next(), left.1.next()),
            (None, None),
            "frames that never came"
        );
        assert_eq!(tb.completions(), completions);
        assert_eq!(tb.sim.get("tx_cpl_ours_o"), swallowed);
        assert_eq!(tb.sim.get("tx_host_tag_conflict_o"), conflicts);
    });
}

#[test]
fn frames_and_completions_reach_their_destination() {
    random_traffic::<models::PspinTxInject>(600);
    random_traffic::<models::PspinTxInjectW128>(600);
    random_traffic::<models::PspinTxInjectW256>(600);
    random_traffic::<models::PspinTxInjectOdd>(1500);
}

#[test]
fn recovers_from_a_reset_at_any_time() {
    each(0x0002_72c4, patterns(), |run, pauses| {
        let mut rng = run.rng("traffic");
        let mut tb = Tb::<models::PspinTxInjectOdd>::new(run, pauses);
        for _ in 0..40 {
            for _ in 0..10 {
                tb.host.send(tb.widths.random_frame(&mut rng, 40));
                tb.ours.send(tb.widths.random_frame(&mut rng, 40));
                let of_host = rng.random();
                tb.reference
                    .complete(tb.widths.random_completion(&mut rng, of_host));
            }
            tb.sim.run(rng.random_range(1..30));
            tb.sim.reset();
            assert_eq!(
                (tb.sim.get("tx_cpl_ours_o"), tb.sim.get("tx_host_tag_conflict_o")),
                (0, 0)
            );
        }
        tb.drain();
        tb.frames();
        tb.completions();
    });
}

#[test]
fn a_beat_leaves_one_clock_after_it_came_and_no_clock_is_lost() {
    case(0x0003_72c4, with(Tb::<models::PspinTxInject>::new, NEVER), |tb| {
        // Ready is low in the first clock after reset.
        tb.sim.run(1);
        let start = tb.sim.cycle_count();
        let host = |beats: usize| Frame::new(vec![1; 64 * beats]).with_user(tb.widths.host_bit());
        for beats in [1, 2, 3, 1, 1, 4] {
            tb.host.send(host(beats));
            tb.ours.send(Frame::new(vec![2; 64 * (beats + 1)]));
        }
        tb.drain();
        let received = tb.wire.receive_all();
        let sides: Vec<u8> = received.iter().map(|received| received.frame.bytes[0]).collect();
        assert_eq!(sides, [1, 2].repeat(6), "in turn");
        let mut next = start + 1;
        for received in received {
            let beats = received.frame.beats(64) as u64;
            assert_eq!(
                (received.first_cycle, received.last_cycle),
                (next, next + beats - 1)
            );
            next += beats;
        }
    });
}

/// The longest wait of a frame of one side for its turn, in clocks, while the other side never pauses.
fn longest_wait(
    tb: &mut Tb<models::PspinTxInject>,
    rng: &mut impl RngExt,
    host_waits: bool,
    beats: usize,
) -> u64 {
    let (patient, busy) = if host_waits {
        (&tb.host, &tb.ours)
    } else {
        (&tb.ours, &tb.host)
    };
    let (user, other) = if host_waits {
        (tb.widths.host_bit(), 0)
    } else {
        (0, tb.widths.host_bit())
    };
    (0..400).for_each(|_| busy.send(Frame::new(vec![7; 64 * beats]).with_user(other)));
    let mut longest = 0;
    for _ in 0..60 {
        tb.sim.run(rng.random_range(2 * beats as u64..4 * beats as u64));
        tb.wire.receive_all();
        let offered = tb.sim.cycle_count();
        patient.send(Frame::new(vec![9; 64]).with_user(user));
        let wire = &tb.wire;
        let mut arrived = None;
        while arrived.is_none() {
            tb.sim.cycle();
            arrived = wire
                .receive_all()
                .into_iter()
                .find(|received| received.frame.bytes[0] == 9);
        }
        let arrived = arrived.map_or(0, |received| received.first_cycle);
        longest = longest.max(arrived - offered);
        assert!(!busy.is_idle(), "the other side never pauses");
    }
    longest
}

#[test]
fn a_frame_waits_for_one_frame_of_the_other_side_at_most() {
    let sides = [("host", true), ("ours", false)];
    each(0x0004_72c4, sides, |run, (name, host_waits)| {
        let mut rng = run.rng("gaps");
        let mut tb = Tb::<models::PspinTxInject>::new(run, NEVER);
        let beats = 24;
        let longest = longest_wait(&mut tb, &mut rng, host_waits, beats);
        println!("{name}: at most {longest} clocks for a frame of {beats} beats");
        // One clock to the output, and the rest of a frame that may just have begun.
        assert!(longest <= beats as u64, "{longest} clocks");
        tb.drain();
        tb.frames();
    });
}

#[test]
fn only_the_error_bit_and_the_highest_bit_of_the_tag_change_in_our_frames() {
    case(0x0005_72c4, odd, |tb| {
        for user in 0..1 << tb.widths.user {
            tb.ours.send(Frame::new([user as u8; 5]).with_user(user));
            tb.host.send(Frame::new([user as u8; 5]).with_user(user));
        }
        tb.drain();
        let mut frames = tb.frames().into_iter();
        for user in 0..1_u128 << tb.widths.user {
            let pair: Vec<u128> = frames.by_ref().take(2).map(|frame| frame.user).collect();
            // Bits: error, tag 5:0 with its highest bit at 6, and two above.
            assert_eq!(
                pair.iter().filter(|found| **found == user).count().min(1),
                1,
                "the host's as it came"
            );
            assert!(
                pair.contains(&(user & 0b1_1011_1110)),
                "ours: {pair:x?} for {user:#x}"
            );
        }
        assert_eq!(tb.sim.get("tx_host_tag_conflict_o"), 1 << (tb.widths.user - 1));
    });
}

#[test]
fn our_completions_are_removed_and_block_nothing() {
    case(0x0006_72c4, with(Tb::<models::PspinTxInject>::new, NEVER), |tb| {
        // Ready is low in the first clock after reset.
        tb.sim.run(1);
        let start = tb.sim.cycle_count();
        let (host, ours) = (0x8000, 0x7fff);
        for number in 0..100_u64 {
            let tag = if number % 3 == 0 {
                host | number
            } else {
                ours - number
            };
            let timestamp = u128::from(number) << 80 | 5;
            tb.reference.complete(Completion { timestamp, tag });
        }
        tb.drain();
        let received = tb.reference.completions();
        let expected: Vec<_> = (0..100_u64)
            .filter(|number| number % 3 == 0)
            .map(|number| {
                let timestamp = u128::from(number) << 80 | 5;
                // One per clock for both sides, one clock later.
                (
                    Completion {
                        timestamp,
                        tag: host | number,
                    },
                    start + number + 1,
                )
            })
            .collect();
        assert_eq!(received, expected);
        assert_eq!(tb.sim.get("tx_cpl_ours_o"), 66);
    });
}

#[test]
fn frames_and_completions_do_not_wait_for_each_other() {
    case(0x0007_72c4, with(Tb::<models::PspinTxInject>::new, NEVER), |tb| {
        let mut rng = tb.sim.rng("traffic");
        tb.reference.set_take_pause(Pause::AlwaysAfter(0));
        (0..10).for_each(|_| tb.reference.complete(tb.widths.random_completion(&mut rng, true)));
        (0..10).for_each(|_| tb.ours.send(tb.widths.random_frame(&mut rng, 300)));
        tb.sim.run(100);
        assert_eq!(
            (tb.frames().len(), tb.reference.waiting()),
            (10, 8),
            "two completions are inside"
        );
        tb.reference.set_take_pause(Pause::Never);
        tb.wire.set_pause(Pause::AlwaysAfter(0));
        (0..10).for_each(|_| tb.host.send(tb.widths.random_frame(&mut rng, 300)));
        tb.sim.run(100);
        assert_eq!((tb.completions().len(), tb.frames().len()), (10, 0));
        tb.wire.set_pause(Pause::Never);
        tb.drain();
        assert_eq!(tb.frames().len(), 10);
    });
}
