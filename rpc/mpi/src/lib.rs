//! MPI for handlers: a typed service whose functions are MPI's, over any installed MPI.
//!
//! ```text
//!  handler: spin_mpi.h --> Messages, MessagesService --> Ranks --> mpi/sys: Request --> MPI
//!                                                          ^ advance: tests all, wakes what is parked
//! ```
//!
//! All of it is on the server's thread, which is the one that started MPI. Nothing here blocks it: a receive is one that is tested in
//! the server's loop, a send is one from a copy, and what all ranks do together likewise. A handler that dies leaves its call behind: a
//! receive is called off, and what cannot be called off goes on until it ends.

mod interface;
mod ranks;

pub use interface::*;
pub use ranks::{Progress, Ranks};

use spinneret_rpc::{Memory, Server, opcode};
use std::rc::Rc;

/// Offers MPI to handlers: `world` and `alone` are what they call `SPIN_MPI_COMM_WORLD` and `SPIN_MPI_COMM_SELF`. Copies made by
/// [`dup`](spinneret_mpi_sys::Comm::dup) keep their messages apart from others of the program.
pub fn offer<M: Memory>(
    server: &mut Server<M>,
    world: Rc<spinneret_mpi_sys::Comm>,
    alone: Rc<spinneret_mpi_sys::Comm>,
) -> Rc<Ranks> {
    let ranks = Rc::new(Ranks::new(world, alone));
    server.add(
        opcode::SPINNERET,
        Rc::new(MessagesService::new(Rc::clone(&ranks))),
    );
    server.add(opcode::SPINNERET, Rc::new(Progress(Rc::clone(&ranks))));
    ranks
}
