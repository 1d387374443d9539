//! What the public FPsPIN blocks of the same names take, as measured with yosys 0.23.

/// Figures of a block of the reference design; `None` was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// Look-up tables.
    pub lut: Option<u32>,
    /// Flip-flops.
    pub ff: Option<u32>,
    /// Look-up tables as memory.
    pub lutram: Option<u32>,
    /// Half block RAMs.
    pub ramb18: Option<u32>,
    /// Whole block RAMs.
    pub ramb36: Option<u32>,
    /// Longest path in levels.
    pub levels: Option<u32>,
}

/// The figures of the reference's block of that name, if it has one that was measured.
pub fn reference(block: &str) -> Option<Reference> {
    let nothing = Reference::default();
    let size = |lut, ff| Reference {
        lut: Some(lut),
        ff: Some(ff),
        ..nothing
    };
    Some(match block {
        "pspin_pkt_match" => Reference {
            ramb18: Some(17),
            levels: Some(28),
            ..size(24_186, 4_135)
        },
        "pspin_pkt_alloc" => Reference {
            ramb36: Some(9),
            ..size(665, 215)
        },
        "pspin_ingress_datapath" => Reference {
            lutram: Some(135),
            ramb18: Some(18),
            ramb36: Some(1),
            levels: Some(42),
            ..size(30_255, 9_028)
        },
        "pspin_ingress_dma" => Reference {
            levels: Some(41),
            ..nothing
        },
        "pspin_her_gen" => size(3_649, 2_436),
        "pspin_egress_datapath" => size(375, 853),
        "pspin_hostmem_dma" => Reference {
            lutram: Some(88),
            ..size(1_383, 1_695)
        },
        "pspin_ctrl_regs" => size(10_259, 5_096),
        _ => return None,
    })
}
