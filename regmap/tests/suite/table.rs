//! The tables are consistent, and their addresses are those that existing software uses.

use spinneret_regmap::{Access, Bits, RULES_PER_RULESET, RULESETS, Reset, bar, cl, her, her_meta, me, stats};
use spinneret_regmap::{bar_access, caps, egress, guard, host_read, host_write, ingress};
use spinneret_regmap::{find, header, registers, render, reset_word, words};
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
        if let Bits::Each(masks) = register.bits {
            assert_eq!(masks.len(), register.count as usize, "{register}");
        }
        let shown = matches!(register.reset, Reset::Live | Reset::Generated) || register.group == "caps";
        assert_eq!(
            shown,
            register.access == Access::ReadOnly,
            "{register} shows hardware state"
        );
        assert!(
            register.elements.is_empty() || register.elements.len() == register.count as usize,
            "{register}"
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
    let public = 2 + 1 + 2 + 1 + 2 + 1 + 4 + 4 * 16 + 1 + 4 + 19 * 4;
    assert_eq!(
        words,
        public + 1 + 1 + 21 + 7 + 15 + 15 + 4 + 16 + 1 + 4 * 4 + 1 + 2 * 4 + 4 + 21
    );
    for hole in [
        0x0010,
        0x0ffc,
        0x1018,
        0x1154,
        0x1310,
        0x2154,
        0x3014,
        0x4130,
        0x5048,
        0x5120,
        0x6010,
        0xf054,
        0xfffc,
        u32::MAX,
    ] {
        assert_eq!(find(hole), None, "{hole:#x}");
    }
}

#[test]
fn words_are_the_elements_in_order() {
    let offsets: Vec<u32> = words().map(|word| word.offset()).collect();
    assert!(offsets.is_sorted_by(|a, b| a < b));
    for word in words() {
        assert_eq!(find(word.offset()), Some((word.register, word.index)));
        assert_eq!(reset_word(word.offset()), word.reset());
        assert_eq!(
            word.reset().unwrap_or(0) & !word.mask(),
            0,
            "{word}: a bit that does not exist"
        );
    }
    let names: HashSet<String> = words().map(|word| word.to_string()).collect();
    assert_eq!(names.len(), offsets.len(), "a word has the name of another one");
    assert!(
        ["cl_aux_reset", "me_mask_3", "me_valid"]
            .iter()
            .all(|name| names.contains(*name))
    );
    assert_eq!(reset_word(0x0002), None, "only whole words are registers");
}

#[test]
fn extensions_follow_the_registers_of_fpspin() {
    let base = |offset: u32| find(offset).map(|(register, index)| (register.to_string(), index));
    let is =
        |offset, name: &str, index| assert_eq!(base(offset), Some((name.to_owned(), index)), "{offset:#x}");
    is(0x000c, "cl.status", 0);
    is(0x1014, "stats.error_clear", 0);
    is(0x1100, "ingress.matched", 0);
    is(0x1140, "ingress.small_peak", 0);
    is(0x1180, "egress.frames", 0);
    is(0x1190, "egress.tag_conflicts", 0);
    is(0x1200, "host_write.bursts", 0);
    is(0x1238, "host_write.errors", 10);
    is(0x1280, "host_read.bursts", 0);
    is(0x12b8, "host_read.errors", 10);
    is(0x130c, "bar.errors", 0);
    is(0x5000, "guard.enforce", 0);
    is(0x5040, "guard.size", 3);
    is(0x6000, "events.pending", 0);
    is(0x600c, "events.sent", 0);
    is(0xf000, "caps.magic", 0);
    is(0xf050, "caps.cluster_clock_khz", 0);
    assert_eq!(ingress::offset("dropped_reset"), Some(0x1124));
    assert_eq!(egress::offset("refused"), Some(0x1188));
    assert_eq!(host_write::errors(11), Some(0x1238));
    assert_eq!((host_read::errors(0), host_read::errors(12)), (None, None));
    assert_eq!(bar_access::offset("held"), Some(0x1304));
    assert_eq!((guard::base(3), guard::base(4)), (Some((0x5020, 0x5030)), None));
    assert_eq!(caps::offset("features"), Some(0xf008));
    assert_eq!(caps::offset("no_such_constant"), None);
    let public: u32 = registers()
        .filter(|register| !register.extension)
        .map(|register| register.count)
        .sum();
    assert_eq!(public, 158, "words of the public design");
}

#[test]
fn fields_lie_within_their_registers_and_apart() {
    for register in registers() {
        let mut seen = 0;
        for field in register.fields {
            assert_eq!(
                field.mask() & !register.bits.mask(0),
                0,
                "{register}.{}",
                field.name
            );
            assert_eq!(field.mask() & seen, 0, "{register}.{}", field.name);
            seen |= field.mask();
        }
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

#[test]
fn the_fields_are_these() {
    let mut text = String::new();
    render::field_table(&mut text).expect("strings take every text");
    insta::assert_snapshot!(text);
}

#[test]
fn no_name_of_the_c_header_is_defined_twice() {
    let mut text = String::new();
    header::c_header(&mut text).expect("strings take every text");
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split(' ').next())
        .collect();
    let unique: HashSet<&&str> = names.iter().collect();
    assert_eq!(unique.len(), names.len());
    assert!(names.iter().all(|name| name.starts_with("SPINNERET_")));
}
