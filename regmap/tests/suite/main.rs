//! The tables, what they are made into, and the model that follows them.

mod docs;
mod matching;
mod model;
mod table;
