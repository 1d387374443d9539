//! Text beside that of the C library's own snprintf.

use super::{Dialect, Packing, argument_bytes, bind, render};
use proptest::prelude::*;
use std::ffi::CString;

fn ours(format: &str, arguments: &[u8], strings: &[Vec<u8>]) -> String {
    let items = bind(format.as_bytes(), arguments, Packing::Aligned);
    let text = render(&items, strings, Dialect::Gnu, 1 << 16).unwrap();
    String::from_utf8(text).unwrap()
}

/// What the C library makes of one value.
macro_rules! theirs {
    ($format:expr, $($value:expr),*) => {{
        let format = CString::new($format.as_str()).unwrap();
        let mut text = vec![0_u8; 1 << 12];
        // SAFETY: the buffer has so many bytes, the format ends with a NUL and reads just these arguments.
        let bytes = unsafe { ::libc::snprintf(text.as_mut_ptr().cast(), text.len(), format.as_ptr(), $($value),*) };
        text.truncate(bytes as usize);
        String::from_utf8(text).unwrap()
    }};
}

/// Flags, a width and a precision.
fn shape() -> impl Strategy<Value = String> {
    "[-+ #0]{0,3}([1-9][0-9]?)?(\\.([0-9]|[1-3][0-9])?)?"
}

fn value() -> impl Strategy<Value = i64> {
    prop_oneof![-10_i64..10, any::<i64>(), any::<i32>().prop_map(i64::from)]
}

fn number() -> impl Strategy<Value = f64> {
    let special = [
        0.0,
        -0.0,
        0.5,
        1.5,
        2.5,
        9.5,
        99.5,
        1e15,
        1e16,
        123_456.0,
        999_999.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let special = [
        &special[..],
        &[
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            f64::NAN,
            0.0001,
            0.000_099_999_99,
        ],
    ]
    .concat();
    prop_oneof![
        any::<f64>(),
        -1000.0..1000.0,
        prop::sample::select(special),
        (-99_i32..99).prop_map(|n| f64::from(n) / 8.0)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn integers_are_those_of_the_c_library(
        shape in shape(), length in "(hh|h|l|ll|j|z|t)?", letter in "[diuoxXbB]", value in value()
    ) {
        let format = format!("<%{shape}{length}{letter}>");
        prop_assert_eq!(ours(&format, &value.to_le_bytes(), &[]), theirs!(format, value));
    }

    #[test]
    fn floats_are_those_of_the_c_library(shape in shape(), letter in "[fFeEgGaA]", value in number()) {
        // Here some versions of the C library lose digits when rounding makes the exponent larger.
        prop_assume!(!(shape.contains('#') && "gG".contains(&letter)));
        let format = format!("<%{shape}{letter}>");
        prop_assert_eq!(ours(&format, &value.to_le_bytes(), &[]), theirs!(format, value));
    }

    #[test]
    fn strings_are_those_of_the_c_library(left in "-?", width in 0_u8..20, precision in "(\\.[0-9]?)?", text in "[a-z]{0,12}") {
        let width = match width { 0 => String::new(), width => width.to_string() };
        let format = format!("<%{left}{width}{precision}s>");
        let string = CString::new(text.clone()).unwrap();
        prop_assert_eq!(ours(&format, &[1; 8], &[text.into_bytes()]), theirs!(format, string.as_ptr()));
        let null = std::ptr::null::<::libc::c_char>();
        prop_assert_eq!(ours(&format, &[0; 8], &[]), theirs!(format, null));
    }

    #[test]
    fn characters_and_pointers_are_those_of_the_c_library(left in "-?", width in 0_u8..20, value in any::<u64>()) {
        let width = match width { 0 => String::new(), width => width.to_string() };
        let format = format!("<%{left}{width}p>");
        prop_assert_eq!(ours(&format, &value.to_le_bytes(), &[]), theirs!(format, value));
        prop_assert_eq!(ours(&format, &[0; 8], &[]), theirs!(format, 0_u64));
        let format = format!("<%{left}{width}c>");
        let letter = i32::from(b'a' + (value % 26) as u8);
        prop_assert_eq!(ours(&format, &letter.to_le_bytes(), &[]), theirs!(format, letter));
    }

    #[test]
    fn stars_are_those_of_the_c_library(width in -30_i32..30, precision in -3_i32..20, value in any::<i32>()) {
        let format = "<%*.*d>".to_owned();
        let arguments = [width.to_le_bytes(), precision.to_le_bytes(), value.to_le_bytes()].concat();
        prop_assert_eq!(ours(&format, &arguments, &[]), theirs!(format, width, precision, value));
    }

    #[test]
    fn any_format_with_any_arguments_is_text_or_too_wide(
        format in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..60),
            "(%[-+ #0]{0,2}([0-9]{1,9}|\\*)?(\\.([0-9]{1,9}|\\*)?)?[hlLjztq]{0,2}.|[a-z%]){0,8}".prop_map(String::into_bytes),
        ],
        arguments in proptest::collection::vec(any::<u8>(), 0..80),
        is_packed in any::<bool>(),
    ) {
        let packing = if is_packed { Packing::Packed } else { Packing::Aligned };
        let items = bind(&format, &arguments, packing);
        prop_assert!(argument_bytes(&format, packing) <= 8 * format.len() + 8);
        if let Ok(text) = render(&items, &[], Dialect::Llvm, 1 << 12) {
            prop_assert!(text.len() <= 1 << 12);
        }
    }
}

#[test]
fn text_without_conversions_is_itself() {
    assert_eq!(
        ours("plain \u{e4} %%|%5%|%k|%", &[], &[]),
        "plain \u{e4} %|%|%k|%"
    );
}

#[test]
fn zeros_stay_in_the_alternative_form() {
    for (value, expected) in [
        (999_999.5, "1.00000e+06"),
        (1.0, "1.00000"),
        (0.0, "0.00000"),
        (1e-5, "1.00000e-05"),
    ] {
        assert_eq!(ours("%#g", &f64::to_le_bytes(value), &[]), expected);
    }
}
