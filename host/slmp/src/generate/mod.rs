//! Files for other languages, made of the tables of [`wire`](crate::wire) and [`memory`](crate::memory).

mod c_header;
mod dissector;

pub use c_header::c_header;
pub use dissector::dissector;

/// `NotASegment` as `NOT_A_SEGMENT`.
fn capitals(name: &str) -> String {
    let mut out = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    out
}
