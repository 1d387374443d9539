//! The slots of the packet buffer: their places, the free ones, and the owners of the others.

mod entry;
mod free_list;
mod layout;
mod pool;
mod slot_class;
mod slot_finder;

pub(crate) use entry::ENTRY;
pub use free_list::FreeList;
pub use layout::PoolLayout;
pub use pool::SlotPool;
pub use slot_class::SlotClass;
pub use slot_finder::SlotFinder;
