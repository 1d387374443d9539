//! What a vendor's tool has to know of the crossings in a design.
