//! The test kit: a server on a thread, and the calls of libc as a handler makes them.

use spinneret_rpc::clib::Config;
use spinneret_rpc::client::ClientPort;
use spinneret_rpc::server::{Counts, End, Running};
use spinneret_rpc::{Buffer, Client, Layout, Libc, Memory, Server, TestCalls, Version, opcode};
use std::convert::Infallible;
use std::fmt::Debug;
use std::io::{self, Write};
use std::process::Child;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long another process may take on a machine that does other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server with all calls, and its client.
pub(crate) struct Bench {
    pub(crate) client: Client<Arc<Buffer>>,
    pub(crate) layout: Layout,
    running: Running<Infallible>,
}

impl Bench {
    /// The configuration is made on the server's thread.
    pub(crate) fn start(
        version: Version,
        ports: u32,
        config: impl FnOnce() -> Config + Send + 'static,
    ) -> Self {
        Self::with(version, ports, config, |_| {})
    }

    /// As `start`, with more services.
    pub(crate) fn with(
        version: Version,
        ports: u32,
        config: impl FnOnce() -> Config + Send + 'static,
        more: impl FnOnce(&mut Server<Arc<Buffer>>) + Send + 'static,
    ) -> Self {
        let layout = Layout::new(version, ports).unwrap();
        let buffer = Arc::new(Buffer::new(layout.bytes()));
        let theirs = Arc::clone(&buffer);
        let running = Running::start(move || {
            let mut server = Server::new(theirs, layout).unwrap();
            server.add(opcode::LIBC, Rc::new(TestCalls));
            server.add(opcode::LIBC, Rc::new(Libc::new(version, config()).unwrap()));
            more(&mut server);
            server
        });
        Self {
            client: Client::new(buffer, layout).unwrap(),
            layout,
            running: running.unwrap(),
        }
    }

    /// Reports that the client has died.
    pub(crate) fn abandon_all(&self) {
        self.running.abandon_all();
    }

    /// Stops the server; every port is idle then.
    pub(crate) fn stop(self) -> (Counts, Option<End>) {
        let Ok(done) = self.running.stop();
        let process = self.client.process();
        for port in 0..self.layout.ports() {
            assert_eq!(
                process.inbox(port),
                process.outbox(port),
                "port {port} is not idle"
            );
        }
        done
    }
}

/// Output that a test reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A process that does not outlive its test, however that ends.
pub(crate) struct ChildProcess(pub(crate) Child);

impl ChildProcess {
    /// Serves until the process has ended, and says whether it ended well.
    pub(crate) fn serve<M: Memory<Error = Infallible>>(&mut self, server: &mut Server<M>) -> bool {
        let start = Instant::now();
        loop {
            let Ok(is_busy) = server.poll();
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.success();
            }
            assert!(start.elapsed() < PATIENCE, "the client does not end");
            if !is_busy {
                thread::yield_now();
            }
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A number of cases from the environment, so that tests can run for as long as you like.
pub(crate) fn from_environment(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}: give a number")),
        Err(_) => usual,
    }
}

// The calls of a handler.

/// Streams of the device, by tag.
pub(crate) const STDIN: u64 = 1;
pub(crate) const STDOUT: u64 = 2;
pub(crate) const STDERR: u64 = 3;

/// An argument of printf.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    Int(i32),
    Long(i64),
    Double(f64),
    /// None is a null pointer.
    String(Option<&'static str>),
}

/// Calls over a client.
pub(crate) struct Handler<'c, M>(pub(crate) &'c Client<M>);

impl<M: Memory<Error: Debug>> Handler<'_, M> {
    fn open(&self, opcode: u32) -> ClientPort<'_, M> {
        self.0.open(opcode).unwrap()
    }

    fn one(port: &mut ClientPort<'_, M>) -> i64 {
        let mut words = [0];
        port.receive(&mut words).unwrap();
        words[0] as i64
    }

    /// A call of one packet each way.
    pub(crate) fn call(&self, opcode: u32, words: &[u64]) -> i64 {
        let mut port = self.open(opcode);
        port.send(words).unwrap();
        Self::one(&mut port)
    }

    /// A call of one stream and an answer.
    pub(crate) fn call_with(&self, opcode: u32, bytes: &[u8]) -> i64 {
        let mut port = self.open(opcode);
        port.send_stream(bytes).unwrap();
        Self::one(&mut port)
    }

    pub(crate) fn noop(&self) {
        self.open(opcode::NOOP).send(&[7]).unwrap();
    }

    pub(crate) fn increment(&self, value: u64) -> u64 {
        self.call(opcode::TEST_INCREMENT, &[value]) as u64
    }

    /// Both endings of LLVM's test of the interface; gives the count.
    pub(crate) fn interface(&self, ends_with_send: bool) -> u64 {
        let mut port = self.open(opcode::TEST_INTERFACE);
        port.send(&[ends_with_send.into()]).unwrap();
        let mut count = 0;
        for step in [b'>', b'<', b'>', b'<', b'>', b'>', b'<', b'<'] {
            Self::step(&mut port, step, &mut count);
        }
        Self::step(&mut port, if ends_with_send { b'>' } else { b'<' }, &mut count);
        count
    }

    fn step(port: &mut ClientPort<'_, M>, step: u8, count: &mut u64) {
        match step {
            b'>' => {
                *count += 1;
                port.send(&[*count]).unwrap();
            }
            _ => *count = Self::one(port) as u64,
        }
    }

    pub(crate) fn echo(&self, bytes: &[u8]) -> Vec<u8> {
        let mut port = self.open(opcode::TEST_STREAM);
        port.send_stream(bytes).unwrap();
        let mut back = vec![0; bytes.len() + 100];
        let length = port.receive_stream(&mut back).unwrap();
        back.truncate(length as usize);
        back
    }

    pub(crate) fn puts(&self, text: &str) -> i64 {
        self.call_with(opcode::WRITE_TO_STDOUT_NEWLINE, text.as_bytes())
    }

    /// As fwrite, fputs and fputc of a device do: the standard streams have opcodes of their own.
    pub(crate) fn write(&self, stream: u64, bytes: &[u8]) -> i64 {
        match stream {
            STDOUT => self.call_with(opcode::WRITE_TO_STDOUT, bytes),
            STDERR => self.call_with(opcode::WRITE_TO_STDERR, bytes),
            stream => {
                let mut port = self.open(opcode::WRITE_TO_STREAM);
                port.send(&[stream]).unwrap();
                port.send_stream(bytes).unwrap();
                Self::one(&mut port)
            }
        }
    }

    pub(crate) fn read(&self, stream: u64, count: u64) -> Vec<u8> {
        let mut port = self.open(opcode::READ_FROM_STREAM);
        port.send(&[count, stream]).unwrap();
        let mut bytes = vec![0; count.min(1 << 20) as usize];
        let length = port.receive_stream(&mut bytes).unwrap();
        bytes.truncate(length as usize);
        assert_eq!(Self::one(&mut port), length as i64);
        bytes
    }

    /// The character, or -1.
    pub(crate) fn getc(&self, stream: u64) -> i64 {
        self.read(stream, 1).first().map_or(-1, |byte| i64::from(*byte))
    }

    /// The line without its NUL.
    pub(crate) fn gets(&self, stream: u64, count: i32) -> Option<String> {
        let mut port = self.open(opcode::READ_FGETS);
        port.send(&[count as u64, stream]).unwrap();
        let mut bytes = vec![0; count.max(0) as usize];
        let length = port.receive_stream(&mut bytes).unwrap() as usize;
        bytes.truncate(length);
        let line = bytes.strip_suffix(&[0])?;
        Some(String::from_utf8(line.to_vec()).unwrap())
    }

    pub(crate) fn fopen(&self, path: &str, mode: &str) -> u64 {
        let mut words = [0; 8];
        for (index, byte) in mode.bytes().enumerate() {
            words[index / 8] |= u64::from(byte) << (index % 8 * 8);
        }
        let mut port = self.open(opcode::OPEN_FILE);
        port.send_stream(&terminated(path)).unwrap();
        port.send(&words).unwrap();
        Self::one(&mut port) as u64
    }

    pub(crate) fn fclose(&self, stream: u64) -> i64 {
        self.call(opcode::CLOSE_FILE, &[stream])
    }

    pub(crate) fn seek(&self, stream: u64, offset: i64, whence: u64) -> i64 {
        self.call(opcode::FSEEK, &[stream, offset as u64, whence])
    }

    pub(crate) fn tell(&self, stream: u64) -> i64 {
        self.call(opcode::FTELL, &[stream])
    }

    pub(crate) fn ungetc(&self, character: i64, stream: u64) -> i64 {
        self.call(opcode::UNGETC, &[character as u64, stream])
    }

    pub(crate) fn is_at_end(&self, stream: u64) -> bool {
        self.call(opcode::FEOF, &[stream]) != 0
    }

    pub(crate) fn has_failed(&self, stream: u64) -> bool {
        self.call(opcode::FERROR, &[stream]) != 0
    }

    pub(crate) fn remove(&self, path: &str) -> i64 {
        self.call_with(opcode::REMOVE, &terminated(path))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> i64 {
        let mut port = self.open(opcode::RENAME);
        port.send_stream(&terminated(from)).unwrap();
        port.send_stream(&terminated(to)).unwrap();
        Self::one(&mut port)
    }

    pub(crate) fn system(&self, command: &str) -> i64 {
        self.call_with(opcode::SYSTEM, &terminated(command))
    }

    /// `exit` and `abort`, up to where the client would stop.
    pub(crate) fn leave(&self, opcode: u32, status: u64) {
        let mut port = self.open(opcode);
        port.send(&[0]).unwrap();
        Self::one(&mut port);
        port.send(&[status]).unwrap();
    }

    pub(crate) fn host_call(&self, function: u64, arguments: &[u8]) -> i64 {
        let mut port = self.open(opcode::HOST_CALL);
        port.send_stream(arguments).unwrap();
        port.send(&[function]).unwrap();
        Self::one(&mut port)
    }

    /// `printf` and `fprintf`, and the addresses of strings in the order in which the server asked for them.
    pub(crate) fn print(
        &self,
        opcode: u32,
        stream: u64,
        format: &str,
        arguments: &[Argument],
    ) -> (i64, Vec<u64>) {
        let mut port = self.open(opcode);
        let is_packed = (opcode::PRINTF_TO_STDOUT_PACKED..=opcode::PRINTF_TO_STREAM_PACKED).contains(&opcode);
        if matches!(opcode, opcode::PRINTF_TO_STREAM | opcode::PRINTF_TO_STREAM_PACKED) {
            port.send(&[stream]).unwrap();
        }
        port.send_stream(&terminated(format)).unwrap();
        let wanted = Self::one(&mut port) as usize;
        let mut bytes = packed(arguments, is_packed);
        bytes.resize(wanted, 0);
        port.send_stream(&bytes).unwrap();
        let mut asked = Vec::new();
        loop {
            let mut words = [0; 2];
            port.receive(&mut words).unwrap();
            match words {
                [result, 0] => return (result as i64, asked),
                [_, address] => {
                    asked.push(address);
                    let index = (address / STRING_DISTANCE - 1) as usize;
                    let Some(Argument::String(Some(string))) = arguments.get(index) else {
                        panic!("nothing was sent as {address:#x}");
                    };
                    port.send_stream(&terminated(string)).unwrap();
                }
            }
        }
    }

    pub(crate) fn printf(&self, format: &str, arguments: &[Argument]) -> i64 {
        self.print(opcode::PRINTF_TO_STDOUT, STDOUT, format, arguments).0
    }
}

/// The number that stands for the address of a string: its argument's place, in thousands.
pub(crate) const STRING_DISTANCE: u64 = 1000;

/// Arguments as a device of 64 bits lays them out.
fn packed(arguments: &[Argument], is_packed: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let now = match argument {
            Argument::Int(value) => value.to_le_bytes().to_vec(),
            Argument::Long(value) => value.to_le_bytes().to_vec(),
            Argument::Double(value) => value.to_le_bytes().to_vec(),
            Argument::String(None) => 0_u64.to_le_bytes().to_vec(),
            Argument::String(Some(_)) => ((index as u64 + 1) * STRING_DISTANCE).to_le_bytes().to_vec(),
        };
        if !is_packed {
            bytes.resize(bytes.len().next_multiple_of(now.len()), 0);
        }
        bytes.extend(now);
    }
    bytes
}

fn terminated(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}
