//! AXI4-Lite: master, slave and monitor, with a design between them that passes all channels on, or breaks a
//! rule of either side.

use crate::support::{assert_contains, limited, panic_message, panics_with};
use spinneret_fixtures::{FixtureAxiPass, FixtureAxilPass, FixtureSlice};
use spinneret_sim::prelude::*;
use std::collections::BTreeMap;

/// A master and a slave, with the fixture between them.
struct Bench {
    sim: Simulation<FixtureAxilPass>,
    master: LiteMaster,
    slave: LiteSlave,
}

fn bench_of(mut sim: Simulation<FixtureAxilPass>, master: MasterConfig, slave: LiteSlaveConfig) -> Bench {
    let master = sim.axil_master("s_axil", master);
    let slave = sim.axil_slave("m_axil", slave);
    sim.reset();
    Bench { sim, master, slave }
}

/// A bench without pauses.
fn calm() -> Bench {
    bench_of(
        limited(100_000),
        MasterConfig::default(),
        LiteSlaveConfig::default(),
    )
}

impl Bench {
    fn settle(&mut self) {
        while !self.master.is_idle() {
            self.sim.cycle();
        }
    }
}

/// Not ready for some cycles, then ready for one.
fn late() -> Pause {
    Pause::Cycle([[true; 6].as_slice(), &[false]].concat())
}

#[test]
fn a_master_and_a_slave_without_pauses_transfer_a_word_every_clock() {
    let mut bench = calm();
    for word in 0..50 {
        bench.master.write(LiteWrite::new(4 * word, word));
        bench.master.read(LiteRead::new(4 * word));
    }
    bench.settle();
    let (writes, reads) = (bench.master.take_writes(), bench.master.take_reads());
    assert_eq!((writes.len(), reads.len()), (50, 50));
    for (index, write) in writes.iter().enumerate() {
        assert_eq!(
            (write.number, write.address),
            (2 * index as u64, 4 * index as u64)
        );
        assert_eq!(write.response_cycle, writes[0].response_cycle + index as u64);
        assert_eq!(
            (write.address_cycle, write.latency_cycles()),
            (write.data_cycle, 1)
        );
    }
    for (index, read) in reads.iter().enumerate() {
        assert_eq!((read.number, read.latency_cycles()), (2 * index as u64 + 1, 1));
        assert_eq!(read.response_cycle, reads[0].response_cycle + index as u64);
    }
    let counts = bench.master.counts();
    assert_eq!(counts.map(|half| half.response.beats), [50, 50]);
    assert_eq!(counts, bench.slave.counts());
    bench.sim.finish();
}

#[test]
fn the_protection_type_and_the_strobes_arrive() {
    let mut bench = calm();
    for code in 0..8 {
        bench.master.write(LiteWrite {
            protection: Some(code),
            ..LiteWrite::new(u64::from(code), 0x0102_0304).strobed(code)
        });
        bench.settle();
        bench.master.read(LiteRead {
            protection: Some(code),
            ..LiteRead::new(u64::from(code))
        });
        bench.settle();
        let seen = bench.slave.take_accesses();
        assert_eq!(seen[0].written, Some((0x0102_0304, code)));
        assert_eq!((seen[1].written, seen[1].address), (None, u64::from(code)));
        assert_eq!((seen[0].protection, seen[1].protection), (code, code));
    }
    // Unaligned addresses name the word that contains them: all strobes are lanes of the words at 0 and 4.
    assert_eq!(bench.slave.memory().read(0, 4), [Some(4), Some(3), None, None]);
    assert_eq!(bench.slave.memory().read(4, 4), [Some(4), Some(3), Some(2), None]);
    bench.master.take_writes();
    bench.master.take_reads();
    bench.sim.finish();
}

#[test]
fn random_traffic_reads_what_was_written() {
    for seed in 0..12 {
        let mut sim = limited(400_000);
        sim.set_seed(Seed(seed));
        let mut rng = sim.rng("traffic");
        let mut pause = || Pause::Random {
            percent: 30 * rng.random_range(0..3),
        };
        let pauses = MasterPauses {
            write_address: pause(),
            write_data: pause(),
            response: pause(),
            read_address: pause(),
            read_data: pause(),
        };
        let slave = LiteSlaveConfig {
            pauses: LiteSlavePauses {
                write_address: pause(),
                write_data: pause(),
                read_address: pause(),
            },
            latency: Latency {
                least: 1,
                most: 1 + 3 * seed,
            },
            write_faults: Faults::Random { percent: 10 },
            read_faults: Faults::At(vec![(0x40..=0x43, Response::DecodeError)]),
        };
        let skew = Skew::Random { most: 5 };
        let mut bench = bench_of(sim, MasterConfig { pauses, skew }, slave);
        let mut model = BTreeMap::new();
        for _ in 0..40 {
            // Writes of one round, then reads of the next, so that their order is known.
            let writes: Vec<LiteWrite> = (0..rng.random_range(1..20))
                .map(|_| {
                    let address = rng.random_range(0..0x80);
                    LiteWrite::new(address, rng.random_range(0..1 << 32)).strobed(rng.random_range(0..16))
                })
                .collect();
            for write in &writes {
                bench.master.write(*write);
            }
            bench.settle();
            for (write, done) in writes.iter().zip(bench.master.take_writes()) {
                assert_eq!(done.address, write.address);
                for lane in (0..4).filter(|lane| write.strobes.unwrap_or(0) >> lane & 1 == 1) {
                    if !done.response.is_error() {
                        let byte = (write.data >> (8 * lane)) as u8;
                        model.insert(write.address / 4 * 4 + lane, byte);
                    }
                }
            }
            for _ in 0..rng.random_range(1..20) {
                bench.master.read(LiteRead::new(rng.random_range(0..0x80)));
            }
            bench.settle();
            for read in bench.master.take_reads() {
                let is_faulty = read.address / 4 * 4 == 0x40;
                assert_eq!(read.response == Response::DecodeError, is_faulty);
                for lane in (0..4).filter(|_| !is_faulty) {
                    if let Some(byte) = model.get(&(read.address / 4 * 4 + lane)) {
                        assert_eq!((read.data >> (8 * lane)) as u8, *byte, "seed {seed}");
                    }
                }
            }
        }
        let refused = bench.slave.take_accesses();
        assert!(refused.iter().any(|seen| seen.response.is_error()));
        bench.sim.finish();
    }
}

#[test]
fn violations_are_reported_with_the_side_at_fault() {
    for (fault, expected, culprit) in [
        (1, "m_axil_aw: valid went low before ready was high", "master"),
        (
            2,
            "m_axil_aw: m_axil_awaddr changed while valid was high",
            "master",
        ),
        (3, "m_axil_w: m_axil_wstrb changed while valid was high", "master"),
        (4, "m_axil_ar: valid went low before ready was high", "master"),
        (
            5,
            "m_axil_ar: m_axil_arprot changed while valid was high",
            "master",
        ),
        (
            7,
            "s_axil_b: a response for id 0, which has no write under way",
            "slave",
        ),
        (
            8,
            "s_axil_r: a beat for id 0, which has no read under way",
            "slave",
        ),
        (9, "s_axil_b: s_axil_bresp changed while valid was high", "slave"),
        (10, "s_axil_r: s_axil_rdata changed while valid was high", "slave"),
        (11, "s_axil_b: valid went low before ready was high", "slave"),
        (12, "s_axil_r: valid went low before ready was high", "slave"),
        (13, "s_axil_b: BRESP is EXOKAY", "slave"),
        (14, "s_axil_r: RRESP is EXOKAY", "slave"),
        (16, "s_axil_b: a response for id", "slave"),
        (
            17,
            "s_axil_r: a beat for id 0, which has no read under way",
            "slave",
        ),
        (
            18,
            "s_axil_b: a response for id 0, which has no write under way",
            "slave",
        ),
        (
            19,
            "s_axil_r: a beat for id 0, which has no read under way",
            "slave",
        ),
    ] {
        let slave = LiteSlaveConfig {
            pauses: LiteSlavePauses {
                write_address: late(),
                write_data: late(),
                read_address: late(),
            },
            ..LiteSlaveConfig::default()
        };
        let master = MasterConfig {
            pauses: MasterPauses {
                response: late(),
                read_data: late(),
                ..MasterPauses::default()
            },
            ..MasterConfig::default()
        };
        let mut bench = bench_of(limited(1000), master, slave);
        bench.sim.dut.set("fault", fault as u64).unwrap();
        bench.master.write(LiteWrite::new(0, 1));
        bench.master.read(LiteRead::new(0));
        let message = panic_message(|| bench.sim.run(100));
        assert_contains(&message, expected);
        let blamed = format!(": a fault of the {culprit}");
        assert_contains(&message, &blamed);
    }
}

#[test]
fn valid_is_low_at_the_end_of_a_reset() {
    for (fault, expected) in [
        (6_u64, "m_axil_aw: valid is high in reset: a fault of the master"),
        (15, "s_axil_b: valid is high in reset: a fault of the slave"),
    ] {
        let mut bench = calm();
        bench.sim.dut.set("fault", fault).unwrap();
        panics_with(expected, || bench.sim.reset());
    }
}

#[test]
fn unfinished_accesses_are_reported() {
    let mut bench = calm();
    bench.slave.set_latency(Latency::exactly(30));
    bench.master.write(LiteWrite::new(0, 1));
    bench.sim.run(10);
    let message = panic_message(|| bench.sim.finish());
    assert_contains(
        &message,
        "0 writes are not sent, 1 wait for a response, 0 responses were not taken",
    );
    assert_contains(
        &message,
        "m_axil: monitor has seen 1 writes, 1 beats; 1 writes and 0 beats are under way",
    );
}

#[test]
fn values_that_do_not_fit_are_rejected() {
    let message = |action: &dyn Fn(&LiteMaster) -> u64| {
        let bench = calm();
        panic_message(|| {
            action(&bench.master);
        })
    };
    let wide = LiteWrite::new(1 << 24, 0);
    assert_eq!(
        message(&|master| master.write(wide)),
        "s_axil: address 0x1000000 does not fit 24 bits"
    );
    let wide = LiteWrite::new(0, 1 << 32);
    assert_eq!(
        message(&|master| master.write(wide)),
        "s_axil: data 0x100000000 does not fit 32 bits"
    );
    let strobed = LiteWrite::new(0, 0).strobed(0x10);
    assert_eq!(
        message(&|master| master.write(strobed)),
        "s_axil: strobes 0x10 does not fit 4 bits"
    );
    assert_eq!(
        message(&|master| master.read(LiteRead::new(1 << 24))),
        "s_axil: address 0x1000000 does not fit 24 bits"
    );
}

#[test]
fn ports_that_are_not_axi4_lite_are_rejected() {
    let mut sim = limited::<FixtureAxilPass>(1);
    let error = LiteMaster::attach(&mut sim, "m_axil", MasterConfig::default()).expect_err("a master");
    assert_eq!(
        error.to_string(),
        "port `m_axil_awaddr` of fixture_axil_pass is an output of the design; an input is needed"
    );
    let error = LiteSlave::attach(&mut sim, "s_axil", LiteSlaveConfig::default()).expect_err("a slave");
    assert_contains(&error, "is an input of the design");
    let mut sim = limited::<FixtureSlice>(1);
    let error = LiteMaster::attach(&mut sim, "s_axil", MasterConfig::default()).expect_err("nothing");
    assert_contains(&error, "has no port `s_axil_awvalid`");
    let mut sim = limited::<FixtureAxiPass>(1);
    let wide = LiteMaster::attach(&mut sim, "s_axi", MasterConfig::default());
    assert!(wide.is_ok(), "64 bits are possible, and ids do not matter");
}
