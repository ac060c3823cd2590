//! The locked driver of every generation: threads that write and pop, and what becomes of a closed queue.

use std::{collections::HashMap, sync::Arc, thread};

use bench_core::{
    api::{Object, ObjectKey, ResourceVersion},
    cache::{
        AnyQueue, Controller, Indexer, KnownObjects, NoObserver, Popped, PoppedItem, QueueHandle,
        QueueKind, QueueLength,
    },
};

use crate::scripted::object;

type Handle = QueueHandle<Object, AnyQueue<Object>, NoObserver>;

fn handle(kind: QueueKind) -> (Handle, Arc<Indexer<Object>>) {
    let indexer = Arc::new(Indexer::new(HashMap::new()));
    let known_objects: Arc<dyn KnownObjects<Object>> = Arc::<Indexer<Object>>::clone(&indexer);
    let queue = AnyQueue::for_informer(kind, known_objects);
    (QueueHandle::new(queue, NoObserver), indexer)
}

fn names(popped: &Popped<Object>) -> Vec<String> {
    let deltas = popped.item.deltas().iter();
    let name = |key: ObjectKey| key.name().to_owned();
    deltas
        .map(|delta| delta.object.key().map(name).expect("named"))
        .collect()
}

/// `TestRealFIFO_basic`: two producers at once.
#[test]
fn each_producers_objects_are_popped_in_its_order() {
    const EACH: usize = 500;
    for kind in QueueKind::ALL {
        let (queue, _) = handle(kind);
        let write = |producer: &'static str| {
            let queue = queue.clone();
            move || {
                for number in 0..EACH {
                    let name = format!("{producer}{number:03}");
                    queue.add(object(&name, 1)).expect("named");
                }
            }
        };
        let mut popped = Vec::new();
        thread::scope(|scope| {
            scope.spawn(write("left"));
            scope.spawn(write("right"));
            while popped.len() < 2 * EACH {
                assert!(queue.pop_blocking(|item| popped.extend(names(item))));
            }
        });
        for producer in ["left", "right"] {
            let of_producer = popped.iter().filter(|name| name.starts_with(producer));
            assert_eq!(of_producer.clone().count(), EACH, "{}", kind.name());
            assert!(of_producer.is_sorted(), "{}", kind.name());
        }
    }
}

/// `TestRealFIFO_PopShouldUnblockWhenClosed`.
#[test]
fn closing_an_empty_queue_ends_every_pop_that_waits() {
    for kind in QueueKind::ALL {
        let (queue, _) = handle(kind);
        let pops: Vec<_> = (0..10)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || queue.pop_blocking(|_| unreachable!("it is empty")))
            })
            .collect();
        queue.close();
        for pop in pops {
            assert!(!pop.join().expect("no panic"), "{}", kind.name());
        }
    }
}

#[test]
fn a_closed_queue_still_hands_out_what_it_holds_and_takes_writes() {
    for kind in QueueKind::ALL {
        let (queue, _) = handle(kind);
        queue.close();
        queue.add(object("a", 1)).unwrap();
        assert!(queue.pop_blocking(|item| {
            assert_eq!(names(item), ["a"]);
            assert_eq!((queue.length().deltas, queue.length().in_process), (0, 1));
        }));
        assert_eq!(queue.length(), QueueLength::default());
        assert!(!queue.pop_blocking(|_| unreachable!("it is empty")));
    }
}

#[test]
fn whole_lists_and_resyncs_count_until_they_were_processed_where_they_are_one_entry() {
    for kind in QueueKind::ALL {
        let (queue, _) = handle(kind);
        queue
            .replace(vec![object("a", 1)], &ResourceVersion::from(1))
            .unwrap();
        queue.resync().unwrap();
        let whole = match kind {
            QueueKind::AtomicFifo => [2, 1],
            _ => [0, 0],
        };
        assert_eq!(queue.length().whole, whole[0], "{}", kind.name());
        for left in whole {
            let _ = queue.try_pop(|_| assert_eq!(queue.length().whole, left));
        }
        assert_eq!(queue.length(), QueueLength::default(), "{}", kind.name());
    }
}

/// Up to 0.32 the process loop ends at a closed and empty queue; later it looks before each pop whether it is to stop.
#[tokio::test]
async fn a_controller_works_off_a_closed_delta_fifo_and_leaves_the_others() {
    for kind in QueueKind::ALL {
        let expected = match kind {
            QueueKind::DeltaFifo => 2,
            _ => 0,
        };
        for blocking in ["thread", "task"] {
            let (queue, indexer) = handle(kind);
            queue.add(object("a", 1)).unwrap();
            queue.add(object("b", 1)).unwrap();
            queue.close();
            let mut processed = 0;
            let process = |_: &Popped<Object>, _: &Indexer<Object>| {
                processed += 1;
                Ok(())
            };
            let controller = Controller::new(queue.clone(), indexer, process);
            match blocking {
                "thread" => controller.run_blocking(),
                _ => controller.run().await,
            }
            assert_eq!(processed, expected, "{} as a {blocking}", kind.name());
            assert_eq!(queue.length().keys, 2 - expected);
        }
    }
}

#[test]
fn the_item_in_progress_is_finished_when_the_queue_is_closed() {
    for kind in QueueKind::ALL {
        let (queue, indexer) = handle(kind);
        queue.add(object("a", 1)).unwrap();
        let closer = queue.clone();
        let mut closing = Vec::new();
        let mut processed = 0;
        let process = |popped: &Popped<Object>, _: &Indexer<Object>| {
            assert!(matches!(
                popped.item,
                PoppedItem::Deltas(_) | PoppedItem::Batch(_)
            ));
            // From another thread, since closing waits for the lock.
            let closer = closer.clone();
            closing.push(thread::spawn(move || closer.close()));
            processed += 1;
            Ok(())
        };
        Controller::new(queue, indexer, process).run_blocking();
        assert_eq!(processed, 1);
        for closing in closing {
            closing.join().expect("no panic");
        }
    }
}
