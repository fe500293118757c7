//! The settings that an isolate knows, for a bounded number of assistants. The caller passes the time in.

use std::collections::BTreeMap;
use std::time::Duration;

use chat_core::assistant::AssistantName;

use crate::http::error::HttpError;
use crate::single_flight::SingleFlight;

/// A read that takes longer counts as lost: the runtime has cancelled its request.
const READ_LIMIT: Duration = Duration::from_secs(10);
/// Names that are kept, unknown ones included, so that a client that tries names cannot fill the memory.
const MAX_ASSISTANTS: usize = 64;

/// The settings for a caller without a token, or `None` for a name that is unknown to them.
pub(super) type Flight<T> = SingleFlight<Option<T>, HttpError>;

/// One flight per name.
pub(super) struct SettingsCache<T>(BTreeMap<AssistantName, Entry<T>>);

struct Entry<T> {
    used_ms: u64,
    flight: Flight<T>,
}

impl<T> SettingsCache<T> {
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The flight of a name. A new one takes the place of the one that was unused for the longest time.
    pub(super) fn flight(&mut self, assistant: &AssistantName, now_ms: u64) -> &mut Flight<T> {
        if !self.0.contains_key(assistant) && self.0.len() >= MAX_ASSISTANTS {
            let oldest = self.0.iter().min_by_key(|(_, entry)| entry.used_ms);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                self.0.remove(&oldest);
            }
        }
        let new = || Entry { used_ms: now_ms, flight: SingleFlight::new(READ_LIMIT) };
        let entry = self.0.entry(assistant.clone()).or_insert_with(new);
        entry.used_ms = now_ms;
        &mut entry.flight
    }

    /// The flight of a name, if it is in the cache.
    pub(super) fn existing(&mut self, assistant: &AssistantName) -> Option<&mut Flight<T>> {
        self.0.get_mut(assistant).map(|entry| &mut entry.flight)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    fn name(number: usize) -> AssistantName {
        AssistantName::parse(&format!("a{number}")).expect("name")
    }

    #[test]
    fn each_assistant_has_its_own_flight() {
        let mut cache = SettingsCache::<usize>::new();
        for number in [1, 2] {
            cache.flight(&name(number), 0).finish(Ok(Rc::new(Some(number))), 0, 0);
        }
        let value = |cache: &mut SettingsCache<usize>, number| {
            cache.flight(&name(number), 1).value(Duration::from_secs(1), 1)
        };
        assert_eq!(value(&mut cache, 1).as_deref(), Some(&Some(1)));
        assert_eq!(value(&mut cache, 2).as_deref(), Some(&Some(2)));
    }

    #[test]
    fn many_names_take_bounded_memory_and_keep_what_is_in_use() {
        let mut cache = SettingsCache::<usize>::new();
        for number in 0..10 * MAX_ASSISTANTS {
            let now_ms = number as u64;
            cache.flight(&name(number), now_ms);
            cache.flight(&AssistantName::default(), now_ms);
        }
        assert_eq!(cache.0.len(), MAX_ASSISTANTS);
        assert!(cache.existing(&AssistantName::default()).is_some());
        assert!(cache.existing(&name(0)).is_none());
    }
}
