//! The work queue's pure states against slow, obvious models.

use std::{collections::HashSet, time::Duration};

use bench_core::workqueue::{Added, DelayingState, Got, WorkQueueState};
use proptest::prelude::*;

use crate::model::workqueue::{DelayingModel, WorkQueueModel};

#[derive(Debug, Clone)]
enum Op {
    Add(u8),
    Get,
    Done(u8),
    ShutDown,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        40 => (0..5_u8).prop_map(Op::Add),
        30 => Just(Op::Get),
        28 => (0..5_u8).prop_map(Op::Done),
        1 => Just(Op::ShutDown),
    ]
}

#[derive(Debug, Clone)]
enum DelayOp {
    Add(u8, u64),
    PopReady(u64),
}

fn delay_op() -> impl Strategy<Value = DelayOp> {
    prop_oneof![
        3 => (0..5_u8, 0..20_u64).prop_map(|(item, delay)| DelayOp::Add(item, delay)),
        2 => (0..8_u64).prop_map(DelayOp::PopReady),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::model::cases()))]

    #[test]
    fn an_item_is_never_with_two_workers_adds_collapse_and_the_order_is_first_in_first_out(
        ops in prop::collection::vec(op(), 0..60)
    ) {
        let mut queue = WorkQueueState::new();
        let mut model = WorkQueueModel::default();
        let mut with_workers = HashSet::new();
        for op in ops {
            match op {
                Op::Add(item) => {
                    let added = queue.add(item);
                    prop_assert_eq!(added == Added::ShutDown, model.closed);
                    model.add(item);
                }
                Op::Get => {
                    let expected = match model.get() {
                        Some(item) => Got::Item(item),
                        None if model.closed => Got::ShutDown,
                        None => Got::Empty,
                    };
                    let got = queue.get();
                    prop_assert_eq!(&got, &expected);
                    if let Got::Item(item) = got {
                        prop_assert!(with_workers.insert(item), "two workers have {}", item);
                    }
                }
                Op::Done(item) => {
                    queue.done(&item);
                    model.done(item);
                    with_workers.remove(&item);
                }
                Op::ShutDown => {
                    queue.shut_down();
                    model.closed = true;
                }
            }
            prop_assert_eq!(queue.len(), model.waiting());
            prop_assert_eq!(queue.processing(), model.processed().len());
            prop_assert_eq!(queue.is_shutting_down(), model.closed);
        }
    }

    #[test]
    fn a_delayed_item_comes_once_at_the_earliest_instant_it_was_given(
        ops in prop::collection::vec(delay_op(), 0..60)
    ) {
        let mut delaying = DelayingState::new();
        let mut model = DelayingModel::default();
        let mut now = 0;
        for op in ops {
            match op {
                DelayOp::Add(item, delay) => {
                    delaying.add(item, Duration::from_millis(now + delay));
                    model.add(item, now + delay);
                }
                DelayOp::PopReady(step) => {
                    now += step;
                    let popped = delaying.pop_ready(Duration::from_millis(now));
                    prop_assert_eq!(popped, model.pop_ready(now));
                }
            }
            prop_assert_eq!(delaying.next_ready_at(), model.next().map(Duration::from_millis));
            prop_assert_eq!(delaying.len(), model.len());
        }
    }
}
