//! Rules relative to the IP payload, on tagged traffic.

use crate::bench::{Bench, error, json, packets, shipped};
use spinneret_packets::capture::Packet;

/// UDP ports of a packet behind any VLAN tags, with the number of tags, parsed by hand.
fn udp_ports(packet: &Packet) -> Option<(usize, [u16; 2])> {
    let data = &packet.data;
    let word = |offset: usize| Some(u16::from_be_bytes([*data.get(offset)?, *data.get(offset + 1)?]));
    let tags = (0..4).find(|tags| !matches!(word(12 + 4 * tags), Some(0x8100 | 0x88a8)))?;
    let ip = 14 + 4 * tags;
    let (protocol, header) = match word(ip - 2)? {
        0x0800 => (data[ip + 9], 4 * usize::from(data[ip] & 0xf)),
        0x86dd => (data[ip + 6], 40),
        _ => return None,
    };
    (protocol == 17).then_some((tags, [word(ip + header)?, word(ip + header + 2)?]))
}

#[test]
fn udp_ports_are_found_behind_vlan_tags() {
    let capture = shipped("vlan.pcap");
    let rules = shipped("ip-payload.toml");
    for (engine, width) in [("hardware", "512"), ("hardware", "64"), ("model", "256")] {
        let bench = Bench::new();
        let arguments = [
            "--pcap",
            capture.to_str().expect("UTF-8"),
            "--rules",
            rules.to_str().expect("UTF-8"),
            "--engine",
            engine,
            "--width",
            width,
            "--json",
            "--out-matched",
            "matched.pcap",
        ];
        let report = json(&bench.run(&arguments));
        let all = packets(&capture);
        // The capture has SLMP behind one and two tags, and UDP to port 5000 without.
        let port = |packet: &Packet| udp_ports(packet).map(|(_, ports)| ports[1]);
        let count = |wanted: u16, tags: usize| {
            let is_it = |packet: &&Packet| {
                udp_ports(packet).is_some_and(|(of, ports)| (ports[1], of) == (wanted, tags))
            };
            all.iter().filter(is_it).count()
        };
        let slmp = [count(9330, 1), count(9330, 2)];
        assert!(slmp[0] >= 3 && slmp[1] >= 3 && count(5000, 0) >= 3);
        assert_eq!(report["rulesets"][0]["name"], "slmp");
        assert_eq!(report["rulesets"][0]["packets"], slmp[0] + slmp[1]);
        assert_eq!(report["rulesets"][1]["packets"], 0);
        assert_eq!(report["rulesets"][2]["packets"], count(5000, 0));
        let is_found = |packet: &&Packet| matches!(port(packet), Some(9330 | 5000));
        let found: Vec<_> = all.iter().filter(is_found).cloned().collect();
        assert_eq!(
            packets(&bench.path("matched.pcap")),
            found,
            "{engine}, {width} bit"
        );
    }
}

#[test]
fn slmp_is_found_with_and_without_ip_options() {
    let bench = Bench::new();
    let plain = packets(&shipped("slmp.pcap"));
    let is_slmp = |packet: &&Packet| udp_ports(packet).is_some_and(|(_, ports)| ports[1] == 9330);
    let slmp: Vec<_> = plain.iter().filter(is_slmp).collect();
    // The same packets with four words of options in their headers.
    let with_options = slmp.iter().map(|packet| {
        let mut data = packet.data.clone();
        data[14] = 0x49;
        data.splice(34..34, [1; 16]);
        data
    });
    let frames: Vec<Vec<u8>> = slmp
        .iter()
        .map(|packet| packet.data.clone())
        .chain(with_options)
        .collect();
    let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    bench.capture("in.pcap", &frames);
    let rules = shipped("ip-payload.toml");
    let arguments = [
        "--pcap",
        "in.pcap",
        "--rules",
        rules.to_str().expect("UTF-8"),
        "--json",
    ];
    let report = json(&bench.run(&arguments));
    let ends = slmp.iter().filter(|packet| packet.data[42] & 0x80 != 0).count();
    assert!(slmp.len() > 20 && ends > 0);
    assert_eq!(report["rulesets"][0]["packets"], 2 * slmp.len());
    assert_eq!(report["rulesets"][0]["end_of_message"], 2 * ends);
    assert_eq!(report["engine"], "hardware, run by Verilator");
}

#[test]
fn a_wrong_relative_rule_is_reported_with_its_line() {
    let bench = Bench::new();
    bench.write(
        "rules.toml",
        "[[ruleset]]\nrules = [{ udp-dport = 1, relative = 'frame' }]\n",
    );
    bench.capture("in.pcap", &[&[0; 60]]);
    let message = error(&bench.run(&["--pcap", "in.pcap", "--rules", "rules.toml"]), 2);
    assert!(
        message.contains("rules.toml:2: ruleset 0, rule 0: relative must be \"ip-payload\", not \"frame\""),
        "{message}"
    );
}
