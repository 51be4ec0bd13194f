//! Requests that the service refuses: a status and one line.

use crate::api::Refusal;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Why a request is refused: the status of the answer, and one line.
pub(super) struct Refused(pub u16, pub String);

impl Refused {
    /// The refusal of a caller without a valid token.
    pub fn unknown() -> Self {
        Self(401, "the token is missing or unknown".into())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(Refusal { error: self.1 })).into_response()
    }
}
