//! SLMP between its own two ends, over memory and over UDP, and as Wireshark sees it.

#[path = "../support/mod.rs"]
mod support;

mod receiver_refusals;
mod receiver_rules;
mod sender;
mod transfer;
mod udp;
mod wire;
