//! Which web pages may call the Worker: an exact allow-list of origins.

/// What the answer to an allowed preflight carries besides [`Cors::headers`]: what a page may send, and for how long a
/// browser may remember that.
pub(crate) const PREFLIGHT_HEADERS: &[(&str, &str)] = &[
    ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
    ("Access-Control-Allow-Headers", "authorization, content-type"),
    ("Access-Control-Max-Age", "7200"),
];

/// The origin of a request, judged.
pub(crate) struct Cors {
    allowed: Option<String>,
}

impl Cors {
    /// `allow_list` is comma separated; `*` allows every origin.
    pub(crate) fn judge(allow_list: &str, origin: Option<&str>) -> Self {
        let mut entries = allow_list.split(',').map(str::trim);
        let allowed = origin.and_then(|origin| {
            entries.find(|entry| *entry == "*" || *entry == origin).map(|_| origin.to_owned())
        });
        Self { allowed }
    }

    pub(crate) fn is_allowed(&self) -> bool {
        self.allowed.is_some()
    }

    /// The headers every response carries.
    pub(crate) fn headers(&self) -> Vec<(&'static str, &str)> {
        // A cache must not give one page the response made for another, allowed or not.
        let mut headers = vec![("Vary", "Origin")];
        if let Some(origin) = &self.allowed {
            headers.push(("Access-Control-Allow-Origin", origin));
            headers.push(("Access-Control-Expose-Headers", "x-request-id, retry-after"));
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(list: &str, origin: &str) -> bool {
        Cors::judge(list, Some(origin)).is_allowed()
    }

    #[test]
    fn origins_are_compared_exactly() {
        let list = "https://example.com, http://localhost:8080";
        assert!(allows(list, "https://example.com"));
        assert!(allows(list, "http://localhost:8080"));
        for other in [
            "https://example.com.evil.test",
            "https://evil-example.com",
            "http://example.com",
            "https://example.com:8443",
            "https://sub.example.com",
            "http://localhost",
            "null",
            "",
        ] {
            assert!(!allows(list, other), "{other}");
        }
        assert!(!allows("", "https://example.com"));
    }

    #[test]
    fn the_star_allows_every_origin_but_still_names_it() {
        let cors = Cors::judge("*", Some("https://a.test"));
        assert!(cors.headers().contains(&("Access-Control-Allow-Origin", "https://a.test")));
    }

    #[test]
    fn a_request_without_origin_gets_no_cors_headers() {
        assert_eq!(Cors::judge("*", None).headers(), [("Vary", "Origin")]);
    }
}
