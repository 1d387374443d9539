//! A host that sends what it was told, and one that is this machine.

use crate::net::{
    Generator, InterfaceAddress, NetError, Next, Recipe, Sink as _, Source as _, TapEnd, TapSink, TapSource,
};
use crate::nic::{Nic, Out};
use crate::report::Recorder;
use spinneret_host::Address;

/// Frames that wait at the NIC's input before more are taken from their source.
const WAITING: usize = 32;
/// Simulated time after which a silent interface is looked at again.
const LOOK_PS: u64 = 200_000_000;

/// Frames that are made up.
#[derive(Debug)]
pub(super) struct Transmit {
    generator: Generator,
    after_ps: u64,
    next: Option<(u64, Vec<u8>)>,
    has_ended: bool,
}

impl Transmit {
    pub(super) fn new(recipe: Recipe, after_ps: u64) -> Self {
        Self {
            generator: Generator::new(recipe),
            after_ps,
            next: None,
            has_ended: false,
        }
    }

    /// Gives the NIC what is due; when the next frame is.
    pub(super) fn feed(&mut self, nic: &mut Nic, recorder: &mut Option<Recorder>) -> u64 {
        let now_ps = nic.now_ps();
        loop {
            if self.next.is_none() && !self.has_ended {
                match self.generator.next(now_ps) {
                    Ok(Next::Packet { at_ps, bytes }) => {
                        self.next = Some((at_ps.saturating_add(self.after_ps), bytes));
                    }
                    _ => self.has_ended = true,
                }
            }
            match self
                .next
                .take_if(|(at, _)| *at <= now_ps && nic.transmitting() < WAITING)
            {
                Some((_, bytes)) => send(nic, recorder, bytes),
                None => break,
            }
        }
        // A frame that is late waits for room at the NIC, which comes with the next clocks.
        self.next
            .as_ref()
            .map_or(u64::MAX, |(at, _)| (*at).max(now_ps + 1))
    }
}

fn send(nic: &mut Nic, recorder: &mut Option<Recorder>, bytes: Vec<u8>) {
    if let Some(recorder) = recorder {
        recorder.from_host(nic.now_ps(), bytes.len());
    }
    nic.transmit(bytes);
}

/// A network interface of this machine.
#[derive(Debug)]
pub(super) struct TapHost {
    source: TapSource,
    sink: TapSink,
}

impl TapHost {
    /// Makes the interface.
    pub(super) fn create(name: &str, address: &Address) -> Result<Self, NetError> {
        let network = InterfaceAddress {
            address: address.ip.into(),
            prefix_bits: 16,
        };
        let end = TapEnd::in_namespace(name, &network, address.mac)?;
        Ok(Self {
            source: end.source(),
            sink: end.sink(),
        })
    }

    /// Gives the NIC what this machine sends; when to look again.
    pub(super) fn feed(&mut self, nic: &mut Nic, recorder: &mut Option<Recorder>) -> Result<u64, NetError> {
        let now_ps = nic.now_ps();
        while nic.transmitting() < WAITING {
            match self.source.next(now_ps)? {
                Next::Packet { bytes, .. } => send(nic, recorder, bytes),
                Next::Nothing | Next::End => break,
            }
        }
        Ok(now_ps + LOOK_PS)
    }

    /// Gives this machine a frame.
    pub(super) fn put(&mut self, out: &Out) -> Result<(), NetError> {
        self.sink.put(out.at_ps, &out.bytes)
    }
}
