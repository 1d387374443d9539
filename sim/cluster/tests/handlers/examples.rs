//! The shipped examples do what they say.

use crate::bench::{Bench, HOST};
use crate::slmp::{EOM, SYN, Segment};
use object::{Object as _, ObjectSymbol as _};
use spinneret_cluster::{Config, Ending, Event};
use spinneret_packets::{checksum, echo_request, udp};
use spinneret_slmp::wire::PORT;

#[test]
fn icmp_ping_answers_every_size() {
    let mut bench = Bench::new("examples/icmp_ping", Config::default());
    for size in [0, 1, 2, 55, 56, 57, 255, 1400] {
        let payload: Vec<u8> = (0..size).map(|byte| byte as u8).collect();
        let request = echo_request(1, &payload);
        bench.push(size, true, &request);
        bench.run();
        let (_, reply) = bench.sent.pop().expect("it answers");
        assert_eq!(reply.len(), request.len(), "{size} bytes");
        assert_eq!(
            (&reply[..6], &reply[6..12]),
            (&request[6..12], &request[..6]),
            "{size} bytes"
        );
        assert_eq!(
            (&reply[26..30], &reply[30..34]),
            (&request[30..34], &request[26..30]),
            "{size} bytes"
        );
        assert_eq!((reply[34], checksum(&reply[34..])), (0, 0), "{size} bytes");
        assert_eq!(reply[38..], request[38..], "{size} bytes");
    }
    assert!(bench.runs().all(|run| run.ending == Ending::Done));
}

/// The reference design measured about 681 clocks for 56 bytes of payload, with two sums over them.
#[test]
fn icmp_ping_takes_about_as_long_as_the_reference() {
    let mut bench = Bench::new("tests/recorded/icmp_ping", Config::default());
    // The first packet of each cluster brings the program into its cache.
    for number in 0..4 {
        bench.push(number, true, &echo_request(1, &[1; 56]));
        bench.run();
    }
    let clocks: Vec<u64> = bench.runs().skip(2).map(|run| run.ended - run.begun).collect();
    assert!(
        clocks.iter().all(|clocks| (500..=900).contains(clocks)),
        "{clocks:?}"
    );
    println!("{clocks:?} clocks for 56 bytes");
}

#[test]
fn udp_ping_sends_packets_back() {
    let mut bench = Bench::new("examples/udp_ping", Config::default());
    let request = udp(PORT, b"hello");
    bench.push(0, true, &request);
    bench.run();
    let (_, reply) = bench.sent.pop().expect("it answers");
    assert_eq!(
        (&reply[34..36], &reply[36..38]),
        (&request[36..38], &request[34..36])
    );
    assert_eq!(&reply[42..], b"hello");
}

/// Bytes of host memory, without those that were never written.
fn at_host(bench: &Bench, offset: u64, bytes: u64) -> Option<Vec<u8>> {
    let addresses = HOST + offset..HOST + offset + bytes;
    addresses
        .map(|address| bench.host.get(&address).copied())
        .collect()
}

#[test]
fn copy_to_host_assembles_a_message() {
    let mut bench = Bench::new("examples/copy_to_host", Config::default());
    let message: Vec<u8> = (0..5000_u32).map(|byte| (byte * 7) as u8).collect();
    let chunks: Vec<_> = message.chunks(900).enumerate().collect();
    // The last one comes last, all others in any order.
    for (number, chunk) in [4, 1, 3, 0, 2, 5].map(|number: usize| chunks[number]) {
        let flags = if number + 1 == chunks.len() { EOM | SYN } else { 0 };
        bench.push(
            1,
            flags != 0,
            &Segment::new(flags, 77, number as u32 * 900, chunk).frame(),
        );
    }
    bench.run();
    assert!(bench.runs().all(|run| run.ending == Ending::Done));
    assert_eq!(at_host(&bench, 4096, 5000), Some(message));
    assert_eq!(
        at_host(&bench, 0, 8),
        Some([77_u32.to_le_bytes(), 5000_u32.to_le_bytes()].concat())
    );
    let [(_, reply)] = &bench.sent[..] else {
        panic!("one segment was to be acknowledged")
    };
    assert_eq!(reply[42..44], 0x2000_u16.to_be_bytes(), "ACK");
}

#[test]
fn copy_to_host_stays_in_its_memory() {
    let mut bench = Bench::new("examples/copy_to_host", Config::default());
    for offset in [0x10_0000, 0xf_f000, u32::MAX, 0xffff_fff0] {
        bench.push(1, false, &Segment::new(0, 1, offset, &[1; 100]).frame());
    }
    bench.run();
    assert!(bench.host.is_empty());
    assert_eq!(bench.printed().lines().count(), 4);
}

#[test]
fn aggregate_adds_up_a_message() {
    let mut bench = Bench::new("examples/aggregate", Config::default());
    let mut wanted = 0_u32;
    for number in 0..20_u32 {
        let values: Vec<u32> = (0..50).map(|value| value * 0x0123_4567 + number).collect();
        wanted = values.iter().fold(wanted, |sum, value| sum.wrapping_add(*value));
        let payload: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        let last = number == 19;
        let segment = Segment::new(if last { EOM } else { 0 }, 9, number * 200, &payload);
        bench.push(9, last, &segment.frame());
    }
    bench.run();
    let [(_, reply)] = &bench.sent[..] else {
        panic!("one answer: {:?}", bench.sent.len())
    };
    assert_eq!(reply[52..56], wanted.to_be_bytes());
}

#[test]
fn histogram_counts_sizes() {
    let mut bench = Bench::new("examples/histogram", Config::default());
    let sizes = [60, 64, 100, 100, 700, 1400];
    let mut wanted = [0_u32; 32];
    for (number, size) in sizes.into_iter().enumerate() {
        let last = number + 1 == sizes.len();
        let packet = Segment::new(if last { EOM } else { 0 }, 3, 0, &vec![0; size - 52]).frame();
        wanted[size / 64] += 1;
        bench.push(3, last, &packet);
    }
    bench.run();
    let counts: Vec<u8> = wanted.iter().flat_map(|count| count.to_le_bytes()).collect();
    assert_eq!(at_host(&bench, 128 * 3, 128), Some(counts));
}

#[test]
fn filter_drops_blocked_ports_and_forwards_others() {
    let mut bench = Bench::new("examples/filter", Config::default());
    for port in [19_u16, 53, 389, 1900, 9330, 11211] {
        bench.push(u32::from(port), true, &udp(port, b"query"));
    }
    bench.run();
    let ports: std::collections::BTreeSet<u16> = bench
        .sent
        .iter()
        .map(|(_, packet)| u16::from_be_bytes([packet[36], packet[37]]))
        .collect();
    assert_eq!(ports.into_iter().collect::<Vec<_>>(), [53, 9330]);
}

/// The host's part of host_ping: where a page has a new flag, the frame in it is answered.
fn answer(bench: &mut Bench, seen: &mut [u8; 16]) {
    let data = bench.program.host_data.expect("it has an answer to wait for");
    for (hpu, seen) in seen.iter_mut().enumerate() {
        let page = 4096 * hpu as u64;
        let Some(flag) = at_host(bench, page, 8).filter(|flag| flag[0] != *seen) else {
            continue;
        };
        *seen = flag[0];
        assert_eq!(usize::from(flag[5]), hpu, "the page is its HPU's: {flag:?}");
        // The answer is the frame itself, with its first byte changed.
        let first = bench
            .host
            .get_mut(&(HOST + page + 64))
            .expect("the frame is there");
        *first ^= 0xff;
        bench.cluster.write(data + 8 * hpu as u32, &flag);
    }
}

#[test]
fn host_ping_waits_for_the_host() {
    let mut bench = Bench::new("examples/host_ping", Config::default());
    for number in 0..40 {
        bench.push(number, true, &echo_request(number as u16, &[number as u8; 100]));
    }
    let mut seen = [0; 16];
    while bench.freed.len() < 40 {
        bench.clock();
        answer(&mut bench, &mut seen);
    }
    bench.run();
    assert!(bench.runs().all(|run| run.ending == Ending::Done));
    assert_eq!(bench.sent.len(), 40);
    assert!(bench.sent.iter().all(|(_, frame)| frame[0] == 0x02 ^ 0xff));
}

/// FPsPIN starts the handler of a packet of 64 bytes 26 clocks after the packet is there.
#[test]
fn a_small_packets_handler_starts_in_26_clocks() {
    let mut bench = Bench::new("examples/udp_ping", Config::default());
    bench.push(1, true, &[0; 64]);
    let came = bench.cluster.now();
    bench.run();
    let begun = bench.runs().next().expect("it has ended").begun;
    assert_eq!(begun - came, 26);
}

#[test]
fn skipped_clocks_change_nothing() {
    let times = [false, true].map(|skips| {
        let mut bench = Bench::new("examples/icmp_ping", Config::default());
        let start = bench.cluster.now();
        for number in 0..40 {
            bench.push(number, true, &[number as u8; 300]);
            for _ in 0..number * 7 {
                match bench.cluster.next() {
                    None if skips => bench.cluster.skip_to(bench.cluster.now() + 1),
                    _ => bench.clock(),
                }
            }
        }
        bench.run();
        let times = bench.events.iter().filter_map(|event| match event {
            Event::Finished(run) => Some((run.packet, run.begun - start, run.ended - start)),
            _ => None,
        });
        times.collect::<Vec<_>>()
    });
    assert_eq!(times[0], times[1]);
}

#[test]
fn all_hpus_work_at_the_same_time() {
    let mut bench = Bench::new("examples/icmp_ping", Config::default());
    for number in 0..64 {
        bench.push(number, true, &echo_request(1, &[0; 1400]));
    }
    bench.run();
    let hpus: std::collections::BTreeSet<_> = bench.runs().map(|run| run.hpu).collect();
    assert_eq!(hpus.len(), 16);
}

const ROUNDS: u32 = 5;
const TASKS: u32 = 20;

#[test]
fn locks_and_atomics_hold_under_contention() {
    for clusters in [1, 2, 4] {
        let config = Config {
            clusters,
            ..Config::default()
        };
        let mut bench = Bench::new("tests/locks", config);
        for number in 0..TASKS {
            bench.push(number, true, &[0; 64]);
        }
        bench.run();
        assert!(
            bench.runs().all(|run| run.ending == Ending::Done),
            "with {clusters} clusters"
        );
        let address = |name: &str| {
            let file = object::File::parse(bench.program.file()).expect("it was read before");
            let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
            symbol.unwrap_or_else(|| panic!("there is no {name}")).address() as u32
        };
        let [locked, swapped, habit, left, right, torn] =
            ["locked", "swapped", "habit", "left", "right", "torn"].map(|name| bench.variable(address(name)));
        assert_eq!(
            [locked, swapped, habit],
            [ROUNDS * TASKS; 3],
            "with {clusters} clusters"
        );
        assert_eq!((left, torn), (right, 0), "with {clusters} clusters");
    }
}
