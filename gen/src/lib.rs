//! Writes the SystemVerilog of spinneret.
