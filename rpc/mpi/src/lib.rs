//! MPI for handlers: a typed service whose functions are MPI's, over any installed MPI.
//!
//! ```text
//!  handler: spin_mpi.h --> Messages, MessagesService --> Ranks --> mpi/sys: Request --> MPI
//!                                                          ^ advance: tests all, wakes what is parked
//! ```
//!
//! All of it is on the server's thread, which is the one that started MPI. Nothing here blocks it: a receive is one
//! that is tested in
//! the server's loop, a send is one from a copy, and what all ranks do together likewise. A handler that dies leaves
//! its call behind: a
//! receive is called off, and what cannot be called off goes on until it ends.

use spinneret_rpc::{Memory, Server, Status, opcode};
use std::rc::Rc;

mod emissary;
mod ranks;

pub use emissary::EmissaryMpi;
pub use ranks::{Progress, Ranks};

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

/// MPI for handlers. Ranks and tags of -1 mean any. A call that MPI refuses gives SPIN_SERVICE_FAILED, and a number: 1 for a message that
/// does not fit, else 2.
#[spinneret_rpc::service(
    api = 2,
    prefix = "spin_mpi",
    handles(
        Comm { WORLD, SELF },
        Datatype {
            BYTE = 1, INT8 = 1, INT16 = 2, INT32 = 4, INT64 = 8, FLOAT = 4, DOUBLE = 8, UINT8 = 1, UINT16 = 2, UINT32 = 4,
            UINT64 = 8
        },
        Operation { MIN, MAX, SUM, PROD },
        Request,
    )
)]
#[allow(clippy::too_many_arguments)]
pub trait Messages {
    /// MPI_Send.
    #[call(1)]
    async fn send(
        &self,
        count: u32,
        datatype: Datatype,
        #[len(count * size(datatype))] data: &[u8],
        destination: i32,
        tag: i32,
        comm: Comm,
    ) -> Result<(), Status>;

    /// MPI_Ssend.
    #[call(2)]
    async fn ssend(
        &self,
        count: u32,
        datatype: Datatype,
        #[len(count * size(datatype))] data: &[u8],
        destination: i32,
        tag: i32,
        comm: Comm,
    ) -> Result<(), Status>;

    /// MPI_Recv, which gives the bytes, the source and the tag of the message.
    #[call(3)]
    async fn recv(
        &self,
        count: u32,
        datatype: Datatype,
        #[out(count * size(datatype))] data: &mut [u8],
        source: i32,
        tag: i32,
        comm: Comm,
        bytes: &mut u32,
        from: &mut i32,
        with: &mut i32,
    ) -> Result<(), Status>;

    /// MPI_Isend.
    #[call(4)]
    fn isend(
        &self,
        count: u32,
        datatype: Datatype,
        #[len(count * size(datatype))] data: &[u8],
        destination: i32,
        tag: i32,
        comm: Comm,
    ) -> Result<Request, Status>;

    /// MPI_Irecv of at most this many bytes, which MPI_Test returns.
    #[call(5)]
    fn irecv(&self, room: u32, source: i32, tag: i32, comm: Comm) -> Result<Request, Status>;

    /// MPI_Test: whether the request has ended. If so, it is freed, and a receive returns its message.
    #[call(6)]
    fn test(
        &self,
        request: Request,
        room: u32,
        #[out(room)] data: &mut [u8],
        bytes: &mut u32,
        from: &mut i32,
        with: &mut i32,
    ) -> Result<bool, Status>;

    /// MPI_Barrier.
    #[call(7)]
    async fn barrier(&self, comm: Comm) -> Result<(), Status>;

    /// MPI_Bcast.
    #[call(8)]
    async fn bcast(
        &self,
        count: u32,
        datatype: Datatype,
        #[inout(count * size(datatype))] data: &mut [u8],
        root: i32,
        comm: Comm,
    ) -> Result<(), Status>;

    /// MPI_Allreduce in place.
    #[call(9)]
    async fn allreduce(
        &self,
        count: u32,
        datatype: Datatype,
        #[inout(count * size(datatype))] data: &mut [u8],
        operation: Operation,
        comm: Comm,
    ) -> Result<(), Status>;

    /// MPI_Comm_rank.
    #[call(10)]
    fn comm_rank(&self, comm: Comm) -> Result<u32, Status>;

    /// MPI_Comm_size.
    #[call(11)]
    fn comm_size(&self, comm: Comm) -> Result<u32, Status>;
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_header_of_handlers_is_up_to_date() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/include/spin_mpi.h");
        let wanted = super::messages::C_HEADER;
        if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
            std::fs::write(&path, wanted)
                .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == wanted,
            "runtime/include/spin_mpi.h differs from the trait Messages: \
             run `SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-rpc-mpi --lib`"
        );
    }
}
