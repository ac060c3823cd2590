//! Servers without a socket, for benches of whole informers.

use std::sync::Arc;

use bench_core::{
    api::{ListOptions, ListPage, Object, ResourceVersion, WatchEvent, WatchOptions},
    list_watch::{ApiError, ListerWatcher, WatchStream},
};
use parking_lot::Mutex;
use tokio::sync::mpsc;

type Events = mpsc::UnboundedReceiver<WatchEvent<Object>>;

/// A lister-watcher whose list is fixed and whose first watch yields what is sent to it: no HTTP, no decoding.
#[derive(Debug)]
pub struct Fed {
    list: Vec<Arc<Object>>,
    events: Mutex<Option<Events>>,
}

/// The watch of a [`Fed`]; those after the first stay silent.
#[derive(Debug)]
pub struct FedWatch(Option<Events>);

impl Fed {
    /// Lists `list`; what is sent becomes the watch's events, and dropping the sender ends the watch.
    pub fn new(list: Vec<Arc<Object>>) -> (Self, mpsc::UnboundedSender<WatchEvent<Object>>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let events = Mutex::new(Some(receiver));
        (Self { list, events }, sender)
    }
}

impl ListerWatcher<Object> for Fed {
    type Watch = FedWatch;

    async fn list(&self, _options: &ListOptions) -> Result<ListPage<Object>, ApiError> {
        Ok(ListPage {
            resource_version: ResourceVersion::from(1),
            continue_token: String::new(),
            items: self.list.clone(),
        })
    }

    async fn watch(&self, _options: &WatchOptions) -> Result<FedWatch, ApiError> {
        Ok(FedWatch(self.events.lock().take()))
    }
}

impl WatchStream<Object> for FedWatch {
    async fn next(&mut self) -> Option<Result<WatchEvent<Object>, ApiError>> {
        match &mut self.0 {
            Some(events) => events.recv().await.map(Ok),
            None => std::future::pending().await,
        }
    }
}
