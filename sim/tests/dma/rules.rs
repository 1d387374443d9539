//! Designs that break the rules.

use crate::bench::{Bench, SHAPE, bench, bytes, descriptor, latency};
use crate::support::{limited, panic_message};
use spinneret_fixtures::{FixtureDma, FixtureSlice};
use spinneret_sim::dma::{RamPort, SegmentedRam, Transfer};
use spinneret_sim::prelude::*;

/// What the simulation says of a design that does this.
fn broken(action: impl FnOnce(&mut Bench)) -> String {
    let mut bench = bench(latency(20));
    panic_message(|| action(&mut bench))
}

#[test]
fn broken_descriptors_are_found() {
    let ask = |descriptor| {
        broken(|bench| {
            bench.ask(Transfer::ToHost, descriptor);
        })
    };
    for (descriptor, expected) in [
        (
            descriptor(0, 0, 0, 0),
            "m_axis_write_desc: a descriptor has no bytes",
        ),
        (descriptor(0xfff, 0, 2, 0), "leaves the page of its first byte"),
        (descriptor(0, 510, 3, 0), "leaves the 512 bytes that it may use"),
    ] {
        let message = ask(descriptor);
        assert!(message.contains(expected), "{message}");
    }
    let message = broken(|bench| {
        bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 5));
        bench.ask(Transfer::FromHost, descriptor(0, 64, 1, 5));
    });
    assert!(
        message.contains("m_axis_read_desc: tag 5 of a descriptor is in flight"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.set("t_write_ram_sel", 3);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 1, 0));
    });
    assert!(message.contains("a descriptor selects RAM 3, not 0"), "{message}");
    let message = broken(|bench| {
        bench.set("t_write_imm_en", 1);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 1, 0));
    });
    assert!(message.contains("a descriptor has immediate data"), "{message}");
    let message = broken(|bench| {
        bench.writes.set_pause(Pause::AlwaysAfter(0));
        bench.set("t_write_len", 1);
        bench.set("t_write_valid", 1);
        bench.sim.run(3);
        bench.set("t_write_len", 2);
        bench.sim.run(1);
    });
    assert!(
        message.contains("m_axis_write_desc_len changed while valid was high and ready was low"),
        "{message}"
    );
}

#[test]
fn bytes_in_use_are_not_touched() {
    let message = broken(|bench| {
        bench.write_line(0, bytes(0), 1);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 1, 0));
        bench.write_line(1, bytes(0), 1);
        bench.write_line(0, bytes(0), 0);
    });
    assert!(
        message.contains("ram_wr_cmd: RAM bytes 0x0 to 0x7 are written while a descriptor in flight"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.ram_writes.set_latency(Latency::exactly(5));
        bench.write_line(0, bytes(0), 1);
        bench.ask(Transfer::ToHost, descriptor(0, 12, 1, 0));
    });
    assert!(
        message.contains("a descriptor covers RAM bytes 0x8 to 0xf, which are not written yet"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 0));
        bench.read_line(0);
    });
    assert!(
        message.contains("ram_rd_cmd: RAM bytes 0x0 to 0x7 are read while a descriptor in flight"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 0));
        bench.statuses(Transfer::FromHost);
        bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 0));
    });
    assert!(
        message.contains("a descriptor covers RAM bytes 0x0 to 0x7, whose data was not read yet"),
        "{message}"
    );
}

#[test]
fn broken_commands_are_found() {
    let message = broken(|bench| {
        bench.ram_writes.set_pause(Pause::AlwaysAfter(0));
        bench.set("t_wr_valid", 2);
        bench.sim.run(2);
        bench.set("t_wr_valid", 1);
        bench.sim.run(1);
    });
    assert!(
        message.contains("ram_wr_cmd: valid of segment 1 went low before ready was high"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.ram_reads.set_pause(Pause::AlwaysAfter(0));
        bench.set("t_rd_valid", 1);
        bench.sim.run(2);
        bench.set("t_rd_addr", 1);
        bench.sim.run(1);
    });
    assert!(
        message.contains("ram_rd_cmd: the command of segment 0 changed while valid was high"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.read_line(32);
    });
    assert!(
        message.contains("line 0x20 of segment 0 is beyond the 512 bytes that the design may use"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.set("t_rd_valid", 1);
        bench.sim.reset();
    });
    assert!(
        message.contains("ram_rd_cmd: valid is high in reset"),
        "{message}"
    );
}

#[test]
fn what_has_no_dma_is_refused() {
    let mut sim = limited::<FixtureSlice>(1);
    let (host, ram) = (HostMemory::new(0), SegmentedRam::new(SHAPE, Seed(0)));
    let prefixes = Transfer::ToHost.prefixes();
    let config = DmaConfig::default();
    let error =
        CorundumDma::attach(&mut sim, Transfer::ToHost, prefixes, &host, &ram, config).expect_err("a stream");
    assert!(
        error
            .to_string()
            .starts_with("fixture_slice has no port `m_axis_write_desc_dma_addr`"),
        "{error}"
    );
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
