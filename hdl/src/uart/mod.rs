//! Serial lines, and a matching engine behind one.

mod answer_writer;
mod command_reader;
mod console;
mod entry;
mod packet_buffer;
pub mod protocol;
mod receiver;
mod rule_bank;
mod shape;
mod timing;
mod transmitter;

pub use answer_writer::AnswerWriter;
pub use command_reader::CommandReader;
pub use console::UartMatch;
pub(crate) use entry::{ENTRY, SIMULATED};
pub use packet_buffer::PacketBuffer;
pub use receiver::UartReceiver;
pub use rule_bank::RuleBank;
pub use shape::ConsoleShape;
pub use timing::Timing;
pub use transmitter::UartTransmitter;
