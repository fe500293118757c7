//! User names and passwords from addresses, stored separately: no output of this crate contains them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;

use reqwest::Url;

use crate::address;

/// User name and password by origin, as encoded in the address.
#[derive(Default)]
pub(super) struct Credentials(Mutex<HashMap<String, (String, String)>>);

impl Credentials {
    /// Stores the credentials of `url` for later requests to the same scheme, host and port.
    pub(super) fn remember(&self, url: &Url) {
        if url.username().is_empty() && url.password().is_none() {
            return;
        }
        let pair = (url.username().to_owned(), url.password().unwrap_or_default().to_owned());
        self.0.lock().expect("no holder panics").insert(address::origin(url), pair);
    }

    /// Adds the credentials to the address of a request. The result must never be shown.
    pub(super) fn apply(&self, url: &Url) -> Url {
        let mut url = url.clone();
        if let Some((user, password)) = self.0.lock().expect("no holder panics").get(&address::origin(&url)) {
            // Both fail only for addresses without a host.
            let _ = url.set_username(user);
            let _ = url.set_password(Some(password));
        }
        url
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Credentials(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_apply_only_to_their_own_origin() {
        let credentials = Credentials::default();
        credentials.remember(&Url::parse("https://us%40er:pass@h/a").unwrap());
        let applied = |url: &str| credentials.apply(&Url::parse(url).unwrap()).to_string();
        assert_eq!(applied("https://h/b"), "https://us%40er:pass@h/b");
        for other in ["http://h/b", "https://h:8443/b", "https://www.h/b"] {
            assert_eq!(applied(other), other);
        }
        assert!(!format!("{credentials:?}").contains("pass"));
    }
}
