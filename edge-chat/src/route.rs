//! The routes of the API: the paths, and the methods of each.

use uuid::Uuid;

use chat_core::request::parse_id;

/// A path of the API.
#[derive(Clone, Copy)]
pub(crate) enum Route {
    Health,
    Ready,
    Config,
    Project,
    CitationUse,
    Chat,
    Search,
    Sessions,
    Session(Uuid),
    Messages(Uuid),
    Feedback { session: Uuid, message: Uuid },
    Download(Uuid),
    Me,
    Export,
}

/// A method that some route takes. `worker::Method` does not do here: it reads every unknown method as GET.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl Route {
    /// Paths are compared exactly. `None` if there is no such route.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let segments: Vec<_> = path.strip_prefix('/')?.split('/').collect();
        match segments.as_slice() {
            ["api", "health"] => Some(Self::Health),
            ["api", "ready"] => Some(Self::Ready),
            ["api", "config"] => Some(Self::Config),
            ["api", "project"] => Some(Self::Project),
            ["api", "citation-use"] => Some(Self::CitationUse),
            ["api", "chat"] => Some(Self::Chat),
            ["api", "search"] => Some(Self::Search),
            ["api", "sessions"] => Some(Self::Sessions),
            ["api", "sessions", id] => parse_id(id).map(Self::Session),
            ["api", "sessions", id, "messages"] => parse_id(id).map(Self::Messages),
            ["api", "sessions", session, "messages", message, "feedback"] => {
                Some(Self::Feedback { session: parse_id(session)?, message: parse_id(message)? })
            }
            ["api", "documents", id, "download"] => parse_id(id).map(Self::Download),
            ["api", "me"] => Some(Self::Me),
            ["api", "me", "export"] => Some(Self::Export),
            _ => None,
        }
    }

    /// The path for the log, without ids.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Health => "/api/health",
            Self::Ready => "/api/ready",
            Self::Config => "/api/config",
            Self::Project => "/api/project",
            Self::CitationUse => "/api/citation-use",
            Self::Chat => "/api/chat",
            Self::Search => "/api/search",
            Self::Sessions => "/api/sessions",
            Self::Session(_) => "/api/sessions/{id}",
            Self::Messages(_) => "/api/sessions/{id}/messages",
            Self::Feedback { .. } => "/api/sessions/{id}/messages/{message_id}/feedback",
            Self::Download(_) => "/api/documents/{id}/download",
            Self::Me => "/api/me",
            Self::Export => "/api/me/export",
        }
    }

    /// The methods that the route takes.
    pub(crate) fn methods(self) -> &'static [RouteMethod] {
        use RouteMethod::{Delete, Get, Head, Options, Patch, Post, Put};
        match self {
            Self::Health | Self::Ready | Self::Config | Self::Project | Self::Download(_) => {
                &[Get, Head, Options]
            }
            Self::CitationUse | Self::Chat | Self::Search => &[Post, Options],
            Self::Sessions | Self::Messages(_) | Self::Export => &[Get, Options],
            Self::Session(_) => &[Get, Patch, Delete, Options],
            Self::Feedback { .. } => &[Put, Delete, Options],
            Self::Me => &[Delete, Options],
        }
    }

    /// The value of an `Allow` header.
    pub(crate) fn allow(self) -> String {
        self.methods().iter().map(|method| method.name()).collect::<Vec<_>>().join(", ")
    }
}

impl RouteMethod {
    const ALL: [Self; 7] =
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];

    /// Methods are case-sensitive (RFC 9110, section 9.1).
    pub(crate) fn parse(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == method)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_matched_exactly() {
        const ID: &str = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
        let name = |path: &str| Route::parse(path).map(Route::name);
        assert_eq!(name("/api/chat"), Some("/api/chat"));
        assert_eq!(name(&format!("/api/sessions/{ID}/messages")), Some("/api/sessions/{id}/messages"));
        for path in [
            "",
            "/",
            "/api",
            "/api/",
            "/api//chat",
            "//api/chat",
            "/api/chat/",
            "/api/search/",
            "/search",
            "/API/chat",
            "/api/chat%2f",
            "/api/sessions/",
            "/api/me/",
            "/api/me/exports",
            "/chat",
            "/api/models",
            "/api/sessions/1",
            "/api/sessions/6f9619ff8b864d01b42d00cf4fc964ff",
            &format!("/api/sessions/{ID}/"),
            &format!("/api/sessions/{ID}/messages/x"),
            &format!("/api/sessions/{ID}/messages/{ID}"),
            &format!("/api/sessions/{ID}/messages/x/feedback"),
            &format!("/api/sessions/x/messages/{ID}/feedback"),
            &format!("/api/documents/{ID}"),
        ] {
            assert_eq!(name(path), None, "{path}");
        }
    }

    #[test]
    fn each_route_allows_only_its_own_methods() {
        let id = Uuid::nil();
        for (route, allow) in [
            (Route::Health, "GET, HEAD, OPTIONS"),
            (Route::Ready, "GET, HEAD, OPTIONS"),
            (Route::Config, "GET, HEAD, OPTIONS"),
            (Route::Project, "GET, HEAD, OPTIONS"),
            (Route::CitationUse, "POST, OPTIONS"),
            (Route::Chat, "POST, OPTIONS"),
            (Route::Search, "POST, OPTIONS"),
            (Route::Sessions, "GET, OPTIONS"),
            (Route::Session(id), "GET, PATCH, DELETE, OPTIONS"),
            (Route::Messages(id), "GET, OPTIONS"),
            (Route::Feedback { session: id, message: id }, "PUT, DELETE, OPTIONS"),
            (Route::Download(id), "GET, HEAD, OPTIONS"),
            (Route::Me, "DELETE, OPTIONS"),
            (Route::Export, "GET, OPTIONS"),
        ] {
            assert_eq!(route.allow(), allow, "{}", route.name());
        }
    }

    #[test]
    fn methods_are_matched_exactly() {
        for unknown in ["", "get", "TRACE", "GET, HEAD", "GET "] {
            assert!(RouteMethod::parse(unknown).is_none(), "{unknown}");
        }
    }
}
