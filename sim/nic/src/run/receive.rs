//! `spinneret receive`: files through SLMP, by handlers on a simulated NIC or by a program at a UDP port. Each message that is
//! received is stored or refused, and its sender hears which.

use super::host::{HostProgram, HostStep};
use super::session::Session;
use super::setup::Setup;
use super::{HardwareArguments, LiveArguments, PacketArguments, ResultArguments, session, setup};
use crate::device::Simulated;
use crate::installed;
use crate::net::{Interrupt, picoseconds};
use crate::terminal::{Failure, Files, print, seconds, tell};
use anyhow::{Context as _, Result, anyhow, bail};
use clap::{ArgGroup, Args};
use spinneret_host::Nic;
use spinneret_host::slmp::{Event, MessageReceiver, SegmentCounters};
use spinneret_packets::capture::whole_file::WholeFile;
use spinneret_slmp::memory::Cause;
use spinneret_slmp::udp::Listener;
use spinneret_slmp::{Confirm, GivenUp, Received, ReceiverConfig, Verdict, udp};
use std::io::Write as _;
use std::net::SocketAddrV4;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long repeated last segments are acknowledged after the message is stored: longer than the repetition interval of senders.
/// Senders use real time, which simulated time may lag behind.
const LINGER: Duration = Duration::from_secs(2);
/// Interval between polls of host memory while packets arrive.
const LOOK: Duration = Duration::from_micros(20);

/// Arguments of `spinneret receive`.
#[derive(Clone, Debug, Args)]
#[command(override_usage = "spinneret receive [OPTIONS] <--tap|--attach|--udp> <PATH>")]
#[command(group(ArgGroup::new("from").required(true).args(["tap", "attach", "udp"])))]
pub struct ReceiveArguments {
    /// File for the message; with --many, folder for the files
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Receive until Ctrl-C, each message into its own file
    #[arg(long)]
    pub many: bool,
    /// Receive without a NIC, at this address and UDP port
    #[arg(
        long,
        value_name = "ADDR:PORT",
        conflicts_with_all = ["handlers", "json", "trace", "wave", "plot", "profile", "allow_faults"]
    )]
    pub udp: Option<SocketAddrV4>,
    /// Maximum size of a message in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = clap::value_parser!(u32).range(1..=40 << 20))]
    pub max_size: u32,
    /// Maximum number of concurrent messages
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub places: u8,
    /// Give up a message after this time in seconds without a segment
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds, allow_negative_numbers = true)]
    pub idle: Duration,
    /// Handlers for SLMP: a folder with a Makefile, or an ELF file [default: examples/slmp in the folder that `spinneret where` prints]
    #[arg(long, value_name = "HANDLERS")]
    pub handlers: Option<PathBuf>,
    /// The interface
    #[command(flatten)]
    pub packets: LiveArguments,
    /// Hardware
    #[command(flatten)]
    pub hardware: HardwareArguments,
    /// Results
    #[command(flatten)]
    pub results: ResultArguments,
    /// Exit with success even if handlers fail, are refused something, or are missing for a packet
    #[arg(long, help_heading = "Results")]
    pub allow_faults: bool,
}

impl ReceiveArguments {
    /// The file for the message, unless there are many.
    fn files(&self) -> Files {
        Files::of_command().writes("PATH", Some(&*self.path).filter(|_| !self.many))
    }
}

/// Runs the command and prints its result.
///
/// # Errors
/// If an argument cannot be used, or the message is not received or cannot be stored.
pub fn receive(arguments: &ReceiveArguments) -> Result<(), Failure> {
    let inbox = Inbox::new(&arguments.path, arguments.many)?;
    arguments.files().check().map_err(Failure::Usage)?;
    let config = ReceiverConfig {
        places: arguments.places.into(),
        capacity_bytes: arguments.max_size as usize,
        confirm: Confirm::Stored,
    };
    match arguments.udp {
        Some(at) => by_program(at, config, inbox, arguments),
        None => by_handlers(arguments, config, inbox),
    }
}

/// Receives at a UDP port.
fn by_program(
    at: SocketAddrV4,
    config: ReceiverConfig,
    mut inbox: Inbox,
    arguments: &ReceiveArguments,
) -> Result<(), Failure> {
    let interrupt = Interrupt::catch().map_err(Failure::usage)?;
    let mut listener = Listener::bind(at, config, arguments.idle).map_err(Failure::usage)?;
    let duration = arguments.packets.duration;
    let mut end = duration.and_then(|duration| Instant::now().checked_add(duration));
    let at = listener.local_address().map_err(Failure::work)?;
    tell(format_args!("waiting at {at}"));
    loop {
        let event = listener.next_event(|_| {
            match interrupt.is_set() || end.is_some_and(|end| Instant::now() >= end) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        match event.map_err(Failure::work)? {
            Some(udp::Event::Complete(message)) => {
                let was_done = inbox.is_done();
                let confirm = |verdict| Ok(listener.confirm(&message.key, verdict)?);
                inbox.take(&message, confirm).map_err(Failure::Work)?;
                if inbox.is_done() && !was_done {
                    end = Instant::now().checked_add(LINGER);
                }
            }
            Some(udp::Event::GivenUp(given_up)) => inbox.give_up(&given_up).map_err(Failure::Work)?,
            None => return inbox.finish().map_err(Failure::Work),
        }
    }
}

/// Receives by handlers on a simulated NIC.
fn by_handlers(arguments: &ReceiveArguments, config: ReceiverConfig, inbox: Inbox) -> Result<(), Failure> {
    let hardware = setup::config(&arguments.hardware)?;
    let folder = match &arguments.handlers {
        Some(folder) => folder.clone(),
        None => installed::example("slmp").map_err(Failure::usage)?,
    };
    let files = arguments.results.files(arguments.files());
    let (_, program) = setup::handlers(&folder, &hardware, files)?;
    let interrupt = Interrupt::catch().map_err(Failure::usage)?;
    let ends = setup::open_packets(&PacketArguments {
        live: arguments.packets.clone(),
        ..PacketArguments::default()
    })?;
    let mut setup = Setup::new(ends, &arguments.results, hardware, Some(&program))?;
    let receiver = setup.start(&interrupt, |nic| {
        let nic = Nic::new(nic.clone())?;
        Ok(MessageReceiver::open(&nic, &program, config, arguments.idle)?)
    })?;
    tell("waiting at the NIC");
    setup.host = Some(Box::new(ReceiveService {
        receiver,
        inbox,
        end: None,
    }));
    let session = Session::new(setup, arguments.packets.duration, interrupt);
    session::finish(session, arguments.results.json, arguments.allow_faults)
}

/// The receiver as a host program.
#[derive(Debug)]
struct ReceiveService {
    receiver: MessageReceiver<Simulated>,
    inbox: Inbox,
    /// End of the run.
    end: Option<Instant>,
}

impl HostProgram for ReceiveService {
    fn poll(&mut self, nic: &Simulated) -> Result<HostStep> {
        while let Some(event) = self.receiver.poll()? {
            match event {
                Event::Complete(message) => {
                    let confirm = |verdict| Ok(self.receiver.confirm(&message.key, verdict)?);
                    self.inbox.take(&message, confirm)?;
                }
                Event::GivenUp(given_up) => self.inbox.give_up(&given_up)?,
            }
        }
        let nic = nic.borrow();
        if self.inbox.is_done() {
            self.end.get_or_insert_with(|| Instant::now() + LINGER);
        }
        Ok(match self.end {
            Some(end) if Instant::now() >= end => HostStep::Done,
            _ if nic.is_idle() => HostStep::Idle,
            _ => HostStep::WakeAt(nic.now_ps() + picoseconds(LOOK)),
        })
    }

    fn stays(&self) -> bool {
        true
    }

    fn finish(&mut self) -> Result<()> {
        show_segments(&self.receiver.counters()?);
        self.inbox.finish()
    }
}

/// Counts of segments, if any are notable.
fn show_segments(counters: &SegmentCounters) {
    let counted = Cause::ALL
        .iter()
        .map(|cause| (counters.of(*cause), cause.about()));
    let counted: Vec<String> = counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, about)| format!("  {count:>9} {about}"))
        .collect();
    if !counted.is_empty() {
        tell(format_args!("segments:\n{}", counted.join("\n")));
    }
}

/// Takes messages: one for a file, or many for a folder.
#[derive(Debug)]
pub(super) struct Inbox {
    store: Store,
    /// The message for the file was received.
    is_stored: bool,
}

impl Inbox {
    /// An empty one.
    ///
    /// # Errors
    /// If a folder should take one message, or a file many.
    pub(super) fn new(path: &Path, many: bool) -> Result<Self, Failure> {
        let store = Store::new(path, many).map_err(Failure::Usage)?;
        Ok(Self {
            store,
            is_stored: false,
        })
    }

    /// Whether the receiver is done.
    pub(super) fn is_done(&self) -> bool {
        self.is_stored
    }

    /// Stores a message, confirms it, and prints the result.
    ///
    /// # Errors
    /// If it is the only message and cannot be stored, or `confirm` fails.
    pub(super) fn take(
        &mut self,
        message: &Received,
        confirm: impl FnOnce(Verdict) -> Result<()>,
    ) -> Result<()> {
        let saved = self.save(message);
        let verdict = match saved {
            Ok(_) => Verdict::Stored,
            Err(_) => Verdict::Refused,
        };
        confirm(verdict)?;
        match saved {
            Ok(path) => {
                let (bytes, from) = (message.data.len(), message.key.from);
                self.is_stored = self.store.is_single();
                print(format_args!("{}: {bytes} bytes from {from}\n", path.display()))
            }
            Err(error) => self.failed(anyhow!("{error:#}")),
        }
    }

    /// Prints that a message is incomplete.
    ///
    /// # Errors
    /// If it is the only message.
    pub(super) fn give_up(&self, given_up: &GivenUp) -> Result<()> {
        let GivenUp { key, bytes, length } = given_up;
        let of = length.map_or_else(
            || "and its end never came".to_owned(),
            |length| format!("of {length}"),
        );
        self.failed(anyhow!(
            "message {:#010x} of {} stopped after {bytes} bytes {of}: the sender or the network stopped, the message is \
             longer than --max-size, or this receiver was restarted in its middle; nothing of it was stored",
            key.message_id,
            key.from
        ))
    }

    /// The end of receiving.
    ///
    /// # Errors
    /// If the only message was not received.
    pub(super) fn finish(&self) -> Result<()> {
        match self.store.is_single() && !self.is_stored {
            true => bail!("no message was received"),
            false => Ok(()),
        }
    }

    fn save(&self, message: &Received) -> Result<PathBuf> {
        if self.is_stored {
            bail!(
                "a second message, of {}, was refused: one file holds one message (--many takes more)",
                message.key.from
            );
        }
        self.store.save(message)
    }

    /// The failure of a message ends the command only if it is the only message.
    fn failed(&self, error: anyhow::Error) -> Result<()> {
        if self.store.is_single() && !self.is_stored {
            return Err(error);
        }
        tell(error);
        Ok(())
    }
}

/// Where messages are stored.
#[derive(Debug)]
pub(crate) enum Store {
    /// One message in this file.
    File(PathBuf),
    /// Each in a file of its own in this folder.
    Folder(PathBuf),
}

impl Store {
    /// A file or folder for messages.
    ///
    /// # Errors
    /// If a folder should take one message, or a file many.
    pub(crate) fn new(path: &Path, many: bool) -> Result<Self> {
        match (many, path.is_dir()) {
            (true, true) => Ok(Self::Folder(path.to_owned())),
            (true, false) => anyhow::bail!(
                "{} is not a folder: --many needs a folder for the files",
                path.display()
            ),
            (false, true) => anyhow::bail!("{} is a folder: name a file, or give --many", path.display()),
            (false, false) => {
                let folder = folder_of(path);
                anyhow::ensure!(
                    folder.is_dir(),
                    "there is no folder {} for {}",
                    folder.display(),
                    path.display()
                );
                Ok(Self::File(path.to_owned()))
            }
        }
    }

    /// Whether only one message is expected.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Stores a message: the file has its final name only when all of it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written; no partial file remains.
    pub(crate) fn save(&self, message: &Received) -> Result<PathBuf> {
        let path = match self {
            Self::File(path) => path.clone(),
            Self::Folder(folder) => {
                let from = message.key.from;
                let name = format!("{}-{}-{:08x}", from.ip(), from.port(), message.key.message_id);
                folder.join(name)
            }
        };
        self.write(&path, &message.data)
            .with_context(|| format!("{} cannot be stored", path.display()))?;
        Ok(path)
    }

    fn write(&self, path: &Path, data: &[u8]) -> Result<()> {
        let mut file = WholeFile::create(path)?;
        file.write_all(data)?;
        Ok(file.finish_on_disk()?)
    }
}

/// The folder of a file; the current one if it has none.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spinneret_slmp::MessageKey;

    fn message(data: &[u8]) -> Received {
        Received {
            key: MessageKey {
                from: "10.0.0.1:4000".parse().expect("it is an address"),
                message_id: 0xabc,
            },
            data: data.to_vec(),
        }
    }

    #[test]
    fn a_message_is_stored_completely_or_not_at_all() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("message");
        let store = Store::new(&path, false).expect("there is room");
        assert!(store.is_single());
        assert_eq!(store.save(&message(b"first")).expect("there is room"), path);
        store.save(&message(b"second")).expect("there is room");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"second");
        // A folder of that name cannot be replaced by a file.
        std::fs::remove_file(&path).expect("it is ours");
        std::fs::create_dir(&path).expect("it is ours");
        let error = store.save(&message(b"third")).unwrap_err().to_string();
        assert!(error.ends_with("message cannot be stored"), "{error}");
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("it is ours").count(),
            1,
            "nothing is left"
        );
    }

    #[test]
    fn files_in_a_folder_are_named_after_their_senders() {
        let folder = tempfile::tempdir().expect("there is room");
        let store = Store::new(folder.path(), true).expect("it is a folder");
        let path = store.save(&message(b"one")).expect("there is room");
        assert_eq!(path, folder.path().join("10.0.0.1-4000-00000abc"));
    }

    #[test]
    fn an_unsuitable_destination_is_refused() {
        let folder = tempfile::tempdir().expect("there is room");
        let refused = |path: &Path, many| Store::new(path, many).unwrap_err().to_string();
        assert!(refused(folder.path(), false).ends_with("is a folder: name a file, or give --many"));
        assert!(refused(&folder.path().join("file"), true).contains("is not a folder"));
        assert!(refused(&folder.path().join("nowhere/file"), false).starts_with("there is no folder"));
    }
}
