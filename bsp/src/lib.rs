//! Boards that spinneret can be built for.
