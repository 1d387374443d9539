//! Descriptors that fail, unexpected statuses, resets.

use super::{Bench, SHAPE, bench, bytes, descriptor, latency};
use crate::support::{assert_contains, limited, panics_with};
use spinneret_fixtures::{FixtureDma, FixtureSlice};
use spinneret_sim::dma::{HostBus, RamPort, Refused, SegmentedRam, Transfer};
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

#[test]
fn descriptors_fail_as_configured() {
    let config = DmaConfig {
        faults: DmaFaults::At(vec![(0x1010..=0x1010, 9), (0x1000..=0x10ff, 1)]),
        ..latency(0)
    };
    let mut bench = bench(config);
    bench.write_line(0, bytes(0), 0xffff);
    bench.sim.run(2);
    let mut moved = std::collections::BTreeSet::new();
    for (dma_addr, len, code) in [
        (0x1000, 16, 1),
        (0x1001, 16, 9),
        (0x10ff, 2, 1),
        (0x0ff0, 16, 0),
        (0x1100, 16, 0),
    ] {
        for _ in 0..30 {
            bench.ask(Transfer::ToHost, descriptor(dma_addr, 0, len.min(16), 3));
            let accepted = bench.writes.next_accepted().unwrap();
            assert_eq!(accepted.code, code, "{dma_addr:#x}");
            let moved_bytes = &bytes(0)[..accepted.moved as usize];
            bench.host.expect(dma_addr, moved_bytes);
            if code != 0 && len == 16 {
                moved.insert(accepted.moved);
            }
            let status = bench.statuses(Transfer::ToHost)[0];
            assert_eq!((status.tag, status.code), (3, code));
            assert_eq!(bench.host.check(), Ok(()));
        }
    }
    assert!(
        moved.contains(&0) && moved.contains(&16) && moved.len() > 5,
        "{moved:?}"
    );
    bench.sim.finish();
}

#[test]
fn the_ram_holds_garbage_when_a_read_fails() {
    let config = DmaConfig {
        faults: DmaFaults::Random { percent: 100 },
        ..latency(0)
    };
    let mut bench = bench(config);
    let mut wrong = 0;
    for number in 0..20 {
        bench.ask(Transfer::FromHost, descriptor(0x1000 + 16 * number, 0, 16, 0));
        assert_ne!(bench.statuses(Transfer::FromHost)[0].code, 0);
        wrong += usize::from(bench.read_line(0)[..] != bench.host.read(0x1000 + 16 * number, 16)[..]);
    }
    assert!(wrong > 5, "{wrong}");
    bench.sim.finish();
}

/// A host that has 64 bytes, at 0x1000, which it may take away.
#[derive(Debug, Default)]
struct Small(RefCell<Option<[u8; 64]>>);

impl Small {
    fn with(&self, address: u64, len: usize, action: impl FnOnce(&mut [u8])) -> Result<(), Refused> {
        let mut bytes = self.0.borrow_mut();
        let bytes = bytes.as_mut().ok_or(Refused::UNSUPPORTED_REQUEST)?;
        let offset = address.wrapping_sub(0x1000) as usize;
        let part = offset.checked_add(len).and_then(|end| bytes.get_mut(offset..end));
        action(part.ok_or(Refused { code: 8 })?);
        Ok(())
    }
}

impl HostBus for Small {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        self.with(address, bytes.len(), |there| bytes.copy_from_slice(there))
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        self.with(address, bytes.len(), |there| there.copy_from_slice(bytes))
    }
}

#[test]
fn a_host_bus_serves_the_dma_and_may_reject() {
    let mut bench = bench(latency(20));
    let host = Rc::new(Small(RefCell::new(Some([0; 64]))));
    bench.host.connect(Rc::clone(&host) as Rc<dyn HostBus>);
    bench.write_line(0, bytes(1), 0xffff);
    bench.sim.run(2);
    for (dma_addr, code) in [(0x1030, 0), (0x1031, 8), (0xff0, 8)] {
        for transfer in [Transfer::ToHost, Transfer::FromHost] {
            bench.ask(transfer, descriptor(dma_addr, 0, 16, 3));
            assert_eq!(bench.statuses(transfer)[0].code, code, "{dma_addr:#x}");
            if (transfer, code) == (Transfer::FromHost, 0) {
                assert_eq!(bench.read_line(0), bytes(1), "what was written before");
            }
        }
    }
    let mut expected = [0; 64];
    expected[0x30..].copy_from_slice(&bytes(1));
    assert_eq!(*host.0.borrow(), Some(expected));
    // A transfer does not reach memory that is removed meanwhile.
    bench.ask(Transfer::ToHost, descriptor(0x1000, 0, 16, 3));
    host.0.take();
    assert_eq!(bench.statuses(Transfer::ToHost)[0].code, 10);
    bench.sim.finish();
}

#[test]
fn unsolicited_statuses_have_tags_that_are_not_in_flight() {
    let config = DmaConfig {
        unsolicited: 50,
        tags: 16,
        spread: 20,
        ..latency(0)
    };
    let mut bench = bench(config);
    let mut unsolicited = Vec::new();
    for number in 0..200 {
        bench.ask(
            Transfer::FromHost,
            descriptor(0x1000, 16 * (number % 32), 16, number % 16),
        );
        for status in bench.statuses(Transfer::FromHost) {
            if status.unsolicited {
                unsolicited.push(status.tag);
            } else {
                assert_eq!(status.tag, number % 16);
            }
        }
        bench.read_line(number % 32);
    }
    assert!(unsolicited.iter().any(|tag| *tag >= 16) && unsolicited.iter().any(|tag| *tag < 16));
    bench.reads.set_unsolicited(0);
    bench.sim.run(3);
    while bench.reads.next_status().is_some() {}
    bench.reads.send_unsolicited_status(77, 4);
    bench.sim.run(1);
    let status = bench.reads.next_status().unwrap();
    assert_eq!((status.tag, status.code, status.unsolicited), (77, 4, true));
    assert_eq!(bench.value("s_axis_read_desc_status_valid"), 1);
    assert_eq!(bench.value("s_axis_read_desc_status_tag"), 77);
    bench.writes.set_unsolicited(0);
    bench.sim.finish();
}

#[test]
fn a_reset_discards_what_is_in_flight() {
    let mut bench = bench(latency(50));
    for _ in 0..3 {
        bench.write_line(0, bytes(0), 0xffff);
        bench.sim.run(2);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 16, 0));
        bench.ask(Transfer::FromHost, descriptor(0, 0, 16, 0));
        bench.sim.reset();
        assert_eq!((bench.writes.in_flight(), bench.reads.in_flight()), (0, 0));
        bench.sim.run(100);
        assert_eq!(bench.writes.next_status(), None);
    }
    assert_eq!(bench.host.check(), Ok(()), "nothing was written");
    bench.sim.finish();
}

#[test]
fn a_dma_with_its_own_reset_keeps_running() {
    let config = DmaConfig {
        survives_reset: true,
        ..latency(0)
    };
    // The status comes in each cycle of the reset, and after it.
    for cycles in 0..8 {
        let mut bench = bench(config.clone());
        bench.writes.set_latency(Latency::exactly(cycles));
        bench.write_line(0, bytes(3), 0xffff);
        bench.sim.run(2);
        bench.host.expect(0x10, &bytes(3));
        let taken = bench.ask(Transfer::ToHost, descriptor(0x10, 0, 16, 9));
        bench.sim.reset();
        let statuses = bench.statuses(Transfer::ToHost);
        assert_eq!((statuses[0].tag, statuses[0].cycle), (9, taken + cycles + 1));
        assert_eq!(bench.host.check(), Ok(()));
        bench.sim.finish();
    }
}

#[test]
fn a_waiting_descriptor_must_stay_valid_in_a_reset_that_the_dma_does_not_see() {
    let config = DmaConfig {
        survives_reset: true,
        ..latency(0)
    };
    for stays in [true, false] {
        let mut bench = bench(config.clone());
        bench.reads.set_pause(Pause::AlwaysAfter(0));
        bench.set("t_read_len", 4);
        bench.set("t_read_valid", 1);
        bench.sim.run(3);
        assert!(bench.reads.is_offered());
        bench.set("t_read_valid", u128::from(stays));
        bench.sim.reset();
        let outcome = bench.sim.try_cycle();
        assert_eq!(outcome.is_ok(), stays, "{outcome:?}");
        if stays {
            let taken = bench.ask_again();
            assert_eq!(bench.statuses(Transfer::FromHost)[0].cycle, taken + 1);
            bench.sim.finish();
        }
    }
}

/// Checks that the simulation of a design that does this fails with a message that contains the text.
#[track_caller]
fn broken(expected: &str, action: impl FnOnce(&mut Bench)) {
    let mut bench = bench(latency(20));
    panics_with(expected, || action(&mut bench));
}

#[test]
fn broken_descriptors_are_reported() {
    for (descriptor, expected) in [
        (
            descriptor(0, 0, 0, 0),
            "m_axis_write_desc: a descriptor has no bytes",
        ),
        (descriptor(0xfff, 0, 2, 0), "leaves the page of its first byte"),
        (descriptor(0, 510, 3, 0), "leaves the 512 bytes that it may use"),
    ] {
        broken(expected, |bench| {
            bench.ask(Transfer::ToHost, descriptor);
        });
    }
    broken("m_axis_read_desc: tag 5 of a descriptor is in flight", |bench| {
        bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 5));
        bench.ask(Transfer::FromHost, descriptor(0, 64, 1, 5));
    });
    broken("a descriptor selects RAM 3, not 0", |bench| {
        bench.set("t_write_ram_sel", 3);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 1, 0));
    });
    broken("a descriptor has immediate data", |bench| {
        bench.set("t_write_imm_en", 1);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 1, 0));
    });
    broken(
        "m_axis_write_desc_len changed while valid was high and ready was low",
        |bench| {
            bench.writes.set_pause(Pause::AlwaysAfter(0));
            bench.set("t_write_len", 1);
            bench.set("t_write_valid", 1);
            bench.sim.run(3);
            bench.set("t_write_len", 2);
            bench.sim.run(1);
        },
    );
}

#[test]
fn accesses_to_bytes_in_use_are_reported() {
    broken(
        "ram_wr_cmd: RAM bytes 0x0 to 0x7 are written while a descriptor in flight",
        |bench| {
            bench.write_line(0, bytes(0), 1);
            bench.ask(Transfer::ToHost, descriptor(0, 0, 1, 0));
            bench.write_line(1, bytes(0), 1);
            bench.write_line(0, bytes(0), 0);
        },
    );
    broken(
        "a descriptor covers RAM bytes 0x8 to 0xf, which are not written yet",
        |bench| {
            bench.ram_writes.set_latency(Latency::exactly(5));
            bench.write_line(0, bytes(0), 1);
            bench.ask(Transfer::ToHost, descriptor(0, 12, 1, 0));
        },
    );
    broken(
        "ram_rd_cmd: RAM bytes 0x0 to 0x7 are read while a descriptor in flight",
        |bench| {
            bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 0));
            bench.read_line(0);
        },
    );
    broken(
        "a descriptor covers RAM bytes 0x0 to 0x7, whose data was not read yet",
        |bench| {
            bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 0));
            bench.statuses(Transfer::FromHost);
            bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 0));
        },
    );
}

#[test]
fn broken_commands_are_reported() {
    broken(
        "ram_wr_cmd: valid of segment 1 went low before ready was high",
        |bench| {
            bench.ram_writes.set_pause(Pause::AlwaysAfter(0));
            bench.set("t_wr_valid", 2);
            bench.sim.run(2);
            bench.set("t_wr_valid", 1);
            bench.sim.run(1);
        },
    );
    broken(
        "ram_rd_cmd: the command of segment 0 changed while valid was high",
        |bench| {
            bench.ram_reads.set_pause(Pause::AlwaysAfter(0));
            bench.set("t_rd_valid", 1);
            bench.sim.run(2);
            bench.set("t_rd_addr", 1);
            bench.sim.run(1);
        },
    );
    broken(
        "line 0x20 of segment 0 is beyond the 512 bytes that the design may use",
        |bench| {
            bench.read_line(32);
        },
    );
    broken("ram_rd_cmd: valid is high in reset", |bench| {
        bench.set("t_rd_valid", 1);
        bench.sim.reset();
    });
}

#[test]
fn designs_without_dma_ports_are_rejected() {
    let mut sim = limited::<FixtureSlice>(1);
    let (host, ram) = (HostMemory::new(0), SegmentedRam::new(SHAPE, Seed(0)));
    let prefixes = Transfer::ToHost.prefixes();
    let config = DmaConfig::default();
    let error =
        CorundumDma::attach(&mut sim, Transfer::ToHost, prefixes, &host, &ram, config).expect_err("a stream");
    assert_contains(&error, "fixture_slice has no port `m_axis_write_desc_dma_addr`");
    let mut sim = limited::<FixtureDma>(1);
    let shape = RamShape { segments: 1, ..SHAPE };
    let ram = SegmentedRam::new(shape, Seed(0));
    let error =
        RamPort::attach_writes(&mut sim, "ram_wr", &ram, RamConfig::after(1)).expect_err("two segments");
    assert_eq!(
        error.to_string(),
        "port `ram_wr_cmd_valid` of fixture_dma is 2 bits wide; each segment has 1"
    );
}
