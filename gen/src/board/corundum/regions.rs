//! Placement: a region for each cluster, and the hooks of Vivado's incremental implementation.

use super::{APP_BLOCK, OVERLAY};
use crate::render::{File, HASH_HEADER};
use spinneret_bsp::Board;
use spinneret_bsp::floor_plan::FloorPlan;
use spinneret_hdl::app::Cluster;

/// Path of the regions below the output directory.
pub(super) const REGIONS: &str = "constraints/spinneret_regions.xdc";
/// A script that Vivado reads in an implementation run. Its text is in `constraints/`.
pub(super) struct Hook {
    /// Vivado's property for the step, and the place in it.
    pub step: &'static str,
    /// Name of the file, in [`OVERLAY`].
    pub name: &'static str,
    text: &'static str,
}

/// The scripts of the incremental implementation.
pub(super) const HOOKS: [Hook; 2] = [
    Hook {
        step: "STEPS.PLACE_DESIGN.TCL.PRE",
        name: "reference_read.tcl",
        text: include_str!("../../../../constraints/reference_read.tcl"),
    },
    Hook {
        step: "STEPS.ROUTE_DESIGN.TCL.POST",
        name: "reference_write.tcl",
        text: include_str!("../../../../constraints/reference_write.tcl"),
    },
];

/// Rows of an SLR for each of spinneret's own clusters, counted from its lowest: the first and the last two of five. A cluster has
/// some 10,000 LUT, so each range could hold sixteen of it. The rest of the SLR's logic may use them as well.
const OWN_ROWS: [[u8; 2]; 2] = [[0, 1], [3, 4]];
/// SLRs of PsPIN's clusters, as FPsPIN places them: they leave no room for the NIC.
const PSPIN_SLRS: [u8; 2] = [0, 2];

/// The constraints that place each cluster in a region; none if the board's grid is not known, or nothing is to be placed.
pub(super) fn regions(board: &Board, cluster: Cluster) -> Option<File> {
    let FloorPlan { device, nic_slr } = board.floor_plan?;
    let (regions, why): (Vec<_>, _) = match cluster {
        Cluster::Spinneret => {
            let of = |(index, [first, last]): (usize, [u8; 2])| {
                let range = device.range(nic_slr, first..=last)?;
                Some((format!("cluster/u_clusters_{index}"), range))
            };
            let why = "Both clusters are in the SLR of the PCI Express block, where Corundum places its DMA, so that the paths between \
                       them and the NIC need not cross between SLRs.";
            (
                OWN_ROWS.into_iter().enumerate().map(of).collect::<Option<_>>()?,
                why,
            )
        }
        Cluster::Pspin => {
            let of = |(index, slr): (usize, u8)| {
                let range = device.range(slr, 0..=device.rows_of_slr - 1)?;
                let cell = format!("cluster/i_pspin/gen_clusters[{index}].gen_cluster_sync.i_cluster");
                Some((cell, range))
            };
            let why = "Each cluster has an SLR without Corundum's DMA, as in FPsPIN.";
            (
                PSPIN_SLRS
                    .into_iter()
                    .enumerate()
                    .map(of)
                    .collect::<Option<_>>()?,
                why,
            )
        }
        Cluster::Stub => return None,
    };
    let mut text = format!(
        "{HASH_HEADER}\n# Placement regions of {}, one for each cluster. Paths begin at the top of Corundum's design.\n# {why}\n",
        board.title
    );
    for (index, (cell, range)) in regions.into_iter().enumerate() {
        let pblock = format!("pblock_spinneret_cluster_{index}");
        text.push_str(&format!(
            "\ncreate_pblock {pblock}\n\
             add_cells_to_pblock [get_pblocks {pblock}] [get_cells {{{APP_BLOCK}/{cell}}}]\n\
             resize_pblock [get_pblocks {pblock}] -add {{{range}}}\n"
        ));
    }
    Some(File {
        name: REGIONS.to_owned(),
        text,
    })
}

/// The scripts of the incremental implementation, in the order of [`HOOKS`]: the routed design that met its timing last is the
/// reference of the next run (UG904, "Using Incremental Implementation").
pub(super) fn hooks() -> [File; 2] {
    HOOKS.map(|Hook { name, text, .. }| File {
        name: format!("{OVERLAY}/{name}"),
        text: format!("{HASH_HEADER}\n# The text is constraints/{name} of spinneret.\n{text}"),
    })
}
