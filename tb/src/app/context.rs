//! Execution contexts of the stand-in cluster, which does with a packet what bits of its handler's address say.

/// What the stand-in does with each packet of a context, in this order; then it gives the packet back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// Reads 64 bytes of host memory into the handler memory.
    pub read: bool,
    /// Copies the packet to host memory.
    pub copy: bool,
    /// Sends the packet to the wire.
    pub send: bool,
    /// Writes the message id to standard output.
    pub print: bool,
}

impl Actions {
    /// Nothing but giving the packet back.
    pub const NONE: Self = Self {
        read: false,
        copy: false,
        send: false,
        print: false,
    };
    /// The packet goes back to the wire.
    pub const SEND: Self = Self {
        send: true,
        ..Self::NONE
    };

    /// Those of a number from 0 to 15.
    pub fn of(number: u32) -> Self {
        Self {
            send: number & 1 != 0,
            copy: number & 2 != 0,
            read: number & 4 != 0,
            print: number & 8 != 0,
        }
    }

    /// The address of the packet handler that stands for them.
    pub fn handler_address(self) -> u32 {
        let bits = [self.send, self.copy, self.read, self.print];
        bits.iter().rev().fold(0, |all, bit| all << 1 | u32::from(*bit))
    }
}

/// An execution context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// What is done with its packets.
    pub actions: Actions,
    /// Address of its host memory: packets go there, and reads come from [`READ_OFFSET`] behind it.
    pub host_address: u64,
    /// Address of its handler memory in the cluster, where reads go.
    pub handler_address: u32,
}

/// Where in host memory the stand-in reads.
pub const READ_OFFSET: u64 = 4096;
/// Bytes that it reads.
pub const READ_BYTES: u64 = 64;

/// First byte of the handler memory in the cluster.
const HANDLER_MEMORY: u32 = spinneret_regmap::pspin::HANDLER_BASE;

impl Context {
    /// The context of that number with memory of its own.
    pub fn new(number: usize, actions: Actions) -> Self {
        let number = number as u32;
        Self {
            actions,
            host_address: 0x12_3400_0000 + (u64::from(number) << 20) + 13 * u64::from(number),
            handler_address: HANDLER_MEMORY + 0x1000 * (number + 1),
        }
    }

    /// The address from which it reads host memory.
    pub fn read_address(&self) -> u64 {
        (self.host_address + READ_OFFSET) & !(READ_BYTES - 1)
    }
}
