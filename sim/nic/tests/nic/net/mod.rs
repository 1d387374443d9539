//! Shared by the tests with real interfaces.

mod packet_socket;
mod tap;

use proptest::prelude::*;
use spinneret_nic::net::{InterfaceAddress, Next, PcapSink, PcapSource, Sink, Source, TapConfig, Timing};
use spinneret_packets::capture::{CaptureReader, CaptureWriter, Packet, Resolution};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A cable with a name and a network that no other test has, in this process or another one.
pub(crate) fn config(test: u32) -> TapConfig {
    let process = std::process::id();
    // Networks of four addresses.
    let [third, fourth] = ((process * 16 + test) as u16 & 0x3fff)
        .wrapping_mul(4)
        .to_be_bytes();
    let address = |last: u8| InterfaceAddress {
        address: [198, 18, third, fourth + last].into(),
        prefix_bits: 30,
    };
    TapConfig {
        name: format!("t{test:x}{process:x}"),
        host: address(1),
        wire: address(2),
    }
}

/// A command in words; the first one is the program.
pub(crate) fn command(words: &str) -> Command {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// Runs a command that has to succeed.
pub(crate) fn run(words: &str) -> Output {
    let output = command(words)
        .output()
        .unwrap_or_else(|error| panic!("{words}: {error}"));
    assert!(
        output.status.success(),
        "{words}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Does something until it says that it is enough.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what} takes too long");
    }
}

/// A capture with packets of these times and sizes, long after 1970.
fn capture(path: &Path, packets: &[(u64, usize)]) {
    let mut writer = CaptureWriter::create(path, Resolution::Nano).unwrap();
    for (nanoseconds, size) in packets {
        let packet = Packet {
            timestamp: Duration::from_secs(1_700_000_000) + Duration::from_nanos(*nanoseconds),
            data: vec![*size as u8; *size],
            original_len: *size as u32,
        };
        writer.write(&packet).unwrap();
    }
    writer.finish().unwrap();
}

/// Times and sizes of all packets.
fn all(path: &Path, timing: Timing) -> Vec<(u64, usize)> {
    let mut source = PcapSource::open(path, timing).unwrap();
    let mut found = Vec::new();
    loop {
        match source.next(0).unwrap() {
            Next::Packet { at_ps, bytes } => found.push((at_ps, bytes.len())),
            Next::WithRoom(_) | Next::Nothing => panic!("a capture always knows"),
            Next::End => return found,
        }
    }
}

#[test]
fn times_are_relative_to_the_first_packet() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("in.pcap");
    capture(&path, &[(500, 60), (1_500, 70), (900, 80), (2_000_000_500, 90)]);
    // The third one was captured before the second one, and comes with it.
    let recorded = [(0, 60), (1_000_000, 70), (1_000_000, 80), (2_000_000_000_000, 90)];
    assert_eq!(all(&path, Timing::Recorded), recorded);
    assert!(
        all(&path, Timing::BackToBack)
            .iter()
            .all(|(at_ps, _)| *at_ps == 0)
    );
    let source = PcapSource::open(&path, Timing::Recorded).unwrap();
    assert_eq!((source.total(), source.is_live()), (Some(4), false));
}

#[test]
fn a_damaged_capture_names_the_packet() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("in.pcap");
    capture(&path, &[(0, 60), (1, 70), (2, 80)]);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let mut source = PcapSource::open(&path, Timing::Recorded).unwrap();
    assert_eq!(source.total(), None);
    for size in [60, 70] {
        assert!(matches!(source.next(0), Ok(Next::Packet { bytes, .. }) if bytes.len() == size));
    }
    let found = source.next(0).unwrap_err().to_string();
    let problem = "packet 3 (at byte 186): the file ends within the packet: 95 of 96 bytes are there";
    assert_eq!(found, format!("{}: {problem}", path.display()));
    assert_eq!(source.next(0).unwrap(), Next::End);

    let found = PcapSource::open(&directory.path().join("none"), Timing::Recorded).unwrap_err();
    assert!(found.to_string().contains("cannot read the capture"), "{found}");
}

#[test]
fn an_empty_packet_is_an_error_and_a_truncated_one_is_counted() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("in.pcap");
    let mut writer = CaptureWriter::create(&path, Resolution::Micro).unwrap();
    for captured in [64, 0] {
        let packet = Packet {
            timestamp: Duration::ZERO,
            data: vec![0; captured],
            original_len: 1500,
        };
        writer.write(&packet).unwrap();
    }
    writer.finish().unwrap();
    let mut source = PcapSource::open(&path, Timing::Recorded).unwrap();
    assert!(matches!(source.next(0), Ok(Next::Packet { bytes, .. }) if bytes.len() == 64));
    assert_eq!(source.cut_short(), 1);
    let found = source.next(0).unwrap_err().to_string();
    assert!(found.ends_with("in.pcap: packet 2 is empty"), "{found}");
}

/// A thousand gigabytes of empty records, of which nothing is kept on disk: counting them first would take hours.
#[test]
fn a_capture_is_read_as_a_stream() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("large.pcap");
    capture(&path, &[]);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let mut source = PcapSource::open(&path, Timing::Recorded).unwrap();
    assert_eq!(source.total(), None);
    let error = source.next(0).unwrap_err().to_string();
    assert!(
        error.contains("large.pcap") && error.contains("packet 1"),
        "{error}"
    );
}

#[test]
fn an_unfinished_capture_keeps_the_existing_file() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("out.pcap");
    let mut sink = PcapSink::create(&path).unwrap();
    sink.put(0, &[1; 60]).unwrap();
    drop(sink);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

    fs::write(&path, "as it was").unwrap();
    let mut sink = PcapSink::create(&path).unwrap();
    sink.put(0, &[1; 60]).unwrap();
    // This one has no place in a capture.
    let found = sink.put(u64::MAX, &vec![0; 300_000]).unwrap_err().to_string();
    assert!(
        found.contains("packet 2 cannot be written to a pcap file"),
        "{found}"
    );
    drop(sink);
    assert_eq!(fs::read_to_string(&path).unwrap(), "as it was");
    assert!(PcapSink::create(&directory.path().join("none/out.pcap")).is_err());
}

proptest! {
    #[test]
    fn a_written_capture_can_be_read(gaps in prop::collection::vec((0u64..1 << 40, 1usize..300), 1..20)) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("out.pcap");
        let mut sink = Box::new(PcapSink::create(&path).unwrap());
        let mut at_ps = 0;
        let mut expected = Vec::new();
        for (gap, size) in gaps {
            at_ps += gap;
            sink.put(at_ps, &vec![7; size]).unwrap();
            expected.push((at_ps, size));
        }
        sink.finish().unwrap();
        let times: Vec<u128> = CaptureReader::open(&path).unwrap().map(|packet| packet.unwrap().timestamp.as_nanos()).collect();
        prop_assert_eq!(times, expected.iter().map(|(at, _)| u128::from(at / 1000)).collect::<Vec<_>>());
        let first = expected[0].0 / 1000;
        let relative: Vec<_> = expected.iter().map(|(at, size)| ((at / 1000 - first) * 1000, *size)).collect();
        prop_assert_eq!(all(&path, Timing::Recorded), relative);
    }
}

#[test]
fn a_packet_after_the_end_of_time_is_named() {
    const DAY_NS: u64 = 86_400_000_000_000;
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("late.pcap");
    for days in [107, 213, 214, 10_000] {
        capture(&path, &[(0, 60), (DAY_NS, 60), (days * DAY_NS, 60)]);
        let mut source = PcapSource::open(&path, Timing::Recorded).unwrap();
        source.next(0).unwrap();
        source.next(0).unwrap();
        let told = source.next(0).unwrap_err().to_string();
        assert!(told.contains("late.pcap: packet 3 comes "), "{told}");
        assert!(told.contains("--back-to-back"), "{told}");
        assert_eq!(all(&path, Timing::BackToBack), [(0, 60); 3]);
    }
}
