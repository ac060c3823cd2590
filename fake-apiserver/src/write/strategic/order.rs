//! The order of a merged list: that of the patch's `$setElementOrder`, with the items that it does not name put where the present
//! list has them.

use serde_json::Value;

/// Orders `merged`, in which every item is one of `present` or of the patch. Without an order it stays as it is.
pub(super) fn arrange(
    merged: Vec<Value>,
    present: &[Value],
    order: Option<&Value>,
    key: Option<&str>,
) -> Vec<Value> {
    let Some(Value::Array(order)) = order else {
        return merged;
    };
    let identity = |item: &Value| match key {
        Some(key) => item.get(key).cloned().unwrap_or(Value::Null),
        None => item.clone(),
    };
    let order: Vec<Value> = order.iter().map(identity).collect();
    let place_in = |list: &[Value], item: &Value| {
        let wanted = identity(item);
        list.iter().position(|other| *other == wanted)
    };
    let (mut named, others): (Vec<Value>, Vec<Value>) = merged
        .into_iter()
        .partition(|item| place_in(&order, item).is_some());
    named.sort_by_key(|item| place_in(&order, item));
    let present: Vec<Value> = present.iter().map(identity).collect();
    let mut from = 0;
    for other in others {
        let place = place_in(&present, &other);
        let is_later = |item: &Value| place_in(&present, item) > place;
        let at = named[from..].iter().position(is_later);
        let at = at.map_or(named.len(), |at| from + at);
        named.insert(at, other);
        from = at + 1;
    }
    named
}
