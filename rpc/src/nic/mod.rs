//! Services for the handlers of a context.
//!
//! ```text
//!  handler: spin_rpc.h            NIC, L2: the context's place (crate::place)      host memory of the context
//!    packet, mailbox ------------------------------------------------------------> buffer, behind the pages of spin_host.h
//!    waits <---------------------- copies of inboxes <----- Services: Server <---->
//! ```
//!
//! A handler that waits looks at a word of L2, which the host writes through the BAR besides the mailbox in host
//! memory. So that memory
//! is exactly LLVM's at any time.

use crate::layout::{Announcement, LayoutError, MOST_BULK_BYTES, Version};
use crate::place;
use crate::server::{Counts, End, Running, Server, ServerError};
use spinneret_host::{Context, Device, DeviceError, Error, OpenDevice, Ruleset};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, mpsc};
use std::time::Duration;

mod window;

pub use window::Window;

use window::Place;

/// HPUs of a cluster, as programs number them.
pub(crate) const HPUS_OF_CLUSTER: u32 = 8;
/// Between two looks while time passes.
const LOOK: Duration = Duration::from_nanos(100);
/// Longest that handlers get to end when services are closed, in the time of the device.
const DRAIN: Duration = Duration::from_millis(10);
/// Between two looks at whether they have.
const DRAIN_LOOK: Duration = Duration::from_micros(10);

/// Most answers that are announced together while there is more to do: as many as fit into the time of two writes to the NIC.
const MOST_UNTOLD: u32 = 8;

/// How services are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The layout of the buffer.
    pub version: Version,
    /// Ports of each HPU, 1 or 2. With 2, a call may overtake an asynchronous one of the same HPU, and more of these
    /// are under way.
    pub ports_per_hpu: u32,
    /// Where handlers see that they are answered.
    pub copies: Copies,
    /// Most host memory for data of typed calls that do not fit into packets, of which every port has the same part. It
    /// lies behind the
    /// buffer, as far as the context has so much.
    pub bulk_bytes: u32,
}

/// Where handlers see that they are answered. The host has the inboxes of LLVM's protocol in its memory in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Copies {
    /// There alone: they ask host memory.
    Host = place::NO_COPIES,
    /// In a word for each port in the NIC's memory, in which a small answer has room, too: best for few HPUs, and for
    /// calls with answers.
    Words = place::WORDS,
    /// In a bit for each port, so that a word tells eight HPUs: best for many that do not ask for answers.
    Bits = place::BITS,
}

impl Default for Offer {
    /// LLVM 23's layout, one port for each HPU, a word of each on the NIC, and a MiB for long data.
    fn default() -> Self {
        Self {
            version: Version::V23,
            ports_per_hpu: 1,
            copies: Copies::Words,
            bulk_bytes: MOST_BULK_BYTES,
        }
    }
}

/// Why services are not offered, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum ServicesError {
    /// The context.
    #[error(transparent)]
    Host(#[from] Error),
    /// The NIC does not take a word.
    #[error("cannot write an answer to the NIC: {0}")]
    Device(#[from] DeviceError),
    /// The layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The server.
    #[error(transparent)]
    Server(#[from] ServerError<Infallible>),
    /// Host memory is too small for the buffer.
    #[error(
        "calls need {needs} bytes of host memory, and context {context} has {has}: open it with more (Options::host_bytes)"
    )]
    HostMemory {
        /// The context.
        context: u32,
        /// Bytes that it has.
        has: u32,
        /// Bytes up to the buffer's end.
        needs: u32,
    },
    /// The program has room for fewer ports.
    #[error(
        "{ports} ports requested, but the program has room for {room}: use fewer ports per HPU, or build it for this NIC \
         (make CLUSTERS=N)"
    )]
    Ports {
        /// The number of ports wanted.
        ports: u32,
        /// The number of ports that there is room for.
        room: u32,
    },
    /// Handlers still know another layout.
    #[error(
        "context {context} had {had} ports of LLVM {version} before, which its HPUs remember as long as the program runs: \
         open the same again, or close all contexts first"
    )]
    OtherLayout {
        /// The context.
        context: u32,
        /// Ports that it had.
        had: u32,
        /// The version that it had.
        version: u32,
    },
    /// Handlers still wait elsewhere.
    #[error(
        "handlers of context {context} are to wait by Copies::{wanted:?}, and its HPUs remember another way as long as the \
         program runs: open the same again, or close all contexts first"
    )]
    OtherCopies {
        /// The context.
        context: u32,
        /// The kind of copies wanted.
        wanted: Copies,
    },
    /// A handler's program knows another version of a call.
    #[error(
        "{program} calls `{function}` as another version than the one that is offered: make its header again, and build it"
    )]
    OtherVersion {
        /// The program.
        program: String,
        /// The function in C.
        function: String,
    },
    /// The stubs of a handler's program cannot be read.
    #[error("{program}: its section .spin_services is cut short: build it again")]
    Stubs {
        /// The program.
        program: String,
    },
    /// There is no thread for the server.
    #[error("cannot start the thread of the server: {0}")]
    Thread(#[from] io::Error),
}

/// Services for the handlers of a context, until they are closed or dropped.
#[derive(Debug)]
pub struct Services<D: Device = OpenDevice> {
    // Fields that access host memory are dropped before the context that owns it.
    server: Option<Where>,
    context: Option<Context<D>>,
    place: Place<D>,
    /// Steps whose answers were not announced to handlers yet.
    untold: u32,
}

/// Where the server is.
#[derive(Debug)]
enum Where {
    Here(Box<Server<Window>>),
    Thread(Running<Infallible>),
}

impl<D: Device> Services<D> {
    /// Offers services that are polled: by [`poll`](Self::poll), or while time passes by [`wait`](Self::wait).
    /// `add` adds them to the server.
    ///
    /// # Errors
    /// If the program of the context calls nothing, its host memory is too small, or the NIC does not answer.
    pub fn open(
        context: Context<D>,
        offer: &Offer,
        add: impl FnOnce(&mut Server<Window>),
    ) -> Result<Self, ServicesError> {
        let place = Place::new(&context, offer)?;
        let mut server = Server::new(place.prepare(&context)?, place.layout)?;
        add(&mut server);
        window::Stubs::of(context.program())?.check(|opcode| server.version(opcode))?;
        place.announce(&context)?;
        Ok(Self {
            server: Some(Where::Here(Box::new(server))),
            context: Some(context),
            place,
            untold: 0,
        })
    }

    /// Offers services on a thread of their own. It answers in host memory alone, whatever the offer says, because
    /// the NIC may be in use by others for long.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if there is no thread.
    pub fn on_thread(
        context: Context<D>,
        offer: &Offer,
        add: impl FnOnce(&mut Server<Window>) + Send + 'static,
    ) -> Result<Self, ServicesError> {
        let (running, place) = start(&context, offer, add)?;
        // From here on the thread ends with the services.
        let services = Self {
            server: Some(Where::Thread(running)),
            context: Some(context),
            place,
            untold: 0,
        };
        services.place.announce(services.context())?;
        Ok(services)
    }

    /// The context.
    pub fn context(&self) -> &Context<D> {
        self.context.as_ref().expect("only `close` takes it")
    }

    /// How the buffer is laid out, and where in the context's host memory it begins.
    pub fn announcement(&self) -> Announcement {
        Announcement {
            layout: self.place.layout,
            offset: self.place.offset,
        }
    }

    /// The HPU that calls by a port: its cluster, and its number there.
    pub fn hpu_of(&self, port: u32) -> [u32; 2] {
        let hpu = port % self.place.hpus;
        [hpu / HPUS_OF_CLUSTER, hpu % HPUS_OF_CLUSTER]
    }

    /// The server, if it is not on another thread.
    pub fn server(&self) -> Option<&Server<Window>> {
        match &self.server {
            Some(Where::Here(server)) => Some(server),
            _ => None,
        }
    }

    /// The server, mutably, if it is not on another thread.
    pub fn server_mut(&mut self) -> Option<&mut Server<Window>> {
        match &mut self.server {
            Some(Where::Here(server)) => Some(server),
            _ => None,
        }
    }

    /// Looks at every port once and does what can be done. Says whether anything was; on a thread it never is.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn poll(&mut self) -> Result<bool, ServicesError> {
        self.serve(|server| server.poll())
    }

    /// The same for one port that has something to do. While other ports have something to do, handlers may learn of it
    /// later, from one word for several; a caller that finds nothing to do [tells](Self::tell) them.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn step(&mut self) -> Result<bool, ServicesError> {
        let Some(Where::Here(server)) = &mut self.server else {
            return Ok(false);
        };
        let Ok(is_busy) = server.step();
        let Ok(is_wanted) = server.is_wanted();
        self.untold += 1;
        if self.place.copies != Copies::Bits || !is_wanted || self.untold >= MOST_UNTOLD {
            self.tell()?;
        }
        Ok(is_busy)
    }

    /// Informs handlers on the NIC of those of their answers that they do not know yet.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn tell(&mut self) -> Result<(), ServicesError> {
        self.untold = 0;
        let Some(Where::Here(server)) = &mut self.server else {
            return Ok(());
        };
        let copies = server.process().memory().take_copies();
        if !copies.is_empty() {
            let nic = self.context().nic().clone();
            let mut device = nic.device();
            for (word, value) in copies {
                device.post_cluster(self.place.inbox(word), value)?;
            }
        }
        Ok(())
    }

    /// Forgets the call of a port whose handler will not go on, and says whether there was one. A server on a thread
    /// forgets it when
    /// the HPU calls again.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn abandon(&mut self, port: u32) -> Result<bool, ServicesError> {
        self.serve(|server| server.abandon(port))
    }

    fn serve(
        &mut self,
        work: impl FnOnce(&mut Server<Window>) -> Result<bool, Infallible>,
    ) -> Result<bool, ServicesError> {
        let Some(Where::Here(server)) = &mut self.server else {
            return Ok(false);
        };
        let Ok(is_busy) = work(server);
        self.tell()?;
        Ok(is_busy)
    }

    /// Lets so much time pass, and answers meanwhile.
    ///
    /// # Errors
    /// As [`poll`](Self::poll), and if the device fails.
    pub fn wait(&mut self, time: Duration) -> Result<(), ServicesError> {
        let nic = self.context().nic().clone();
        let end = nic.now() + time;
        loop {
            // A client that keeps writing to mailboxes cannot extend the wait.
            while self.poll()? && nic.now() <= end {}
            let left = end.saturating_sub(nic.now());
            if left.is_zero() {
                return Ok(());
            }
            nic.wait(match self.server() {
                Some(_) => left.min(LOOK),
                None => left,
            })?;
        }
    }

    /// Leads no more packets to the handlers, answers what they still ask for, and closes the context. Gives what was
    /// done, and how a
    /// handler has ended itself.
    ///
    /// # Errors
    /// If the NIC does not answer.
    ///
    /// # Panics
    /// If a service on a thread has.
    pub fn close(mut self) -> Result<(Counts, Option<End>), ServicesError> {
        self.context().set_ruleset(&Ruleset::never())?;
        self.drain()?;
        self.place.close()?;
        let done = match self.server.take() {
            Some(Where::Here(server)) => (server.counts(), server.ended()),
            Some(Where::Thread(running)) => {
                let Ok(done) = running.stop();
                done
            }
            None => (Counts::default(), None),
        };
        let context = self.context.take().expect("only this takes it");
        context.close()?;
        Ok(done)
    }

    /// Answers until no handler has a packet and no call is under way.
    fn drain(&mut self) -> Result<(), ServicesError> {
        let nic = self.context().nic().clone();
        let end = nic.now() + DRAIN;
        while nic.now() < end {
            self.wait(DRAIN_LOOK)?;
            let is_idle = self.server().is_none_or(|server| {
                let Ok(is_idle) = server.is_idle();
                is_idle
            });
            if is_idle && nic.packets_inside()? == Some(0) {
                break;
            }
        }
        Ok(())
    }
}

impl<D: Device> Drop for Services<D> {
    fn drop(&mut self) {
        // Waiting handlers are released; errors are reported by `close` only.
        if self.context.is_some() {
            let _ = self.place.close();
        }
    }
}

/// Services on a thread of their own, until they are closed or dropped. The context is not closed with them.
#[derive(Debug)]
pub struct BackgroundService<D: Device = OpenDevice> {
    // Fields that access host memory are dropped before the context that owns it.
    running: Option<Running<Infallible>>,
    place: Place<D>,
    context: Arc<Context<D>>,
}

impl<D: Device> BackgroundService<D> {
    /// Offers services as [`Services::on_thread`] does.
    ///
    /// # Errors
    /// As there.
    pub fn open(
        context: Arc<Context<D>>,
        offer: &Offer,
        add: impl FnOnce(&mut Server<Window>) + Send + 'static,
    ) -> Result<Self, ServicesError> {
        let (running, place) = start(&context, offer, add)?;
        // From here on the thread ends with the services.
        let services = Self {
            running: Some(running),
            place,
            context,
        };
        services.place.announce(&services.context)?;
        Ok(services)
    }

    /// Answers the calls under way, and none after them: later calls find no server. Returns what was done, and how a
    /// handler has ended itself.
    ///
    /// # Errors
    /// If the NIC does not answer.
    ///
    /// # Panics
    /// If a service has.
    pub fn close(mut self) -> Result<(Counts, Option<End>), ServicesError> {
        self.place.close()?;
        let running = self.running.take().expect("only this takes it");
        let Ok(done) = running.stop();
        Ok(done)
    }
}

impl<D: Device> Drop for BackgroundService<D> {
    fn drop(&mut self) {
        // Waiting handlers are released; errors are reported by `close` only.
        if self.running.is_some() {
            let _ = self.place.close();
        }
    }
}

/// A server on a thread, and the place where handlers are to find it.
fn start<D: Device>(
    context: &Context<D>,
    offer: &Offer,
    add: impl FnOnce(&mut Server<Window>) + Send + 'static,
) -> Result<(Running<Infallible>, Place<D>), ServicesError> {
    let offer = Offer {
        copies: Copies::Host,
        ..*offer
    };
    let place = Place::new(context, &offer)?;
    let (window, layout) = (place.prepare(context)?, place.layout);
    let stubs = window::Stubs::of(context.program())?;
    let (checked, is_right) = mpsc::channel();
    let running = Running::start(move || {
        let mut server = Server::new(window, layout).expect("the buffer was cleared, and has this layout");
        add(&mut server);
        // The opener waits for this.
        let _ = checked.send(stubs.check(|opcode| server.version(opcode)));
        server
    })?;
    // If there is no word, services could not be added, which closing them tells.
    is_right.recv().unwrap_or(Ok(()))?;
    Ok((running, place))
}
