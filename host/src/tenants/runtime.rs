//! The resident runtime: its start, and its table of contexts.

use crate::control::{Control, Part};
use crate::device::Device;
use crate::error::ErrorKind;
use spinneret_program::{Layout, Program};
use spinneret_regmap::pspin::{CLUSTER_HARTS, RESIDENT_DATA, RESIDENT_DATA_BYTES, resident};

/// Starts the resident runtime on a cluster in reset.
pub(super) fn start_resident<D: Device>(device: &mut D, clusters: u32) -> Result<(), ErrorKind> {
    let program = Program::resident()?;
    let mut table = vec![0; RESIDENT_DATA_BYTES as usize];
    for (word, value) in [
        (resident::STATE, resident::STARTING),
        (resident::CLUSTERS, clusters),
    ] {
        table[word as usize..][..4].copy_from_slice(&value.to_le_bytes());
    }
    Control(device).boot(&program, |device| device.write_cluster(RESIDENT_DATA, &table))?;
    Control(device).wait_until_ready(&program, RESIDENT_DATA + resident::STATE)
}

/// A part of the table.
pub(super) struct Entry<'l> {
    pub(super) id: u32,
    pub(super) layout: &'l Layout,
    pub(super) data_moved: u32,
    pub(super) init: Option<u32>,
    /// The word of the program that says whether that has returned.
    pub(super) init_done: u32,
}

impl Entry<'_> {
    /// Writes it, after the thread-local variables; its id last.
    pub(super) fn write<D: Device>(
        &self,
        device: &mut D,
        number: u32,
        locals: Part,
        state: u32,
    ) -> Result<(), ErrorKind> {
        let [clusters, hpus] = device.shape();
        let harts = (0..clusters).flat_map(|cluster| (0..hpus).map(move |hpu| cluster * CLUSTER_HARTS + hpu));
        let bytes: Vec<u8> = harts
            .flat_map(|hart| self.layout.locals_of(hart, clusters))
            .collect();
        if !bytes.is_empty() {
            device.write_cluster(locals.start, &bytes)?;
        }
        let words = [
            (
                resident::GLOBAL_POINTER,
                self.layout.global_pointer.wrapping_add(self.data_moved),
            ),
            (resident::LOCALS, locals.start),
            (resident::LOCALS_BYTES, self.layout.locals.len() as u32),
            (resident::INIT, self.init.unwrap_or(0)),
            (resident::INIT_DONE, self.init_done),
            (resident::PROGRAM_STATE, state),
            (resident::ID, self.id),
        ];
        for (word, value) in words {
            write_word(device, entry_of(number) + word, value)?;
        }
        Ok(())
    }
}

pub(super) fn entry_of(number: u32) -> u32 {
    RESIDENT_DATA + resident::ENTRIES + number * resident::ENTRY_BYTES
}

pub(super) fn write_word<D: Device>(device: &mut D, address: u32, value: u32) -> Result<(), ErrorKind> {
    Ok(device.write_cluster(address, &value.to_le_bytes())?)
}

/// Tells HPUs that program memory has changed.
pub(super) fn bump_loads<D: Device>(device: &mut D) -> Result<(), ErrorKind> {
    let mut word = [0; 4];
    device.read_cluster(RESIDENT_DATA + resident::LOADS, &mut word)?;
    write_word(
        device,
        RESIDENT_DATA + resident::LOADS,
        u32::from_le_bytes(word).wrapping_add(1),
    )
}
