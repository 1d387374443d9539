//! The calls for C, on a fake card that a socket leads to.

#[path = "../../../tests/card/driver.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod driver;
#[path = "../../../tests/card/fake.rs"]
mod fake;
#[path = "../../../tests/card/program.rs"]
mod program;

mod arguments;
mod calls;
mod served;
mod slmp;
mod support;
