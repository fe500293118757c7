//! A request with what every endpoint needs to answer it.

use std::rc::Rc;

use chat_core::assistant::AssistantName;
use worker::{Env, Request};

use crate::config::Config;
use crate::http::body::read_json;
use crate::http::error::HttpError;
use crate::http::url::RequestUrl;
use crate::identity::{Authenticated, authenticate};
use crate::limits::{check_limit, client_network};
use crate::observe::Trace;
use crate::settings::Settings;
use crate::supabase::{Deadline, KeyFetcher, Supabase};

/// A request in progress.
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) request: Request,
    pub(crate) url: RequestUrl,
    pub(crate) env: Env,
    pub(crate) config: Rc<Config>,
    pub(crate) trace: Rc<Trace>,
    pub(crate) deadline: Deadline,
}

impl Call {
    pub(crate) fn new(
        request: Request,
        url: RequestUrl,
        id: &str,
        env: &Env,
        trace: &Rc<Trace>,
    ) -> Result<Self, HttpError> {
        let config = Config::of_isolate(env)?;
        Ok(Self {
            id: id.to_owned(),
            request,
            url,
            env: env.clone(),
            deadline: Deadline::after(config.upstream_timeout),
            config,
            trace: Rc::clone(trace),
        })
    }

    /// A request header. A value that is not text counts as missing.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.request.headers().get(name).ok().flatten()
    }

    /// Reads the body. The deadline starts again afterwards, so that a slow upload leaves the upstream its full time.
    pub(crate) async fn body(&mut self) -> Result<Vec<u8>, HttpError> {
        let body = read_json(&mut self.request).await?;
        self.deadline = Deadline::after(self.config.upstream_timeout);
        Ok(body)
    }

    /// The user, within the rough limit of requests.
    pub(crate) async fn user(&self) -> Result<Authenticated, HttpError> {
        self.user_within("").await
    }

    /// The user, within the rough limit of searches, so that typing never takes the place of other requests.
    pub(crate) async fn searching_user(&self) -> Result<Authenticated, HttpError> {
        self.user_within("search ").await
    }

    /// Verifies the token; nothing else does. The request counts against its user, or without an account against its IP address: a
    /// visitor becomes another anonymous user by clearing the browser's storage.
    async fn user_within(&self, counted_as: &str) -> Result<Authenticated, HttpError> {
        let authorization = self.header("authorization");
        let platform = KeyFetcher(self.deadline);
        let user = authenticate(authorization.as_deref(), &self.config.identity, &platform);
        let user = self.trace.time("auth", self.deadline.limit("auth", user)).await;
        let caller = match &user {
            Err(_) => return self.check_unknown().await.and(user),
            Ok(user) if user.is_anonymous() => self.client_network()?,
            Ok(user) => user.user_id().to_string(),
        };
        check_limit(format!("{counted_as}{caller}"), &self.env).await?;
        user
    }

    /// Counts a request without a user against its IP address.
    pub(crate) async fn check_unknown(&self) -> Result<(), HttpError> {
        check_limit(format!("unknown {}", self.client_network()?), &self.env).await
    }

    fn client_network(&self) -> Result<String, HttpError> {
        client_network(&self.request, self.config.client_address_header.as_deref())
    }

    pub(crate) fn supabase(&self, user: Authenticated) -> Supabase {
        Supabase::as_user(&self.config.project, user, self.deadline)
    }

    /// The assistant that the query names, or the default one.
    pub(crate) fn assistant(&self) -> Result<AssistantName, HttpError> {
        let name = self.url.parameter("assistant")?;
        Ok(name.map_or_else(|| Ok(AssistantName::default()), |name| AssistantName::parse(&name))?)
    }

    /// The settings of an assistant for everybody, or with a user of one that may be for this user only.
    pub(crate) async fn settings(
        &self,
        assistant: &AssistantName,
        user: Option<&Supabase>,
    ) -> Result<Settings, HttpError> {
        let settings = Settings::current(&self.config, assistant, user, self.deadline);
        self.trace.time("settings", settings).await
    }
}
