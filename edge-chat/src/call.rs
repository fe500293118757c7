//! A request with what every endpoint needs to answer it.

use std::rc::Rc;

use chat_core::assistant::AssistantName;
use worker::{Env, Request};

use crate::config::Config;
use crate::http::body::read_json;
use crate::http::error::HttpError;
use crate::http::url::RequestUrl;
use crate::identity::{Authenticated, authenticate};
use crate::limits;
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

    /// Verifies the token; nothing else does. A request without a valid token counts against its IP address.
    pub(crate) async fn user(&self) -> Result<Authenticated, HttpError> {
        let authorization = self.header("authorization");
        let platform = KeyFetcher(self.deadline);
        let user = authenticate(authorization.as_deref(), &self.config.identity, &platform);
        let user = self.trace.time("auth", self.deadline.limit("auth", user)).await;
        if user.is_err() {
            self.check_ip_limit().await?;
        }
        user
    }

    /// The user, within the limit for everything but questions.
    pub(crate) async fn rate_limited_user(&self) -> Result<Authenticated, HttpError> {
        let user = self.user().await?;
        limits::check_user_limit(user.user_id(), &self.env).await?;
        Ok(user)
    }

    /// The user, within the limit for exports, which is lower and applies in addition.
    pub(crate) async fn rate_limited_exporter(&self) -> Result<Authenticated, HttpError> {
        let user = self.rate_limited_user().await?;
        limits::check_export_limit(user.user_id(), &self.env).await?;
        Ok(user)
    }

    /// Counts a request without a user against its IP address.
    pub(crate) async fn check_ip_limit(&self) -> Result<(), HttpError> {
        limits::check_ip_limit(self.client_network()?, &self.env).await
    }

    /// The network of the client, for limits per IP address.
    pub(crate) fn client_network(&self) -> Result<String, HttpError> {
        limits::client_network(&self.request, self.config.client_address_header.as_deref())
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
