//! The timeline of a run for Perfetto (<https://ui.perfetto.dev>), as JSON of Chrome's trace events.

use super::summary::Occupancy;
use serde::Serialize;
use serde_json::{Value, json};
use spinneret_cluster::HpuId;
use spinneret_packets::capture::whole_file::WholeFile;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;

/// The process that stands for the hardware around the cluster of the first NIC.
const NIC: u32 = 1;
/// The process that stands for its HPUs.
const HPUS: u32 = 2;
/// The process that stands for calls to the host, if there are any.
const CALLS: u32 = 3;
/// Numbers of HPUs in a cluster.
const STRIDE: usize = 8;
/// Upper limit of the ports of a context.
const PORTS: u32 = 128;
/// Tracks of the process of the NIC, by number.
const TRACKS: [&str; 6] = ["wire in", "ingress", "queue", "egress", "to host", "from host"];
/// Bytes that pass in one clock of the core.
const BEAT_BYTES: usize = 64;

/// Blocks whose packets pass one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serial {
    WireIn = 0,
    Egress = 3,
    ToHost = 4,
    FromHost = 5,
}

/// Blocks that hold more than one packet at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parallel {
    Ingress = 1,
    Queue = 2,
}

/// Details of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Packet {
    /// Number of the frame, counted as frames come from the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frame: Option<u64>,
    /// Number of the packet, counted as packets come to the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) packet: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<u32>,
    pub(crate) bytes: u64,
}

impl Packet {
    /// A frame outside of the cluster.
    pub(crate) fn frame(frame: Option<u64>, bytes: usize) -> Self {
        Self {
            frame,
            bytes: bytes as u64,
            ..Self::default()
        }
    }
}

/// A call of a handler to the host, as the host sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The context of the handler.
    pub context: u32,
    /// Its HPU.
    pub hpu: HpuId,
    /// The port of the context.
    pub port: u32,
    /// The called function.
    pub name: String,
    /// Time of the request.
    pub asked_ps: u64,
    /// Start of the work on the host.
    pub taken_ps: u64,
    /// Time of the answer, or of its cancellation.
    pub ended_ps: u64,
}

/// A trace that is being written.
///
/// ```text
/// process NIC:  wire in    one slice a frame, as long as its beats take
///               ingress    from the wire to the cluster; packets overlap, so these are asynchronous slices
///               queue      from the cluster to an HPU; so are these
///               egress, to host, from host
///               counters   slots in use, busy HPUs, packets that wait
/// process HPUs: HPU 0.0 .. one slice a handler
/// process calls: a track for each port that calls, one slice a call, with its wait for the host in it
/// ```
pub(crate) struct Trace {
    file: WholeFile,
    core_ps: u64,
    /// When the last slice of each track of the NIC ends: slices of a track do not overlap.
    ends: [u64; TRACKS.len()],
    events: u64,
    /// Asynchronous slices so far: each has a number of its own.
    slices: u64,
    /// Tracks of the process of calls that have a name.
    called: BTreeSet<u32>,
}

impl Trace {
    pub(crate) fn create(path: &Path, [clusters, hpus]: [usize; 2], core_ps: u64) -> io::Result<Self> {
        let mut trace = Self {
            file: WholeFile::create(path)?,
            core_ps,
            ends: [0; TRACKS.len()],
            events: 0,
            slices: 0,
            called: BTreeSet::new(),
        };
        trace
            .file
            .write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        trace.name("process_name", NIC, 0, "NIC")?;
        trace.name("process_name", HPUS, 0, "HPUs")?;
        for (number, name) in (1..).zip(TRACKS) {
            trace.name("thread_name", NIC, number, name)?;
        }
        for number in 0..clusters * hpus {
            let hpu = HpuId {
                cluster: number / hpus,
                core: number % hpus,
            };
            let name = format!("HPU {}.{}", hpu.cluster, hpu.core);
            trace.name("thread_name", HPUS, thread(hpu), &name)?;
        }
        Ok(trace)
    }

    /// A frame passes a block; it ends at `at_ps`, or starts then on input.
    pub(crate) fn pass(&mut self, block: Serial, at_ps: u64, name: &str, packet: Packet) -> io::Result<()> {
        let beats = (packet.bytes as usize).div_ceil(BEAT_BYTES).max(1);
        let long_ps = beats as u64 * self.core_ps;
        let track = block as usize;
        let wanted = match block {
            Serial::WireIn => at_ps,
            _ => at_ps.saturating_sub(long_ps),
        };
        let start_ps = wanted.max(self.ends[track]);
        self.ends[track] = start_ps + long_ps;
        let place = (NIC, track as u32 + 1);
        self.slice(place, [start_ps, start_ps + long_ps], name, json!(packet))
    }

    /// A handler has run.
    pub(crate) fn handler(
        &mut self,
        hpu: HpuId,
        times_ps: [u64; 2],
        name: &str,
        packet: Packet,
        (cycles, ending): (u64, String),
    ) -> io::Result<()> {
        let mut arguments = json!(packet);
        arguments["handler"] = json!(name);
        arguments["cycles"] = json!(cycles);
        arguments["ending"] = json!(ending);
        self.slice((HPUS, thread(hpu)), times_ps, name, arguments)
    }

    /// A handler has called the host. Calls of a port do not overlap.
    pub(crate) fn call(&mut self, call: &Call) -> io::Result<()> {
        let track = call.context * PORTS + call.port + 1;
        if self.called.is_empty() {
            self.name("process_name", CALLS, 0, "calls")?;
        }
        if self.called.insert(track) {
            let name = format!(
                "context {}, port {}: HPU {}.{}",
                call.context, call.port, call.hpu.cluster, call.hpu.core
            );
            self.name("thread_name", CALLS, track, &name)?;
        }
        let waited = us(call.taken_ps.saturating_sub(call.asked_ps));
        let arguments = json!({"context": call.context, "port": call.port, "waited": waited});
        let place = (CALLS, track);
        self.slice(place, [call.asked_ps, call.ended_ps], &call.name, arguments)?;
        self.slice(
            place,
            [call.asked_ps, call.taken_ps],
            "waits for the host",
            json!({}),
        )
    }

    /// A packet was in a block. All slices of a block have the same name, so they share a track.
    pub(crate) fn stay(
        &mut self,
        block: Parallel,
        [from_ps, to_ps]: [u64; 2],
        packet: Packet,
    ) -> io::Result<()> {
        let name = TRACKS[block as usize];
        self.slices += 1;
        let id = self.slices;
        let event = |phase: &str, at_ps: u64| {
            let thread = block as u32 + 1;
            json!({"ph": phase, "cat": name, "name": name, "id": id, "pid": NIC, "tid": thread, "ts": us(at_ps)})
        };
        let mut begin = event("b", from_ps);
        begin["args"] = json!(packet);
        self.write(&begin)?;
        self.write(&event("e", to_ps.max(from_ps)))
    }

    /// Figures that are shown as curves.
    pub(crate) fn occupancy(&mut self, at_ps: u64, occupancy: &Occupancy) -> io::Result<()> {
        let curves = [
            (
                "slots in use",
                json!({"small": occupancy.slots_small, "large": occupancy.slots_large}),
            ),
            ("busy HPUs", json!({"HPUs": occupancy.busy_hpus})),
            ("waiting packets", json!({"packets": occupancy.queued})),
        ];
        for (name, figures) in curves {
            self.write(&json!({"ph": "C", "name": name, "pid": NIC, "ts": us(at_ps), "args": figures}))?;
        }
        Ok(())
    }

    /// Completes the file and gives it its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file.write_all(b"\n]}\n")?;
        self.file.finish()
    }

    fn name(&mut self, kind: &str, pid: u32, tid: u32, name: &str) -> io::Result<()> {
        self.write(&json!({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}))?;
        let order = kind.replace("_name", "_sort_index");
        self.write(&json!({"ph": "M", "name": order, "pid": pid, "tid": tid, "args": {"sort_index": pid * 1000 + tid}}))
    }

    fn slice(&mut self, (pid, tid): (u32, u32), times: [u64; 2], name: &str, args: Value) -> io::Result<()> {
        let [from, to] = times;
        let long = us(to.saturating_sub(from));
        self.write(&json!({"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": us(from), "dur": long, "args": args}))
    }

    fn write(&mut self, event: &Value) -> io::Result<()> {
        self.file
            .write_all(if self.events == 0 { b"\n" } else { b",\n" })?;
        self.events += 1;
        Ok(serde_json::to_writer(&mut self.file, event)?)
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

/// The number of an HPU's track.
fn thread(hpu: HpuId) -> u32 {
    (hpu.cluster * STRIDE + hpu.core + 1) as u32
}

/// Microseconds for trace events; exact to a picosecond for the first two hours.
fn us(ps: u64) -> f64 {
    ps as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn traced(make: impl FnOnce(&mut Trace)) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        let mut trace = Trace::create(&path, [2, 8], 4000).unwrap();
        make(&mut trace);
        assert!(!path.exists(), "there is no file before it is whole");
        trace.finish().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        whole["traceEvents"].as_array().unwrap().clone()
    }

    fn packet(number: u64, bytes: u64) -> Packet {
        Packet {
            frame: None,
            packet: Some(number),
            message: Some(7),
            bytes,
        }
    }

    #[test]
    fn an_empty_trace_names_its_tracks() {
        let events = traced(|_| {});
        let names: Vec<_> = events
            .iter()
            .filter(|event| event["name"] == "thread_name")
            .collect();
        assert_eq!(names.len(), TRACKS.len() + 16);
        assert_eq!(names[21]["args"]["name"], "HPU 1.7");
        assert!(events.iter().all(|event| event["ph"] == "M"));
    }

    #[test]
    fn slices_of_a_block_do_not_overlap() {
        let events = traced(|trace| {
            for number in 0..5 {
                trace
                    .pass(Serial::WireIn, number * 1000, "frame", packet(number, 128))
                    .unwrap();
                trace
                    .pass(Serial::Egress, number * 1000, "frame", packet(number, 1))
                    .unwrap();
            }
        });
        let mut ends = BTreeMap::new();
        for event in events.iter().filter(|event| event["ph"] == "X") {
            let (from, long) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
            let end = ends.entry(event["tid"].as_u64()).or_insert(0.0);
            assert!(from >= *end, "{event}");
            *end = from + long;
        }
        assert_eq!(ends.values().copied().collect::<Vec<_>>(), [0.04, 0.02]);
    }

    #[test]
    fn asynchronous_slices_are_pairs_of_events() {
        let events = traced(|trace| {
            trace.stay(Parallel::Ingress, [10, 90], packet(1, 64)).unwrap();
            trace.stay(Parallel::Ingress, [20, 50], packet(2, 64)).unwrap();
        });
        let stays: Vec<_> = events.iter().filter(|event| event["cat"] == "ingress").collect();
        let shown: Vec<_> = stays
            .iter()
            .map(|stay| (stay["ph"].as_str().unwrap(), stay["id"].as_u64()))
            .collect();
        assert_eq!(
            shown,
            [("b", Some(1)), ("e", Some(1)), ("b", Some(2)), ("e", Some(2))]
        );
        assert_eq!(stays[0]["args"], json!({"packet": 1, "message": 7, "bytes": 64}));
    }

    #[test]
    fn calls_have_tracks_with_their_waits() {
        let events = traced(|trace| {
            for (port, asked_ps) in [(9, 1_000_000), (9, 5_000_000), (0, 6_000_000)] {
                let call = Call {
                    context: 1,
                    hpu: HpuId {
                        cluster: port / 8,
                        core: port % 8,
                    },
                    port: port as u32,
                    name: "PRINT".to_owned(),
                    asked_ps,
                    taken_ps: asked_ps + 300_000,
                    ended_ps: asked_ps + 400_000,
                };
                trace.call(&call).unwrap();
            }
        });
        let of_calls = |kind: &str| {
            let events = events.iter().filter(|event| event["pid"] == CALLS);
            let events = events.filter(|event| event["ph"] == kind).cloned();
            events.collect::<Vec<Value>>()
        };
        let names: Vec<_> = of_calls("M")
            .iter()
            .filter_map(|event| event["args"]["name"].as_str().map(str::to_owned))
            .collect();
        let tracks = ["context 1, port 9: HPU 1.1", "context 1, port 0: HPU 0.0"];
        assert_eq!(names, ["calls", tracks[0], tracks[1]]);
        let slices = of_calls("X");
        assert_eq!(slices.len(), 6);
        let [call, wait, ..] = &slices[2..] else { panic!() };
        assert_eq!(
            (call["name"].as_str(), call["args"]["waited"].as_f64()),
            (Some("PRINT"), Some(0.3))
        );
        assert_eq!(
            (call["ts"].as_f64(), call["dur"].as_f64()),
            (Some(5.0), Some(0.4))
        );
        assert_eq!(
            (wait["ts"].as_f64(), wait["dur"].as_f64()),
            (Some(5.0), Some(0.3))
        );
        assert_eq!(
            (&call["tid"], &wait["tid"]),
            (&slices[0]["tid"], &slices[0]["tid"])
        );
    }

    #[test]
    fn a_picosecond_is_not_lost() {
        let events = traced(|trace| {
            let hour = 3_600_000_000_000_001;
            let hpu = HpuId { cluster: 1, core: 2 };
            trace
                .handler(
                    hpu,
                    [hour, hour + 3],
                    "a_ph",
                    packet(0, 9),
                    (3, "done".to_owned()),
                )
                .unwrap();
        });
        let slice = events.last().unwrap();
        assert_eq!(
            (slice["ts"].to_string(), slice["dur"].to_string()),
            ("3600000000.000001".to_owned(), "3e-6".to_owned())
        );
        assert_eq!(
            (slice["pid"].as_u64(), slice["tid"].as_u64()),
            (Some(2), Some(11))
        );
        assert_eq!(slice["args"]["cycles"], 3);
    }
}
