//! User names and passwords that came in addresses, kept apart from them: what leaves this crate shows none.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;

use reqwest::Url;

use crate::address;

/// User name and password by origin, both as they stood in the address.
#[derive(Default)]
pub(super) struct Credentials(Mutex<HashMap<String, (String, String)>>);

impl Credentials {
    /// Later requests to the same scheme, host and port use what `url` carries.
    pub(super) fn remember(&self, url: &Url) {
        if url.username().is_empty() && url.password().is_none() {
            return;
        }
        let pair = (url.username().to_owned(), url.password().unwrap_or_default().to_owned());
        self.0.lock().expect("no holder panics").insert(address::origin(url), pair);
    }

    /// The address to send a request to. Never shown.
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
    fn credentials_are_for_their_own_origin_only() {
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
