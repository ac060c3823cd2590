//! What a DELETE does to an object (apiserver's `registry/rest/delete.go` and `registry/generic/registry/store.go`).

use serde_json::Value;

use crate::{
    failure::Failure,
    write::{
        definitions,
        delete_options::{DeleteOptions, Propagation},
        metadata::{self, FOREGROUND_FINALIZER, ORPHAN_FINALIZER},
        rules::ServedResource,
        timestamp::Timestamp,
    },
};

/// What a delete does to the store.
#[derive(Debug, PartialEq)]
pub(crate) enum Deletion {
    /// Marks the object for deletion and leaves it to finalizers or to a kubelet. The mark may be there already.
    Mark(Value),
    /// The same, and removes it at once.
    MarkAndRemove(Value),
    /// Nothing: it is under graceful deletion already, and not to be gone sooner.
    Pending,
    Remove,
}

/// Decides.
///
/// # Errors
/// 409 if a precondition does not hold.
pub(crate) fn delete(
    served: &ServedResource,
    current: &Value,
    options: &DeleteOptions,
    now: Timestamp,
) -> Result<Deletion, Failure> {
    check_preconditions(served, current, options)?;
    if served.is("", "namespaces") {
        return Ok(delete_namespace(current, options, now));
    }
    let mut object = current.clone();
    if served.is(definitions::GROUP, definitions::PLURAL) && !metadata::is_terminating(current) {
        definitions::mark_terminating(&mut object, now);
    }
    let graceful = if served.is("", "pods") {
        mark_pod(&mut object, options, now)
    } else {
        Graceful::NotSupported
    };
    let seconds = match graceful {
        Graceful::Pending => return Ok(Deletion::Pending),
        Graceful::NotSupported => None,
        Graceful::Marked { seconds } => Some(seconds),
    };
    set_propagation(served, &mut object, options);
    let has_finalizers = !metadata::finalizers(&object).is_empty();
    Ok(match (seconds, has_finalizers) {
        (None, true) => {
            mark_now(&mut object, now);
            Deletion::Mark(object)
        }
        (None, false) => Deletion::Remove,
        (Some(_), true) => Deletion::Mark(object),
        (Some(seconds), false) if seconds > 0 => Deletion::Mark(object),
        (Some(_), false) => Deletion::MarkAndRemove(object),
    })
}

fn check_preconditions(
    served: &ServedResource,
    current: &Value,
    options: &DeleteOptions,
) -> Result<(), Failure> {
    let name = metadata::text(current, "name");
    // The kind where other conflicts have the plural, as upstream.
    let mut by_kind = served.resource.clone();
    by_kind.plural.clone_from(&by_kind.kind);
    let uid = metadata::text(current, "uid");
    if let Some(asked) = options.uid.as_deref().filter(|asked| *asked != uid) {
        let why = format!(
            "the UID in the precondition ({asked}) does not match the UID in record ({uid}). The object might have been \
             deleted and then recreated"
        );
        return Err(Failure::conflict(&by_kind, name, &why));
    }
    let version = metadata::text(current, "resourceVersion");
    let asked = options.resource_version.as_deref();
    if let Some(asked) = asked.filter(|asked| *asked != version) {
        let why = format!(
            "the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion in record \
             ({version}). The object might have been modified"
        );
        return Err(Failure::conflict(&by_kind, name, &why));
    }
    Ok(())
}

enum Graceful {
    Marked {
        seconds: i64,
    },
    NotSupported,
    /// It goes on as it was.
    Pending,
}

fn mark_pod(pod: &mut Value, options: &DeleteOptions, now: Timestamp) -> Graceful {
    let asked = options
        .grace_period_seconds
        .map(|seconds| if seconds < 0 { 1 } else { seconds });
    if metadata::is_terminating(pod) {
        return shorten_grace(pod, asked, now);
    }
    let default = pod
        .pointer("/spec/terminationGracePeriodSeconds")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    let is_scheduled = pod
        .pointer("/spec/nodeName")
        .and_then(Value::as_str)
        .is_some_and(|node| !node.is_empty());
    let has_ended = matches!(
        pod.pointer("/status/phase").and_then(Value::as_str),
        Some("Failed" | "Succeeded")
    );
    let seconds = match asked.unwrap_or(default) {
        _ if !is_scheduled || has_ended => 0,
        seconds if seconds < 0 => 1,
        seconds => seconds,
    };
    metadata::bump_generation(pod);
    set_deletion(pod, now.plus_seconds(seconds), seconds);
    Graceful::Marked { seconds }
}

/// A pod under deletion: its grace may only become shorter.
fn shorten_grace(pod: &mut Value, asked: Option<i64>, now: Timestamp) -> Graceful {
    let grace = metadata::integer(pod, "deletionGracePeriodSeconds").unwrap_or(0);
    if grace == 0 {
        return Graceful::NotSupported;
    }
    let Some(mut seconds) = asked.filter(|seconds| *seconds < grace) else {
        return Graceful::Pending;
    };
    let due = metadata::of(pod)
        .get("deletionTimestamp")
        .and_then(Timestamp::parse)
        .unwrap_or(now);
    let mut due = due
        .plus_seconds(grace.saturating_neg())
        .plus_seconds(seconds);
    if due < now {
        due = now;
        seconds = seconds.min(1);
    }
    set_deletion(pod, due, seconds);
    Graceful::Marked { seconds }
}

fn set_deletion(object: &mut Value, due: Timestamp, seconds: i64) {
    let metadata = metadata::of_mut(object);
    metadata.insert("deletionTimestamp".to_owned(), due.value());
    metadata.insert("deletionGracePeriodSeconds".to_owned(), seconds.into());
    metadata::arrange(object);
}

/// Marks what waits for finalizers only.
fn mark_now(object: &mut Value, now: Timestamp) {
    let due = metadata::of(object)
        .get("deletionTimestamp")
        .and_then(Timestamp::parse);
    if due.is_none() {
        metadata::bump_generation(object);
    }
    set_deletion(object, due.map_or(now, |due| due.min(now)), 0);
}

/// Namespaces are only marked: what is in them goes first.
fn delete_namespace(current: &Value, options: &DeleteOptions, now: Timestamp) -> Deletion {
    if metadata::is_terminating(current) {
        let is_finished = current
            .pointer("/spec/finalizers")
            .and_then(Value::as_array)
            .is_none_or(Vec::is_empty);
        return if is_finished && metadata::finalizers(current).is_empty() {
            Deletion::Remove
        } else {
            Deletion::Pending
        };
    }
    let mut namespace = current.clone();
    metadata::of_mut(&mut namespace).insert("deletionTimestamp".to_owned(), now.value());
    namespace["status"]["phase"] = "Terminating".into();
    let finalizers = propagation_finalizers(&namespace, options.propagation);
    metadata::set_finalizers(&mut namespace, &finalizers);
    metadata::arrange(&mut namespace);
    Deletion::Mark(namespace)
}

fn set_propagation(served: &ServedResource, object: &mut Value, options: &DeleteOptions) {
    if !served.supports_propagation() {
        return;
    }
    let has = |name: &str| {
        metadata::finalizers(object)
            .iter()
            .any(|other| other == name)
    };
    let propagation = options.propagation.or_else(|| {
        if has(ORPHAN_FINALIZER) {
            Some(Propagation::Orphan)
        } else if has(FOREGROUND_FINALIZER) {
            Some(Propagation::Foreground)
        } else if served.orphans_by_default() {
            Some(Propagation::Orphan)
        } else {
            None
        }
    });
    let finalizers = propagation_finalizers(object, propagation);
    if finalizers != metadata::finalizers(object) {
        metadata::set_finalizers(object, &finalizers);
        metadata::arrange(object);
    }
}

fn propagation_finalizers(object: &Value, propagation: Option<Propagation>) -> Vec<String> {
    let mut finalizers = metadata::finalizers(object);
    let wanted = match propagation {
        Some(Propagation::Orphan) => Some(ORPHAN_FINALIZER),
        Some(Propagation::Foreground) => Some(FOREGROUND_FINALIZER),
        Some(Propagation::Background) | None => None,
    };
    let is_kept = |name: &str| {
        wanted == Some(name) || !matches!(name, ORPHAN_FINALIZER | FOREGROUND_FINALIZER)
    };
    finalizers.retain(|name| is_kept(name));
    if let Some(wanted) = wanted
        && !finalizers.iter().any(|name| name == wanted)
    {
        finalizers.push(wanted.to_owned());
    }
    finalizers
}
