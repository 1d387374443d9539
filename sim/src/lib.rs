//! Simulation of spinneret: Verilated models, bus models and the spinneret command.
