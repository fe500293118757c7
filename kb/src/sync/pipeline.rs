//! The way of documents from their source to the writer: loaded (asynchronously), prepared (threads), embedded (all
//! cores). Each stage works on the next documents while later stages are busy, and waits when those fall behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self as blocking, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::embedding::{Embedding, Step};
use super::plan::Write;
use super::prepare::{Outcome, Preparation, Settled, failed};
use crate::embed::TextEmbedder;
use crate::source::{Content, LoadError, Loaded, Source};
use crate::supabase::{Client, SupabaseError};

/// Files read at the same time: a slow line is used well, and nobody is overrun.
const LOADS: usize = 4;

/// Content that the stages hold together, in KiB; one file may take all of it.
const MEMORY_KIB: u32 = 64 * 1024;

/// What any document is counted as, whatever its size: text unpacks to more than its file.
const LEAST_KIB: u32 = 1024;

/// What a page of unknown size is counted as.
const UNKNOWN_KIB: u32 = 8 * 1024;

/// Threads that prepare documents, each of which may have a reader in another process.
const MOST_THREADS: usize = 4;

/// What is said of a document that the program has a mistake with.
const BROKEN: &str = "cannot be read because of a mistake in kb; please report it";

/// A document on its way from its source to the threads that prepare it.
pub(super) enum Loading {
    /// To be prepared.
    Content(Write, Content, OwnedSemaphorePermit),
    /// Nothing is left to be done but to note it.
    Settled(Settled),
}

/// Loads documents in their order, some ahead, until the receiver is closed.
pub(super) async fn load(
    writes: Vec<Write>,
    source: &Source,
    client: &Client,
    sender: mpsc::Sender<Loading>,
) -> Result<(), SupabaseError> {
    let memory = Arc::new(Semaphore::new(MEMORY_KIB as usize));
    let load_one = |write: Write| {
        let memory = Arc::clone(&memory);
        async move {
            let kib = match write.item.size {
                0 => UNKNOWN_KIB,
                bytes => u32::try_from(bytes / 1024).unwrap_or(MEMORY_KIB),
            };
            let permit = memory.acquire_many_owned(kib.clamp(LEAST_KIB, MEMORY_KIB)).await;
            let loaded = source.load(&write.item, write.known_version.as_deref(), client).await;
            (write, loaded, permit)
        }
    };
    let mut loads = stream::iter(writes).map(load_one).buffered(LOADS);
    while let Some((write, loaded, permit)) = loads.next().await {
        // Nobody closes the semaphore.
        let Ok(permit) = permit else { break };
        let loading = match loaded {
            Ok(Loaded::Content(content)) => Loading::Content(write, content, permit),
            Ok(Loaded::Unchanged) => Loading::Settled(Settled::Unchanged(write, None)),
            Err(LoadError::Gone(reason)) => Loading::Settled(Settled::Gone(write, reason)),
            Err(LoadError::Failed(reason)) => Loading::Settled(Settled::Failed(write, reason)),
            Err(LoadError::Supabase(error)) => return Err(error),
        };
        if sender.send(loading).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Starts the threads that take what is loaded and give what is to be written. They end when there is nothing left to
/// take, or nobody to give it to.
pub(super) fn start<E: TextEmbedder + 'static>(
    loading: mpsc::Receiver<Loading>,
    preparation: Preparation,
    embedder: E,
) -> mpsc::Receiver<Step> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let (prepared, to_embed) = blocking::sync_channel(threads);
    let (embedded, to_write) = mpsc::channel(1);
    let (loading, preparation) = (Arc::new(Mutex::new(loading)), Arc::new(preparation));
    for _ in 0..threads {
        let (loading, preparation) = (Arc::clone(&loading), Arc::clone(&preparation));
        let (prepared, embedder) = (prepared.clone(), embedder.clone());
        thread::spawn(move || prepare_all(&loading, &preparation, &embedder, &prepared));
    }
    thread::spawn(move || embed_all(&to_embed, &embedder, &embedded));
    to_write
}

fn prepare_all(
    loading: &Mutex<mpsc::Receiver<Loading>>,
    preparation: &Preparation,
    embedder: &impl TextEmbedder,
    sender: &blocking::SyncSender<Outcome>,
) {
    loop {
        let next = loading.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let outcome = match next {
            Some(Loading::Content(write, content, memory)) => {
                let spare = write.clone();
                let prepare =
                    || preparation.prepare(write, content, memory, &|text| embedder.count_tokens(text));
                // One document must not cost the others their reader.
                catch_unwind(AssertUnwindSafe(prepare)).unwrap_or_else(|_| failed(spare, BROKEN.to_owned()))
            }
            Some(Loading::Settled(settled)) => Outcome::Settled(Box::new(settled)),
            None => return,
        };
        if sender.send(outcome).is_err() {
            return;
        }
    }
}

fn embed_all<E: TextEmbedder>(
    prepared: &blocking::Receiver<Outcome>,
    embedder: &E,
    sender: &mpsc::Sender<Step>,
) {
    let mut embedding = Embedding::new(embedder);
    let send = |step: Step| sender.blocking_send(step).is_ok();
    loop {
        let next = match prepared.try_recv() {
            Ok(outcome) => Some(outcome),
            // Rather than wait for more with a batch that is not full, embed what there is.
            Err(TryRecvError::Empty) if !embedding.is_empty() => {
                if !send(Step::Batch(embedding.take())) {
                    return;
                }
                continue;
            }
            Err(_) => prepared.recv().ok(),
        };
        let goes_on = match next {
            Some(Outcome::Prepared(document)) => {
                embedding.add(*document, &mut |batch| send(Step::Batch(batch)))
            }
            Some(Outcome::Settled(settled)) => send(Step::Settled(settled)),
            None if embedding.is_empty() => false,
            None => send(Step::Batch(embedding.take())),
        };
        if !goes_on {
            return;
        }
    }
}
