//! Recorded traces of client-go's work queue (`benches/peers/client-go/corpus/workqueue*.jsonl`) on ours, under the paused
//! clock. The pure parts are compared by `informer-benches`, this is the driver.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bench_core::workqueue::{
    BucketRateLimiter, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter,
    MaxOfRateLimiter, RateLimiter, WithMaxWaitRateLimiter, WorkQueue,
    default_controller_rate_limiter, default_item_based_rate_limiter,
};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::{Instant, advance};

/// A limiter that the test can ask, too.
#[derive(Debug, Clone)]
struct Limiter(Arc<Mutex<Box<dyn RateLimiter<String>>>>);

impl RateLimiter<String> for Limiter {
    fn when(&mut self, item: &String, now: Duration) -> Duration {
        self.0.lock().when(item, now)
    }

    fn forget(&mut self, item: &String) {
        self.0.lock().forget(item);
    }

    fn num_requeues(&self, item: &String) -> u32 {
        self.0.lock().num_requeues(item)
    }
}

struct Replay {
    limiter: Limiter,
    start: Instant,
    queue: WorkQueue<String>,
    processing: Vec<String>,
    drains: Vec<Pin<Box<dyn Future<Output = ()>>>>,
    drained: usize,
}

/// The parameters are those of `benches/peers/client-go/v0.37/workqueue`.
fn limiter(header: &Value) -> Limiter {
    let ms = Duration::from_millis;
    let exponential = || ItemExponentialFailureRateLimiter::new(ms(5), ms(320));
    let fast_slow = || ItemFastSlowRateLimiter::new(ms(5), ms(20), 3);
    let bucket = || BucketRateLimiter::new(7.3, 3);
    let option = header["options"][0].as_str().unwrap_or("");
    let limiter: Box<dyn RateLimiter<String>> = match option {
        "limiter-exponential" => Box::new(exponential()),
        "limiter-fast-slow" => Box::new(fast_slow()),
        "limiter-bucket" => Box::new(bucket()),
        "limiter-max-of" => Box::new(MaxOfRateLimiter::new(vec![
            Box::new(exponential()),
            Box::new(fast_slow()),
            Box::new(bucket()),
        ])),
        "limiter-max-wait" => Box::new(WithMaxWaitRateLimiter::new(exponential(), ms(33))),
        "limiter-item-based" => Box::new(default_item_based_rate_limiter()),
        "" => Box::new(default_controller_rate_limiter()),
        other => panic!("unknown option {other}"),
    };
    Limiter(Arc::new(Mutex::new(limiter)))
}

impl Replay {
    fn new(header: &Value) -> Self {
        let limiter = limiter(header);
        Self {
            queue: WorkQueue::with_rate_limiter(limiter.clone()),
            limiter,
            start: Instant::now(),
            processing: Vec::new(),
            drains: Vec::new(),
            drained: 0,
        }
    }

    /// The outcome as the Go program writes it.
    async fn apply(&mut self, operation: &Value) -> String {
        let item = operation["item"].as_str().unwrap_or("").to_owned();
        let nanoseconds = Duration::from_nanos(operation["nanoseconds"].as_u64().unwrap_or(0));
        let mut result = "ok".to_owned();
        match operation["work"]
            .as_str()
            .expect("every operation has a name")
        {
            "add" => self.queue.add(item),
            "add_after" => self.queue.add_after(item, nanoseconds),
            "add_rate_limited" => self.queue.add_rate_limited(item),
            "forget" => self.queue.forget(&item),
            "requeues" => result = self.queue.num_requeues(&item).to_string(),
            "get" => result = self.get(),
            "done" => result = self.done(&operation["place"]),
            "step" => advance(nanoseconds).await,
            "shut_down" => self.queue.shut_down(),
            "drain" => {
                let queue = self.queue.clone();
                self.drains
                    .push(Box::pin(async move { queue.shut_down_with_drain().await }));
            }
            "when" => {
                let delay = self.limiter.when(&item, self.start.elapsed());
                result = delay.as_nanos().to_string();
            }
            other => panic!("unknown operation {other}"),
        }
        let mut context = Context::from_waker(Waker::noop());
        let before = self.drains.len();
        self.drains
            .retain_mut(|drain| drain.as_mut().poll(&mut context).is_pending());
        self.drained += before - self.drains.len();
        let mut outcome = String::new();
        let result = serde_json::to_string(&result).expect("text can be written");
        write!(
            outcome,
            "{{\"result\":{result},\"len\":{}",
            self.queue.len()
        )
        .expect("text can be written");
        if self.queue.is_shutting_down() {
            outcome.push_str(",\"shutting_down\":true");
        }
        if self.drained > 0 {
            write!(outcome, ",\"drained\":{}", self.drained).expect("text can be written");
        }
        outcome.push('}');
        outcome
    }

    fn get(&mut self) -> String {
        let mut context = Context::from_waker(Waker::noop());
        let mut get = pin!(self.queue.get());
        match get.as_mut().poll(&mut context) {
            Poll::Pending => "empty".to_owned(),
            Poll::Ready(None) => "shut down".to_owned(),
            Poll::Ready(Some(item)) => {
                self.processing.push(item.clone());
                format!("got {item}")
            }
        }
    }

    fn done(&mut self, place: &Value) -> String {
        if self.processing.is_empty() {
            return "nothing".to_owned();
        }
        let place = usize::try_from(place.as_u64().expect("a number")).expect("small");
        let item = self.processing.remove(place % self.processing.len());
        self.queue.done(&item);
        format!("done {item}")
    }
}

#[tokio::test(start_paused = true)]
async fn the_driver_does_what_client_go_did() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/peers/client-go/corpus");
    let mut compared = 0;
    for file in ["workqueue.jsonl", "by-hand.jsonl"] {
        let text = fs::read_to_string(corpus.join(file)).unwrap();
        let mut lines = text.lines();
        let mut replay = None;
        while let (Some(line), Some(expected)) = (lines.next(), lines.next()) {
            let parsed: Value = serde_json::from_str(line).unwrap();
            if parsed.get("trace").is_some() {
                // Other traces are of other queues.
                replay = (parsed["preset"] == "workqueue").then(|| Replay::new(&parsed));
            } else if let Some(replay) = &mut replay {
                let outcome = replay.apply(&parsed).await;
                assert_eq!(outcome, expected, "{line}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 300, "only {compared} operations were found");
}
