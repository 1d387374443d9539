//! What the tests register.

use spinneret_rpc::emissary::{Api, Outcome, Reply, Request, refused};
use spinneret_rpc::server::Refusal;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// The numbers of the proposal.
pub(super) const MPI: u16 = 3;
pub(super) const SEND: u16 = 1;
pub(super) const RECV: u16 = 2;
pub(crate) const RESERVE: u16 = 5;
pub(super) const FOO: u16 = 1;
pub(super) const BAR: u16 = 2;

/// Those of ours.
pub(super) const SUM: u16 = 10;
pub(super) const TURN: u16 = 11;
pub(super) const TEXT: u16 = 12;

/// Transfers of a call at most.
pub(super) const MOST_BYTES: usize = 4096;

/// Messages that nobody has received yet, and who waits for some: one process that sends to itself.
#[derive(Default)]
pub(super) struct Mpi {
    messages: RefCell<BTreeMap<i64, Vec<u8>>>,
    waiting: RefCell<Vec<Waker>>,
}

impl Api for Mpi {
    fn call<'a>(&'a self, request: &'a mut Request) -> Outcome<'a> {
        Box::pin(async move {
            match request.function() {
                SEND => self.send(request),
                RECV => self.receive(request).await,
                _ => Err(refused::FUNCTION),
            }
        })
    }
}

/// The handle of `MPI_INT` in the program that the stub is for.
pub(super) const INT: u64 = 0x7f00_1234_5678;

impl Mpi {
    fn send(&self, request: &Request) -> Result<Reply, Refusal> {
        let data = request.input(0)?.ok_or(refused::POINTER)?;
        assert_eq!(
            (request.integer(1)?, request.handle(2)?),
            (data.len() as i64 / 4, INT)
        );
        self.messages
            .borrow_mut()
            .insert(request.integer(4)?, data.to_vec());
        self.waiting.borrow_mut().drain(..).for_each(Waker::wake);
        Ok(Reply::Integer(0))
    }

    async fn receive(&self, request: &mut Request) -> Result<Reply, Refusal> {
        let tag = request.integer(4)?;
        // A status is only written where it goes back.
        request.output(6)?;
        let data = poll_fn(|context| match self.messages.borrow_mut().remove(&tag) {
            Some(data) => Poll::Ready(data),
            None => {
                self.waiting.borrow_mut().push(context.waker().clone());
                Poll::Pending
            }
        });
        let data = data.await;
        let room = request.output(0)?.ok_or(refused::POINTER)?;
        room.get_mut(..data.len())
            .ok_or(refused::POINTER)?
            .copy_from_slice(&data);
        request.filled(0, data.len())?;
        Ok(Reply::Integer(0))
    }
}

/// The functions of LLVM's tests, and more.
pub(crate) struct Reserved;

impl Api for Reserved {
    fn call<'a>(&'a self, request: &'a mut Request) -> Outcome<'a> {
        Box::pin(async move {
            match request.function() {
                FOO => Ok(Reply::Integer(request.integer(0)? + request.integer(1)?)),
                BAR => Ok(Reply::WholeDouble(request.double(0)? * 2.0)),
                SUM => Ok(Reply::Double(request.double(0)? + request.double(1)?)),
                TURN => turn(request),
                TEXT => text(request),
                _ => Err(refused::FUNCTION),
            }
        })
    }
}

/// Turns what the first pointer leads to around, to where the second does.
pub(super) fn turn(request: &mut Request) -> Result<Reply, Refusal> {
    let mut bytes = request.input(0)?.ok_or(refused::POINTER)?.to_vec();
    bytes.reverse();
    let to = request.output(1)?.ok_or(refused::POINTER)?;
    let length = to.len().min(bytes.len());
    to[..length].copy_from_slice(&bytes[..length]);
    Ok(Reply::Integer(length as i64))
}

/// How long a line is, of a string and whatever comes behind it.
pub(super) fn text(request: &mut Request) -> Result<Reply, Refusal> {
    let format = request.string(0)?.unwrap_or(b"(null)");
    let mut line = String::from_utf8_lossy(format).into_owned();
    for index in 1..request.arguments() {
        let number = request.integer(index).map(|value| value.to_string());
        let number = number.or_else(|_| request.double(index).map(|value| value.to_string()));
        line += &number.or_else(|_| request.string(index).map(|text| format!("{text:?}")))?;
    }
    Ok(Reply::Integer(line.len() as i64))
}
