//! Documents pass from their source to the writer in four stages: load (asynchronous), prepare (threads), compare, embed (all
//! cores). Each stage works ahead while later stages are busy, and waits when they fall behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self as blocking, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::alike::refuse_alike;
use super::batch::{Batch, BatchBuilder};
use super::plan::Write;
use super::prepare::{Outcome, Preparation, Prepared, Settled, failed};
use crate::source::{Content, LoadError, Loaded, Source};
use crate::supabase::{Client, SupabaseError};
use crate::text_embedder::TextEmbedder;

/// Files read at the same time: enough to use a slow connection well, without overloading a server.
const MAX_CONCURRENT_LOADS: usize = 4;

/// Total content in all stages, in KiB; one file may use all of it.
const MAX_CONTENT_KIB: u32 = 64 * 1024;

/// Minimum that a document counts, because extracted text may be larger than its file.
const MIN_DOCUMENT_KIB: u32 = 1024;

/// The size that a page counts until it is known: more than most, so that few large ones are read
/// at the same time, and as much as [`MAX_CONCURRENT_LOADS`] can have while another document is
/// prepared.
const UNKNOWN_DOCUMENT_KIB: u32 = 15 * 1024;

/// Threads that prepare documents; each may start an extraction process.
const MAX_THREADS: usize = 4;

/// Why a document failed if preparing it panicked.
const PANIC_REASON: &str = "cannot be read because of a bug in kb; please report it";

/// A document on its way from its source to the threads that prepare it.
pub(super) type Loading = (Write, Content, OwnedSemaphorePermit);

/// Loads documents in order, several at a time, until the receiver is closed.
pub(super) async fn load(
    writes: Vec<Write>,
    source: &Source,
    client: &Client,
    sender: mpsc::Sender<Outcome<Loading>>,
) -> Result<(), SupabaseError> {
    let memory = Arc::new(Semaphore::new(MAX_CONTENT_KIB as usize));
    let load_one = |write: Write| {
        let memory = Arc::clone(&memory);
        async move {
            let kib = match write.item.size {
                0 => UNKNOWN_DOCUMENT_KIB,
                bytes => kib(bytes),
            };
            let mut permit = memory.acquire_many_owned(kib).await;
            let loaded = source.load(&write.item, write.known_version.as_deref(), client).await;
            if let (Ok(permit), Ok(Loaded::Content(content))) = (&mut permit, &loaded) {
                give_back_surplus(permit, content.bytes.len() as u64);
            }
            (write, loaded, permit)
        }
    };
    let mut loads = stream::iter(writes).map(load_one).buffered(MAX_CONCURRENT_LOADS);
    while let Some((write, loaded, permit)) = loads.next().await {
        // The semaphore is never closed.
        let Ok(permit) = permit else { break };
        let loading = match loaded {
            Ok(Loaded::Content(content)) => Ok((write, content, permit)),
            Ok(Loaded::Unchanged) => Err(Settled::Unchanged(write, None)),
            Err(LoadError::Gone(reason)) => Err(Settled::Gone(write, reason)),
            Err(LoadError::NotPublished(reason)) => Err(Settled::NotPublished(write, reason)),
            Err(LoadError::Elsewhere(reason)) if write.replaces.is_none() => {
                Err(Settled::NotPublished(write, reason))
            }
            Err(LoadError::Elsewhere(reason) | LoadError::Failed(reason) | LoadError::Unreadable(reason)) => {
                Err(Settled::Failed(write, reason, None))
            }
            Err(LoadError::NotRequested(reason)) => Err(Settled::NotRequested(write, reason)),
            Err(LoadError::Supabase(error)) => return Err(error),
        };
        if sender.send(loading.map_err(Box::new)).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// The KiB that content of this many bytes counts.
fn kib(bytes: u64) -> u32 {
    u32::try_from(bytes / 1024).unwrap_or(MAX_CONTENT_KIB).clamp(MIN_DOCUMENT_KIB, MAX_CONTENT_KIB)
}

/// Makes a permit count what the content does, if that is less.
fn give_back_surplus(permit: &mut OwnedSemaphorePermit, bytes: u64) {
    let surplus = permit.num_permits().saturating_sub(kib(bytes) as usize);
    drop(permit.split(surplus));
}

/// Starts the threads that prepare and embed loaded documents. They end when either channel is closed.
pub(super) fn start<E: TextEmbedder + 'static>(
    loading: mpsc::Receiver<Outcome<Loading>>,
    preparation: Preparation,
    embedder: E,
) -> mpsc::Receiver<Outcome<Batch>> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let (prepared, to_compare) = blocking::sync_channel(threads);
    let (compared, to_embed) = blocking::sync_channel(threads);
    let (embedded, to_write) = mpsc::channel(1);
    let (loading, preparation) = (Arc::new(Mutex::new(loading)), Arc::new(preparation));
    for _ in 0..threads {
        let (loading, preparation) = (Arc::clone(&loading), Arc::clone(&preparation));
        let (prepared, embedder) = (prepared.clone(), embedder.clone());
        thread::spawn(move || prepare_all(&loading, &preparation, &embedder, &prepared));
    }
    thread::spawn(move || refuse_alike(&to_compare, &compared));
    thread::spawn(move || embed_all(&to_embed, &embedder, &embedded));
    to_write
}

fn prepare_all(
    loading: &Mutex<mpsc::Receiver<Outcome<Loading>>>,
    preparation: &Preparation,
    embedder: &impl TextEmbedder,
    sender: &blocking::SyncSender<Outcome<Box<Prepared>>>,
) {
    loop {
        let next = loading.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let outcome = match next {
            Some(Ok((write, content, memory))) => {
                let spare = write.clone();
                let prepare =
                    || preparation.prepare(write, content, memory, &|text| embedder.count_tokens(text));
                // A panic for one document must not end the thread that prepares the others.
                catch_unwind(AssertUnwindSafe(prepare))
                    .unwrap_or_else(|_| Err(failed(spare, PANIC_REASON.to_owned(), None)))
            }
            Some(Err(settled)) => Err(settled),
            None => return,
        };
        if sender.send(outcome).is_err() {
            return;
        }
    }
}

fn embed_all<E: TextEmbedder>(
    prepared: &blocking::Receiver<Outcome<Box<Prepared>>>,
    embedder: &E,
    sender: &mpsc::Sender<Outcome<Batch>>,
) {
    let mut embedding = BatchBuilder::new(embedder);
    let send = |outcome: Outcome<Batch>| sender.blocking_send(outcome).is_ok();
    loop {
        let next = match prepared.try_recv() {
            Ok(outcome) => Some(outcome),
            // Embed an incomplete batch rather than wait for more documents.
            Err(TryRecvError::Empty) if !embedding.is_empty() => {
                if !send(Ok(embedding.take())) {
                    return;
                }
                continue;
            }
            Err(_) => prepared.recv().ok(),
        };
        let is_open = match next {
            Some(Ok(document)) => embedding.add(*document, &mut |batch| send(Ok(batch))),
            Some(Err(settled)) => send(Err(settled)),
            None if embedding.is_empty() => false,
            None => send(Ok(embedding.take())),
        };
        if !is_open {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_page_counts_its_size_once_that_is_known_but_no_more_than_was_reserved() {
        let memory = Arc::new(Semaphore::new(MAX_CONTENT_KIB as usize));
        let left_after = async |bytes: u64| {
            let mut permit = Arc::clone(&memory).acquire_many_owned(UNKNOWN_DOCUMENT_KIB).await.unwrap();
            give_back_surplus(&mut permit, bytes);
            MAX_CONTENT_KIB as usize - memory.available_permits()
        };
        const MIB: u64 = 1024 * 1024;
        assert_eq!(left_after(0).await, MIN_DOCUMENT_KIB as usize);
        assert_eq!(left_after(3 * MIB).await, 3 * 1024);
        assert_eq!(left_after(50 * MIB).await, UNKNOWN_DOCUMENT_KIB as usize);
        assert_eq!(memory.available_permits(), MAX_CONTENT_KIB as usize);
    }
}
