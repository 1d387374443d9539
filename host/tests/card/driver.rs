//! What the public driver and the card behind it do, and the books that they keep.

use rustix::io::Errno;
use spinneret_host::chardev::{Abilities, DmaArea};
use spinneret_host::device::Mapping;
use spinneret_regmap::model::{Registers, Response, Variant};
use spinneret_regmap::{CONTEXTS, bar, cl, find, her, her_meta, me, pspin};
use std::fs::File;
use std::io;

/// Most bytes of one read or write.
pub(crate) const BLOCK: usize = 4096;
pub(crate) const PAGE: u32 = 4096;
/// Where memory is: its address in the cluster, its offset in the BAR, its size.
const MEMORIES: [(u64, u64, usize); 2] = [
    (
        pspin::HANDLER_BASE as u64,
        bar::HANDLER_AND_PACKET_MEMORY.start as u64,
        pspin::HANDLER_BYTES as usize,
    ),
    (
        pspin::PROGRAM_BASE as u64,
        bar::PROGRAM_MEMORY.start as u64,
        pspin::PROGRAM_BYTES as usize,
    ),
];

/// What was taken of the driver, and given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Books {
    /// How many have the device file open.
    pub(crate) open: u32,
    /// How often host memory was mapped, and given back.
    pub(crate) mapped: u32,
    pub(crate) unmapped: u32,
}

/// Host memory of a context.
#[derive(Debug)]
pub(crate) struct HostArea {
    pub(crate) file: File,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
}

#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) registers: Registers,
    memories: [Vec<u8>; 2],
    pub(crate) areas: [Option<HostArea>; CONTEXTS as usize],
    is_in_reset: bool,
    rules_may_change: bool,
    contexts_may_change: bool,
    next_address: u64,
    pub(crate) books: Books,
    /// Reads and writes end after so many bytes.
    pub(crate) longest: usize,
    /// Every so many calls one is interrupted by a signal; 0 for none.
    pub(crate) interrupted: u32,
    calls: u32,
    /// Calls that are made by ioctl.
    pub(crate) words: u32,
    /// The driver is unloaded.
    pub(crate) is_gone: bool,
    /// The system's answer to the next mapping.
    pub(crate) mapping_fails: Option<Errno>,
    /// The system's answer to whoever opens the device file.
    pub(crate) open_fails: Option<Errno>,
    /// It is our own driver, with calls for registers.
    pub(crate) abilities: Option<Abilities>,
    /// Lines that have had events.
    pub(crate) events: u32,
    /// Folders of cards in sysfs.
    pub(crate) cards: u32,
    pub(crate) variant: Variant,
}

impl Driver {
    /// The driver was loaded: the cluster runs, and nothing matches.
    pub(crate) fn new(variant: Variant) -> Self {
        let mut registers = Registers::new(variant);
        registers.write(cl::AUX_RESET, 0, 0xf);
        registers.write(me::VALID.offset, 1, 0xf);
        Self {
            registers,
            memories: MEMORIES.map(|(_, _, bytes)| vec![0xa5; bytes]),
            areas: [const { None }; CONTEXTS as usize],
            is_in_reset: false,
            rules_may_change: false,
            contexts_may_change: true,
            next_address: 0xf_fff0_0000,
            books: Books::default(),
            longest: BLOCK,
            interrupted: 0,
            calls: 0,
            words: 0,
            is_gone: false,
            mapping_fails: None,
            open_fails: None,
            abilities: None,
            events: 0,
            cards: 1,
            variant,
        }
    }

    /// Begins a call.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        if self.is_gone {
            return Err(Errno::NODEV.into());
        }
        self.calls += 1;
        match self.interrupted {
            0 => Ok(()),
            every if self.calls.is_multiple_of(every) => Err(Errno::INTR.into()),
            _ => Ok(()),
        }
    }

    fn enter_memory(&mut self) -> io::Result<()> {
        self.enter()?;
        match self.is_in_reset {
            true => Err(Errno::PERM.into()),
            false => Ok(()),
        }
    }

    /// Offset in the BAR of an address in the cluster.
    fn bar_offset(address: u64) -> Option<u64> {
        let memory = MEMORIES
            .iter()
            .find(|(base, _, bytes)| (*base..*base + *bytes as u64).contains(&address))?;
        Some(address - memory.0 + memory.1)
    }

    /// Memory from an offset in the BAR on; none where nothing is.
    fn memory(&mut self, offset: u64) -> &mut [u8] {
        for ((_, start, _), memory) in MEMORIES.iter().zip(&mut self.memories) {
            let place = offset.checked_sub(*start).map(|place| place as usize);
            if let Some(place) = place.filter(|place| *place < memory.len()) {
                return &mut memory[place..];
            }
        }
        &mut []
    }

    /// What is in the cluster's memory, for tests to look at.
    pub(crate) fn memory_at(&mut self, address: u64) -> &mut [u8] {
        let offset = Self::bar_offset(address).expect("there is memory");
        self.memory(offset)
    }

    pub(crate) fn seek(&mut self, address: u64) -> io::Result<u64> {
        self.enter_memory()?;
        Self::bar_offset(address).ok_or(Errno::INVAL.into())
    }

    pub(crate) fn read(&mut self, position: &mut u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.enter_memory()?;
        let longest = self.longest;
        let memory = self.memory(*position);
        let count = bytes.len().min(longest).min(memory.len()) / 4 * 4;
        bytes[..count].copy_from_slice(&memory[..count]);
        *position += count as u64;
        Ok(count)
    }

    pub(crate) fn write(&mut self, position: &mut u64, bytes: &[u8]) -> io::Result<usize> {
        self.enter_memory()?;
        let longest = self.longest;
        let memory = self.memory(*position);
        let count = bytes.len().min(longest).min(memory.len()) / 4 * 4;
        memory[..count].copy_from_slice(&bytes[..count]);
        *position += count as u64;
        Ok(count)
    }

    /// A word's bytes. The driver does not look whether the cluster is in reset, where the real one may not answer at all.
    pub(crate) fn word(&mut self, address: u64) -> io::Result<&mut [u8]> {
        self.enter()?;
        assert!(
            !self.is_in_reset,
            "a word is accessed while the cluster is in reset"
        );
        self.words += 1;
        let offset = Self::bar_offset(address).ok_or(Errno::FAULT)?;
        Ok(&mut self.memory(offset)[..8])
    }

    pub(crate) fn query(&mut self, context: u32) -> io::Result<DmaArea> {
        self.enter()?;
        let area = self.areas.get(context as usize).ok_or(Errno::INVAL)?;
        Ok(area.as_ref().map_or(DmaArea::default(), |area| DmaArea {
            address: area.address,
            bytes: area.bytes.into(),
            is_enabled: true,
        }))
    }

    /// mmap, as the driver understands it.
    pub(crate) fn map(&mut self, offset: u64, bytes: u32) -> io::Result<Mapping> {
        self.enter()?;
        let [page, length] = [u64::from(PAGE), u64::from(bytes)];
        assert!(bytes > 0 && length.is_multiple_of(page) && offset.is_multiple_of(page));
        let context = (offset / page) / (length / page);
        let place = self.areas.get_mut(context as usize).ok_or(Errno::INVAL)?;
        if place.is_some() {
            return Err(Errno::AGAIN.into());
        }
        if self.mapping_fails == Some(Errno::NOMEM) {
            return Err(Errno::NOMEM.into());
        }
        let file = tempfile::tempfile()?;
        file.set_len(length)?;
        let mapping = Mapping::new(&file, 0, bytes as usize);
        let address = self.next_address;
        self.next_address += 2 * length;
        *place = Some(HostArea { file, address, bytes });
        // Host memory that could not be mapped is taken for good.
        match self.mapping_fails {
            Some(error) => Err(error.into()),
            None => {
                self.books.mapped += 1;
                mapping
            }
        }
    }

    /// The file of a context's host memory, for tests in which another process has it.
    #[allow(dead_code, reason = "only some tests have another process")]
    pub(crate) fn host_file(&self, context: u32) -> std::os::fd::OwnedFd {
        let area = self.areas[context as usize].as_ref().expect("it was mapped");
        area.file.try_clone().expect("there are few files").into()
    }

    pub(crate) fn unmap(&mut self, context: u32) {
        assert!(
            !self.serves(context),
            "handlers of context {context} still write to its memory"
        );
        self.areas[context as usize] = None;
        self.books.unmapped += 1;
    }

    /// Whether the hardware may start handlers of a context.
    fn serves(&self, context: u32) -> bool {
        let is_enabled = self
            .registers
            .value(her::ctx_enabled(context).expect("it is there"));
        !self.is_gone && !self.is_in_reset && is_enabled == Some(1)
    }

    pub(crate) fn read_register(&mut self, offset: u32) -> io::Result<u32> {
        self.enter()?;
        Ok(self.registers.read(offset).0)
    }

    /// The driver looks at values before it writes them.
    pub(crate) fn write_register(&mut self, offset: u32, value: u32) -> io::Result<()> {
        self.enter()?;
        let (register, index) = find(offset).expect("only files of registers are written");
        let is_allowed = match (register.group, register.name) {
            ("cl", "ctrl") if index == 1 => value <= 1,
            ("cl", "ctrl") => value < 4,
            ("her", "valid") => value == 0 || self.areas_agree(),
            ("me", "valid") => true,
            ("me", _) => self.rules_may_change,
            ("her" | "her_meta", _) => self.contexts_may_change,
            _ => true,
        };
        if !is_allowed {
            return Err(Errno::INVAL.into());
        }
        match offset {
            cl::AUX_RESET => {
                self.is_in_reset = value == 1;
                // The register is ours, and the public driver has no file for it.
                self.registers
                    .show(cl::STATUS.offset, if value == 1 { 3 } else { 1 });
            }
            _ if offset == me::VALID.offset => self.rules_may_change = value == 0,
            _ if offset == her::VALID.offset => self.contexts_may_change = value == 0,
            _ => {}
        }
        match self.registers.write(offset, value, 0xf) {
            Response::Okay => Ok(()),
            Response::SlaveError => Err(Errno::ACCESS.into()),
        }
    }

    /// Whether contexts have the host memory that was mapped for them.
    fn areas_agree(&self) -> bool {
        let field = |name, context| {
            let register = her_meta::offset(name, context).expect("it is there");
            u64::from(self.registers.value(register).expect("it is there"))
        };
        (0..CONTEXTS)
            .zip(&self.areas)
            .filter_map(|(context, area)| Some((context, area.as_ref()?)))
            .all(|(context, area)| {
                let address = field("host_mem_addr_1", context) << 32 | field("host_mem_addr_0", context);
                address == area.address && field("host_mem_size", context) == u64::from(area.bytes)
            })
    }
}
