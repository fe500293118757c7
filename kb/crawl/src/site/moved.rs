//! Decides whether a redirect leads to the requested page.
//!
//! Sites in trouble, and sites that ask for a sign-in, send visitors elsewhere. What is there says nothing about the page.

use reqwest::Url;

use crate::address;
use crate::error::FetchError;

/// Checks a redirect from one address to another, on the way from `page`.
///
/// The page is the same with `https`, with `www` and with a slash. It may move within its site for good, but not to a page above it:
/// what sites show instead of a page that they no longer have is usually their home page, or an overview.
///
/// # Errors
/// [`FetchError::Elsewhere`].
pub(super) fn check(page: &Url, from: &Url, to: &Url, is_permanent: bool) -> Result<(), FetchError> {
    let is_above = || path(page).strip_prefix(path(to)).is_some_and(|rest| rest.starts_with('/'));
    // A sign-in leads back afterwards.
    let leads_back = || to.query_pairs().any(|(_, value)| value.contains('/') && value.contains(path(page)));
    if site(page) != site(to) {
        Err(elsewhere(to, "which is another site"))
    } else if is_same(from, to) {
        Ok(())
    } else if is_above() {
        Err(elsewhere(to, "which is above the page"))
    } else if leads_back() {
        Err(elsewhere(to, "which leads back after a sign-in or the like"))
    } else if !is_permanent {
        Err(elsewhere(to, "but not for good"))
    } else {
        Ok(())
    }
}

/// Returns whether two addresses are spellings of one.
pub(super) fn is_same(one: &Url, other: &Url) -> bool {
    (site(one), path(one), one.query()) == (site(other), path(other), other.query())
}

/// The host without `www`, and the port if it is not that of the scheme.
fn site(url: &Url) -> (&str, Option<u16>) {
    let host = url.host_str().unwrap_or_default();
    (host.strip_prefix("www.").unwrap_or(host), url.port())
}

/// The path without the name of an index file and without a slash at the end.
fn path(url: &Url) -> &str {
    let path = url.path();
    let folder =
        path.rsplit_once('/').filter(|(_, file)| file.starts_with("index.")).map(|(folder, _)| folder);
    folder.unwrap_or(path).trim_end_matches('/')
}

/// Shows the address without its query, so that pages with the same trouble have the same error.
pub(super) fn elsewhere(to: &Url, why: &str) -> FetchError {
    let mut to = to.clone();
    to.set_query(None);
    FetchError::Elsewhere { address: address::shown(to.as_str()), why: why.to_owned() }
}

/// Returns whether a page has a field for a password.
pub(super) fn asks_for_password(page: &[u8]) -> bool {
    let page = String::from_utf8_lossy(page).to_ascii_lowercase();
    page.replace(['"', '\''], "").contains("type=password")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn leads_to_page(page: &str, to: &str, is_permanent: bool) -> bool {
        let page = url(page);
        check(&page, &page, &page.join(to).unwrap(), is_permanent).is_ok()
    }

    #[test]
    fn another_spelling_of_the_address_is_the_same_page() {
        for (page, to) in [
            ("http://h/a", "https://h/a"),
            ("https://h/a", "https://www.h/a"),
            ("http://www.h/", "https://h/"),
            ("https://h/a", "/a/"),
            ("https://h/a/", "/a"),
            ("https://h/a/index.html", "/a/"),
            ("https://h/", "/index.php"),
            ("https://h/a?x=1", "/a/?x=1"),
        ] {
            assert!(leads_to_page(page, to, false) && leads_to_page(page, to, true), "{page} {to}");
            assert!(is_same(&url(page), &url(page).join(to).unwrap()), "{page} {to}");
        }
    }

    #[test]
    fn a_page_moves_within_its_site_for_good() {
        for (page, to) in [
            ("https://h/a", "/b"),
            ("https://h/a", "/guide/a.html"),
            ("http://h/a", "https://www.h/guide/a"),
            ("https://h/?p=12", "/refunds/"),
            ("https://h/docs", "/docs/latest/"),
            ("https://h/", "/en/"),
            ("https://h/ab", "/a"),
        ] {
            assert!(leads_to_page(page, to, true), "{page} {to}");
            assert!(!leads_to_page(page, to, false), "{page} {to}");
        }
    }

    #[test]
    fn a_redirect_to_another_site_a_sign_in_or_a_page_above_is_not_the_page() {
        for (page, to) in [
            ("https://h/a", "https://accounts.h/login"),
            ("https://h/a", "https://other.example/a"),
            ("https://h/a", "https://h:8443/a"),
            ("https://h/a", "/"),
            ("https://h/a", "/index.html"),
            ("https://h/a", "/?gone=1"),
            ("https://h/de/a", "/de/"),
            ("https://h/shop/a/b", "/shop"),
            ("https://h/a", "/login?next=/a"),
            ("https://h/a", "/connexion?retour=https%3A%2F%2Fh%2Fa"),
            ("https://h/a/", "/anmelden?ReturnUrl=%2Fa"),
            ("https://h/", "/login?next=/"),
        ] {
            assert!(!leads_to_page(page, to, true) && !leads_to_page(page, to, false), "{page} {to}");
        }
    }

    #[test]
    fn a_field_for_a_password_is_found() {
        for page in ["<input type=password>", "<INPUT name=p TYPE='Password'>", "<input type=\"password\"/>"]
        {
            assert!(asks_for_password(page.as_bytes()), "{page}");
        }
        assert!(!asks_for_password(b"<p>Choose a type of password.</p>"));
    }
}
