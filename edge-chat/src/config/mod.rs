//! The Worker's settings: its environment, checked before use, and the table `chat_settings`, over which the
//! environment wins.

mod cache;
mod environment;
mod settings;

pub(crate) use environment::{Config, ConfigError, Project, variable};
pub(crate) use settings::{LinkMode, Settings};
