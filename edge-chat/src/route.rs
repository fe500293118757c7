//! The addresses of the API.

use uuid::Uuid;

use chat_core::request::parse_id;

/// The paths of the Worker.
#[derive(Clone, Copy)]
pub(crate) enum Route {
    Health,
    Ready,
    Config,
    Chat,
    Sessions,
    Session(Uuid),
    Messages(Uuid),
    Download(Uuid),
    Me,
    Export,
    Unknown,
}

impl Route {
    pub(crate) fn of(path: &str) -> Self {
        let Some(path) = path.strip_prefix("/api/") else { return Self::Unknown };
        let segments: Vec<_> = path.split('/').collect();
        let with_id = |id: &str, route: fn(Uuid) -> Self| parse_id(id).map_or(Self::Unknown, route);
        match segments.as_slice() {
            ["health"] => Self::Health,
            ["ready"] => Self::Ready,
            ["config"] => Self::Config,
            ["chat"] => Self::Chat,
            ["sessions"] => Self::Sessions,
            ["sessions", id] => with_id(id, Self::Session),
            ["sessions", id, "messages"] => with_id(id, Self::Messages),
            ["documents", id, "download"] => with_id(id, Self::Download),
            ["me"] => Self::Me,
            ["me", "export"] => Self::Export,
            _ => Self::Unknown,
        }
    }

    /// The path for the log. An unknown one is not written down: it is the caller's text.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Health => "/api/health",
            Self::Ready => "/api/ready",
            Self::Config => "/api/config",
            Self::Chat => "/api/chat",
            Self::Sessions => "/api/sessions",
            Self::Session(_) => "/api/sessions/{id}",
            Self::Messages(_) => "/api/sessions/{id}/messages",
            Self::Download(_) => "/api/documents/{id}/download",
            Self::Me => "/api/me",
            Self::Export => "/api/me/export",
            Self::Unknown => "unknown",
        }
    }

    /// The methods it takes.
    pub(crate) fn allow(self) -> &'static str {
        match self {
            Self::Chat => "POST, OPTIONS",
            Self::Session(_) => "GET, PATCH, DELETE, OPTIONS",
            Self::Me => "DELETE, OPTIONS",
            Self::Sessions | Self::Messages(_) | Self::Export => "GET, OPTIONS",
            Self::Health | Self::Ready | Self::Config | Self::Download(_) | Self::Unknown => {
                "GET, HEAD, OPTIONS"
            }
        }
    }

    pub(crate) fn takes(self, method: &str) -> bool {
        self.allow().split(", ").any(|allowed| allowed == method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_to_the_letter() {
        const ID: &str = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
        let name = |path: &str| Route::of(path).name();
        assert_eq!(name("/api/chat"), "/api/chat");
        assert_eq!(name(&format!("/api/sessions/{ID}/messages")), "/api/sessions/{id}/messages");
        for path in [
            "",
            "/",
            "/api",
            "/api/",
            "/api//chat",
            "//api/chat",
            "/api/chat/",
            "/API/chat",
            "/api/chat%2f",
            "/api/sessions/",
            "/api/me/",
            "/api/me/exports",
            "/api/sessions/1",
            "/api/sessions/6f9619ff8b864d01b42d00cf4fc964ff",
            &format!("/api/sessions/{ID}/"),
            &format!("/api/sessions/{ID}/messages/x"),
            &format!("/api/documents/{ID}"),
        ] {
            assert_eq!(name(path), "unknown", "{path}");
        }
    }

    #[test]
    fn each_route_takes_its_methods_only() {
        assert!(Route::Chat.takes("POST") && !Route::Chat.takes("GET") && !Route::Chat.takes("post"));
        assert!(Route::Session(Uuid::nil()).takes("PATCH"));
        assert!(!Route::Health.takes("") && !Route::Health.takes("GET, HEAD"));
    }
}
