//! Types of all kinds, over good and bad cables.
