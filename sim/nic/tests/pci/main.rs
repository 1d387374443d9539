//! `spinneret serve --pci`: the hardware behind a PCI function, with the library for applications on the other side.

mod chain;
mod function;
mod served;
