//! The protocol, the server and the calls of libc.

mod answered;
mod emissary;
mod harm;
mod layout;
mod printf;
mod processes;
mod protocol;
mod refusals;
mod services;
mod shown;
mod stdio;
mod support;
