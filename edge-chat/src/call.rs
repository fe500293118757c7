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

    /// Verifies the token; nothing else does. The request counts against its user, or without an account against its IP address: a
    /// visitor becomes another anonymous user by clearing the browser's storage.
    pub(crate) async fn user(&self) -> Result<Authenticated, HttpError> {
        let authorization = self.header("authorization");
        let platform = KeyFetcher(self.deadline);
        let user = authenticate(authorization.as_deref(), &self.config.identity, &platform);
        let user = self.trace.time("auth", self.deadline.limit("auth", user)).await;
        match user.as_ref().ok().filter(|user| !user.is_anonymous()) {
            Some(user) => check_limit(user.user_id().to_string(), &self.env).await?,
            None => self.check_address_limit().await?,
        }
        user
    }

    /// Counts a request without an account against its IP address.
    pub(crate) async fn check_address_limit(&self) -> Result<(), HttpError> {
        let header = self.config.client_address_header.as_deref();
        check_limit(client_network(&self.request, header)?, &self.env).await
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
