//! The protocol, the server and the calls of libc.

mod answered;
mod described;
mod emissary;
mod layout;
mod printf;
mod protocol;
mod refusals;
mod services;
mod stdio;
mod support;
