//! What the tests and benchmarks of ramus share. Development only: no product crate depends on it.
//!
//! [`corpus`] makes session files of a known shape and size, [`trees`] small ones of any shape, [`home`] whole homes; the
//! same arguments give the same bytes on every machine. [`secrets`] makes secrets that are nobody's. [`sim`] is a file system that fails and crashes on request,
//! [`trial`] what the engine must survive on it. [`torture`] drives real processes into kills, power cuts, races and full
//! disks. [`model_server`] is a model provider that forgives nothing, on loopback; [`legality`] has its judges look at every
//! request that could be made of a made-up session. [`browser`] is a real one, to look at pages with;
//! [`payloads`] are texts that would run in a careless one.

pub mod browser;
pub mod corpus;
pub mod home;
pub mod legality;
pub mod model_server;
pub mod payloads;
pub mod random;
pub mod secrets;
pub mod sim;
pub mod torture;
pub mod trees;
pub mod trial;
