//! What the tests and benchmarks of ramus share. Development only: no product crate depends on it.
//!
//! [`corpus`] makes session files of a known shape and size, [`trees`] small ones of any shape. [`sim`] is a file system
//! that fails and crashes on request, [`trial`] what the engine must survive on it. Everything here is deterministic: the
//! same arguments give the same bytes on every machine, except for the ids the engine draws.

pub mod corpus;
pub mod random;
pub mod sim;
pub mod trees;
pub mod trial;
