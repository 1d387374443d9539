//! The host's part of calls: what a program beside handlers of `spin_rpc.h` does.

use super::host::{Attention, HostProgram};
use crate::device::Simulated;
use crate::report::Call;
use crate::services::{Pace, Paced};
use crate::terminal::tell;
use anyhow::Context as _;
use spinneret_host::Context;
use spinneret_rpc::clib::Config;
use spinneret_rpc::{Libc, Offer, Services, Version, opcode};
use std::path::Path;
use std::rc::Rc;

/// Answers calls of all contexts.
#[derive(Debug)]
pub(super) struct Answering {
    paced: Paced,
    /// That of each context.
    libcs: Vec<Rc<Libc>>,
    nic: Simulated,
}

impl Answering {
    /// The calls of libc, with files in a folder if there is one.
    ///
    /// # Errors
    /// If there is no such folder, or the handlers call nothing.
    pub(super) fn open(
        contexts: Vec<Context<Simulated>>,
        nic: &Simulated,
        folder: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let offer = Offer::default();
        let mut libcs = Vec::new();
        let open = |context| {
            let libc = Rc::new(libc(offer.version, folder)?);
            libcs.push(Rc::clone(&libc));
            let services = Services::open(context, &offer, |server| {
                server.add(opcode::LIBC, libc.clone());
                server.add(opcode::SPINNERET, libc);
            })?;
            Ok(services)
        };
        let services: Vec<_> = contexts.into_iter().map(open).collect::<anyhow::Result<_>>()?;
        Ok(Self {
            paced: Paced::new(services, Pace::default()),
            libcs,
            nic: nic.clone(),
        })
    }
}

/// The result of the run is the only thing on standard output, so text of handlers goes to standard error.
fn libc(version: Version, folder: Option<&Path>) -> anyhow::Result<Libc> {
    let config = Config::of_folder(folder.map(Path::to_owned));
    Libc::new(version, config).with_context(|| {
        let folder = folder.unwrap_or(Path::new("."));
        format!("{} cannot be opened as a folder", folder.display())
    })
}

impl HostProgram for Answering {
    fn poll(&mut self) -> anyhow::Result<Attention> {
        let now_ps = self.nic.borrow().now_ps();
        let next_ps = self.paced.poll(now_ps)?;
        Ok(match self.nic.borrow().is_idle() && self.paced.is_idle() {
            true => Attention::Idle,
            false => Attention::Until(next_ps),
        })
    }

    fn watch(&mut self) {
        self.paced.watch();
    }

    fn take_calls(&mut self) -> Vec<Call> {
        self.paced.take_calls()
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        self.libcs.iter().for_each(|libc| libc.flush());
        for services in self.paced.services() {
            let Some(server) = services.server() else { continue };
            let counts = server.counts();
            let context = services.context().number();
            let mut line = format!("context {context}: {} calls were answered", counts.calls);
            for (refusal, times) in &counts.refusals {
                line += &format!(", {times} refused: {refusal}");
            }
            if let Some(end) = server.ended() {
                line += &format!("; a handler has ended itself ({end:?})");
            }
            tell(line);
        }
        Ok(())
    }
}
