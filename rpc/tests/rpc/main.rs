//! The protocol, the server and the calls of libc.

mod harm;
mod layout;
mod llvm_tests;
mod printf;
mod processes;
mod protocol;
mod services;
mod stdio;
mod support;
