//! The URL of a request.

use chat_core::error::ErrorCode;

use super::error::HttpError;

/// A URL as the runtime provides it: absolute, with a normalised and percent-encoded path.
pub(crate) struct RequestUrl {
    origin: String,
    path: String,
    query: String,
}

impl RequestUrl {
    pub(crate) fn parse(url: &str) -> Self {
        let url = url.split('#').next().unwrap_or_default();
        let (location, query) = url.split_once('?').unwrap_or((url, ""));
        let host_start = location.find("://").map_or(0, |scheme_end| scheme_end + 3);
        let host = location.get(host_start..).unwrap_or_default();
        let path_start = host_start + host.find('/').unwrap_or(host.len());
        let (origin, path) = location.split_at(path_start);
        Self { origin: origin.to_owned(), path: path.to_owned(), query: query.to_owned() }
    }

    /// Scheme, host and port, such as `https://chat.example.com`.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A query parameter, decoded. A parameter that occurs twice is an error, because it is unclear which value is meant.
    pub(crate) fn parameter(&self, name: &str) -> Result<Option<String>, HttpError> {
        let mut values = form_urlencoded::parse(self.query.as_bytes())
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value);
        let first = values.next();
        if values.next().is_some() {
            return Err(HttpError::new(ErrorCode::InvalidRequest, &format!("{name} is given twice")));
        }
        Ok(first.map(|value| value.into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_split_into_origin_path_and_query() {
        let url = RequestUrl::parse("https://chat.example.com:8443/api/sessions?limit=5&cursor=a%2Fb#top");
        assert_eq!((url.origin(), url.path()), ("https://chat.example.com:8443", "/api/sessions"));
        let parameter = |name| url.parameter(name).unwrap_or_else(|error| panic!("{}", error.body));
        assert_eq!(parameter("limit").as_deref(), Some("5"));
        assert_eq!(parameter("cursor").as_deref(), Some("a/b"));
        assert_eq!(parameter("other"), None);
    }

    #[test]
    fn question_marks_and_slashes_may_occur_in_the_query() {
        let url = RequestUrl::parse("http://127.0.0.1/a?next=http://x/y?z");
        assert_eq!((url.origin(), url.path()), ("http://127.0.0.1", "/a"));
        assert_eq!(RequestUrl::parse("http://host").path(), "");
    }

    #[test]
    fn a_parameter_given_twice_is_an_error() {
        let url = RequestUrl::parse("http://host/?limit=1&limit=2&%6cimit=3");
        assert_eq!(url.parameter("limit").err().map(|error| error.status), Some(400));
    }
}
