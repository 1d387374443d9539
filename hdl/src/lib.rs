//! The hardware blocks of spinneret.
