//! Testbenches of spinneret's hardware.
