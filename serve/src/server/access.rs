//! Who calls, by the token of a request; only hashes of tokens are stored.

use super::caller::Caller;
use super::refusal::Refused;
use super::state::Service;
use crate::credentials::sha256;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use std::sync::Arc;

/// The name of the cookie of the web page.
pub(super) const COOKIE: &str = "pleach";

impl Service {
    /// The account with this token.
    pub(super) fn caller_with(&self, token: &str) -> Option<Caller> {
        let token = sha256(token.as_bytes());
        let state = self.lock();
        // Hashes of secrets of 256 bits: how long a comparison takes says nothing.
        let account = state.accounts.values().find(|account| account.row.token == token)?;
        Some(Caller { name: account.row.name.clone(), role: account.row.role, token })
    }

    /// Whether a caller still has the same account, role and token.
    pub(super) fn still_knows(&self, caller: &Caller) -> bool {
        self.lock().account_of(caller).is_some()
    }
}

/// The token of a request: of a program in a header, of the web page in a cookie.
fn token_of(headers: &HeaderMap) -> Option<&str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    bearer.or_else(|| {
        let cookies = text(header::COOKIE)?.split(';').map(str::trim);
        cookies
            .filter_map(|cookie| cookie.split_once('='))
            .find(|(name, _)| *name == COOKIE)
            .map(|(_, value)| value)
    })
}

impl FromRequestParts<Arc<Service>> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Self::Rejection> {
        let caller = token_of(&parts.headers).and_then(|token| service.caller_with(token));
        caller.ok_or_else(Refused::unknown)
    }
}
