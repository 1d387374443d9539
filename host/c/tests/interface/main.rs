//! The calls for C, on a fake card that a socket leads to.

#[path = "../../../tests/card/driver.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod driver;
#[path = "../../../tests/card/fake.rs"]
mod fake;

mod arguments;
mod calls;
mod support;
