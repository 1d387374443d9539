//! Services on a thread of their own, beside a context that others use meanwhile.

use super::{Copies, Offer, Place, ServicesError, Window, window};
use crate::server::{Counts, End, Running, Server};
use spinneret_host::{Context, Device, OpenDevice};
use std::convert::Infallible;
use std::sync::{Arc, mpsc};

/// Services on a thread of their own, until they are closed or dropped. The context is not closed with them.
#[derive(Debug)]
pub struct Beside<D: Device = OpenDevice> {
    // Whoever looks at host memory goes before the context that has it.
    running: Option<Running<Infallible>>,
    place: Place<D>,
    context: Arc<Context<D>>,
}

impl<D: Device> Beside<D> {
    /// Offers services as [`Services::on_thread`](super::Services::on_thread) does.
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

    /// Answers what is under way, and nothing after it: handlers find nobody who answers. Gives what was done, and how a handler has
    /// ended itself.
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

impl<D: Device> Drop for Beside<D> {
    fn drop(&mut self) {
        // Handlers that wait find out, and whoever wants to know calls `close`.
        if self.running.is_some() {
            let _ = self.place.close();
        }
    }
}

/// A server on a thread, and the place where handlers are to find it.
pub(super) fn start<D: Device>(
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
        // Whoever opens services waits for this.
        let _ = checked.send(stubs.check(|opcode| server.version(opcode)));
        server
    })?;
    // If there is no word, services could not be added, which closing them tells.
    is_right.recv().unwrap_or(Ok(()))?;
    Ok((running, place))
}
