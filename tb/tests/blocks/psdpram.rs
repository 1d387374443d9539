//! `spinneret_psdpram`: each line of its contract, and random traffic against its reference model.

use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, each};
use spinneret_tb::psdpram::{CAPACITY, RamDriver, RamPauses, RamSizes, Write};

const NEVER: RamPauses = RamPauses {
    write: Pause::Never,
    read: Pause::Never,
    response: Pause::Never,
};

struct Tb<M> {
    sim: Simulation<M>,
    ram: RamDriver,
    sizes: RamSizes,
}

impl<M: Model> Finish for Tb<M> {}

impl<M: Model> Tb<M> {
    fn new(run: &mut TestRun, pauses: RamPauses) -> Self {
        let mut sim = run.simulation::<M>();
        let ram = RamDriver::attach(&mut sim, &pauses);
        sim.reset();
        Self {
            sim,
            ram,
            sizes: RamSizes::of::<M>(),
        }
    }

    fn drain(&mut self) {
        let ram = &self.ram;
        self.sim.run_until(|_| ram.is_idle());
    }

    fn write(&mut self, segment: usize, addr: u64, be: u128, data: &[u8]) {
        let data = data.to_vec();
        self.ram.write(segment, Write { addr, be, data });
        self.drain();
    }

    fn read(&mut self, segment: usize, addr: u64) -> Vec<u8> {
        self.ram.read(segment, addr);
        self.drain();
        let responses = self.ram.responses(segment);
        assert_eq!(responses.len(), 1, "one response for one read");
        responses[0].line.clone()
    }
}

fn large(run: &mut TestRun) -> Tb<models::SpinneretPsdpram> {
    Tb::new(run, NEVER)
}

fn small(run: &mut TestRun) -> Tb<models::SpinneretPsdpramSmall> {
    Tb::new(run, NEVER)
}

fn patterns() -> Vec<RamPauses> {
    let random = |percent| Pause::Random { percent };
    let bursty = Pause::Bursty { busy: 12, idle: 12 };
    let of = |write: &Pause, read: &Pause, response: &Pause| RamPauses {
        write: write.clone(),
        read: read.clone(),
        response: response.clone(),
    };
    let never = Pause::Never;
    vec![
        NEVER,
        of(&random(50), &never, &never),
        of(&never, &random(50), &never),
        of(&never, &never, &random(50)),
        of(&random(30), &random(30), &random(30)),
        of(&never, &random(10), &random(85)),
        of(&bursty, &bursty, &bursty),
        of(&never, &never, &bursty),
    ]
}

/// Random reads and writes of few lines, so that they meet, with resets in between.
fn random_traffic<M: Model>(commands: usize) {
    let sizes = RamSizes::of::<M>();
    each(0x0001_94a3, patterns(), |run, pauses| {
        let mut rng = run.rng("commands");
        let mut tb = Tb::<M>::new(run, pauses);
        tb.ram.fill(&mut rng);
        tb.drain();
        for round in 0..4 {
            let hot = sizes.lines.min(if round % 2 == 0 { 4 } else { sizes.lines });
            for segment in 0..sizes.segments {
                for _ in 0..commands {
                    let (line, other) = (rng.random_range(0..hot), rng.random_range(0..hot));
                    let addr = sizes.random_addr(&mut rng, line);
                    let all = rng.random_range(0..4) == 0;
                    let write = sizes.random_write(&mut rng, addr, all);
                    tb.ram.write(segment, write);
                    tb.ram.read(segment, sizes.random_addr(&mut rng, other));
                }
            }
            tb.sim.run(rng.random_range(0..commands as u64));
            tb.sim.reset();
        }
        tb.drain();
        for segment in 0..sizes.segments {
            let taken = tb.ram.reads_taken(segment).len();
            let given = tb.ram.responses(segment).len();
            // A reset forgets what is inside.
            assert!(given <= taken && given + 4 * CAPACITY >= taken);
        }
    });
}

#[test]
fn matches_its_model_in_random_traffic() {
    random_traffic::<models::SpinneretPsdpram>(300);
    random_traffic::<models::SpinneretPsdpramBoard>(200);
    random_traffic::<models::SpinneretPsdpramSmall>(1500);
    random_traffic::<models::SpinneretPsdpramOne>(3000);
}

#[test]
fn reads_and_writes_one_line_a_clock_with_the_promised_latency() {
    case(0x0002_94a3, large, |tb| {
        let mut rng = tb.sim.rng("lines");
        tb.ram.fill(&mut rng);
        tb.drain();
        (0..2).for_each(|segment| drop((tb.ram.writes_taken(segment), tb.ram.dones(segment))));
        let start = tb.sim.cycle_count();
        for segment in 0..2 {
            for line in 0..200 {
                tb.ram.write(segment, tb.sizes.random_write(&mut rng, line, true));
                tb.ram.read(segment, line);
            }
        }
        tb.drain();
        let from = |first: u64| (first..first + 200).collect::<Vec<_>>();
        for segment in 0..2 {
            assert_eq!(tb.ram.writes_taken(segment), from(start));
            assert_eq!(tb.ram.dones(segment), from(start + 1));
            assert_eq!(tb.ram.reads_taken(segment), from(start));
            let given: Vec<u64> = tb.ram.responses(segment).iter().map(|r| r.cycle).collect();
            assert_eq!(given, from(start + 2));
        }
    });
}

#[test]
fn a_read_of_the_line_that_is_written_in_the_same_clock_gives_the_old_line() {
    case(0x0003_94a3, small, |tb| {
        tb.write(2, 1, 0xf, &[1, 2, 3, 4]);
        let data = vec![5, 6, 7, 8];
        tb.ram.write(
            2,
            Write {
                addr: 1,
                be: 0xf,
                data,
            },
        );
        tb.ram.read(2, 1);
        tb.ram.read(2, 1);
        tb.drain();
        let lines: Vec<Vec<u8>> = tb.ram.responses(2).into_iter().map(|r| r.line).collect();
        assert_eq!(
            lines,
            [[1, 2, 3, 4], [5, 6, 7, 8]],
            "old, and new one clock later"
        );
    });
}

#[test]
fn a_read_that_waits_inside_sees_later_writes() {
    case(0x0004_94a3, small, |tb| {
        tb.write(0, 0, 0xf, &[1, 1, 1, 1]);
        tb.ram.set_response_pause(0, Pause::AlwaysAfter(0));
        (0..4).for_each(|_| tb.ram.read(0, 0));
        tb.sim.run(10);
        assert_eq!(tb.ram.reads_taken(0).len(), CAPACITY, "three fit, and no more");
        let data = vec![2, 2, 2, 2];
        tb.ram.write(
            0,
            Write {
                addr: 0,
                be: 0xf,
                data,
            },
        );
        tb.sim.run(10);
        tb.ram.set_response_pause(0, Pause::Never);
        tb.drain();
        let firsts: Vec<u8> = tb.ram.responses(0).iter().map(|r| r.line[0]).collect();
        assert_eq!(
            firsts,
            [1, 1, 2, 2],
            "two were read before the write, two after it"
        );
    });
}

#[test]
fn writes_only_enabled_bytes_and_completes_without_any() {
    case(0x0005_94a3, small, |tb| {
        tb.write(3, 2, 0xf, &[1, 2, 3, 4]);
        for be in 0..16_u128 {
            tb.write(3, 2, 0xf, &[1, 2, 3, 4]);
            tb.ram.dones(3);
            tb.write(3, 2, be, &[0x81, 0x82, 0x83, 0x84]);
            assert_eq!(tb.ram.dones(3).len(), 1);
            let expected: Vec<u8> = (0..4_u8)
                .map(|byte| byte + 1 + (u8::from(be >> byte & 1 == 1) << 7))
                .collect();
            assert_eq!(tb.read(3, 2), expected, "enables {be:#x}");
        }
    });
}

#[test]
fn address_bits_above_the_size_are_ignored() {
    case(0x0006_94a3, small, |tb| {
        for line in 0..4_u8 {
            tb.write(1, u64::from(line), 0xf, &[line; 4]);
        }
        for above in 0..8 {
            let addr = 4 * above + above % 4;
            let value = 0x10 + above as u8;
            tb.write(1, addr, 0b10, &[0, value, 0, 0]);
            assert_eq!(
                tb.read(1, 4 * (7 - above) + above % 4),
                [(above % 4) as u8, value, (above % 4) as u8, (above % 4) as u8]
            );
        }
    });
}

#[test]
fn segments_are_independent() {
    case(0x0007_94a3, small, |tb| {
        let mut rng = tb.sim.rng("lines");
        tb.ram.fill(&mut rng);
        tb.drain();
        tb.ram.set_response_pause(1, Pause::AlwaysAfter(0));
        let start = tb.sim.cycle_count();
        for segment in 0..4 {
            (0..50).for_each(|line| tb.ram.read(segment, line % 4));
        }
        tb.sim.run(60);
        for segment in [0, 2, 3] {
            let given: Vec<u64> = tb.ram.responses(segment).iter().map(|r| r.cycle).collect();
            assert_eq!(given, (start + 2..start + 52).collect::<Vec<_>>());
        }
        assert_eq!(
            (tb.ram.reads_taken(1).len(), tb.ram.responses(1).len()),
            (CAPACITY, 0)
        );
        tb.ram.set_response_pause(1, Pause::Never);
        tb.drain();
        assert_eq!(tb.ram.responses(1).len(), 50);
    });
}

#[test]
fn a_reset_forgets_reads_and_keeps_what_was_written() {
    case(0x0008_94a3, small, |tb| {
        for cycles in 0..8 {
            tb.write(0, 3, 0xf, &[9, 8, 7, cycles as u8]);
            tb.ram.set_response_pause(0, Pause::AlwaysAfter(0));
            (0..3).for_each(|_| tb.ram.read(0, 3));
            tb.sim.run(cycles);
            let taken = tb.ram.reads_taken(0).len();
            tb.sim.reset();
            tb.ram.set_response_pause(0, Pause::Never);
            tb.drain();
            assert_eq!(
                tb.ram.responses(0).len(),
                3 - taken,
                "those that were inside are gone"
            );
            assert_eq!(tb.read(0, 3), [9, 8, 7, cycles as u8]);
            tb.ram.reads_taken(0);
        }
    });
}
