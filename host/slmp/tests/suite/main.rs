//! SLMP between its own two ends, over memory and over UDP, and as Wireshark sees it.

#[path = "../support/mod.rs"]
mod support;

mod dissector;
mod receiver_lifetime;
mod receiver_refusals;
mod receiver_rules;
mod sender;
mod sender_config;
mod transfer;
mod udp;
mod udp_failures;
mod wire;
