//! The web page: three files that travel with the program.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// What the page may load and who may frame it: itself, and nobody.
const POLICY: &str =
    "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'";

fn file(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

/// `/`.
pub(super) async fn index() -> Response {
    file("text/html; charset=utf-8", include_str!("../page/index.html"))
}

/// `/style.css`.
pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("../page/style.css"))
}

/// `/app.js`.
pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../page/app.js"))
}
