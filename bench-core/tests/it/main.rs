//! Tests of the whole crate, by component.

mod delta_fifo;
mod delta_fifo_model;
mod http_list_watch;
mod http_retries;
mod indexer;
mod informer;
mod instruments;
mod model;
mod priority_queue;
mod priority_queue_model;
mod reflector;
mod reflector_errors;
mod reflector_lines;
mod reflector_lists;
mod scripted;
mod shared_informer;
mod streaming_list;
mod streaming_list_marks;
mod tidy;
mod verify;
mod workqueue;
mod workqueue_metrics;
mod workqueue_model;
mod workqueue_rate_limiters;
mod workqueue_shutdown;
