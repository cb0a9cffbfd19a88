//! Models: a request goes out over HTTP, an answer comes back in pieces.
