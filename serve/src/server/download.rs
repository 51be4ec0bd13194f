//! [`download`]: answers with a file, in pieces.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use std::fs::File;
use std::io::{Read, Take};
use std::pin::Pin;
use std::task::{Context, Poll};

/// How many bytes of a file are read at once.
const PIECE: usize = 1 << 16;

/// An answer with a file of this length.
pub(super) fn download(file: File, length: u64) -> Response {
    // A user's file must not run as part of the page.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::CONTENT_LENGTH, length.into()),
    ];
    (headers, Body::from_stream(Pieces(file.take(length)))).into_response()
}

/// A file in pieces: many downloads may be under way at once, to slow readers.
struct Pieces(Take<File>);

impl Stream for Pieces {
    type Item = std::io::Result<Vec<u8>>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut piece = vec![0; PIECE];
        let read = self.0.read(&mut piece);
        Poll::Ready(match read {
            Ok(0) => None,
            Ok(length) => {
                piece.truncate(length);
                Some(Ok(piece))
            }
            Err(why) => Some(Err(why)),
        })
    }
}
