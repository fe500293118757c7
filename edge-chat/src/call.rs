//! A request on its way through the Worker, with what every route needs.

use std::rc::Rc;

use worker::{Env, Request};

use crate::config::{Config, Settings};
use crate::http::address::Address;
use crate::http::body::read_json;
use crate::http::error::Failure;
use crate::identity::{Authenticated, Runtime, authenticate};
use crate::limits;
use crate::observe::Trace;
use crate::supabase::{Deadline, Supabase};

/// A request on its way through the Worker.
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) request: Request,
    pub(crate) address: Address,
    pub(crate) env: Env,
    pub(crate) config: Rc<Config>,
    pub(crate) trace: Rc<Trace>,
    pub(crate) deadline: Deadline,
}

impl Call {
    pub(crate) fn new(
        request: Request,
        address: Address,
        id: &str,
        env: &Env,
        trace: &Rc<Trace>,
    ) -> Result<Self, Failure> {
        let config = Rc::new(Config::from_env(env)?);
        Ok(Self {
            id: id.to_owned(),
            request,
            address,
            env: env.clone(),
            deadline: Deadline::after(config.upstream_timeout),
            config,
            trace: Rc::clone(trace),
        })
    }

    /// A request header. One that is no text counts as missing.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.request.headers().get(name).ok().flatten()
    }

    /// The body. What else the request has to wait for has its time from then on.
    pub(crate) async fn body(&mut self) -> Result<Vec<u8>, Failure> {
        let body = read_json(&mut self.request).await?;
        self.deadline = Deadline::after(self.config.upstream_timeout);
        Ok(body)
    }

    /// Who asks. Only here a token is looked at; a request without a valid one counts against its IP address.
    pub(crate) async fn user(&self) -> Result<Authenticated, Failure> {
        let authorization = self.header("authorization");
        let runtime = Runtime(self.deadline);
        let user = authenticate(authorization.as_deref(), &self.config.identity, &runtime);
        let user = self.trace.time("auth", self.deadline.limit("auth", user)).await;
        if user.is_err() {
            self.limit_address().await?;
        }
        user
    }

    /// Who asks for something else than an answer: with a limit of its own.
    pub(crate) async fn reader(&self) -> Result<Authenticated, Failure> {
        let user = self.user().await?;
        limits::by_user(user.user_id(), &self.env).await?;
        Ok(user)
    }

    /// Who asks for all of their data: besides what a reader counts for, with a lower limit.
    pub(crate) async fn exporter(&self) -> Result<Authenticated, Failure> {
        let user = self.reader().await?;
        limits::by_exporter(user.user_id(), &self.env).await?;
        Ok(user)
    }

    /// Counts a request that no user answers for against its IP address.
    pub(crate) async fn limit_address(&self) -> Result<(), Failure> {
        limits::by_address(&self.request, self.config.client_address_header.as_deref(), &self.env).await
    }

    pub(crate) fn supabase(&self, user: Authenticated) -> Supabase {
        Supabase::as_user(&self.config.project, user, self.deadline)
    }

    pub(crate) async fn settings(&self) -> Result<Settings, Failure> {
        self.trace.time("settings", Settings::current(&self.config, self.deadline)).await
    }
}
