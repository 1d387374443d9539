//! The model against what was recorded on the public cluster, and checkouts and options that are refused.

mod conformance;
mod refusals;
