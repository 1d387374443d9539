//! What a program asks for and does not get.
