//! Errors.

use crate::nic::NicLayoutError;
use crate::{LayoutError, Overlap};
use spinneret_host::device::OpenError;
use spinneret_host::device::socket::ConnectError;
use spinneret_slmp::{SendError, SenderConfigError};
use std::fmt;

/// An error of the library.
#[derive(thiserror::Error)]
pub enum Error {
    /// The NIC refuses an operation.
    #[error(transparent)]
    Nic(#[from] spinneret_host::Error),
    /// The context's host memory has no room for a buffer.
    #[error(
        "a buffer of {bytes} B does not fit: {free} B of the context's host memory are free; free others, or open the library with more host_bytes"
    )]
    NoRoom {
        /// Bytes that were asked for.
        bytes: u64,
        /// Bytes that are free, not all in one place.
        free: u64,
    },
    /// A buffer of another library.
    #[error(
        "the buffer is not in the host memory of this library's context, so the NIC cannot write to it; take one from Library::buffer of the same library"
    )]
    ForeignBuffer,
    /// Elements are outside of their buffer.
    #[error(
        "the elements lie from byte {first} to {end} of a buffer of {bytes} B; give one that holds them, or fewer elements"
    )]
    OutsideBuffer {
        /// The lowest byte, from the begin of the buffer.
        first: i64,
        /// The byte after the highest.
        end: i64,
        /// Bytes of the buffer.
        bytes: u32,
    },
    /// Bytes of a receive belong to the same place.
    #[error("{}", overlap_words(*.0))]
    Overlapping(Overlap),
    /// The message is too long, or cut into too many segments.
    #[error(transparent)]
    Layout(#[from] NicLayoutError),
    /// The runs of a message have no layout.
    #[error(transparent)]
    Runs(#[from] LayoutError),
    /// There is no such rank.
    #[error("there is no rank {rank}: the library knows {ranks}")]
    NoRank {
        /// The rank that was named.
        rank: usize,
        /// How many there are.
        ranks: usize,
    },
    /// The request is that of another library, or was freed.
    #[error("the request was freed, or is that of another library")]
    NoRequest,
    /// The request was started, and has not ended.
    #[error("the request is active: wait for it before it is started again")]
    Active,
    /// The request was not started.
    #[error("the request is not active: start it before it is waited for")]
    Inactive,
    /// A message was longer than its receive.
    #[error(
        "MPI_ERR_TRUNCATE: a message of {sent} B came from rank {source_rank} with tag {tag} for a receive of {room} B; nothing of it was written"
    )]
    Truncated {
        /// Bytes of the message.
        sent: u32,
        /// Bytes of the receive.
        room: u64,
        /// The rank that sent it.
        source_rank: usize,
        /// Its tag.
        tag: i32,
    },
    /// The sender gave up.
    #[error("the message to rank {rank} was not delivered: {source}")]
    NotDelivered {
        /// The receiver.
        rank: usize,
        /// The reason.
        source: SendError,
    },
    /// The receiver has not granted a message.
    #[error(
        "rank {rank} has not started a receive for the message within {seconds} s; check that it runs, and that source, tag and communicator agree"
    )]
    NotGranted {
        /// The receiver.
        rank: usize,
        /// The limit in seconds.
        seconds: f64,
    },
    /// A message cannot be sent like this.
    #[error(transparent)]
    Sender(#[from] SenderConfigError),
    /// The request did not end in time.
    #[error("the request has not ended within {seconds} s; look at both sides' counters, or wait longer")]
    TimedOut {
        /// The limit in seconds.
        seconds: f64,
    },
    /// The device has no address in a network.
    #[error("the NIC has no network address, so it cannot send: use a NIC of a fabric")]
    NoAddress,
    /// There is no NIC of that name, or another process has it.
    #[error("{}", why_not_open(.0))]
    Open(Box<OpenError>),
    /// Another rank could not open its NIC.
    #[error("rank {0} has no NIC in a fabric: every rank needs one; its own message has the reason")]
    OtherWithoutNic(usize),
    /// A rank of a communicator has no NIC here.
    #[error(
        "rank {world_rank} of MPI_COMM_WORLD is not in the communicator that this library was opened with: open it with one that has all ranks"
    )]
    NotHere {
        /// Its number in `MPI_COMM_WORLD`.
        world_rank: usize,
    },
    /// MPI itself.
    #[error(transparent)]
    Mpi(#[from] spinneret_mpi_sys::Error),
    /// The NIC has too many clusters.
    #[error("the NIC has {0} clusters, and the handlers support at most 4: use a NIC with fewer clusters")]
    TooManyClusters(u32),
}

/// Same as `Display`, because a program whose `main` returns the error prints this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn overlap_words(overlap: Overlap) -> String {
    let what = match overlap {
        Overlap::Undecided => {
            "the type has too many runs to check whether bytes of the message belong to the same place"
        }
        _ => "bytes of the message belong to the same place",
    };
    format!("{what}, which MPI forbids in receives; if all copies of a byte are equal, say Copies::Equal")
}

/// The message for a rank without a NIC. A NIC of `spinneret serve` is for one program, so it does not help ranks.
fn why_not_open(error: &OpenError) -> String {
    match error {
        OpenError::Socket(ConnectError::Nobody { path, source }) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(".".as_ref()).display();
            format!(
                "nobody answers at {}: {source}; start `spinneret fabric --nics N --sockets {folder}` first, with a NIC for each of the \
                 N ranks",
                path.display()
            )
        }
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::path::PathBuf;

    /// All messages in one place.
    #[test]
    fn messages_say_what_is_wrong_and_what_to_do() {
        let nobody = |path: &str| {
            let error = ConnectError::Nobody {
                path: PathBuf::from(path),
                source: io::ErrorKind::NotFound.into(),
            };
            Error::Open(Box::new(error.into()))
        };
        let busy = OpenError::Socket(ConnectError::Busy("nic0".into()));
        let (bytes, seconds, rank) = (4096, 0.5, 3);
        let errors = [
            Error::NoRoom {
                bytes: 5000,
                free: 4096,
            },
            Error::ForeignBuffer,
            Error::OutsideBuffer {
                first: -4,
                end: 5000,
                bytes,
            },
            Error::Overlapping(Overlap::Some),
            Error::Overlapping(Overlap::Undecided),
            Error::NoRank { rank, ranks: 2 },
            Error::NoRequest,
            Error::Active,
            Error::Inactive,
            Error::Truncated {
                sent: bytes,
                room: 64,
                source_rank: rank,
                tag: 7,
            },
            Error::NotGranted { rank, seconds },
            Error::TimedOut { seconds },
            Error::NoAddress,
            nobody("/tmp/nics/nic0"),
            nobody("nic0"),
            nobody("/nowhere"),
            Error::Open(Box::new(busy)),
            Error::OtherWithoutNic(rank),
            Error::NotHere { world_rank: rank },
            Error::TooManyClusters(8),
        ];
        let messages: Vec<String> = errors.iter().map(Error::to_string).collect();
        insta::assert_snapshot!(messages.join("\n"));
    }
}
