//! fake-apiserver.
