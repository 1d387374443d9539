//! What fields can have as elements.

use bytemuck::Pod;

/// What a field can have as elements: plain old data, of which any bytes are a value, as they travel between ranks as bytes. All
/// types that are [`Pod`] are elements, and no others. It is a trait of its own for the sake of errors that say so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element of a field, as not all bytes are values of it",
    label = "write `u8` or another number, an array of numbers, or a struct that is `bytemuck::Pod`"
)]
pub trait Element: Sized {
    #[doc(hidden)]
    fn zero(_: Sealed) -> Self;

    #[doc(hidden)]
    fn zeros(len: usize, _: Sealed) -> Vec<Self>;

    #[doc(hidden)]
    fn copies(elements: &[Self], _: Sealed) -> Vec<Self>;

    #[doc(hidden)]
    fn of(bytes: &[u8], _: Sealed) -> Self;

    #[doc(hidden)]
    fn bytes(elements: &[Self], _: Sealed) -> &[u8];

    #[doc(hidden)]
    fn bytes_mut(elements: &mut [Self], _: Sealed) -> &mut [u8];
}

/// Nobody else can name it, so nobody else can say that a type is an element.
#[derive(Debug, Clone, Copy)]
pub struct Sealed;

#[diagnostic::do_not_recommend]
impl<T: Pod> Element for T {
    fn zero(_: Sealed) -> Self {
        T::zeroed()
    }

    fn zeros(len: usize, _: Sealed) -> Vec<Self> {
        vec![T::zeroed(); len]
    }

    fn copies(elements: &[Self], _: Sealed) -> Vec<Self> {
        elements.to_vec()
    }

    fn of(bytes: &[u8], _: Sealed) -> Self {
        bytemuck::pod_read_unaligned(bytes)
    }

    fn bytes(elements: &[Self], _: Sealed) -> &[u8] {
        bytemuck::cast_slice(elements)
    }

    fn bytes_mut(elements: &mut [Self], _: Sealed) -> &mut [u8] {
        bytemuck::cast_slice_mut(elements)
    }
}
