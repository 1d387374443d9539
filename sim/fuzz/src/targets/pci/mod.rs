//! vfio-user messages of virtual machines to a PCI function, with file descriptors.

mod messages;

use super::connect;
use crate::{Counts, Target};
use anyhow::Context as _;
use messages::{
    COMMAND, CONFIG, FILE_PAGES, FILES, HEADER_BYTES, IS_ERROR, MAP, MEMORY_AND_MASTER, PAGE, READ, VERSION,
    WRITE, fields, input, longs, message,
};
use rand_chacha::ChaCha8Rng;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use spinneret_pci::{Application, GuestMemory, Identity, Served, Server};
use spinneret_regmap::pci;
use spinneret_sim::dma::HostBus as _;
use std::io::{self, ErrorKind, IoSlice, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest that a client is served.
const PATIENCE: Duration = Duration::from_secs(20);

/// A function, and one virtual machine for each input.
pub(super) struct Pci {
    server: Server,
    words: Words,
    folder: TempDir,
    /// Files sent with messages: valid memory, memory that can shrink, an eventfd, and something else.
    files: Vec<OwnedFd>,
}

fn memory(seals: SealFlags) -> anyhow::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("guest", flags).context("there is no memory for a guest")?;
    ftruncate(&file, FILE_PAGES * PAGE)?;
    fcntl_add_seals(&file, seals)?;
    Ok(file)
}

impl Pci {
    pub(super) fn new() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("there is no room for a socket")?;
        let server = Server::bind(&folder.path().join("nic"), Identity::OWN)?;
        Ok(Self {
            words: Words::new(server.memory()),
            server,
            folder,
            files: vec![
                memory(SealFlags::SHRINK)?,
                memory(SealFlags::empty())?,
                eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
                std::fs::File::open("/dev/null")?.into(),
            ],
        })
    }

    /// Sends some of a message; files go with its first byte.
    fn send(client: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(files));
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        match sendmsg(client, &[IoSlice::new(bytes)], &mut control, flags) {
            Err(Errno::AGAIN) => Ok(0),
            sent => Ok(sent?),
        }
    }

    /// Serves once, and raises the interrupts that the application requested.
    fn turn(&mut self) -> Result<Served, String> {
        let served = self.server.serve(&mut self.words);
        for vector in self.words.take_raised() {
            self.server.raise(vector);
        }
        self.server.take_notes();
        served.map_err(|error| error.to_string())
    }

    /// Serves until the client has nothing left to send, or is dropped.
    fn serve(&mut self, client: &mut UnixStream, input: &[u8]) -> Result<Counts, String> {
        let (mut counts, mut answers, begun) = (Counts::default(), Answers::default(), Instant::now());
        let mut rest = input;
        while let [files, first, low, high, behind @ ..] = rest {
            let length = usize::from(u16::from_le_bytes([*low, *high])).min(behind.len());
            let (mut bytes, behind) = behind.split_at(length);
            rest = behind;
            let files = usize::from(*files).min(FILES);
            let all = self.files.iter().cycle().skip(usize::from(*first));
            let copies: Result<Vec<OwnedFd>, _> = all.take(files).map(OwnedFd::try_clone).collect();
            let copies = copies.map_err(|error| error.to_string())?;
            let mut files: Vec<BorrowedFd<'_>> = copies.iter().map(OwnedFd::as_fd).collect();
            counts.pieces += 1;
            while !bytes.is_empty() {
                let Ok(sent) = Self::send(client, bytes, &files) else {
                    return Ok(counts);
                };
                bytes = &bytes[sent..];
                if sent > 0 {
                    files.clear();
                }
                let served = self.turn()?;
                answers.take(client);
                counts.understood = answers.good;
                if served == Served::Gone {
                    return Ok(counts);
                }
                if begun.elapsed() > PATIENCE {
                    return Err(format!("it is served for {} s and more", PATIENCE.as_secs()));
                }
            }
        }
        while self.turn()? == Served::Requests {
            answers.take(client);
        }
        answers.take(client);
        counts.understood = answers.good;
        Ok(counts)
    }

    /// Asks something of the server, and waits for the answer.
    fn ask(
        &mut self,
        client: &mut UnixStream,
        command: u16,
        body: &[u8],
        file: Option<usize>,
    ) -> Result<Vec<u8>, String> {
        let bytes = [
            message(command, (HEADER_BYTES + body.len()) as u32, 0),
            body.to_vec(),
        ]
        .concat();
        let file = file.map(|file| self.files[file].as_fd());
        let files: Vec<BorrowedFd<'_>> = file.into_iter().collect();
        let sent = Self::send(client, &bytes, &files).map_err(|error| error.to_string())?;
        if sent != bytes.len() {
            return Err(format!("the next client cannot send command {command}"));
        }
        let (begun, mut answers) = (Instant::now(), Answers::default());
        while answers.whole == 0 && begun.elapsed() < PATIENCE {
            self.turn()?;
            answers.take(client);
        }
        match answers.good {
            1 => Ok(answers.last),
            _ => Err(format!("the next client is refused command {command}")),
        }
    }

    fn write(
        &mut self,
        client: &mut UnixStream,
        region: u32,
        offset: u64,
        data: &[u8],
    ) -> Result<(), String> {
        let mut body = offset.to_ne_bytes().to_vec();
        fields(&mut body, [region.into(), data.len() as u64]);
        body.extend(data);
        self.ask(client, WRITE, &body, None).map(drop)
    }

    fn read(&mut self, client: &mut UnixStream, region: u32, offset: u64) -> Result<u32, String> {
        let mut body = offset.to_ne_bytes().to_vec();
        fields(&mut body, [region.into(), 4]);
        let answer = self.ask(client, READ, &body, None)?;
        let word = answer.last_chunk().ok_or("the answer to a read has no data")?;
        Ok(u32::from_le_bytes(*word))
    }

    /// Lets the application copy from one page to another; whether it could.
    fn copies(&mut self, client: &mut UnixStream, from: u64, to: u64) -> Result<bool, String> {
        for (place, address) in [(FROM, from), (TO, to)] {
            self.write(client, 0, 4 * place as u64, &address.to_le_bytes())?;
        }
        self.write(client, 0, 4 * COPY as u64, &[0xff; 4])?;
        Ok(self.read(client, 0, 4 * COPY as u64)? == 0)
    }

    /// A client that behaves finds the device as after power-up, reaches its own memory, and nothing of the last one's.
    fn check(&mut self) -> Result<(), String> {
        let mut client = connect(self.folder.path())?;
        self.ask(&mut client, VERSION, &[0, 0, 1, 0], None)?;
        let ids = u32::from(pci::VENDOR) | u32::from(pci::DEVICE) << 16;
        let found = self.read(&mut client, CONFIG, 0)?;
        if found != ids {
            return Err(format!(
                "the next client finds the device {found:#010x}, not {ids:#010x}"
            ));
        }
        self.write(&mut client, CONFIG, COMMAND, &[MEMORY_AND_MASTER, 0])?;
        for page in 0..64 {
            if self.copies(&mut client, PAGE * page, PAGE * page)? {
                return Err(format!("memory of the last client is reached at page {page}"));
            }
        }
        let mut map = Vec::new();
        fields(&mut map, [32, 3]);
        longs(&mut map, [0, PAGE, 2 * PAGE]);
        self.ask(&mut client, MAP, &map, Some(0))?;
        match self.copies(&mut client, PAGE, 2 * PAGE)? {
            true => Ok(()),
            false => Err("the next client's memory is not reached".to_owned()),
        }
    }

    /// Lets the server notice that its client has disconnected.
    fn clear(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        while self.server.has_client() {
            self.turn()?;
            if begun.elapsed() > PATIENCE {
                return Err("the server keeps a client that is gone".to_owned());
            }
        }
        Ok(())
    }
}

impl Target for Pci {
    fn unit(&self) -> &'static str {
        "messages"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        input(rng)
    }

    fn run(&mut self, input: &[u8]) -> Result<Counts, String> {
        let mut client = connect(self.folder.path())?;
        let counts = self.serve(&mut client, input)?;
        drop(client);
        self.clear()?;
        self.check()?;
        self.clear()?;
        Ok(counts)
    }
}

/// Received answers: complete ones, successful ones, and the body of the last.
#[derive(Default)]
struct Answers {
    bytes: Vec<u8>,
    whole: u64,
    good: u64,
    last: Vec<u8>,
}

impl Answers {
    fn take(&mut self, client: &mut UnixStream) {
        let mut chunk = [0; 1 << 16];
        loop {
            match client.read(&mut chunk) {
                Ok(count @ 1..) => self.bytes.extend(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => break,
            }
        }
        while let Some(header) = self.bytes.first_chunk::<HEADER_BYTES>() {
            let word =
                |at: usize| u32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
            let (size, flags) = (word(4) as usize, word(8));
            if self.bytes.len() < size.max(HEADER_BYTES) {
                break;
            }
            self.whole += 1;
            self.good += u64::from(flags & IS_ERROR == 0);
            self.last = self.bytes[HEADER_BYTES..size].to_vec();
            self.bytes.drain(..size.max(HEADER_BYTES));
        }
    }
}

/// The application behind the BAR: words. Two are addresses, between which 64 bytes are copied when the third is
/// written; the fourth raises a vector.
struct Words {
    words: [u32; 64],
    memory: Rc<GuestMemory>,
    raised: Vec<u32>,
}

/// Places of the words.
const FROM: usize = 0;
const TO: usize = 2;
const COPY: usize = 4;
const RAISE: usize = 5;

impl Words {
    fn new(memory: Rc<GuestMemory>) -> Self {
        Self {
            words: [0; 64],
            memory,
            raised: Vec::new(),
        }
    }

    /// Vectors that were asked for since this was last called.
    fn take_raised(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.raised)
    }

    fn address(&self, place: usize) -> u64 {
        u64::from(self.words[place]) | u64::from(self.words[place + 1]) << 32
    }
}

impl Application for Words {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        Ok(self.words[offset as usize / 4 % self.words.len()])
    }

    fn write(&mut self, offset: u32, word: u32, _strobes: u8) -> io::Result<()> {
        let place = offset as usize / 4 % self.words.len();
        self.words[place] = word;
        if place == COPY {
            let mut bytes = [0; 64];
            let read = self.memory.read(self.address(FROM), &mut bytes);
            let copied = read.and_then(|()| self.memory.write(self.address(TO), &bytes));
            self.words[COPY] = u32::from(copied.is_err());
        }
        if place == RAISE {
            self.raised.push(word);
        }
        Ok(())
    }

    fn stop(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.words.fill(0);
        Ok(())
    }
}
