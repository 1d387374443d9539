//! A device in a thread of its own, with a small application, and its clients.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use spinneret_host::device::Mapping;
use spinneret_pci::{Application, GuestMemory, Identity, Served, Server};
use spinneret_sim::dma::HostBus as _;
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vfio_user::Client;

/// The region of the configuration space.
pub(crate) const CONFIG: u32 = 7;
/// Writing an address here lets the application copy 64 bytes from there to [`COPY_TO`], and the code of what came of it is
/// read at [`CODE`]; a word written to [`RAISE`] raises that vector.
pub(crate) const COPY_FROM: u64 = 0x100;
pub(crate) const COPY_TO: u64 = 0x108;
pub(crate) const CODE: u64 = 0x110;
pub(crate) const RAISE: u64 = 0x114;
/// Bytes that are copied.
pub(crate) const COPIED: usize = 64;
/// Longest that is waited for anything.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn ok<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error:?}"))
}

/// Waits for something that becomes so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Words that were written, and a DMA.
struct Words {
    words: BTreeMap<u32, u32>,
    memory: Rc<GuestMemory>,
    raised: Vec<u32>,
}

impl Words {
    fn long(&self, offset: u64) -> u64 {
        let word = |offset: u64| u64::from(*self.words.get(&(offset as u32)).unwrap_or(&0));
        word(offset) | word(offset + 4) << 32
    }

    fn copy(&self) -> u32 {
        let mut bytes = [0; COPIED];
        let read = self.memory.read(self.long(COPY_FROM), &mut bytes);
        let written = read.and_then(|()| self.memory.write(self.long(COPY_TO), &bytes));
        written.map_or_else(|refused| refused.code.into(), |()| 0)
    }
}

impl Application for Words {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        Ok(*self.words.get(&offset).unwrap_or(&0))
    }

    fn write(&mut self, offset: u32, word: u32, strobes: u8) -> io::Result<()> {
        let mut bytes = self.words.get(&offset).copied().unwrap_or(0).to_le_bytes();
        for (lane, byte) in word.to_le_bytes().into_iter().enumerate() {
            if strobes >> lane & 1 == 1 {
                bytes[lane] = byte;
            }
        }
        self.words.insert(offset, u32::from_le_bytes(bytes));
        match u64::from(offset) {
            CODE => {
                let code = self.copy();
                self.words.insert(offset, code);
            }
            RAISE => self.raised.push(word),
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self) -> io::Result<()> {
        // Nothing runs in the background.
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.words.clear();
        Ok(())
    }
}

/// A device that is served.
pub(crate) struct Device {
    folder: tempfile::TempDir,
    ends: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Device {
    pub(crate) fn new(identity: Identity) -> Self {
        let folder = ok(tempfile::tempdir());
        let path = folder.path().join("nic.sock");
        let ends = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ends);
        let (listens, is_there) = std::sync::mpsc::channel();
        let server = std::thread::spawn(move || {
            let mut server = ok(Server::bind(&path, identity));
            ok(listens.send(()));
            let mut words = Words {
                words: BTreeMap::new(),
                memory: server.memory(),
                raised: Vec::new(),
            };
            while !is_over.load(Ordering::SeqCst) {
                let served = ok(server.serve(&mut words));
                words.raised.drain(..).for_each(|vector| server.raise(vector));
                if served == Served::Nothing {
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
        });
        ok(is_there.recv());
        Self {
            folder,
            ends,
            server: Some(server),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("nic.sock")
    }

    /// A client whose function has its memory and may send requests.
    pub(crate) fn client(&self) -> Client {
        let mut client = ok(Client::new(&self.path()));
        ok(client.region_write(CONFIG, 4, &[0b110, 0]));
        client
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        if let Some(Err(failure)) = self.server.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(failure);
        }
    }
}

pub(crate) fn read<const N: usize>(client: &mut Client, region: u32, offset: u64) -> [u8; N] {
    let mut bytes = [0; N];
    ok(client.region_read(region, offset, &mut bytes));
    bytes
}

pub(crate) fn word(client: &mut Client, region: u32, offset: u64) -> u32 {
    u32::from_le_bytes(read(client, region, offset))
}

/// Lets the application copy: the code that the DMA gave.
pub(crate) fn copy(client: &mut Client, from: u64, to: u64) -> u32 {
    ok(client.region_write(0, COPY_FROM, &from.to_le_bytes()));
    ok(client.region_write(0, COPY_TO, &to.to_le_bytes()));
    ok(client.region_write(0, CODE, &[0xff; 4]));
    word(client, 0, CODE)
}

/// Memory of a guest: a file that cannot become shorter, and what is in it.
pub(crate) fn guest_memory(bytes: usize) -> (OwnedFd, Mapping) {
    let file = ok(memfd_create(
        "guest",
        MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
    ));
    ok(ftruncate(&file, bytes as u64));
    ok(fcntl_add_seals(&file, SealFlags::SHRINK));
    let mapping = ok(Mapping::new(&file, 0, bytes));
    (file, mapping)
}

/// A client that says byte by byte what no library would.
pub(crate) struct Raw(pub(crate) UnixStream);

impl Raw {
    pub(crate) fn connect(device: &Device) -> Self {
        let stream = ok(UnixStream::connect(device.path()));
        ok(stream.set_read_timeout(Some(PATIENCE)));
        Self(stream)
    }

    /// One that has agreed on a version.
    pub(crate) fn new(device: &Device) -> Self {
        let mut raw = Self::connect(device);
        assert_eq!(raw.ask(1, &[0, 0, 1, 0]).0, 0);
        raw
    }

    /// A header with that size, whatever is behind it.
    pub(crate) fn header(command: u16, size: u32, flags: u32) -> Vec<u8> {
        let mut bytes = 7_u16.to_ne_bytes().to_vec();
        bytes.extend(command.to_ne_bytes());
        [size, flags, 0]
            .iter()
            .for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        ok(self.0.write_all(bytes));
    }

    /// The next answer: its error and what is in it.
    pub(crate) fn answer(&mut self) -> Option<(u32, Vec<u8>)> {
        let mut header = [0; 16];
        self.0.read_exact(&mut header).ok()?;
        let word = |at: usize| u32::from_ne_bytes(ok(header[at..at + 4].try_into()));
        assert_eq!(
            header[..2],
            7_u16.to_ne_bytes(),
            "it is the answer to what was asked"
        );
        let mut body = vec![0; word(4) as usize - header.len()];
        ok(self.0.read_exact(&mut body));
        Some((word(12), body))
    }

    pub(crate) fn ask(&mut self, command: u16, body: &[u8]) -> (u32, Vec<u8>) {
        let header = Self::header(command, 16 + body.len() as u32, 0);
        self.send(&[&header, body].concat());
        self.answer().expect("it is answered")
    }
}

/// Words and longs of a message.
pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
