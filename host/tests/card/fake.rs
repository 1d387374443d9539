//! The files of a machine with the fake driver.

use crate::driver::{Driver, PAGE};
use rustix::io::Errno;
use spinneret_host::Program;
use spinneret_host::chardev::{Abilities, DeviceFile, DmaArea, System};
use spinneret_host::device::Mapping;
use spinneret_regmap::model::Variant;
use spinneret_regmap::{Word, words};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The device file.
pub(crate) const PSPIN: &str = "/dev/pspin0";
const AUXILIARY: &str = "/sys/bus/auxiliary/devices/mqnic.app_12340100.";

/// The registers by the files that the driver has for them.
static REGISTERS: LazyLock<BTreeMap<PathBuf, Word>> = LazyLock::new(|| {
    let file = |word: &Word| format!("{}/{}/{}", word.register.group, word.register.name, word.index);
    words().map(|word| (file(&word).into(), word)).collect()
});

/// A machine with a card, and a look behind its driver.
#[derive(Clone, Debug)]
pub(crate) struct Fake(Arc<Mutex<Driver>>);

impl Fake {
    pub(crate) fn new(variant: Variant) -> Self {
        Self(Arc::new(Mutex::new(Driver::new(variant))))
    }

    /// The driver, for tests to look at and to change.
    pub(crate) fn driver(&self) -> MutexGuard<'_, Driver> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Offset of the register that a file is for.
    fn register(&self, path: &Path) -> io::Result<u32> {
        let driver = self.driver();
        let name = path
            .strip_prefix(format!("{AUXILIARY}0"))
            .ok()
            .filter(|_| driver.cards > 0 && !driver.is_gone);
        let found = name.and_then(|name| REGISTERS.get(name)).filter(|word| {
            let is_ours = word.register.extension;
            !is_ours || driver.variant == Variant::Extended
        });
        Ok(found.ok_or(Errno::NOENT)?.offset())
    }
}

impl System for Fake {
    type File = FakeFile;

    fn open(&self, path: &Path) -> io::Result<FakeFile> {
        let mut driver = self.driver();
        if let Some(error) = driver.open_fails {
            return Err(error.into());
        }
        if path != Path::new(PSPIN) || driver.is_gone {
            return Err(Errno::NOENT.into());
        }
        if driver.books.open > 0 {
            return Err(Errno::WOULDBLOCK.into());
        }
        driver.books.open += 1;
        Ok(FakeFile {
            fake: self.clone(),
            position: 0,
        })
    }

    fn auxiliary_devices(&self) -> io::Result<Vec<PathBuf>> {
        let cards = 0..self.driver().cards;
        Ok(cards.map(|card| format!("{AUXILIARY}{card}").into()).collect())
    }

    fn exists(&self, path: &Path) -> bool {
        self.register(path).is_ok()
    }

    fn read_text(&self, path: &Path) -> io::Result<String> {
        let offset = self.register(path)?;
        let value = self.driver().read_register(offset)?;
        Ok(format!("{value}\n"))
    }

    fn write_text(&self, path: &Path, text: &str) -> io::Result<()> {
        let value = text.strip_suffix('\n').and_then(|digits| digits.parse().ok());
        let value = value.unwrap_or_else(|| panic!("{text:?} is no number and a newline"));
        let offset = self.register(path)?;
        self.driver().write_register(offset, value)
    }

    fn page_bytes(&self) -> u32 {
        PAGE
    }
}

#[derive(Debug)]
pub(crate) struct FakeFile {
    fake: Fake,
    position: u64,
}

impl DeviceFile for FakeFile {
    fn seek(&mut self, address: u64) -> io::Result<u64> {
        self.position = self.fake.driver().seek(address)?;
        Ok(self.position)
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.fake.driver().read(&mut self.position, bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.fake.driver().write(&mut self.position, bytes)
    }

    fn query(&mut self, context: u32) -> io::Result<DmaArea> {
        self.fake.driver().query(context)
    }

    fn read_word(&mut self, address: u64) -> io::Result<u64> {
        let mut driver = self.fake.driver();
        let bytes = driver.word(address)?.try_into().expect("a word has 8");
        Ok(u64::from_le_bytes(bytes))
    }

    fn write_word(&mut self, address: u64, data: u64) -> io::Result<()> {
        let mut driver = self.fake.driver();
        driver.word(address)?.copy_from_slice(&data.to_le_bytes());
        Ok(())
    }

    fn map(&mut self, context: u32, bytes: u32) -> io::Result<Mapping> {
        let offset = u64::from(context) * u64::from(bytes);
        self.fake.driver().map(offset, bytes)
    }

    fn unmap(&mut self, context: u32, mapping: Mapping) {
        drop(mapping);
        self.fake.driver().unmap(context);
    }

    fn abilities(&mut self) -> io::Result<Option<Abilities>> {
        Ok(self.fake.driver().abilities)
    }

    fn read_register(&mut self, offset: u32) -> io::Result<u32> {
        self.fake.driver().read_register(offset)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> io::Result<()> {
        self.fake.driver().write_register(offset, value)
    }

    fn wait_event(&mut self, _limit: Duration) -> io::Result<u32> {
        let mut driver = self.fake.driver();
        driver.enter()?;
        Ok(std::mem::take(&mut driver.events))
    }
}

impl Drop for FakeFile {
    fn drop(&mut self) {
        self.fake.driver().books.open -= 1;
    }
}

const SOURCE: &str = "
    struct { unsigned long long flag[16]; struct { unsigned sum, count; } counters[16]; } __host_data;
    volatile unsigned total;
    volatile unsigned long long step = 0x0123456789abcdefull;
    volatile unsigned char large[10000] = {1, 2, 3};
    volatile struct { unsigned value, tag; } __counter_queue[2][32];
    void count_ph(void *args) { (void)args; total += 1; }
    void copy_ph(void *args) { (void)args; total += large[0]; }
";
/// Handlers where program memory is, data where handler memory is, and no headers of the file in front of them.
const PLACES: &str = "-Wl,-n,-Ttext=0x1d000000,-Tdata=0x1c000000,-e,count_ph";

/// The program, compiled once.
pub(crate) fn program() -> &'static Program {
    static PROGRAM: LazyLock<Program> = LazyLock::new(compile);
    &PROGRAM
}

fn compile() -> Program {
    let folder = tempfile::tempdir().expect("there is room");
    let [source, elf] = ["handlers.c", "handlers.elf"].map(|name| folder.path().join(name));
    std::fs::write(&source, SOURCE).expect("there is room");
    let compiler = "riscv64-unknown-elf-gcc";
    let compiled = Command::new(compiler)
        .args([
            "-march=rv32imac",
            "-mabi=ilp32",
            "-O2",
            "-nostdlib",
            "-msmall-data-limit=0",
            PLACES,
        ])
        .arg("-o")
        .args([&elf, &source])
        .output()
        .unwrap_or_else(|error| panic!("{compiler} does not run ({error}): ./dev setup installs it"));
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    Program::open(&elf).unwrap_or_else(|error| panic!("{error}"))
}
