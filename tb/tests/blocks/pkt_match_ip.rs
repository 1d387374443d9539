//! The matching engine with rules relative to the IP payload, against its reference model and line by line.

use spinneret_models::{
    PspinPktMatchIp, PspinPktMatchIpW64, PspinPktMatchIpW128, PspinPktMatchIpW256, PspinPktMatchIpW1024,
    PspinPktMatchSum, PspinPktMatchSumW64,
};
use spinneret_packets::reference::matcher::{MatchResult, RuleTable};
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters, case, with};
use spinneret_tb::ip_frames::{Headers, random_ip_frame};
use spinneret_tb::pkt_match::{Counts, MatchBench, Pauses, Traffic, marked, measure, one_rule};

spinneret_tb::each_model! {
    [PspinPktMatchIp, PspinPktMatchIpW64, PspinPktMatchIpW128, PspinPktMatchIpW256, PspinPktMatchIpW1024]:
        1 words_match_as_soon_as_the_frame_has_them_whatever_the_headers,
        1 message_id_is_that_of_slmp_behind_any_ip_header;
    [PspinPktMatchIp, PspinPktMatchIpW64, PspinPktMatchIpW1024]:
        1 every_word_of_the_payload_is_compared_in_network_order;
    [PspinPktMatchIp, PspinPktMatchIpW64, PspinPktMatchIpW128]:
        1 frames_without_ip_payload_match_no_relative_rule;
    [PspinPktMatchSum, PspinPktMatchSumW64]:
        1 sums_are_those_of_the_payload_for_all_headers_and_lengths,
        1 sums_of_the_largest_and_smallest_bytes;
}

const BOARD: MatcherParams = MatcherParams::BOARD;

fn bench<M: Model>(run: &mut TestRun, pauses: Pauses) -> MatchBench<M> {
    MatchBench::new(run.simulation(), pauses)
}

/// The sizes of a model.
fn params<M: Model>() -> MatcherParams {
    Parameters::of::<M>().matcher()
}

fn is_matched(result: MatchResult) -> bool {
    result != MatchResult::Bypass
}

/// A rule that any word of the payload matches, if it is there.
fn any_word(idx: u32) -> Rule {
    Rule { idx, ..Rule::ALWAYS }.in_ip_payload()
}

/// A frame of `size` bytes. After the headers, all words differ.
fn numbered(headers: &Headers, size: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..size).map(|byte| byte as u8 | 1).collect();
    headers.write(&mut bytes);
    bytes
}

/// Random frames under random rules, absolute and relative.
fn random_traffic<M: Model>(run: &mut TestRun, frames: u64) {
    let user_bits = Parameters::of::<M>().get("user_width") as u32;
    let mut rng = run.rng("traffic");
    let mut total = Counts::default();
    for pauses in [Pauses::default(), Pauses::random(30), Pauses::bursty()] {
        let mut bench = bench::<M>(run, pauses);
        total += bench.random(&mut rng, frames / 3, |rng| random_ip_frame(rng, user_bits));
        bench.finish();
    }
    let Counts { matched, bypassed } = total;
    assert_eq!(matched + bypassed, frames);
    assert!(
        matched.min(bypassed) > frames / 20,
        "{matched} of {frames} matched"
    );
}

/// Tests of random traffic: name, model, seed, frames.
macro_rules! random_packets {
    ($($name:ident: $model:ident, $seed:literal, $frames:literal;)*) => { $(
        #[test]
        fn $name() {
            run_test($seed, |run| random_traffic::<$model>(run, $frames));
        }
    )* };
}

random_packets! {
    random_packets_board: PspinPktMatchIp, 11, 60_000;
    random_ip_packets_64_bit: PspinPktMatchIpW64, 12, 6_000;
    random_ip_packets_128_bit: PspinPktMatchIpW128, 13, 6_000;
    random_ip_packets_256_bit: PspinPktMatchIpW256, 14, 9_000;
    random_ip_packets_1024_bit: PspinPktMatchIpW1024, 15, 9_000;
    random_packets_with_sums: PspinPktMatchSum, 16, 12_000;
    random_packets_with_sums_64_bit: PspinPktMatchSumW64, 17, 3_000;
}

/// Frames of all headers, or without payload, of each length up to some beats after the payload's start, back to back: the bench
/// compares each sum with that by definition.
fn sums_are_those_of_the_payload_for_all_headers_and_lengths<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("bytes");
    let mut bench = bench::<M>(run, Pauses::default());
    bench.load(Some(&one_rule(&params::<M>(), Rule::ALWAYS)));
    for headers in Headers::all().into_iter().chain(without_payload()) {
        let start = headers.bytes();
        for size in (start - 3..start + 8).chain((start + 8..start + 200).step_by(7)) {
            let mut bytes: Vec<u8> = (0..size).map(|_| rng.random()).collect();
            headers.write(&mut bytes);
            bench.send(Frame::new(bytes));
        }
        bench.settle();
    }
    bench.finish();
}

/// Carries go as far as they can with bytes of 0xff; a payload of zeros has the sum 0.
fn sums_of_the_largest_and_smallest_bytes<M: Model>(run: &mut TestRun) {
    let mut bench = bench::<M>(run, Pauses::random(20));
    bench.load(Some(&one_rule(&params::<M>(), Rule::ALWAYS)));
    let headers = Headers::ipv4(0, 5);
    for value in [0xff, 0xfe, 0x80, 1, 0] {
        for size in (34..110).chain([1513, 1514, 9000]) {
            let mut bytes = vec![value; size];
            headers.write(&mut bytes);
            bench.send(Frame::new(bytes));
        }
        bench.settle();
    }
    bench.finish();
}

/// Frames of all headers, cut off at every byte, under a rule on a word of the payload: it matches as soon as the
/// word is in the frame.
fn words_match_as_soon_as_the_frame_has_them_whatever_the_headers<M: Model>(run: &mut TestRun) {
    let params = params::<M>();
    let inspected = 4 * params.inspected_words();
    let mut bench = bench::<M>(run, Pauses::default());
    for idx in [0, 1, 3] {
        bench.load(Some(&one_rule(&params, any_word(idx))));
        for headers in Headers::all() {
            let end = headers.bytes() + 4 * idx as usize + 4;
            for size in (1..24).chain(headers.bytes() - 4..end + 8) {
                let result = bench.send(Frame::new(numbered(&headers, size)));
                let expected = size >= end && end <= inspected;
                assert_eq!(
                    is_matched(result),
                    expected,
                    "word {idx} in {size} bytes, {headers:?}"
                );
            }
        }
        bench.settle();
    }
    bench.finish();
}

/// Every word of the payload after all headers, compared exactly; words across two beats are among them, and the
/// beats of a frame come with and without gaps.
fn every_word_of_the_payload_is_compared_in_network_order<M: Model>(run: &mut TestRun) {
    let params = params::<M>();
    let inspected = 4 * params.inspected_words();
    let mut bench = bench::<M>(run, Pauses::random(40));
    for idx in 0..params.inspected_words() as u32 + 2 {
        let frames: Vec<_> = Headers::all()
            .into_iter()
            .map(|headers| numbered(&headers, inspected + 40))
            .collect();
        for (headers, bytes) in Headers::all()
            .iter()
            .zip(&frames)
            .step_by(if idx < 24 { 5 } else { 17 })
        {
            let start = headers.bytes() + 4 * idx as usize;
            let value = bytes
                .get(start..start + 4)
                .map_or(1, |word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
            let rule = Rule::equal(idx, u32::MAX, value).in_ip_payload();
            bench.load(Some(&one_rule(&params, rule)));
            let result = bench.send(Frame::new(bytes.clone()));
            assert_eq!(
                is_matched(result),
                start + 4 <= inspected,
                "word {idx}, {headers:?}"
            );
            for other in frames.iter().step_by(3) {
                bench.send(Frame::new(other.clone()));
            }
            bench.settle();
        }
    }
    bench.finish();
}

#[test]
fn words_beyond_the_inspected_beats_never_match_from_the_payload() {
    case(1, with(bench::<PspinPktMatchIp>, Pauses::default()), |bench| {
        for idx in [
            23,
            24,
            31,
            32,
            47,
            48,
            55,
            64,
            1 << 16,
            1 << 31,
            u32::MAX - 8,
            u32::MAX,
        ] {
            bench.load(Some(&one_rule(&BOARD, any_word(idx))));
            for headers in Headers::all() {
                assert!(!is_matched(bench.send(Frame::new(numbered(&headers, 1500)))));
            }
            bench.settle();
        }
    });
}

/// Headers that no IP payload follows.
fn without_payload() -> Vec<Headers> {
    let wrong = |tags: &[u16], kind, first| Headers {
        tags: tags.to_vec(),
        kind,
        first,
    };
    let short = (0..5).map(|words| Headers::ipv4(1, words));
    let version = (0..16)
        .filter(|version| *version != 4)
        .map(|version| wrong(&[], 0x0800, version << 4 | 5));
    let version_6 = (0..16)
        .filter(|version| *version != 6)
        .map(|version| wrong(&[0x8100], 0x86dd, version << 4));
    let others = [
        wrong(&[], 0x0806, 0x45),
        wrong(&[0x9100], 0x0800, 0x45),
        wrong(&[0x8100, 0x9100], 0x0800, 0x45),
        wrong(&[0x8100, 0x88a8, 0x8100], 0x0800, 0x45),
        Headers::ipv6(3),
        wrong(&[], 0x0008, 0x45),
        wrong(&[], 0x0801, 0x45),
    ];
    short.chain(version).chain(version_6).chain(others).collect()
}

/// Relative rules never match such frames, whose message id is that of bytes 44 to 47; other rules still do.
fn frames_without_ip_payload_match_no_relative_rule<M: Model>(run: &mut TestRun) {
    let params = params::<M>();
    let mut bench = bench::<M>(run, Pauses::random(20));
    for idx in 0..8 {
        bench.load(Some(&one_rule(&params, any_word(idx))));
        for headers in without_payload() {
            let result = bench.send(Frame::new(numbered(&headers, 150)));
            assert!(!is_matched(result), "word {idx} behind {headers:?}");
        }
        bench.settle();
    }
    bench.load(Some(&one_rule(&params, Rule::ALWAYS)));
    for headers in without_payload() {
        for size in [47, 48, 49, 150] {
            let bytes = numbered(&headers, size);
            let expected = bytes.get(44..48).map_or(0, little_endian);
            assert_eq!(message_id(bench.send(Frame::new(bytes))), expected, "{headers:?}");
        }
    }
    bench.finish();
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn message_id(result: MatchResult) -> u32 {
    match result {
        MatchResult::Matched { message_id, .. } => message_id,
        MatchResult::Bypass => panic!("the frame does not match"),
    }
}

fn message_id_is_that_of_slmp_behind_any_ip_header<M: Model>(run: &mut TestRun) {
    let params = params::<M>();
    let mut bench = bench::<M>(run, Pauses::random(20));
    bench.load(Some(&one_rule(&params, Rule::ALWAYS)));
    for headers in Headers::all() {
        let id = headers.bytes() + 10;
        for size in (40..60).chain(id..id + 8).chain([200, 1500]) {
            let bytes = numbered(&headers, size);
            let expected = bytes.get(id..id + 4).map_or(0, little_endian);
            assert_eq!(
                message_id(bench.send(Frame::new(bytes))),
                expected,
                "{size} bytes, {headers:?}"
            );
        }
    }
    bench.finish();
}

#[test]
fn udp_and_slmp_behind_the_longest_headers_are_inspected() {
    case(1, with(bench::<PspinPktMatchIp>, Pauses::default()), |bench| {
        let slmp = Ruleset {
            join: Join::And,
            rules: vec![Rule::ip_payload_destination_port(9330, 9330)],
            end_of_message: Rule::IP_PAYLOAD_SLMP_END_OF_MESSAGE,
        };
        let table = RuleTable::new(&BOARD, vec![slmp]).unwrap();
        bench.load(Some(&table));
        for headers in Headers::all() {
            for (port, flags) in [(9330_u16, 0x80), (9330, 0), (9331, 0x80)] {
                let payload = headers.bytes();
                let mut bytes = numbered(&headers, 18 + payload);
                bytes[payload + 2..payload + 4].copy_from_slice(&port.to_be_bytes());
                bytes[payload + 8] = flags;
                let id = little_endian(&bytes[payload + 10..payload + 14]);
                match bench.send(Frame::new(bytes)) {
                    MatchResult::Matched {
                        ruleset,
                        eom,
                        message_id,
                        ..
                    } => assert_eq!(
                        (ruleset, eom, message_id, port),
                        (0, flags == 0x80, id, 9330),
                        "{headers:?}"
                    ),
                    MatchResult::Bypass => assert_eq!(port, 9331, "{headers:?}"),
                }
            }
        }
    });
}

#[test]
fn fragments_are_no_exception() {
    case(1, with(bench::<PspinPktMatchIp>, Pauses::default()), |bench| {
        bench.load(Some(&one_rule(&BOARD, any_word(0))));
        for offset in [0_u16, 1, 185, 0x1fff, 0x2000, 0x3fff] {
            let mut bytes = numbered(&Headers::ipv4(0, 5), 64);
            bytes[20..22].copy_from_slice(&offset.to_be_bytes());
            assert!(is_matched(bench.send(Frame::new(bytes))), "{offset:#x}");
        }
    });
}

#[test]
fn the_option_costs_no_clock() {
    run_test(1, |run| {
        for traffic in Traffic::ALL {
            let mut bench = marked(run.simulation::<PspinPktMatchIp>());
            for size in (60..=320).chain([1500, 1514, 9000]) {
                let cycles = measure(&mut bench, size, traffic, 8);
                assert_eq!(cycles.per_frame, size.div_ceil(64) as f64, "{size} bytes");
                let latency = if size <= 64 { 5 } else { 6 };
                assert_eq!(cycles.latency, latency, "{size} bytes");
                assert!(
                    cycles.meta_after_last.is_none_or(|after| after <= 2),
                    "{size} bytes"
                );
            }
            bench.finish();
        }
    });
}

#[test]
fn relative_rules_take_one_beat_a_clock() {
    run_test(1, |run| {
        let mut bench = bench::<PspinPktMatchIp>(run, Pauses::default());
        bench.load(Some(&one_rule(&BOARD, any_word(2))));
        for headers in Headers::all() {
            for size in [headers.bytes().max(60) + 12, 200, 1500] {
                let frames = 40;
                for _ in 0..frames {
                    bench.source.send(Frame::new(numbered(&headers, size)));
                }
                bench.sim.run(200 + frames * size.div_ceil(64) as u64);
                let received = bench.pspin.receive_all();
                assert_eq!(received.len() as u64, frames);
                assert_eq!(bench.meta.receive_all().len() as u64, frames);
                let cycles = received[39].first_cycle - received[0].first_cycle;
                assert_eq!(cycles, 39 * size.div_ceil(64) as u64, "{size} bytes, {headers:?}");
            }
        }
    });
}

#[test]
fn a_frame_sees_the_flags_of_its_first_beat() {
    run_test(1, |run| {
        let frame = || Frame::new(numbered(&Headers::ipv4(1, 6), 128));
        // Word 12 of the payload, or of the frame.
        let value = u32::from_be_bytes([0x5b, 0x5b, 0x5d, 0x5d]);
        let relative = Rule::equal(12, u32::MAX, value).in_ip_payload();
        let absolute = Rule {
            relative: false,
            ..relative
        };
        for cycle in 0..20 {
            let pauses = Pauses {
                input: Pause::Cycle(vec![false, true, true, true, true, true]),
                ..Pauses::default()
            };
            let mut bench = bench::<PspinPktMatchIp>(run, pauses);
            bench.load(Some(&one_rule(&BOARD, relative)));
            assert!(is_matched(bench.send(frame())));
            while bench.source.monitor().counts().beats == 0 {
                bench.sim.cycle();
            }
            bench.sim.run(cycle);
            bench.drive_rules(&one_rule(&BOARD, absolute));
            assert_eq!(bench.settle().matched, 1, "new flags after {cycle} cycles");
            bench.sim.run(8);
            bench.source.send(frame());
            bench.sim.run(100);
            assert_eq!(
                bench.nic.receive_all().len(),
                1,
                "the flag is gone behind the frame"
            );
        }
    });
}

#[test]
fn a_payload_of_the_frame_before_is_forgotten() {
    case(1, with(bench::<PspinPktMatchIpW64>, Pauses::default()), |bench| {
        bench.load(Some(&one_rule(&params::<PspinPktMatchIpW64>(), any_word(0))));
        let ip = numbered(&Headers::ipv4(0, 5), 80);
        let tagged = numbered(&Headers::ipv4(2, 7), 80);
        let mut other = ip.clone();
        other[12] = 0x99;
        // Frames that end between tags leave the search open.
        let tags = tagged[..18].to_vec();
        for bytes in [
            &ip, &other, &tagged, &other, &tags, &other, &tags, &ip, &tags, &tagged,
        ] {
            let expected = bytes == &ip || bytes == &tagged;
            assert_eq!(is_matched(bench.send(Frame::new(bytes.clone()))), expected);
        }
    });
}
