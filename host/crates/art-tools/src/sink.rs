//! The destination of observations.

use art_core::observation::NewObservation;
use futures_util::future::BoxFuture;

/// Stores observations. An observation must be durable when `record` returns.
pub trait ObservationSink: Send + Sync + std::fmt::Debug {
    /// Stores one observation.
    fn record<'a>(&'a self, observation: NewObservation) -> BoxFuture<'a, Result<(), SinkError>>;
}

/// The error for an observation that could not be stored.
#[derive(Debug, thiserror::Error)]
#[error("could not store the observation")]
pub struct SinkError {
    /// The error, for the operator and not for the model.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl SinkError {
    /// Wraps the error of a store.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: source.into() }
    }
}
