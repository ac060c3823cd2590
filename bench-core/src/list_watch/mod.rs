//! The port to an API server: the trait, its HTTP client, frames and pages.

mod error;
mod frames;
mod http_list_watch;
mod lister_watcher;
mod pager;

pub use error::{ApiError, Recovery};
pub use frames::{FrameError, FrameSplitter, decode_event, decode_list};
pub use http_list_watch::{HttpListWatch, HttpWatch, RefusedWatches};
pub use lister_watcher::{ListerWatcher, WatchStream};
pub use pager::{PageList, PagedList, Pager, Paging};
