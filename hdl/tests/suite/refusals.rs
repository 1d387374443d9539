//! Parameters that are not possible: the reasons are in `snapshots/suite__refusals__reasons.snap`.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::Config;
use std::fmt::Write as _;

/// A configuration, a block, and the parameters that differ.
const CASES: &str = "\
reference pspin_pkt_match data_width=96
reference pspin_pkt_match data_width=2048
reference pspin_pkt_match inspected_bytes=257
reference pspin_pkt_match rules=1
reference pspin_pkt_match tag_width=34
reference pspin_pkt_match data_width=64 mtu=16384 buffer_frames=64
board pspin_pkt_match ip_relative=2
reference pspin_pkt_alloc large_slots=342
reference pspin_pkt_alloc small_slots=1025
reference pspin_pkt_alloc small_slots=0
reference pspin_pkt_alloc small_slot_size=1536
reference pspin_pkt_alloc small_slot_size=100
reference pspin_pkt_alloc large_slot_size=1500
reference pspin_pkt_alloc alignment=96
reference pspin_pkt_alloc buffer_base=470810656
reference pspin_pkt_alloc length_width=10
reference pspin_pkt_alloc address_width=24
reference pspin_pkt_alloc buffer_base=4294836224
board spinneret_app queues=8
reference pspin_ingress_dma data_width=32
reference pspin_ingress_dma data_width=384
reference pspin_ingress_dma length_width=12
reference pspin_ingress_dma address_width=65
reference pspin_ingress_dma bursts=48
reference pspin_ingress_dma her_queue=1
reference pspin_her_gen contexts=5
reference pspin_her_gen tag_width=34
reference pspin_her_gen length_width=33
reference pspin_her_gen transfer_limit=4294967296
board pspin_her_gen message_id_width=3
board pspin_her_gen address_width=15
reference spinneret_psdpram size=12288
reference spinneret_psdpram size=64
reference spinneret_psdpram ram_seg_count=3
reference spinneret_psdpram ram_seg_count=32
reference spinneret_psdpram ram_seg_data_width=96
reference spinneret_psdpram ram_addr_width=13
reference pspin_tx_inject data_width=500
reference pspin_tx_inject user_width=16
reference pspin_tx_inject tag_width=1
reference pspin_ingress_datapath data_width=32
reference pspin_ingress_datapath data_width=2048
reference pspin_ingress_datapath data_width=384
reference pspin_ingress_datapath address_width=15
reference pspin_ingress_datapath address_width=49
reference pspin_ingress_datapath alignment=32
reference pspin_ingress_datapath small_slot_size=1088 small_slots=8
reference pspin_ingress_datapath large_slot_size=8192 large_slots=4 queue_beats=256 length_width=13
reference pspin_ingress_datapath length_width=20 address_width=16 buffer_base=0 buffer_size=32768 large_slots=8 small_slots=8
reference pspin_ingress_datapath queue_beats=2
reference pspin_ingress_datapath queue_beats=48
reference pspin_ingress_datapath queue_beats=16
reference pspin_ingress_datapath packets=100
reference pspin_ingress_datapath bursts=6
reference pspin_ingress_datapath tag_width=34
reference pspin_ingress_datapath her_message_id_width=0
reference pspin_ingress_datapath her_message_id_width=3 context_in_message_id=1
reference pspin_egress_datapath data_width=32
reference pspin_egress_datapath data_width=384
reference pspin_egress_datapath buffer_beats=384
reference pspin_egress_datapath buffer_beats=256
reference pspin_egress_datapath commands=48
reference pspin_egress_datapath max_frame=16385
board pspin_egress_datapath tx_user=131072
reference pspin_egress_datapath clusters=1 cores=1 core_commands=1
reference pspin_hostmem_dma ram_seg_data_width=128
reference pspin_hostmem_dma ram_seg_data_width=1024
reference pspin_hostmem_dma writes=48
reference pspin_hostmem_dma ring_bytes=2048
reference pspin_hostmem_dma dma_tag_width=2
reference pspin_hostmem_dma guard=1 contexts=5 awuser_width=3 aruser_width=2
reference pspin_hostmem_dma ram_addr_width=13
reference frame_reader data_width=48
reference frame_room places=299
reference line_aligner data_width=48
reference write_engine data_width=48
reference write_engine bursts=6
reference write_engine burst_beats=1
reference admission_gate large_beats=4 queue_beats=8 data_width=48
reference admission_gate large_beats=4 queue_beats=8 packets=6
reference admission_gate large_beats=4 queue_beats=2
reference admission_gate large_beats=4 queue_beats=4
reference slot_pool address_width=7
";

#[test]
fn reasons() {
    let mut text = String::new();
    for case in CASES.lines() {
        let mut words = case.split(' ');
        let config = match words.next() {
            Some("board") => Config::Board,
            _ => Config::Reference,
        };
        let entry = words.next().and_then(catalog::find);
        let entry = entry.unwrap_or_else(|| panic!("{case}: there is no such block"));
        let mut values = entry.values(config);
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or_else(|| panic!("{case}: no value"));
            let value = value.parse().unwrap_or_else(|error| panic!("{case}: {error}"));
            let known = values.insert(name.to_owned(), value);
            assert!(known.is_some(), "{case}: there is no parameter {name}");
        }
        let error = (entry.build)(&values).err();
        let error = error.unwrap_or_else(|| panic!("{case}: it is possible"));
        writeln!(text, "{case}\n    {error}").expect("strings take every text");
    }
    insta::assert_snapshot!(text);
}
