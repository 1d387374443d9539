//! A service with every form of a parameter, and a host that checks what it gets.

use spinneret_rpc::Status;
use spinneret_rpc::handle::Handles;
use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Every form of a parameter.
#[spinneret_rpc::service(api = 65, prefix = "sample", handles(Unit { FOUR = 4, EIGHT = 8 }, Other))]
pub(crate) trait Sample {
    /// Values of all types; some come back changed.
    #[call(1)]
    #[allow(clippy::too_many_arguments)]
    fn values(
        &self,
        a: u8,
        b: i16,
        c: u32,
        d: i64,
        e: f32,
        f: f64,
        g: bool,
        b_out: &mut i16,
        d_out: &mut i64,
        f_out: &mut f64,
        g_out: &mut bool,
    ) -> i8;

    /// Keeps a text.
    #[call(2)]
    fn note(&self, #[cap(1000)] text: &str);

    /// Adds numbers.
    #[call(3)]
    fn sum(&self, count: u32, #[len(count)] numbers: &[u16]) -> u64;

    /// Gives bytes that count up.
    #[call(4)]
    fn fill(&self, rows: u32, unit: Unit, first: u8, #[out(rows * size(unit))] data: &mut [u8]);

    /// Turns the order around, and gives how many there are.
    #[call(5)]
    fn reverse(&self, count: u32, #[inout(count)] numbers: &mut [u32]) -> Result<u32, Status>;

    /// Makes something that is named by a handle.
    #[call(6)]
    fn make(&self) -> Result<Other, Status>;

    /// Ends it.
    #[call(7)]
    fn end(&self, other: Other) -> Result<(), Status>;

    /// Gives a number and twice of it when it is let.
    #[call(8, ticket)]
    async fn later(&self, number: u32, twice: &mut u32) -> u32;

    /// A secret.
    #[call(9, off)]
    fn secret(&self) -> u32;

    /// Keeps a number, and refuses 13.
    #[call(10)]
    fn touch(&self, number: u32) -> Result<(), Status>;

    /// Puts one behind the other.
    #[call(11)]
    #[allow(clippy::too_many_arguments)]
    fn mix(
        &self,
        left_bytes: u32,
        #[len(left_bytes)] left: &[u8],
        right_bytes: u32,
        #[len(right_bytes)] right: &[u8],
        room: u32,
        #[out(room)] joined: &mut [u8],
    ) -> u32;

    /// Takes bytes and gives nothing, as MPI_Send does.
    #[call(12)]
    fn pour(&self, count: u32, #[len(count)] data: &[u8]);
}

/// The calls that the host has received, and its state.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) texts: Vec<String>,
    pub(crate) touched: Vec<u32>,
    /// How often a parked call was asked, and who waits.
    pub(crate) parked: u32,
    waiting: Vec<Waker>,
    may_go_on: bool,
}

/// The host's side.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) seen: Rc<RefCell<Seen>>,
    others: RefCell<Handles<()>>,
}

impl Host {
    pub(crate) fn new(seen: &Rc<RefCell<Seen>>) -> Self {
        Self {
            seen: Rc::clone(seen),
            others: RefCell::new(Handles::new(2, 4)),
        }
    }
}

/// Lets calls of `later` go on, now and from now on.
pub(crate) fn release(seen: &RefCell<Seen>) {
    let mut seen = seen.borrow_mut();
    seen.may_go_on = true;
    seen.waiting.drain(..).for_each(Waker::wake);
}

impl Sample for Host {
    fn values(
        &self,
        a: u8,
        b: i16,
        c: u32,
        d: i64,
        e: f32,
        f: f64,
        g: bool,
        b_out: &mut i16,
        d_out: &mut i64,
        f_out: &mut f64,
        g_out: &mut bool,
    ) -> i8 {
        assert_eq!((a, b, c, d), (200, -300, 4_000_000_000, -5_000_000_000_000));
        assert_eq!((e, f, g), (1.5, -2.25, true));
        (*b_out, *d_out, *f_out, *g_out) = (b + 1, d + 1, 2.0 * f, !g);
        a as i8
    }

    fn note(&self, text: &str) {
        self.seen.borrow_mut().texts.push(text.to_owned());
    }

    fn sum(&self, count: u32, numbers: &[u16]) -> u64 {
        assert_eq!(count as usize, numbers.len());
        numbers.iter().map(|number| u64::from(*number)).sum()
    }

    fn fill(&self, rows: u32, unit: Unit, first: u8, data: &mut [u8]) {
        assert_eq!(Some(data.len() as u32), unit_size(unit).map(|bytes| bytes * rows));
        for (byte, number) in data.iter_mut().zip(0_u32..) {
            *byte = (number as u8).wrapping_add(first);
        }
    }

    fn reverse(&self, count: u32, numbers: &mut [u32]) -> Result<u32, Status> {
        numbers.reverse();
        Ok(count)
    }

    fn make(&self) -> Result<Other, Status> {
        let raw = self.others.borrow_mut().insert(()).ok_or(Status::failed(1))?;
        Other::from_raw(raw).ok_or(Status::HANDLE)
    }

    fn end(&self, other: Other) -> Result<(), Status> {
        let ended = self.others.borrow_mut().remove(other.raw().into());
        ended.ok_or(Status::HANDLE)
    }

    async fn later(&self, number: u32, twice: &mut u32) -> u32 {
        poll_fn(|context| {
            let mut seen = self.seen.borrow_mut();
            if seen.may_go_on {
                return Poll::Ready(());
            }
            seen.parked += 1;
            seen.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
        *twice = 2 * number;
        number
    }

    fn secret(&self) -> u32 {
        42
    }

    fn touch(&self, number: u32) -> Result<(), Status> {
        if number == 13 {
            return Err(Status::failed(1300));
        }
        self.seen.borrow_mut().touched.push(number);
        Ok(())
    }

    fn pour(&self, count: u32, data: &[u8]) {
        assert_eq!(count as usize, data.len());
    }

    fn mix(&self, _: u32, left: &[u8], _: u32, right: &[u8], _: u32, joined: &mut [u8]) -> u32 {
        let both = [left, right].concat();
        joined[..both.len()].copy_from_slice(&both);
        both.len() as u32
    }
}
