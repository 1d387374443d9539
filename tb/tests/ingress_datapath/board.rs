//! The path of boards: rules that count from the IP payload, and the message id from there.

use spinneret_models::PspinIngressDatapathBoard;
use spinneret_packets::reference::matcher::RuleTable;
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};
use spinneret_sim::test_run::run_test;
use spinneret_tb::ingress::{Behaviour, CONTEXTS, Contexts, IngressBench};
use spinneret_tb::ip_frames::Headers;

/// Bytes of the IP payload that the tests look at: UDP ports, and the message id of SLMP.
const UDP_PORT: u32 = 0x1234;
const MESSAGE_ID: u32 = 0x8765_43a6;

/// Ruleset 1 matches packets by their UDP destination port, wherever that is.
fn by_udp_port() -> RuleTable {
    let rule = Rule {
        relative: true,
        ..Rule::equal(0, 0xffff, UDP_PORT)
    };
    let set = Ruleset {
        join: Join::And,
        rules: vec![rule],
        end_of_message: Rule::NEVER,
    };
    let table = RuleTable::new(&MatcherParams::BOARD, vec![Ruleset::never(), set]);
    table.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_udp_port_matches_behind_any_ip_header_and_the_message_id_follows_it() {
    let name = "a_udp_port_matches_behind_any_ip_header_and_the_message_id_follows_it";
    run_test(name, 1, |run| {
        let behaviour = Behaviour::default();
        let mut bench = IngressBench::<PspinIngressDatapathBoard>::new(run.simulation(), behaviour);
        bench.load_rules(Some(&by_udp_port()));
        let contexts = Contexts::random(&mut run.rng("contexts"), [true; CONTEXTS]);
        bench.load_contexts(&contexts);
        for headers in Headers::all() {
            for (port, matches) in [(UDP_PORT, true), (UDP_PORT + 1, false)] {
                let start = headers.bytes();
                let mut packet = bench.setup.unmatched(start + 200, 1);
                headers.write(&mut packet.bytes);
                let payload = &mut packet.bytes[start..];
                payload[2..4].copy_from_slice(&(port as u16).to_be_bytes());
                payload[10..14].copy_from_slice(&MESSAGE_ID.to_le_bytes());
                bench.send(packet);
                let outcome = bench.settle();
                assert_eq!(
                    (outcome.hers, outcome.bypassed),
                    (matches.into(), (!matches).into())
                );
            }
            // Eight bits of the message id, with the context above the lowest two.
            let values = bench.last_her.take().map(|item| item.values).unwrap_or_default();
            assert_eq!(values[0], 0x29 << 4 | 1 << 2 | 2, "{headers:?}");
            assert_eq!(values[5..], contexts.fields[1], "{headers:?}");
        }
        bench.finish();
    });
}
