//! Tests of the whole crate, by component.

mod atomic_fifo;
mod delta_fifo;
mod delta_fifo_model;
mod event_queues_model;
mod generations;
mod http_list_watch;
mod indexer;
mod informer;
mod instruments;
mod model;
mod process;
mod queue_handle;
mod real_fifo;
mod reflector;
mod rendering;
mod scripted;
mod shared_informer;
mod tidy;
mod verify;
mod workqueue;
mod workqueue_client_go;
mod workqueue_model;
mod workqueue_rate_limiters;
