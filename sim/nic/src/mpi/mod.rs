//! Messages of MPI's datatypes between two ranks, each with its NIC, in one fabric of this process, and what the
//! receiving host may do meanwhile.
//!
//! ```text
//! ranks: a library on each NIC
//!    |
//! types ----> exchange: buffers, every byte compared <---- tests, `./dev experiments`, `./dev bench mpi`
//! priced: what the host does takes time
//!    +------> overlap: {multiply, look} while messages come, by the paper's rule
//! ```

mod exchange;
mod overlap;
mod priced;
mod ranks;
mod types;

pub use exchange::{Exchange, Exchanged, FILL, GUARD, LIMIT, exchange, room};
pub use overlap::{Alone, Multiplication, Overlapped, Trial, overlap};
pub use priced::{Acts, Priced, Prices};
pub use ranks::{ExchangeError, Rank, Work, program, rank_on, ranks};
pub use types::{Constructor, PaperType, Step, blocks, bytes, hindexed, hvector};
