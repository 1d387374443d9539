//! Register and address tables of spinneret, the one source for hardware, software and documentation.
