//! The HER generator against its reference model, and each line of its contract.

use spinneret_models::{PspinHerGen, PspinHerGenBoard, PspinHerGenOdd};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::her_gen::{
    Configuration, Context, FIELDS, Her, HerBench, HerParams, Packet, Pauses, random_configuration,
    random_packet, tag,
};

const ADDRESS: u64 = 0x1c10_0600;

/// A context whose fields are all different, and different from those of every other number.
fn context(number: u64) -> Context {
    std::array::from_fn(|field| (number << 16) + 0x1000 + field as u64)
}

/// Contexts with these numbers; bit n of `enabled` is that of context n.
fn configuration(numbers: [u64; 4], enabled: u64) -> Configuration {
    Configuration {
        contexts: numbers.map(context).to_vec(),
        enabled,
    }
}

/// A bench in which no bus model pauses.
fn calm<M: Model>(run: &mut TestRun) -> HerBench<M> {
    HerBench::new(run.simulation(), Pauses::default())
}

fn reference(run: &mut TestRun) -> HerBench<PspinHerGen> {
    calm(run)
}

/// A packet of 60 bytes for a context.
fn packet(address: u64, context: u64) -> Packet {
    Packet {
        address,
        length: 60,
        tag: tag(7, false, context),
    }
}

fn stimuli() -> Vec<Pauses> {
    let random = |percent| Pause::Random { percent };
    let bursty = |busy, idle| Pause::Bursty { busy, idle };
    let never = || Pause::Never;
    let all = [
        (never(), never(), never()),
        (random(30), random(30), random(30)),
        (never(), random(75), random(10)),
        (never(), random(10), random(90)),
        (random(80), never(), never()),
        (bursty(30, 10), bursty(5, 20), bursty(2, 40)),
    ];
    all.map(|(packets, hers, frees)| Pauses { packets, hers, frees })
        .to_vec()
}

fn random_traffic<M: Model>() {
    run_test(1, |run| {
        let mut rng = run.rng("traffic");
        let (mut hers, mut dropped) = (0, 0);
        for pauses in stimuli() {
            let mut bench = HerBench::new(run.simulation::<M>(), pauses);
            bench.random(&mut rng, 2_000);
            bench.settle();
            bench.discard();
            let counts = bench.counts();
            (hers, dropped) = (hers + counts.0, dropped + counts.1);
            bench.finish();
        }
        assert_eq!(hers + dropped, 12_000);
        assert!(hers > 2_000 && dropped > 1_000, "{hers} HERs, {dropped} dropped");
    });
}

#[test]
fn random_traffic_reference() {
    random_traffic::<PspinHerGen>();
}

#[test]
fn random_traffic_board() {
    random_traffic::<PspinHerGenBoard>();
}

#[test]
fn random_traffic_odd() {
    random_traffic::<PspinHerGenOdd>();
}

#[test]
fn her_is_made_of_the_packet_its_tag_and_its_context() {
    case(1, reference, |bench| {
        bench.configure(&configuration([1, 2, 3, 4], 0b1111));
        for number in 0..4 {
            // Message id 0xdeadbeef, end of message for odd contexts; what is above means nothing.
            let tag = 0x5a5_5a5a_u64 << 35 | 0xdead_beef << 3 | (number & 1) << 2 | number;
            bench.send(Packet {
                address: ADDRESS,
                length: 1500,
                tag,
            });
            bench.settle();
            let expected = Her {
                message_id: 0xdead_beef,
                is_end: number & 1 == 1,
                address: ADDRESS,
                size: 1500,
                transfer_size: 1500,
                context: context(number + 1),
            };
            assert_eq!(bench.her().0, expected);
        }
    });
}

#[test]
fn contexts_share_no_message_id_on_a_board() {
    case(1, calm::<PspinHerGenBoard>, |bench| {
        bench.configure(&configuration([1, 2, 3, 4], 0b1011));
        // Context 2 is disabled, so that it is context 0 that is used.
        for (wanted, used) in [(0, 0), (1, 1), (2, 0), (3, 3)] {
            for (id, high, low) in [
                (0, 0, 0),
                (0xff, 0x3f0, 3),
                (0x1234_56a5, 0x290, 1),
                (0xffff_ff00, 0, 0),
            ] {
                bench.send(Packet {
                    address: ADDRESS,
                    length: 64,
                    tag: tag(id, true, wanted),
                });
                bench.settle();
                let her = bench.her().0;
                assert_eq!(
                    (her.message_id, her.context),
                    (high | used << 2 | low, context(used + 1))
                );
            }
        }
    });
}

#[test]
fn transfer_is_limited_and_size_is_not() {
    case(1, calm::<PspinHerGenBoard>, |bench| {
        bench.configure(&configuration([1, 2, 3, 4], 0b0001));
        for (length, transfer) in [
            (0, 0),
            (1, 1),
            (127, 127),
            (128, 128),
            (129, 128),
            (256, 128),
            (0xffff, 128),
        ] {
            bench.send(Packet {
                address: ADDRESS,
                length,
                tag: 0,
            });
            bench.settle();
            let her = bench.her().0;
            assert_eq!((her.size, her.transfer_size), (length, transfer));
        }
    });
}

#[test]
fn one_packet_a_clock_one_clock_later() {
    case(1, reference, |bench| {
        bench.configure(&configuration([1, 2, 3, 4], 0b0111));
        let start = bench.sim.cycle_count();
        (0..1000).for_each(|number| bench.send(packet(number, number % 4)));
        bench.settle();
        for number in 0..1000 {
            let (her, cycle) = bench.her();
            assert_eq!((her.address, cycle), (number, start + number + 1));
        }
    });
}

#[test]
fn packets_of_a_disabled_context_use_context_0() {
    case(1, reference, |bench| {
        for enabled in [0b0001, 0b0011, 0b0101, 0b1001, 0b1101, 0b1111] {
            bench.configure(&configuration([1, 2, 3, 4], enabled));
            for wanted in 0..4 {
                bench.send(packet(ADDRESS, wanted));
                bench.settle();
                let used = if enabled >> wanted & 1 == 1 { wanted } else { 0 };
                assert_eq!(
                    bench.her().0.context,
                    context(used + 1),
                    "{wanted} of {enabled:#b}"
                );
            }
        }
    });
}

#[test]
fn packets_of_a_context_that_does_not_exist_use_context_0() {
    case(1, calm::<PspinHerGenOdd>, |bench| {
        let contexts = [1, 2, 3].map(context).to_vec();
        for (enabled, served) in [(0b111, true), (0b001, true), (0b110, false)] {
            bench.configure(&Configuration {
                contexts: contexts.clone(),
                enabled,
            });
            bench.send(Packet {
                address: 5,
                length: 60,
                tag: tag(3, false, 3),
            });
            bench.settle();
            if served {
                assert_eq!(bench.her().0.context, context(1));
            } else {
                assert_eq!(bench.frees.receive().map(|item| item.values), Some(vec![5]));
            }
        }
    });
}

#[test]
fn packets_without_a_context_are_dropped_counted_and_block_nothing() {
    case(1, reference, |bench| {
        bench.configure(&configuration([1, 2, 3, 4], 0b0010));
        let start = bench.sim.cycle_count();
        // Two of three packets are dropped, and still one packet goes in every clock.
        (0..999).for_each(|number| bench.send(packet(number, number % 3)));
        bench.settle();
        assert_eq!(bench.counts(), (333, 666));
        for number in 0..999 {
            let expected = start + number + 1;
            if number % 3 == 1 {
                let (her, cycle) = bench.her();
                assert_eq!((her.address, cycle), (number, expected));
            } else {
                let item = bench.frees.receive().expect("a slot");
                assert_eq!((item.values[0], item.cycle), (number, expected));
            }
        }
    });
}

#[test]
fn stalled_output_blocks_only_its_own_packets_and_later_ones() {
    case(1, reference, |bench| {
        bench.configure(&configuration([1, 2, 3, 4], 0b0010));
        let always = Pause::AlwaysAfter(0);
        // No slot is taken: the first waits at the port, the second inside, and the third packet is not accepted.
        bench.frees.set_pause(always.clone());
        for (address, wanted) in [(10, 1), (11, 0), (12, 1), (13, 0), (14, 1), (15, 1)] {
            bench.send(packet(address, wanted));
        }
        bench.sim.run(50);
        assert_eq!(
            (
                bench.hers.waiting(),
                bench.frees.waiting(),
                bench.packets.waiting()
            ),
            (2, 0, 2)
        );
        // No HER is taken: slots pass until a HER is ahead of them.
        bench.hers.set_pause(always);
        bench.frees.set_pause(Pause::Never);
        bench.sim.run(50);
        assert_eq!(
            (
                bench.hers.waiting(),
                bench.frees.waiting(),
                bench.packets.waiting()
            ),
            (2, 2, 0)
        );
        bench.send(packet(16, 0));
        bench.sim.run(50);
        assert_eq!((bench.frees.waiting(), bench.packets.waiting()), (2, 1));
        bench.hers.set_pause(Pause::Never);
        bench.settle();
        let hers: Vec<u64> = (0..4).map(|_| bench.her().0.address).collect();
        let frees: Vec<u64> = bench
            .frees
            .receive_all()
            .iter()
            .map(|item| item.values[0])
            .collect();
        assert_eq!((hers, frees), (vec![10, 12, 14, 15], vec![11, 13, 16]));
    });
}

#[test]
fn partly_written_configuration_is_never_used() {
    case(1, reference, |bench| {
        let mut rng = bench.sim.rng("configurations");
        let mut old = configuration([1, 2, 3, 4], 0b1111);
        bench.configure(&old);
        for round in 0..50 {
            let new = configuration([round + 10, round + 100, round + 200, round + 300], 0b1111);
            bench.set_valid(false);
            bench.sim.cycle();
            let mut between = old.clone();
            for field in 0..FIELDS.len() {
                for number in 0..4 {
                    between.contexts[number][field] = new.contexts[number][field];
                    between.enabled = rng.random_range(0..16);
                    bench.offer(&between);
                    bench.send(packet(ADDRESS, number as u64));
                    bench.settle();
                    assert_eq!(bench.her().0.context, old.contexts[number]);
                }
            }
            bench.offer(&new);
            bench.set_valid(true);
            bench.sim.cycle();
            old = new;
        }
    });
}

#[test]
fn waiting_her_keeps_its_context_and_the_next_uses_the_new_one() {
    case(1, reference, |bench| {
        bench.configure(&configuration([1, 2, 3, 4], 0b1111));
        bench.hers.set_pause(Pause::AlwaysAfter(0));
        bench.send(packet(1, 2));
        bench.send(packet(2, 2));
        bench.sim.run(10);
        // The monitor checks that the HER at the port does not change, whatever is configured.
        bench.configure(&configuration([5, 6, 7, 8], 0b1111));
        bench.configure(&configuration([9, 10, 11, 12], 0b0001));
        bench.sim.run(10);
        bench.hers.set_pause(Pause::Never);
        bench.settle();
        assert_eq!(
            (bench.her().0.context, bench.her().0.context),
            (context(3), context(9))
        );
    });
}

#[test]
fn contexts_are_taken_in_every_cycle_with_conf_valid() {
    case(1, reference, |bench| {
        bench.configure(&configuration([0; 4], 0b1111));
        (0..100).for_each(|number| bench.send(packet(number, number % 4)));
        for number in 1..=100 {
            bench.offer(&configuration([number; 4], 0b1111));
            bench.sim.cycle();
        }
        bench.settle();
        // A packet is looked up with what was taken at the end of the cycle before it came.
        for number in 0..100 {
            assert_eq!(bench.her().0.context, context(number));
        }
    });
}

#[test]
fn reset_disables_all_contexts_and_clears_the_counters() {
    case(1, reference, |bench| {
        bench.configure(&configuration([1, 2, 3, 4], 0b1111));
        bench.send(packet(1, 1));
        bench.settle();
        bench.set_valid(false);
        bench.sim.reset();
        assert_eq!(bench.counts(), (0, 0));
        (0..4).for_each(|number| bench.send(packet(number, number)));
        bench.settle();
        assert_eq!(bench.counts(), (0, 4));
        assert_eq!(bench.hers.receive_all().len(), 1);
        assert_eq!(bench.frees.receive_all().len(), 4);
    });
}

#[test]
fn reset_in_the_middle_of_traffic_forgets_what_is_inside() {
    run_test(1, |run| {
        let mut rng = run.rng("resets");
        for pauses in stimuli() {
            let params = HerParams::of::<PspinHerGenBoard>();
            let mut bench: HerBench<PspinHerGenBoard> = HerBench::new(run.simulation(), pauses);
            for _ in 0..60 {
                for _ in 0..rng.random_range(1..40) {
                    bench.send(random_packet(&mut rng, params));
                }
                for _ in 0..rng.random_range(1..30) {
                    bench.offer(&random_configuration(&mut rng, params));
                    bench.set_valid(rng.random_bool(0.5));
                    bench.sim.cycle();
                }
                bench.sim.reset();
            }
            bench.random(&mut rng, 50);
            bench.settle();
            bench.discard();
            bench.finish();
        }
    });
}
