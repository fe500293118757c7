//! Takes in a request body: JSON only, and never more of it than the limit.

use chat_core::error::ErrorCode;
use chat_core::request::MAX_BODY_BYTES;
use futures_util::StreamExt;
use worker::Request;

use crate::error::Failure;

/// The body's bytes.
pub(crate) async fn read_json(request: &mut Request) -> Result<Vec<u8>, Failure> {
    let header = |name| request.headers().get(name).ok().flatten();
    if !header("content-type").as_deref().is_some_and(is_json) {
        return Err(Failure::new(
            ErrorCode::UnsupportedMediaType,
            "Send the question as JSON, with the header Content-Type: application/json.",
        ));
    }
    let announced = header("content-length").and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MAX_BODY_BYTES) {
        return Err(too_large());
    }
    // A request without a body has no stream; for us that is an empty body.
    let Ok(mut stream) = request.stream() else { return Ok(Vec::new()) };
    let mut body = Vec::with_capacity(announced.unwrap_or_default());
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|_| Failure::new(ErrorCode::InvalidRequest, "The body was cut off."))?;
        if body.len() + piece.len() > MAX_BODY_BYTES {
            return Err(too_large());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

fn too_large() -> Failure {
    Failure::new(
        ErrorCode::PayloadTooLarge,
        &format!("The request is larger than {} KiB. Ask a shorter question.", MAX_BODY_BYTES / 1024),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_is_json() {
        assert!(is_json("application/json"));
        assert!(is_json("Application/JSON ; charset=utf-8"));
        for other in ["", "text/plain", "application/jsonp", "application/x-www-form-urlencoded", "text/json"]
        {
            assert!(!is_json(other), "{other}");
        }
    }
}
