//! The tables, what they are made into, and the model that follows them.

mod docs;
mod rules_and_model;
mod table;
