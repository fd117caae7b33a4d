//! Where the observations of calls go.

use art_core::observation::NewObservation;
use futures_util::future::BoxFuture;

/// Stores observations. What `record` has returned from must survive the death of the process.
pub trait ObservationSink: Send + Sync + std::fmt::Debug {
    /// Stores one observation.
    fn record<'a>(&'a self, observation: NewObservation) -> BoxFuture<'a, Result<(), SinkError>>;
}

/// An observation could not be stored.
#[derive(Debug, thiserror::Error)]
#[error("could not store the observation")]
pub struct SinkError {
    /// Why; for the operator, never for the model.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl SinkError {
    /// Wraps the error of a store.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: source.into() }
    }
}
