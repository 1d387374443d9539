//! Traces of packets that arrive alone: accesses of HPUs to their drivers, and transfers at the cluster's ports.
//! Recorded on the PULP cluster and compared with the model.
//!
//! ```text
//! packet,clock,what                          (clocks since the packet came)
//! 0,0,HER message 0 last at 0x1c100000 60
//! 0,24,HPU 0.0 reads 0x00: program
//! ```
//!
//! The location of a packet in L1 is the cluster's choice, so such an address is written as `packet` and an offset.
//! The location of a handler in program memory changes with every instruction of the runtime.

use crate::top::{CLUSTERS, CORES};
use anyhow::{Context as _, Result};
use spinneret_cluster::task::CommandId;
use spinneret_cluster::{HpuId, TraceEntry, TraceEvent};
use spinneret_regmap::pspin::{PROGRAM_BASE, PROGRAM_BYTES};
use std::fmt::Write as _;

/// The register with the packet's address in L1.
const PACKET: u32 = 0x10;
/// More than a packet has in L1.
const PACKET_BYTES: u32 = 2048;
/// Commands of an HPU.
const COMMANDS: usize = 4;

/// A line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number of the packet.
    pub packet: usize,
    /// Clocks since its arrival.
    pub clock: u64,
    /// The event.
    pub what: String,
}

/// The lines of a packet.
pub fn lines(packet: usize, passed: &[TraceEntry]) -> Vec<Line> {
    let start = passed.first().map_or(0, |first| first.clock);
    let mut base = None;
    // The port shows the end of a command for sends only.
    let mut sends = Vec::new();
    let mut line = |traced: &TraceEntry| {
        match traced.what {
            TraceEvent::Send { id, .. } => sends.push(id),
            TraceEvent::Done { id } => {
                let place = sends.iter().position(|send| *send == id)?;
                sends.remove(place);
            }
            _ => {}
        }
        if let TraceEvent::Read {
            offset: PACKET,
            value,
            ..
        } = traced.what
        {
            base = Some(value);
        }
        Some(Line {
            packet,
            clock: traced.clock - start,
            what: text(&traced.what, base),
        })
    };
    passed.iter().filter_map(&mut line).collect()
}

fn text(what: &TraceEvent, base: Option<u32>) -> String {
    let value = |value: u32| match base.map(|base| value.wrapping_sub(base)) {
        Some(offset) if offset < PACKET_BYTES => format!("packet+{offset}"),
        _ if value.wrapping_sub(PROGRAM_BASE) < PROGRAM_BYTES => "program".to_owned(),
        _ => format!("{value:#010x}"),
    };
    let who = |hpu: HpuId| format!("HPU {}.{}", hpu.cluster, hpu.core);
    let name = |id: CommandId| format!("{}.{}.{}", id.cluster, id.core, id.local);
    match *what {
        TraceEvent::Her {
            message,
            is_last,
            address,
            size,
        } => {
            let last = if is_last { " last" } else { "" };
            format!("HER message {message}{last} at {address:#010x} {size}")
        }
        TraceEvent::Feedback { queue, address } => format!("feedback queue {queue} at {address:#010x}"),
        TraceEvent::Read {
            hpu,
            offset,
            value: read,
        } => format!("{} reads {offset:#04x}: {}", who(hpu), value(read)),
        TraceEvent::Written {
            hpu,
            offset,
            value: written,
        } => format!("{} writes {offset:#04x}: {}", who(hpu), value(written)),
        TraceEvent::Send { id, source, length } => {
            format!(
                "command {} sends {length} from {}",
                name(id),
                value(source as u32)
            )
        }
        TraceEvent::Done { id } => format!("command {} is done", name(id)),
    }
}

/// A command's number as it stands on the cluster's ports: cluster, core, the core's own number.
pub(crate) fn command(id: u32) -> CommandId {
    let id = id as usize;
    CommandId {
        cluster: (id / (CORES * COMMANDS) % CLUSTERS) as u8,
        core: (id / COMMANDS % CORES) as u8,
        local: (id % COMMANDS) as u8,
    }
}

/// The file's text.
pub fn write(lines: &[Line]) -> String {
    let mut text = String::from("packet,clock,what\n");
    for line in lines {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{},{}", line.packet, line.clock, line.what);
    }
    text
}

/// Parses what [`write`] writes, without its heading.
///
/// # Errors
/// If a line is none.
pub fn read(rows: &[String]) -> Result<Vec<Line>> {
    let lines = rows.iter().map(|row| {
        let mut parts = row.splitn(3, ',');
        let mut part = || {
            parts
                .next()
                .with_context(|| format!("`{row}` is no line of a trace"))
        };
        Ok(Line {
            packet: part()?.parse()?,
            clock: part()?.parse()?,
            what: part()?.to_owned(),
        })
    });
    lines.collect()
}

/// Allowed difference of a line's time in percent and in clocks: in the first packet, whose program is loaded into
/// the cache, and later.
const PERCENT: [u64; 2] = [35, 10];
const CLOCKS: [u64; 2] = [16, 8];
/// Clocks in which two cache lines of instructions arrive (20 each, as in the model), for a program larger than the
/// cache.
const LINES: u64 = 40;

/// Describes the differences: each HPU has to do the same in the same order and in time, and so do the ports. A
/// program larger than the cache never settles: some of its lines arrive with every packet, and which ones is random.
/// So single lines may be early or late, but not more of them in total.
pub fn differences(real: &[Line], model: &[Line], fits_the_cache: bool) -> Vec<String> {
    let mut all = Vec::new();
    for at_hpus in [true, false] {
        let lane = |lines: &[Line]| -> Vec<Line> {
            let wanted = |line: &&Line| line.what.starts_with("HPU") == at_hpus;
            lines.iter().filter(wanted).cloned().collect()
        };
        let (real, model) = (lane(real), lane(model));
        let whole = |packet| {
            let lines = real.iter().filter(|line| line.packet == packet);
            lines.map(|line| line.clock).max().unwrap_or(0)
        };
        let pairs = real.iter().zip(&model);
        let differ = |(one, other): &(&Line, &Line)| {
            let turn = one.packet.min(fits_the_cache.into());
            let slack = |clocks| clocks * PERCENT[turn] / 100 + CLOCKS[turn];
            let slack = match fits_the_cache {
                true => slack(one.clock),
                false => slack(whole(one.packet)).min(slack(one.clock) + LINES),
            };
            (one.packet, &one.what) != (other.packet, &other.what) || one.clock.abs_diff(other.clock) > slack
        };
        if let Some((one, other)) = pairs.clone().find(differ) {
            all.push(format!(
                "packet {}: clock {}, {}; in the model clock {}, {}",
                one.packet, one.clock, one.what, other.clock, other.what
            ));
        } else if real.len() != model.len() {
            all.push(format!("{} lines, {} in the model", real.len(), model.len()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Vec<Line> {
        let hpu = HpuId { cluster: 0, core: 3 };
        let read = |offset, value| TraceEvent::Read { hpu, offset, value };
        let her = TraceEvent::Her {
            message: 5,
            is_last: true,
            address: 0x1c10_0000,
            size: 60,
        };
        let source = 0x1000_4442;
        let steps = [
            (100, her),
            (122, read(0, 0x1d00_0400)),
            (123, read(PACKET, 0x1000_4440)),
            (
                130,
                TraceEvent::Send {
                    id: command(0b00_1101),
                    source,
                    length: 60,
                },
            ),
            (
                150,
                TraceEvent::Done {
                    id: command(0b00_1101),
                },
            ),
            (
                160,
                TraceEvent::Written {
                    hpu,
                    offset: 0x50,
                    value: 0,
                },
            ),
            (
                162,
                TraceEvent::Feedback {
                    queue: 5,
                    address: 0x1c10_0000,
                },
            ),
        ];
        let passed: Vec<_> = steps
            .iter()
            .map(|(clock, what)| TraceEntry {
                clock: *clock,
                what: *what,
            })
            .collect();
        lines(1, &passed)
    }

    #[test]
    fn a_trace_survives_a_round_trip() {
        let text = write(&trace());
        assert!(text.contains("1,23,HPU 0.3 reads 0x10: packet+0\n"), "{text}");
        assert!(
            text.contains("1,30,command 0.3.1 sends 60 from packet+2\n"),
            "{text}"
        );
        let rows: Vec<_> = text.lines().skip(1).map(str::to_owned).collect();
        assert_eq!(read(&rows).expect("it was written"), trace());
        assert!(read(&["1,2".to_owned()]).is_err());
    }

    #[test]
    fn other_values_another_order_and_other_times_differ() {
        let real = trace();
        assert!(differences(&real, &real, true).is_empty());
        let mut late = real.clone();
        late[1].clock += 11;
        assert!(differences(&real, &late, true)[0].contains("clock 33"));
        let mut swapped = real.clone();
        swapped.swap(1, 2);
        assert_eq!(differences(&real, &swapped, true).len(), 1);
        assert_eq!(differences(&real, &real[..6], true), ["4 lines, 3 in the model"]);
        // HPUs and ports need not meet in the same order.
        let mut mixed = real.clone();
        mixed.swap(2, 3);
        assert!(differences(&real, &mixed, true).is_empty());
    }
}
