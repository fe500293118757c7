//! Follows redirects: each target is checked by the same rules as the first address.

use reqwest::Url;

use super::network::Reach;
use super::transfer::{FetchSpec, Purpose, Reply};
use super::{Site, moved};
use crate::address;
use crate::error::FetchError;

/// Maximum number of redirects; RFC 9309 asks for at least five.
const MAX_REDIRECTS: usize = 10;

impl Site {
    /// The first reply that is not a redirect, and its address. Except for `robots.txt` itself, every
    /// address on the way must be allowed by its own site, and a page must not lead to something else. After a hop on the
    /// public internet, private addresses are refused.
    pub(super) async fn follow(
        &self,
        start: &Url,
        spec: &FetchSpec<'_>,
        mut reach: Reach,
    ) -> Result<(Url, Reply), FetchError> {
        if !address::is_web(start) {
            return Err(FetchError::NotHttp);
        }
        let (page, is_page) = (address::bare(start), spec.purpose == Purpose::Page);
        let mut url = page.clone();
        for _ in 0..=MAX_REDIRECTS {
            match self.step(&url, spec, reach).await {
                Ok(Reply::Redirect { location, is_permanent, reach: further }) => {
                    let to = target(&url, location.as_deref())?;
                    if is_page {
                        moved::check(&page, &url, &to, is_permanent)?;
                    }
                    (url, reach) = (to, further);
                }
                // What its new address says is not said of the page.
                Err(error)
                    if is_page
                        && (error.is_gone() || error.is_disallowed())
                        && !moved::is_same(&page, &url) =>
                {
                    return Err(moved::elsewhere(&url, &format!("and there: {error}")));
                }
                Ok(reply) => return Ok((url, reply)),
                Err(error) => return Err(error),
            }
        }
        Err(FetchError::TooManyRedirects(MAX_REDIRECTS))
    }

    async fn step(&self, url: &Url, spec: &FetchSpec<'_>, reach: Reach) -> Result<Reply, FetchError> {
        if spec.purpose != Purpose::Robots {
            self.check_robots(url, reach).await?;
        }
        self.exchange(url, spec, reach).await
    }
}

fn target(from: &Url, location: Option<&str>) -> Result<Url, FetchError> {
    let location = location.ok_or_else(|| FetchError::BadRedirect("nowhere".to_owned()))?;
    let url = from.join(location).ok().map(|url| address::bare(&url));
    url.filter(|url| address::check(url).is_ok())
        .ok_or_else(|| FetchError::BadRedirect(address::shown(location)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_resolved_and_lose_their_credentials() {
        let from = Url::parse("https://h/a/b").unwrap();
        let to = |location: &str| target(&from, Some(location)).map(String::from);
        assert_eq!(to("../c?d#e").unwrap(), "https://h/c?d");
        assert_eq!(to("//user:secret@g/").unwrap(), "https://g/");
        for location in ["file:///etc/passwd", "ftp://h/", "javascript:alert(1)", "https://h:x/"] {
            assert_eq!(to(location), Err(FetchError::BadRedirect(location.into())));
        }
        let long = format!("/{}", "a".repeat(100_000));
        assert!(matches!(to(&long), Err(FetchError::BadRedirect(shown)) if shown.len() < 300));
        assert!(target(&from, None).is_err());
    }
}
