//! An error as the admin APIs tell it (Kafka's `ApiError`): the code and, where the response has room for it, a text.

use kafka_protocol::ResponseError;
use kafka_protocol::protocol::StrBytes;

use crate::catalog::CatalogError;

/// A code and its text; without a text the response carries null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApiError {
    error: ResponseError,
    text: Option<String>,
}

impl ApiError {
    /// An error with Kafka's text on this case.
    pub(super) fn new(error: ResponseError, text: impl Into<String>) -> Self {
        Self { error, text: Some(text.into()) }
    }

    /// An error that the client gets without a text.
    pub(super) const fn bare(error: ResponseError) -> Self {
        Self { error, text: None }
    }

    pub(super) fn code(&self) -> i16 {
        self.error.code()
    }

    pub(super) fn message(&self) -> Option<StrBytes> {
        self.text.clone().map(StrBytes::from_string)
    }
}

impl From<&CatalogError> for ResponseError {
    fn from(error: &CatalogError) -> Self {
        match error {
            CatalogError::InvalidTopicException(_) => Self::InvalidTopicException,
            CatalogError::TopicAlreadyExists(_) => Self::TopicAlreadyExists,
            CatalogError::UnknownTopicOrPartition => Self::UnknownTopicOrPartition,
            CatalogError::UnknownTopicId => Self::UnknownTopicId,
            CatalogError::InvalidPartitions(_) => Self::InvalidPartitions,
            CatalogError::InvalidReplicationFactor(_) => Self::InvalidReplicationFactor,
            CatalogError::PolicyViolation(_) => Self::PolicyViolation,
        }
    }
}

impl From<CatalogError> for ApiError {
    fn from(error: CatalogError) -> Self {
        Self { error: ResponseError::from(&error), text: error.message().map(str::to_owned) }
    }
}
