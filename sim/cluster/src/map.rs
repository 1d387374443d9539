//! What is at an address of the cluster.

use spinneret_regmap::pspin::{
    DMA_BASE, DMA_BYTES, DRIVER_BASE, DRIVER_BYTES, HANDLER_BASE, HANDLER_BYTES, ICACHE_BASE, ICACHE_BYTES,
    L1_ALIAS, L1_BASE, L1_BYTES, L1_STRIDE, PACKET_BASE, PACKET_BYTES, PERIPHERAL_BYTES, PERIPHERALS,
    PROGRAM_BASE, PROGRAM_BYTES, STDOUT, STDOUT_BYTES, STDOUT_CLUSTER_SHIFT, STDOUT_HPU_SHIFT, TERMINATE,
};

/// Memory, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// L1 of a cluster.
    L1(usize, usize),
    /// L2 memory of handlers.
    Handler(usize),
    /// L2 packet buffer.
    Packet(usize),
    /// Program memory.
    Program(usize),
}

/// What an HPU of a cluster means by an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Memory.
    Memory(Place),
    /// A register of the HPU's driver, by its offset.
    Driver(u32),
    /// A register of the HPU's part of the copy engine, by its offset.
    Dma(u32),
    /// The end of the program.
    Terminate,
    /// Standard output of a cluster's HPU.
    Stdout(usize, usize),
    /// The cluster's instruction cache, by the register's offset.
    Icache(u32),
    /// Another register of the cluster, which no program of ours uses.
    Other,
    /// Nothing, and no answer either: the access is never granted.
    Silence,
}

/// Memory at an address, if `bytes` bytes from there on are in one memory; `clusters` have L1.
pub fn place(address: u32, bytes: u32, clusters: usize) -> Option<Place> {
    let inside = |base: u32, size: u32| {
        let offset = address.wrapping_sub(base);
        (offset < size && bytes <= size - offset).then_some(offset as usize)
    };
    if let Some(offset) = inside(HANDLER_BASE, HANDLER_BYTES) {
        return Some(Place::Handler(offset));
    }
    if let Some(offset) = inside(PACKET_BASE, PACKET_BYTES) {
        return Some(Place::Packet(offset));
    }
    if let Some(offset) = inside(PROGRAM_BASE, PROGRAM_BYTES) {
        return Some(Place::Program(offset));
    }
    let cluster = address.wrapping_sub(L1_BASE) / L1_STRIDE;
    if (cluster as usize) < clusters {
        let offset = inside(L1_BASE + cluster * L1_STRIDE, L1_BYTES)?;
        return Some(Place::L1(cluster as usize, offset));
    }
    None
}

/// What an HPU of `cluster` means by an address of `bytes` bytes.
pub fn target(address: u32, bytes: u32, cluster: usize, clusters: usize) -> Option<Target> {
    let offset = address.wrapping_sub(L1_ALIAS);
    if offset < L1_BYTES {
        return (bytes <= L1_BYTES - offset).then_some(Target::Memory(Place::L1(cluster, offset as usize)));
    }
    if let Some(place) = place(address, bytes, clusters) {
        return Some(Target::Memory(place));
    }
    let inside = |base: u32, size: u32| Some(address.wrapping_sub(base)).filter(|offset| *offset < size);
    if let Some(offset) = inside(STDOUT, STDOUT_BYTES) {
        let (core, cluster) = (
            offset >> STDOUT_HPU_SHIFT & 0xf,
            offset >> STDOUT_CLUSTER_SHIFT & 0xf,
        );
        return Some(Target::Stdout(cluster as usize, core as usize));
    }
    inside(PERIPHERALS, PERIPHERAL_BYTES).map(|_| peripheral(address))
}

fn peripheral(address: u32) -> Target {
    let inside = |base: u32, size: u32| Some(address.wrapping_sub(base)).filter(|offset| *offset < size);
    if address == TERMINATE {
        Target::Terminate
    } else if let Some(offset) = inside(DRIVER_BASE, DRIVER_BYTES) {
        Target::Driver(offset)
    } else if let Some(offset) = inside(DMA_BASE, DMA_BYTES) {
        Target::Dma(offset)
    } else if let Some(offset) = inside(ICACHE_BASE, ICACHE_BYTES) {
        Target::Icache(offset)
    } else if address < DRIVER_BASE {
        Target::Other
    } else {
        Target::Silence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_memory_is_where_the_public_design_has_it() {
        for (address, wanted) in [
            (0x1000_0000, Some(Place::L1(0, 0))),
            (0x1003_ffff, Some(Place::L1(0, 0x3_ffff))),
            (0x1004_0000, None),
            (0x1040_0010, Some(Place::L1(1, 0x10))),
            (0x1080_0000, None),
            (0x1c00_0000, Some(Place::Handler(0))),
            (0x1c0f_ffff, Some(Place::Handler(0xf_ffff))),
            (0x1c10_0000, Some(Place::Packet(0))),
            (0x1c17_ffff, Some(Place::Packet(0x7_ffff))),
            (0x1c18_0000, None),
            (0x1d00_7fff, Some(Place::Program(0x7fff))),
            (0x1d00_8000, None),
            (0, None),
            (u32::MAX, None),
        ] {
            assert_eq!(place(address, 1, 2), wanted, "{address:#010x}");
        }
    }

    #[test]
    fn an_access_stays_in_its_memory() {
        assert_eq!(place(0x1c0f_fffc, 4, 2), Some(Place::Handler(0xf_fffc)));
        assert_eq!(place(0x1c0f_fffd, 4, 2), None);
        assert_eq!(place(u32::MAX, 4, 2), None);
    }

    #[test]
    fn an_hpu_sees_its_own_l1_at_the_alias() {
        assert_eq!(
            target(0x1b00_0040, 4, 1, 2),
            Some(Target::Memory(Place::L1(1, 0x40)))
        );
        assert_eq!(target(0x1b03_fffd, 4, 1, 2), None);
        assert_eq!(target(0x1b20_5050, 4, 1, 2), Some(Target::Driver(0x50)));
        assert_eq!(target(0x1b20_5100, 4, 1, 2), Some(Target::Silence));
        assert_eq!(target(0x1b20_4420, 4, 1, 2), Some(Target::Dma(0x20)));
        assert_eq!(target(0x1b20_6000, 1, 1, 2), Some(Target::Silence));
        assert_eq!(
            target(0x1a10_4000 + 128 + 3 * 8, 4, 1, 2),
            Some(Target::Stdout(1, 3))
        );
        assert_eq!(target(0x1b20_1404, 4, 1, 2), Some(Target::Icache(4)));
    }
}
