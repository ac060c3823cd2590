//! The priority queue's pure state against a slow, obvious model.

use std::time::Duration;

use bench_core::workqueue::{Got, PriorityAdded, PriorityQueueState, Ready};
use proptest::prelude::*;

use crate::model::priority_queue::PriorityQueueModel;

#[derive(Debug, Clone)]
enum Op {
    Add(u8, i32, Option<u64>),
    MakeReady(u64),
    Get,
    Done(u8),
    ShutDown,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        40 => (0..6_u8, -1..3_i32, prop::option::of(1..6_u64))
            .prop_map(|(item, priority, after)| Op::Add(item, priority, after)),
        20 => (0..4_u64).prop_map(Op::MakeReady),
        30 => Just(Op::Get),
        20 => (0..6_u8).prop_map(Op::Done),
        1 => Just(Op::ShutDown),
    ]
}

fn check(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let mut queue = PriorityQueueState::new();
    let mut model = PriorityQueueModel::default();
    let mut now = 0;
    for op in ops {
        match op {
            Op::Add(item, priority, after) => {
                let ready_at = after.map(|after| now + after);
                let before = (model.ready(), model.waiting());
                model.add(item, priority, ready_at);
                let added = queue.add(item, priority, ready_at.map(Duration::from_millis));
                let expected_ready = model.ready() > before.0;
                prop_assert_eq!(added == PriorityAdded::Ready, expected_ready);
                prop_assert_eq!(added == PriorityAdded::ShutDown, model.closed);
            }
            Op::MakeReady(step) => {
                now += step;
                let ready = queue.make_ready(Duration::from_millis(now));
                let ready = ready.map(|(ready, instant)| (ready.item, instant));
                let expected = model.make_ready(now);
                prop_assert_eq!(
                    ready,
                    expected.map(|(item, instant)| (item, Duration::from_millis(instant)))
                );
            }
            Op::Get => {
                let expected = match model.get() {
                    Some((item, priority)) => Got::Item(Ready { item, priority }),
                    None if model.closed => Got::ShutDown,
                    None => Got::Empty,
                };
                prop_assert_eq!(queue.get(), expected);
            }
            Op::Done(item) => prop_assert_eq!(queue.done(&item), model.done(item)),
            Op::ShutDown => {
                queue.shut_down();
                model.closed = true;
            }
        }
        prop_assert_eq!(queue.len(), model.ready());
        prop_assert_eq!(queue.waiting(), model.waiting());
        prop_assert_eq!(queue.available(), model.available());
        prop_assert_eq!(
            queue.next_ready_at(),
            model.next_ready_at().map(Duration::from_millis)
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::model::cases()))]

    #[test]
    fn the_highest_priority_comes_first_and_among_equals_who_has_had_it_for_longest(
        ops in prop::collection::vec(op(), 0..80)
    ) {
        check(ops)?;
    }
}
