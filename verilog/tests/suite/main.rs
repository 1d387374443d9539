//! Tests of the language: the text that is generated from it, and the errors where there is none.

mod behaviour;
mod elaborated;
mod errors;
mod fuzz;
mod lang;
mod library;
mod snapshots;
mod support;
mod words;
