//! What the tests share: a server on a thread, and the calls of libc as a handler makes them.

pub(crate) mod handler;

use spinneret_rpc::clib::Config;
use spinneret_rpc::server::{Counts, End, Running};
use spinneret_rpc::{Buffer, Client, Layout, Libc, Memory, Server, TestCalls, Version, opcode};
use std::convert::Infallible;
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

    /// Says that the client is gone.
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
pub(crate) struct Process(pub(crate) Child);

impl Process {
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

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A number of cases from the environment, so that tests can run for as long as one likes.
pub(crate) fn from_environment(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}: give a number")),
        Err(_) => usual,
    }
}
