//! Refusals with their place and message, and the generated header.

use crate::Interface;
use crate::header::{canonical, hash};
use crate::parse::interface;
use crate::types::Arguments;
use syn::{ItemTrait, Result};

const ARGUMENTS: &str = "api = 64, prefix = \"t\", handles(Unit { ONE = 4, TWO = 8 }, Other)";

fn parse(arguments: &str, text: &str) -> Result<Interface> {
    let arguments: Arguments = syn::parse_str(arguments)?;
    interface(arguments, &syn::parse_str::<ItemTrait>(text)?)
}

fn described(error: Result<Interface>) -> String {
    let Err(error) = error else {
        panic!("this is not refused");
    };
    let start = error.span().start();
    format!("{}:{}: {error}", start.line, start.column + 1)
}

/// The error of a trait whose only function has these parameters and this result; lines count from 1 at the function's.
fn error(rest: &str) -> String {
    described(parse(
        ARGUMENTS,
        &format!("trait T {{ #[call(1)] \nfn f(&self{rest};}}"),
    ))
}

#[test]
fn types_without_a_fixed_width() {
    assert_eq!(
        error(", n: usize)"),
        "2:16: `usize` has another width on the NIC: take one with a number in its name"
    );
    assert!(error(", n: &u32)").starts_with("2:16: a reference is `&[T]`, `&mut [T]`, `&mut T` or `&str`"));
    assert!(
        error(", n: String)").starts_with("2:16: `String` is neither a number nor one of `handles(...)`")
    );
    assert!(error(", n: (u8, u8))").starts_with("2:16: this has no fixed width"));
    assert!(error(") -> u128").starts_with("2:16: `u128` is no type of C on the NIC"));
    assert_eq!(
        error(", status: u32)"),
        "2:13: `status` means something else in the stub in C: choose another name"
    );
    assert_eq!(error(", #[len(4)] n: &[bool])"), "2:28: data are numbers");
}

#[test]
fn lengths_that_nothing_determines() {
    assert_eq!(
        error(", n: &[u8])"),
        "2:16: nothing determines how long `n` is: write #[len(...)] before it"
    );
    assert_eq!(
        error(", n: &mut [u8])"),
        "2:16: nothing determines how long `n` is: write #[out(...)] or #[inout(...)] before it"
    );
    assert_eq!(
        error(", #[len(m)] n: &[u8])"),
        "2:19: no value of this function is called `m`"
    );
    assert_eq!(
        error(", m: u64, #[len(m)] n: &[u8])"),
        "2:27: `m` is no integer of at most 32 bits"
    );
    assert_eq!(
        error(", m: u32, #[len(m + 1)] n: &[u8])"),
        "2:27: a length is a product of values, numbers and `size(handle)`"
    );
    assert_eq!(
        error(", m: Other, #[len(size(m))] n: &[u8])"),
        "2:29: `m` is no handle whose kind has sizes"
    );
    assert_eq!(
        error(", #[cap(1025)] n: &str)"),
        "2:19: a string has 1 to 1024 bytes with its NUL"
    );
}

#[test]
fn more_than_a_packet() {
    let values: String = (0..8).map(|number| format!(", v{number}: u64")).collect();
    assert_eq!(
        error(&format!("{values})")),
        "2:76: up to `v7` the values need 72 bytes, and a packet has 64: pass them as data"
    );
}

#[test]
fn numbers_and_forms() {
    let refused = |arguments: &str, text: &str| described(parse(arguments, text));
    let of = |text: &str| refused(ARGUMENTS, text);
    assert_eq!(
        of("trait T { fn f(&self); }"),
        "1:14: write `#[call(NUMBER)]` before it, once: the number is what handlers call it by"
    );
    assert_eq!(
        of("trait T { #[call(0)] fn f(&self); }"),
        "1:18: the number of a function is 1 to 65535"
    );
    assert_eq!(
        of("trait T { #[call(1)] fn f(&self); #[call(1)] fn g(&self); }"),
        "1:35: `f` has this number already"
    );
    assert_eq!(
        of("trait T { #[call(1)] fn f(&mut self); }"),
        "1:25: the first parameter is `&self`: all calls share the host's side"
    );
    assert_eq!(
        of("trait T { #[call(1, ticket)] fn f(&self, #[out(4)] n: &mut [u8]); }"),
        "1:21: who waits for a ticket gets numbers only: no data can come back"
    );
    assert_eq!(of("trait T { type A; }"), "1:11: a service has functions only");
    assert_eq!(
        refused("api = 1, prefix = \"t\"", "trait T { #[call(1)] fn f(&self); }"),
        "1:7: interface 1 is that of `printf`; 64 and above are yours"
    );
}

#[test]
fn versions_are_of_what_both_sides_have_to_agree_on() {
    let version = |text: &str| {
        let interface = parse(ARGUMENTS, &format!("trait T {{ #[call(1)] {text} }}")).unwrap();
        canonical(&interface, &interface.functions[0])
    };
    let text =
        version("fn f(&self, n: u32, h: Unit, #[len(n * size(h))] d: &[u8], #[cap(9)] s: &str) -> i64;");
    assert_eq!(
        text,
        "1 t_f 0x73400001 (n: u32, h: handle 1 [4 8], d: in u8[n * size(h)], s: text 9) -> i64"
    );
    // The host's own choices change nothing.
    let other = "/// Text.\n async fn f(&self, n: u32, h: Unit, #[len(n * size(h))] d: &[u8], #[cap(9)] s: &str) -> \
                 Result<i64, Status>;";
    assert_eq!(text, version(other));
    // The offset basis, and a test vector of FNV-1a.
    assert_eq!(
        [hash(""), hash("a")],
        [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c]
    );
}
