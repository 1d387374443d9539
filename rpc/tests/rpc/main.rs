//! The protocol, the server and the calls of libc.

mod emissary;
mod harm;
mod layout;
mod llvm_tests;
mod printf;
mod processes;
mod protocol;
mod refusals;
mod services;
mod stdio;
mod support;
