//! One client: its requests and the replies.

use crate::function::{Application, Function, INTERRUPTS, REGIONS};
use crate::memory::{MAX_MAPPINGS, Reach};
use crate::protocol::{Channel, Fields, MAX_FILES, MAX_TRANSFER_BYTES, Message, Request, nonsense};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Version of the protocol.
const MAJOR: u16 = 0;
const MINOR: u16 = 1;
/// Time limit for a client to send its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// The device can be reset, and is a PCI device.
const DEVICE_FLAGS: u32 = 0b11;
/// A region can be read and written.
const REGION_FLAGS: u32 = 0b11;
/// Bytes of a region's description.
const REGION_INFO_BYTES: u32 = 32;
/// Interrupts are eventfds, and their number is set as a whole.
const INTERRUPT_FLAGS: u32 = 0b1001;
/// Of a request to set interrupts: without data, with files, and that it is about sending messages.
const DATA_NONE: u32 = 1;
const DATA_FILES: u32 = 1 << 2;
const ACTION_TRIGGER: u32 = 1 << 5;
/// Of a request to unmap: everything.
const UNMAP_ALL: u32 = 1 << 1;

/// The connected client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) channel: Channel,
    is_known: bool,
    since: Instant,
    /// Unreachable guest memory, which is reported once.
    pub(crate) warning: Warning,
}

impl Client {
    pub(crate) fn new(channel: Channel) -> Self {
        Self {
            channel,
            is_known: false,
            since: Instant::now(),
            warning: Warning::None,
        }
    }

    /// Answers the next request, if one is there.
    ///
    /// # Errors
    /// If the client disconnects or violates the protocol (`Break::Client`), or the application fails.
    pub(crate) fn serve(
        &mut self,
        function: &mut Function,
        application: &mut impl Application,
    ) -> Result<bool, Break> {
        let Some(message) = self.channel.next().map_err(Break::Client)? else {
            if !self.is_known && self.since.elapsed() > PATIENCE {
                return Err(Break::Client(nonsense("nothing for 5 s")));
            }
            return Ok(false);
        };
        let Message { header, body, files } = message;
        let request = Request::parse(&header, &body);
        if !self.is_known && !matches!(request, Ok(Request::Version { .. })) {
            return Err(Break::Client(nonsense("something else before its version")));
        }
        let answer = match request {
            Ok(request) => self.answer(request, files, function, application)?,
            Err(error) => Err(error),
        };
        // Deliver pending interrupts and DMA before replying, so that the client sees the effects of its request.
        function.deliver();
        let is_over = !self.is_known;
        if header.wants_reply() || is_over {
            self.channel.send(&header.answer(answer)).map_err(Break::Client)?;
        }
        match is_over {
            true => Err(Break::Client(nonsense("another version of the protocol"))),
            false => Ok(true),
        }
    }

    /// Result of a request: the outer error drops the client or ends the device, the inner one is sent to the client.
    fn answer(
        &mut self,
        request: Request<'_>,
        files: Vec<OwnedFd>,
        function: &mut Function,
        application: &mut impl Application,
    ) -> Result<Result<Vec<u8>, Errno>, Break> {
        Ok(match request {
            Request::Version { major, minor, .. } => {
                let greeting = self.greet(major, minor);
                if greeting.is_ok() {
                    // A new client must not see state of the previous one.
                    function.reset(application).map_err(Break::Application)?;
                }
                greeting
            }
            Request::Map {
                flags,
                offset,
                address,
                bytes,
            } => {
                let file = files.first().map(|file| (file, offset));
                let mapped = function.memory.map(flags, [address, bytes], file);
                if mapped == Ok(Reach::Nothing) && file.is_some() && self.warning == Warning::None {
                    self.warning = Warning::Due;
                }
                mapped.map(|_| Vec::new())
            }
            Request::Unmap {
                flags,
                address,
                bytes,
            } => {
                let unmapped = match flags & UNMAP_ALL != 0 {
                    true => {
                        function.memory.clear();
                        Ok(())
                    }
                    false => function.memory.unmap(address, bytes),
                };
                unmapped.map(|()| Fields::default().word(24).word(flags).long(address).long(bytes).0)
            }
            Request::DeviceInfo => Ok(Fields::default()
                .word(16)
                .word(DEVICE_FLAGS)
                .word(REGIONS)
                .word(INTERRUPTS)
                .0),
            Request::RegionInfo { region } if region < REGIONS => {
                let bytes = function.region_bytes(region);
                let flags = if bytes == 0 { 0 } else { REGION_FLAGS };
                let info = Fields::default()
                    .word(REGION_INFO_BYTES)
                    .word(flags)
                    .word(region)
                    .word(0);
                Ok(info.long(bytes).long(0).0)
            }
            Request::InterruptInfo { index } if index < INTERRUPTS => {
                let vectors = function.vectors(index);
                let flags = if vectors == 0 { 0 } else { INTERRUPT_FLAGS };
                Ok(Fields::default().word(16).word(flags).word(index).word(vectors).0)
            }
            Request::RegionInfo { .. } | Request::InterruptInfo { .. } => Err(Errno::INVAL),
            Request::SetInterrupts {
                flags,
                index,
                start,
                count,
            } => set_interrupts(function, flags, index, [start, count], files).map(|()| Vec::new()),
            Request::Read {
                region,
                offset,
                count,
            } => {
                let mut data = vec![0; count as usize];
                match is_within(function, region, offset, count) {
                    true => {
                        function
                            .read(application, region, offset, &mut data)
                            .map_err(Break::Application)?;
                        Ok([Fields::default().long(offset).word(region).word(count).0, data].concat())
                    }
                    false => Err(Errno::INVAL),
                }
            }
            Request::Write { region, offset, data } => {
                let count = data.len() as u32;
                match is_within(function, region, offset, count) {
                    true => {
                        function
                            .write(application, region, offset, data)
                            .map_err(Break::Application)?;
                        Ok(Fields::default().long(offset).word(region).word(count).0)
                    }
                    false => Err(Errno::INVAL),
                }
            }
            Request::Reset => {
                function.reset(application).map_err(Break::Application)?;
                Ok(Vec::new())
            }
        })
    }

    /// Negotiates the version, and announces the limits of this side.
    fn greet(&mut self, major: u16, minor: u16) -> Result<Vec<u8>, Errno> {
        if major != MAJOR || self.is_known {
            return Err(Errno::INVAL);
        }
        self.is_known = true;
        let capabilities = serde_json::json!({"capabilities": {
            "max_msg_fds": MAX_FILES,
            "max_data_xfer_size": MAX_TRANSFER_BYTES,
            "max_dma_maps": MAX_MAPPINGS,
            "pgsizes": 4096,
        }});
        let mut answer = Fields::default().half(MAJOR).half(minor.min(MINOR)).0;
        answer.extend(capabilities.to_string().bytes());
        answer.push(0);
        Ok(answer)
    }
}

/// Warnings about a client's memory for the owner of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warning {
    None,
    /// It is in a file that can become shorter.
    Due,
    Told,
}

/// Why no further request is answered.
#[derive(Debug)]
pub(crate) enum Break {
    /// The client disconnected, or is dropped.
    Client(io::Error),
    /// The device itself failed.
    Application(io::Error),
}

fn is_within(function: &Function, region: u32, offset: u64, count: u32) -> bool {
    let end = offset.checked_add(count.into());
    count > 0 && end.is_some_and(|end| end <= function.region_bytes(region))
}

fn set_interrupts(
    function: &mut Function,
    flags: u32,
    index: u32,
    [start, count]: [u32; 2],
    files: Vec<OwnedFd>,
) -> Result<(), Errno> {
    if index >= INTERRUPTS {
        return Err(Errno::INVAL);
    }
    let is_disabling = flags == DATA_NONE | ACTION_TRIGGER && count == 0;
    if function.vectors(index) == 0 {
        // Disabling all vectors includes those that do not exist.
        return if is_disabling { Ok(()) } else { Err(Errno::INVAL) };
    }
    let interrupts = &mut function.interrupts;
    if !interrupts.has(start, count) {
        return Err(Errno::INVAL);
    }
    match flags {
        _ if is_disabling => interrupts.disconnect(),
        _ if flags == DATA_NONE | ACTION_TRIGGER => {
            (start..start + count).for_each(|vector| interrupts.raise(vector))
        }
        _ if flags == DATA_FILES | ACTION_TRIGGER && (files.is_empty() || files.len() == count as usize) => {
            interrupts.set(start, count, files);
        }
        _ => return Err(Errno::INVAL),
    }
    Ok(())
}
