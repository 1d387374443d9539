//! Values of fixed width, as they lie in packets.

use super::Status;
use crate::handle::Handle;

/// A value of fixed width.
pub trait Word: Copy {
    /// Its bytes.
    const BYTES: usize;

    /// What a handler's variable holds before the host has said anything.
    fn zero() -> Self;

    /// Reads as many bytes as it has, the lowest first.
    ///
    /// # Errors
    /// If its type has no such value.
    fn read(bytes: &[u8]) -> Result<Self, Status>;

    /// Writes as many bytes as it has.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(
            impl Word for $number {
                const BYTES: usize = size_of::<Self>();

                fn zero() -> Self {
                    Self::from_le_bytes([0; size_of::<Self>()])
                }

                fn read(bytes: &[u8]) -> Result<Self, Status> {
                    bytes.try_into().map(Self::from_le_bytes).map_err(|_| Status::LENGTH)
                }

                fn write(self, bytes: &mut [u8]) {
                    bytes.copy_from_slice(&self.to_le_bytes());
                }
            }
        )*
    };
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl Word for bool {
    const BYTES: usize = 1;

    fn zero() -> Self {
        false
    }

    fn read(bytes: &[u8]) -> Result<Self, Status> {
        match u8::read(bytes)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Status::VALUE),
        }
    }

    fn write(self, bytes: &mut [u8]) {
        u8::from(self).write(bytes);
    }
}

impl<const KIND: u32> Word for Handle<KIND> {
    const BYTES: usize = 4;

    fn zero() -> Self {
        Self::predefined(0)
    }

    fn read(bytes: &[u8]) -> Result<Self, Status> {
        Self::from_raw(u32::read(bytes)?).ok_or(Status::HANDLE)
    }

    fn write(self, bytes: &mut [u8]) {
        self.raw().write(bytes);
    }
}
