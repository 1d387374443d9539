//! The tables are consistent, and their addresses are those that existing software uses.

use spinneret_regmap::{Access, RULES_PER_RULESET, RULESETS, Reset, bar, cl, her, her_meta, me, stats};
use spinneret_regmap::{find, registers, render};
use std::collections::HashSet;

#[test]
fn registers_are_ordered_and_do_not_overlap() {
    let mut previous_end = 0;
    for register in registers() {
        assert!(
            register.offset >= previous_end,
            "{register} starts inside its predecessor"
        );
        assert!(register.count > 0, "{register} has no elements");
        assert!(register.offset.is_multiple_of(4), "{register} is not aligned");
        previous_end = register.end();
    }
    assert!(previous_end <= bar::CONTROL_REGISTERS.size_bytes);
}

#[test]
fn names_are_unique_and_every_register_is_described() {
    let mut names = HashSet::new();
    for register in registers() {
        assert!(names.insert(register.to_string()), "{register} appears twice");
        assert!(
            register.description.ends_with('.') && !register.unit.is_empty(),
            "{register}"
        );
    }
}

#[test]
fn reset_lists_are_as_long_as_their_registers() {
    for register in registers() {
        if let Reset::Each(values) = register.reset {
            assert_eq!(values.len(), register.count as usize, "{register}");
        }
        let live = register.reset == Reset::Live;
        assert_eq!(
            live,
            register.access == Access::ReadOnly,
            "{register} shows hardware state"
        );
    }
}

#[test]
fn offsets_are_those_of_existing_software() {
    let bases = [
        (cl::CTRL, 0x0000, 2),
        (cl::FIFO, 0x0008, 1),
        (stats::CLUSTER, 0x1000, 2),
        (stats::MPQ, 0x1008, 1),
        (stats::DATAPATH, 0x100c, 2),
        (me::VALID, 0x2000, 1),
        (me::MODE, 0x2004, 4),
        (me::IDX, 0x2014, 16),
        (me::MASK, 0x2054, 16),
        (me::START, 0x2094, 16),
        (me::END, 0x20d4, 16),
        (me::RELATIVE, 0x2114, 16),
        (her::VALID, 0x3000, 1),
        (her::CTX_ENABLED, 0x3004, 4),
    ];
    for (register, offset, count) in bases {
        assert_eq!((register.offset, register.count), (offset, count), "{register}");
    }
    assert_eq!((cl::FETCH_ENABLE, cl::AUX_RESET), (0x0000, 0x0004));
    assert_eq!(
        (stats::DROPPED_PACKETS, stats::EGRESS_DMA_ERROR),
        (0x100c, 0x1010)
    );
}

#[test]
fn context_fields_follow_one_another_every_sixteen_bytes() {
    assert_eq!(her_meta::ALL.len(), 19);
    assert_eq!(her_meta::offset("handler_mem_addr", 0), Some(0x4000));
    assert_eq!(her_meta::offset("handler_mem_size", 3), Some(0x401c));
    assert_eq!(her_meta::offset("host_mem_addr_1", 0), Some(0x4030));
    assert_eq!(her_meta::offset("th_size", 1), Some(0x40a4));
    assert_eq!(her_meta::offset("scratchpad_3_size", 0), Some(0x4120));
    assert_eq!(her_meta::offset("scratchpad_3_size", 4), None);
    assert_eq!(her_meta::offset("no_such_field", 0), None);
}

#[test]
fn rule_addresses_are_ruleset_major() {
    assert_eq!(me::mode(3), Some(0x2010));
    assert_eq!(me::mode(RULESETS), None);
    assert_eq!(me::idx(0, 0), Some(0x2014));
    assert_eq!(me::mask(1, 0), Some(0x2064));
    assert_eq!(me::start(2, 3), Some(0x20c0));
    assert_eq!(me::end(3, 3), Some(0x2110));
    assert_eq!(me::relative(0, 0), Some(0x2114));
    assert_eq!(me::relative(3, 3), Some(0x2150));
    assert_eq!(me::end(0, RULES_PER_RULESET), None);
    assert_eq!(her::ctx_enabled(3), Some(0x3010));
    assert_eq!(her::ctx_enabled(4), None);
}

#[test]
fn every_offset_is_found_once_and_holes_are_not_found() {
    let mut words = 0;
    for register in registers() {
        for index in 0..register.count {
            let offset = register.address(index).expect("the index is below the count");
            assert_eq!(find(offset), Some((register, index)));
            assert_eq!(find(offset + 1), None, "only whole words are registers");
            words += 1;
        }
        assert_eq!(register.address(register.count), None);
    }
    assert_eq!(words, 2 + 1 + 2 + 1 + 2 + 1 + 4 + 5 * 16 + 1 + 4 + 19 * 4);
    for hole in [0x000c, 0x0ffc, 0x2154, 0x3014, 0x4130, 0xfffc, u32::MAX] {
        assert_eq!(find(hole), None, "{hole:#x}");
    }
}

#[test]
fn reset_keeps_the_clusters_off_and_the_matcher_silent() {
    assert_eq!(
        (cl::CTRL.reset.value(0), cl::CTRL.reset.value(1)),
        (Some(0), Some(1))
    );
    assert_eq!(cl::CTRL.reset.value(2), None);
    assert_eq!(me::VALID.reset.value(0), Some(0));
    assert_eq!(
        (me::START.reset.value(5), me::END.reset.value(5)),
        (Some(1), Some(0))
    );
    assert_eq!(stats::MPQ.reset.value(0), None);
}

#[test]
fn windows_cover_the_bar_without_gaps() {
    let mut next = 0;
    for window in bar::WINDOWS {
        assert_eq!(window.start, next, "{}", window.description);
        next = window.last() + 1;
    }
    assert_eq!(next, 1 << bar::ADDRESS_BITS);
}

#[test]
fn bar_offsets_decode_to_what_they_reach() {
    use bar::Destination::{ControlRegister, Nothing, Pspin};
    let cases = [
        (0x00_0000, Pspin(0x1c00_0000)),
        (0x3f_fffc, Pspin(0x1c3f_fffc)),
        (0x40_0000, Pspin(0x1d00_0000)),
        (0x7f_fffc, Pspin(0x1d3f_fffc)),
        (0x80_0000, ControlRegister(0)),
        (0x80_2054, ControlRegister(0x2054)),
        (0x80_fffc, ControlRegister(0xfffc)),
        (0x81_0000, Nothing),
        (0xff_fffc, Nothing),
        (0x100_0000, Nothing),
        (u32::MAX, Nothing),
    ];
    for (offset, destination) in cases {
        assert_eq!(bar::decode(offset), destination, "{offset:#x}");
    }
    assert_eq!(bar::of_control_register(0x2054), Some(0x80_2054));
    assert_eq!(bar::of_control_register(0x1_0000), None);
}

#[test]
fn the_table_is_this() {
    let mut text = String::new();
    render::register_table(&mut text).expect("strings take every text");
    insta::assert_snapshot!(text);
}
