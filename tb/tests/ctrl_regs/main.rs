//! The control registers against the table's model, in every clock.

mod answers;
mod outputs;
mod random;
mod stdout;
mod support;
mod timing;
mod window;
