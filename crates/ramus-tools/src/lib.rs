//! Tools: what a model can do on this machine, and the bounds it does it in.
