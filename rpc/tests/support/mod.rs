//! What the tests share: a server on a thread, and the calls of libc as a handler makes them.

#![allow(dead_code, reason = "each test uses a part")]

pub mod handler;

use spinneret_rpc::clib::Config;
use spinneret_rpc::server::{Counts, End, Running};
use spinneret_rpc::{Buffer, Client, Layout, Libc, Server, TestCalls, Version, opcode};
use std::convert::Infallible;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// A server with all calls, and its client.
pub struct Bench {
    pub buffer: Arc<Buffer>,
    pub client: Client<Arc<Buffer>>,
    pub layout: Layout,
    running: Running<Infallible>,
}

impl Bench {
    /// The configuration is made on the server's thread.
    pub fn start(version: Version, ports: u32, config: impl FnOnce() -> Config + Send + 'static) -> Self {
        Self::with(version, ports, config, |_| {})
    }

    /// As `start`, with more services.
    pub fn with(
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
            client: Client::new(Arc::clone(&buffer), layout).unwrap(),
            buffer,
            layout,
            running: running.unwrap(),
        }
    }

    /// Stops the server; every port is idle then.
    pub fn stop(self) -> (Counts, Option<End>) {
        let Ok(done) = self.running.stop();
        let process = self.client.process();
        for port in 0..self.layout.ports() {
            assert_eq!(process.inbox(port), process.outbox(port), "port {port} is not idle");
        }
        done
    }
}

/// Output that a test reads.
#[derive(Clone, Debug, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    pub fn text(&self) -> String {
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

/// A number of cases from the environment, so that tests can run for as long as one likes.
pub fn from_environment(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}: give a number")),
        Err(_) => usual,
    }
}
