//! Messages of MPI's datatypes between two ranks, each with its NIC, in one fabric of this process, and what the receiving
//! host may do meanwhile.
//!
//! ```text
//! types ----> exchange: ranks, buffers, every byte compared <---- tests, experiments, `./dev bench mpi`
//! priced: what the host does takes time
//!    +------> overlap: {multiply, look} while messages come, by the paper's rule
//! ```

mod exchange;
mod overlap;
mod priced;
mod types;

pub use exchange::{
    Exchange, ExchangeError, Exchanged, FILL, GUARD, LIMIT, Rank, Work, exchange, program, rank_on, ranks,
    room,
};
pub use overlap::{Alone, Multiplication, Overlapped, Trial, overlap};
pub use priced::{Acts, Priced, Prices};
pub use types::{Constructor, PaperType, Step, blocks, bytes, hindexed, hvector};
