//! Why there is no board at an interface.

use spinneret_ether::Mac;
use spinneret_regmap::ether::VERSION;
use std::io;

/// Why a board cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EtherError {
    /// It is no name of a board.
    #[error(
        "`{0}` names no board: write ether:eth0, ether:eth0,02:00:00:00:00:01 for one of several at an interface, and `,slower=1000` \
         behind it for one whose time passes so much slower"
    )]
    Name(String),
    /// There is no such interface.
    #[error("there is no network interface {0}: `ip link` lists those that there are")]
    NoInterface(String),
    /// It is down.
    #[error("the network interface {0} is down: `ip link set {0} up`")]
    Down(String),
    /// It is of another kind.
    #[error("the network interface {0} is no Ethernet: name the one whose cable goes to the board")]
    NotEthernet(String),
    /// The process may not open it.
    #[error(
        "no permission to send frames at {0}: run as root, or give the program that right with `sudo setcap cap_net_raw+ep PROGRAM`"
    )]
    Permission(String),
    /// Some other call failed.
    #[error("the network interface {0} cannot be used: {1}")]
    Socket(String, #[source] io::Error),
    /// No answer.
    #[error(
        "no board answers at {0}: check its power and the cable to its port 0; `spinneret serve --ether` simulates one"
    )]
    Nobody(String),
    /// Several answers.
    #[error("there are {count} boards at {interface}: name one, such as ether:{interface},{first}", count = .boards.len(), first = .boards[0])]
    Several {
        /// The interface.
        interface: String,
        /// Their addresses, two or more.
        boards: Vec<Mac>,
    },
    /// It speaks another language.
    #[error(
        "the board {0} speaks version {1} of the protocol, this program version {own}: load a design of this program's release, \
         or take the program of its release",
        own = VERSION
    )]
    Version(Mac, u8),
    /// Another program of this host uses it.
    #[error(
        "the board {0} is in use by another program: end it, or let `spinneret share` open it for all of them"
    )]
    Busy(Mac),
    /// The session cannot begin.
    #[error(transparent)]
    Session(#[from] spinneret_ether::Error),
}
