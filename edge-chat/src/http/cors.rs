//! CORS: which web pages may call the Worker.

/// Headers of an allowed preflight in addition to [`Cors::headers`]: what a page may send, and how long browsers may cache that.
pub(crate) const PREFLIGHT_HEADERS: &[(&str, &str)] = &[
    ("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
    ("Access-Control-Allow-Headers", "authorization, content-type, if-none-match, if-range, range"),
    ("Access-Control-Max-Age", "7200"),
];

/// The response headers that a page may read.
const EXPOSED_HEADERS: &str = "accept-ranges, content-disposition, content-range, etag, ratelimit-limit, \
    ratelimit-remaining, ratelimit-reset, retry-after, server-timing, x-request-id";

/// The CORS decision for a request.
pub(crate) struct Cors {
    allowed: Option<String>,
}

impl Cors {
    /// `allow_list` is a comma-separated list of exact origins, patterns such as `https://*.example.com` for all subdomains (but
    /// not `example.com` itself), and `*` for every origin.
    pub(crate) fn new(allow_list: &str, origin: Option<&str>) -> Self {
        let mut entries = allow_list.split(',').map(str::trim);
        let allowed =
            origin.and_then(|origin| entries.find(|entry| matches(entry, origin)).map(|_| origin.to_owned()));
        Self { allowed }
    }

    pub(crate) fn is_allowed(&self) -> bool {
        self.allowed.is_some()
    }

    /// CORS headers for every response.
    pub(crate) fn headers(&self) -> Vec<(&'static str, &str)> {
        // A cache must not serve a response to another origin than it was made for.
        let mut headers = vec![("Vary", "Origin")];
        if let Some(origin) = &self.allowed {
            headers.push(("Access-Control-Allow-Origin", origin));
            headers.push(("Access-Control-Expose-Headers", EXPOSED_HEADERS));
        }
        headers
    }
}

fn matches(entry: &str, origin: &str) -> bool {
    if entry == "*" || (entry == origin && !entry.contains('*')) {
        return !origin.is_empty();
    }
    let Some((scheme, domain)) = entry.split_once("://*.") else { return false };
    let Some(host) = origin.strip_prefix(scheme).and_then(|rest| rest.strip_prefix("://")) else {
        return false;
    };
    let Some(sub_domain) = host.strip_suffix(domain).and_then(|rest| rest.strip_suffix('.')) else {
        return false;
    };
    !domain.is_empty() && is_host_name(sub_domain)
}

/// Whether a text consists of labels of letters, digits and hyphens, so that `user@` or a port is not part of it.
fn is_host_name(text: &str) -> bool {
    text.split('.').all(|label| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(list: &str, origin: &str) -> bool {
        Cors::new(list, Some(origin)).is_allowed()
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
        assert!(!allows("", ""));
    }

    #[test]
    fn a_pattern_allows_subdomains_of_one_domain_scheme_and_port() {
        let list = "https://*.example.com, https://*.dev.test:8443";
        for origin in ["https://a.example.com", "https://a.b-1.example.com", "https://x.dev.test:8443"] {
            assert!(allows(list, origin), "{origin}");
        }
        for other in [
            "https://example.com",
            "https://.example.com",
            "https://a..example.com",
            "http://a.example.com",
            "https://a.example.com:8443",
            "https://a.example.com.evil.test",
            "https://evilexample.com",
            "https://evil.test/.example.com",
            "https://user@.example.com",
            "https://evil.test:80.example.com",
            "https://x.dev.test",
            "https://*.example.com",
            "https://*.example.com/",
        ] {
            assert!(!allows(list, other), "{other}");
        }
        assert!(!allows("https://*.", "https://a."));
    }

    #[test]
    fn the_star_allows_every_origin_and_echoes_it() {
        let cors = Cors::new("*", Some("https://a.test"));
        assert!(cors.headers().contains(&("Access-Control-Allow-Origin", "https://a.test")));
    }

    #[test]
    fn a_request_without_origin_gets_no_cors_headers() {
        assert_eq!(Cors::new("*", None).headers(), [("Vary", "Origin")]);
    }
}
