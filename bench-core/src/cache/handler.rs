//! The user's callbacks.

use std::{future::Future, sync::Arc};

use super::DeltaObject;

/// Whether an object was in the informer's first list (`isInInitialList` upstream).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddOrigin {
    /// It was, or the handler came later and is being told of the cache.
    InitialList,
    /// It came by a watch or a relist.
    Live,
}

/// The callbacks of one handler of a shared informer. Calls are made one after another, in the order of the cache's changes;
/// a slow handler delays nobody else and its notifications pile up.
pub trait ResourceEventHandler<T>: Send + 'static {
    /// An object is new to the cache.
    fn on_add(&mut self, object: Arc<T>, origin: AddOrigin) -> impl Future<Output = ()> + Send;

    /// An object changed, or is delivered again by a resync or relist (then the versions are equal).
    fn on_update(&mut self, old: Arc<T>, new: Arc<T>) -> impl Future<Output = ()> + Send;

    /// An object is gone; see [`DeltaObject::FinalStateUnknown`].
    fn on_delete(&mut self, object: DeltaObject<T>) -> impl Future<Output = ()> + Send;
}

/// The callbacks of a plain informer: called inline while the queue pops. Unless the generation unlocks the queue for it (see
/// [`super::LockWhileProcessing`]), reflector and resync wait for whatever they cost.
pub trait InlineEventHandler<T>: Send + 'static {
    /// An object is new to the cache.
    fn on_add(&mut self, object: &Arc<T>, origin: AddOrigin);

    /// An object changed, or is delivered again.
    fn on_update(&mut self, old: &Arc<T>, new: &Arc<T>);

    /// An object is gone.
    fn on_delete(&mut self, object: &DeltaObject<T>);
}
