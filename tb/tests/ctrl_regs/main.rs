//! The control registers against the table's model, in every clock.

mod answers;
mod outputs;
mod support;
mod timing;
