//! What the model promises, tested through its public interface.

mod context;
mod damage;
mod generate;
mod json;
mod migrate;
mod segment;
mod tree;
