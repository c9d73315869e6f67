//! The local model: collecting from people who trust nobody.
