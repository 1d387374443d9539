//! A session with gdb, and its connection: received bytes, and sent packets.

use super::target::DebugTarget;
use crate::net;
use crate::net::Interrupt;
use gdbstub::conn::Connection;
use gdbstub::stub::state_machine::GdbStubStateMachine as Machine;
use gdbstub::stub::{DisconnectReason, GdbStub, GdbStubError, MultiThreadStopReason as Stop};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Display;
use std::io;
use std::io::{BufWriter, Write as _};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// Time limit for gdb to read a packet.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a session has ended.
pub(super) enum End {
    /// gdb detached.
    Detached,
    /// gdb wants the run to end.
    Killed,
    /// The run was interrupted.
    Interrupted,
    /// gdb has disconnected, or the client is not gdb.
    Failed(String),
}

impl End {
    pub(super) fn failed(why: impl Display) -> Self {
        Self::Failed(why.to_string())
    }
}

/// Maximum packet size of gdb without framing: `PacketSize` of gdbstub, which does not enforce it.
const PACKET_BYTES: usize = 4096;

/// Packets from gdb.
#[derive(Debug)]
pub(super) struct Input {
    stream: TcpStream,
    /// Complete packets, and the characters between them.
    waiting: VecDeque<u8>,
    /// The incomplete packet.
    packet: Vec<u8>,
    is_gdb: bool,
}

impl Input {
    /// Reads from a client that may be gdb.
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        // Each read selects whether it blocks.
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream,
            waiting: VecDeque::new(),
            packet: Vec::new(),
            is_gdb: false,
        })
    }

    /// The output of this connection.
    pub(super) fn output(&self) -> io::Result<Output> {
        Ok(Output(BufWriter::new(self.stream.try_clone()?)))
    }

    /// Whether a packet was received: no other client sends one by chance.
    pub(super) fn is_gdb(&self) -> bool {
        self.is_gdb
    }

    /// Reads available bytes.
    pub(super) fn listen(&mut self) -> Result<(), End> {
        let mut bytes = [0; 4096];
        match recv(&self.stream, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((_, 0)) => Err(End::failed("connection closed")),
            Ok((_, count)) => bytes[..count].iter().try_for_each(|byte| self.take_in(*byte)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(End::failed(error)),
        }
    }

    fn take_in(&mut self, byte: u8) -> Result<(), End> {
        if self.packet.is_empty() {
            match byte {
                b'$' => self.packet.push(byte),
                // gdb starts with an acknowledgement, although nothing was sent.
                b'+' | b'-' | CTRL_C if !self.is_gdb => {}
                b'+' | b'-' | CTRL_C => self.waiting.push_back(byte),
                _ => return Err(End::failed(format_args!("unexpected byte {byte:#04x}"))),
            }
            return Ok(());
        }
        self.packet.push(byte);
        match &self.packet[..] {
            long if long.len() > "$#00".len() + PACKET_BYTES => Err(End::failed(format_args!(
                "a packet of more than {PACKET_BYTES} bytes"
            ))),
            [_, body @ .., b'#', high, low] if is_sum(body, [*high, *low]) => {
                self.is_gdb = true;
                self.waiting.extend(self.packet.drain(..));
                Ok(())
            }
            [_, .., b'#', _, _] => Err(End::failed("wrong checksum")),
            _ => Ok(()),
        }
    }

    /// The next byte of a complete packet, if any.
    pub(super) fn ready(&mut self) -> Result<Option<u8>, End> {
        if self.waiting.is_empty() {
            self.listen()?;
        }
        Ok(self.waiting.pop_front())
    }

    /// Confirms to gdb that the run was killed; errors are ignored.
    pub(super) fn tell_kill(&mut self) {
        let _ = send(&self.stream, IS_KILLED, SendFlags::NOSIGNAL);
    }

    /// The next byte, waiting for it.
    pub(super) fn wait(&mut self, interrupt: &Interrupt) -> Result<u8, End> {
        loop {
            if let Some(byte) = self.ready()? {
                return Ok(byte);
            }
            if interrupt.is_set() {
                return Err(End::Interrupted);
            }
            net::wait(&[self.stream.as_fd(), interrupt.as_fd()], None).map_err(End::failed)?;
        }
    }
}

/// The packet `OK`, which gdb expects after `kill`, and gdbstub does not send.
const IS_KILLED: &[u8] = b"$OK#9a";

/// Packets to gdb.
pub(super) struct Output(BufWriter<TcpStream>);

/// The interrupt character of the protocol.
const CTRL_C: u8 = 3;

/// Whether a check sum is that of a packet's body.
fn is_sum(body: &[u8], digits: [u8; 2]) -> bool {
    let sum = body.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    let digits = std::str::from_utf8(&digits).unwrap_or_default();
    u8::from_str_radix(digits, 16) == Ok(sum)
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Connection for Output {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.0.write_all(&[byte])
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl From<GdbStubError<Infallible, io::Error>> for End {
    fn from(error: GdbStubError<Infallible, io::Error>) -> Self {
        Self::failed(error)
    }
}

/// A running session.
pub(super) struct Session {
    machine: Machine<'static, DebugTarget, Output>,
    input: Input,
}

impl Session {
    /// Starts a session; gdb holds the cluster until it continues.
    pub(super) fn begin(input: Input, held: &mut DebugTarget, hpus: usize) -> Result<Self, End> {
        held.begin(hpus);
        let output = input.output().map_err(End::failed)?;
        let machine = GdbStub::new(output).run_state_machine(held).map_err(End::from)?;
        Ok(Self { machine, input })
    }

    /// Runs the session until gdb continues the cluster. If it is running already, `stop` is reported first.
    pub(super) fn talk(
        self,
        held: &mut DebugTarget,
        mut stop: Option<Stop<u32>>,
        interrupt: &Interrupt,
    ) -> Result<Self, End> {
        let Self {
            mut machine,
            mut input,
        } = self;
        loop {
            machine = match machine {
                Machine::Idle(idle) => {
                    let byte = input.wait(interrupt)?;
                    idle.incoming_data(held, byte)?
                }
                Machine::Running(running) => match stop.take() {
                    Some(stop) => {
                        held.note_stop(&stop);
                        running.report_stop(held, stop)?
                    }
                    None => match input.ready()? {
                        Some(byte) => running.incoming_data(held, byte)?,
                        None => {
                            let machine = Machine::Running(running);
                            return Ok(Self { machine, input });
                        }
                    },
                },
                Machine::CtrlCInterrupt(caught) => {
                    let stop = held.interrupted();
                    caught.interrupt_handled(held, Some(stop))?
                }
                Machine::Disconnected(gone) => {
                    return Err(match gone.get_reason() {
                        DisconnectReason::Kill => {
                            input.tell_kill();
                            End::Killed
                        }
                        _ => End::Detached,
                    });
                }
            };
        }
    }

    /// Reports the end of the run to gdb.
    pub(super) fn end(self, held: &mut DebugTarget) {
        if let Machine::Running(running) = self.machine {
            // A closed connection is ignored.
            let _ = running.report_stop(held, Stop::Exited(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Input bytes: whether the sender is gdb, and the bytes for the stub.
    fn come(bytes: &[u8]) -> Result<(bool, Vec<u8>), String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut input = Input::new(client).unwrap();
        let taken = bytes.iter().try_for_each(|byte| input.take_in(*byte));
        taken
            .map(|()| (input.is_gdb(), input.waiting.into()))
            .map_err(|end| match end {
                End::Failed(why) => why,
                _ => panic!("it does not end like that"),
            })
    }

    #[test]
    fn gdb_is_recognized_by_its_first_packet() {
        for stranger in ["", "+", "++--\x03", "$", "+$qSupported", "+$qSupported#3"] {
            assert_eq!(come(stranger.as_bytes()), Ok((false, vec![])), "{stranger}");
        }
        let greeting = come(b"+$qSupported#37+$?#3");
        assert_eq!(greeting, Ok((true, b"$qSupported#37+".to_vec())));
        assert_eq!(come(b"$#00\x03"), Ok((true, b"$#00\x03".to_vec())));
        assert_eq!(come(b"$m0,4#FD"), Ok((true, b"$m0,4#FD".to_vec())));
    }

    #[test]
    fn others_are_refused() {
        for (stranger, why) in [
            ("GET / HTTP/1.1\r\n\r\n", "unexpected byte 0x47"),
            ("\x16\x03\x01", "unexpected byte 0x16"),
            ("$qSupported#38", "wrong checksum"),
            ("$a#+6", "wrong checksum"),
            ("$a##1", "wrong checksum"),
            ("$qSupported#37GET", "unexpected byte 0x47"),
        ] {
            assert_eq!(come(stranger.as_bytes()), Err(why.to_owned()), "{stranger:?}");
        }
    }

    #[test]
    fn the_size_of_packets_is_bounded() {
        let packet = |bytes: usize| {
            let sum = (b'a' as usize * bytes) as u8;
            [b"$", &vec![b'a'; bytes][..], format!("#{sum:02x}").as_bytes()].concat()
        };
        assert!(come(&packet(PACKET_BYTES)).is_ok_and(|(is_gdb, _)| is_gdb));
        let long = Err("a packet of more than 4096 bytes".to_owned());
        assert_eq!(come(&packet(PACKET_BYTES + 1)), long);
        let endless = [&b"$"[..], &vec![b'a'; 1 << 20]].concat();
        assert_eq!(come(&endless), long);
    }
}
