//! Names of pages and sites, for the `source` of a document. A name is stable, and no two pages share one.

use reqwest::Url;

/// Prefix of names that would otherwise be ambiguous. No path contains a dot segment, because parsing resolves them.
const DISAMBIGUATION_PREFIX: &str = "./";

/// Name of the page whose address has no path.
const ROOT_NAME: &str = "index";

/// The path part of a document's source, without credentials and fragment.
///
/// With `listing_host`, the [`site_name`] of a sitemap: `guide/a.html` for a page of that site,
/// `./other.host/guide/a.html` for a page elsewhere. Without, for lists: `other.host/guide/a.html`. The query is kept as
/// `?x=1`. The root page is `index`, and a page with the path `index` is `./index`.
pub fn document_name(listing_host: Option<&str>, page: &Url) -> String {
    let path = path_name(page);
    let site = site_name(page);
    match listing_host {
        Some(host) if host == site => path,
        Some(_) => format!("{DISAMBIGUATION_PREFIX}{site}/{path}"),
        None => format!("{site}/{path}"),
    }
}

/// The site of an address in one path segment: the host, with the port unless it is that of https.
///
/// `https://h/` is `h`, `http://h/` is `h:80`, `http://h:8080/` is `h:8080`. `https://h:8443/` is `https:h:8443`, to
/// differ from `http://h:8443/`.
pub fn site_name(address: &Url) -> String {
    let host = address.host_str().unwrap_or_default();
    match (address.scheme(), address.port()) {
        ("https", None) => host.to_owned(),
        ("https", Some(port)) => format!("https:{host}:{port}"),
        (_, port) => format!("{host}:{}", port.unwrap_or(80)),
    }
}

fn path_name(page: &Url) -> String {
    let path = page.path().strip_prefix('/').unwrap_or(page.path());
    let query = page.query().map(|query| format!("?{query}")).unwrap_or_default();
    match path {
        "" => format!("{ROOT_NAME}{query}"),
        ROOT_NAME => format!("{DISAMBIGUATION_PREFIX}{ROOT_NAME}{query}"),
        path => format!("{path}{query}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(host: Option<&str>, page: &str) -> String {
        document_name(host, &Url::parse(page).unwrap())
    }

    #[test]
    fn a_name_is_the_path_or_host_and_path() {
        assert_eq!(name(Some("h"), "https://h/guide/a.html"), "guide/a.html");
        assert_eq!(name(Some("h"), "https://H:443/guide/?x=1&y#part"), "guide/?x=1&y");
        assert_eq!(name(Some("h"), "https://h/"), "index");
        assert_eq!(name(Some("h"), "https://h/?x=1"), "index?x=1");
        assert_eq!(
            name(Some("h"), "https://user:secret@other.host/guide/a.html"),
            "./other.host/guide/a.html"
        );
        assert_eq!(name(None, "https://other.host/guide/a.html"), "other.host/guide/a.html");
        assert_eq!(name(None, "https://bücher.example"), "xn--bcher-kva.example/index");
        assert_eq!(name(None, "http://[::1]:8080/a"), "[::1]:8080/a");
    }

    #[test]
    fn similar_addresses_have_different_names() {
        for (host, one, other) in [
            (Some("h"), "https://h/", "https://h/index"),
            (Some("h"), "https://h/?x", "https://h/index?x"),
            (Some("h"), "https://h/?", "https://h/"),
            (Some("h"), "https://h/a", "https://h/a/"),
            (Some("h"), "https://h/other/a", "https://other/a"),
            (Some("h"), "https://h//other/a", "https://other/a"),
            (Some("h"), "https://h/index/", "https://index/"),
            (Some("h"), "https://h/a", "http://h/a"),
            (Some("h"), "https://h/https://g/a", "https://g/a"),
            (None, "http://h/a", "https://h/a"),
            (None, "http://h:81/a", "https://h:81/a"),
            (None, "http://h:443/a", "https://h/a"),
            (None, "https://h:80/a", "http://h/a"),
        ] {
            assert_ne!(name(host, one), name(host, other), "{one} {other}");
        }
    }

    /// Addresses made of few parts, so that near collisions are frequent.
    fn address() -> impl Strategy<Value = Url> {
        let scheme = prop::sample::select(vec!["http", "https"]);
        let host = prop::sample::select(vec!["h", "g", "index", "h.g", "[::1]", "https"]);
        let port = prop::sample::select(vec!["", ":80", ":443", ":81"]);
        let part = prop::sample::select(vec![
            "/", "/", "h", "g", "index", "?", "%2F", "%69ndex", ".", "..", ":80", ":81", "https:", "@", "\\",
            " ", "ä", "&",
        ]);
        let path = prop::collection::vec(part, 0..7);
        (scheme, host, port, path).prop_map(|(scheme, host, port, path)| {
            Url::parse(&format!("{scheme}://{host}{port}/{}", path.concat())).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn two_addresses_never_share_a_name(
            one in address(),
            other in address(),
            host in prop::option::of(prop::sample::select(vec!["h", "g", "h:80", "h:81", "https:h:81"])),
        ) {
            let same = document_name(host, &one) == document_name(host, &other);
            prop_assert_eq!(same, one == other, "{} {}", one, other);
        }
    }

    /// Compares all pairs of short paths on few sites, not a sample.
    #[test]
    fn all_names_of_many_addresses_differ() {
        let parts = ["/", "h", "index", "?", "."];
        let mut addresses = std::collections::HashSet::new();
        for site in ["https://h", "http://h", "https://index", "https://h:80"] {
            for number in 0..parts.len().pow(5) {
                let path: String =
                    (0..5).map(|place| parts[number / parts.len().pow(place) % parts.len()]).collect();
                addresses.insert(Url::parse(&format!("{site}/{path}")).unwrap());
            }
        }
        for host in [None, Some("h"), Some("index")] {
            let names: std::collections::HashSet<String> =
                addresses.iter().map(|address| document_name(host, address)).collect();
            assert_eq!(names.len(), addresses.len());
        }
    }
}
