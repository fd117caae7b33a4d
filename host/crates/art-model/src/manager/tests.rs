use super::*;
use crate::testing::Scripted;
use futures_util::FutureExt;

const MINUTE: Duration = Duration::from_secs(60);

/// A manager of providers that are named by letters: `l` and `k` run on this machine.
struct Fixture {
    manager: Arc<ProviderManager>,
    made: Arc<Mutex<Vec<Arc<Scripted>>>>,
}

fn fixture(max_parallel: usize) -> Fixture {
    let provider = |name: &str| Provider {
        name: name.to_owned(),
        max_parallel,
        local: matches!(name, "l" | "k"),
        ..Provider::fixed(Arc::new(Scripted::new(Vec::new())))
    };
    let names = ["a", "b", "l", "k"];
    let providers = names.map(|name| (name.to_owned(), provider(name))).into();
    let made = Arc::<Mutex<Vec<Arc<Scripted>>>>::default();
    let list = Arc::clone(&made);
    let factory = Box::new(move |_: &Provider, config: &RuntimeProviderConfig| {
        if config.model_id == "broken" {
            return Err(error(ModelErrorCode::ProviderNotConfigured, "cannot be made"));
        }
        let model = Arc::new(Scripted::new(Vec::new()));
        list.lock().unwrap().push(Arc::clone(&model));
        Ok(model as Arc<dyn Model>)
    });
    let manager = Arc::new(ProviderManager::new(providers, &EngineLimits::default(), factory));
    Fixture { manager, made }
}

impl Fixture {
    async fn acquire(&self, name: &str) -> Result<Lease, ModelError> {
        let (provider, model) = name.split_once(':').unwrap_or((name, "m"));
        self.manager.acquire(&RuntimeProviderConfig::new(provider, model)).await
    }

    fn now(&self, name: &str) -> Option<Result<Lease, ModelError>> {
        self.acquire(name).now_or_never()
    }

    fn made(&self) -> usize {
        self.made.lock().unwrap().len()
    }

    fn shutdowns(&self) -> usize {
        let made = self.made.lock().unwrap();
        made.iter().map(|model| model.shutdowns.load(Ordering::SeqCst)).sum()
    }
}

#[tokio::test]
async fn an_unknown_provider_is_refused() {
    let error = fixture(1).acquire("x").await.unwrap_err();
    assert_eq!(error.code, ModelErrorCode::ProviderNotSupported);
}

#[tokio::test]
async fn an_idle_adapter_of_the_same_signature_is_used_again() {
    let fixture = fixture(5);
    drop(fixture.acquire("a").await.unwrap());
    let first = fixture.acquire("a").await.unwrap();
    assert_eq!(fixture.made(), 1);
    let second = fixture.acquire("a").await.unwrap();
    assert_eq!(fixture.made(), 2, "the first is in use");
    drop((first, second));
    drop(fixture.acquire("a:other").await.unwrap());
    assert_eq!((fixture.made(), fixture.shutdowns()), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn an_adapter_that_nobody_used_for_five_minutes_is_shut_down() {
    let fixture = fixture(5);
    drop(fixture.acquire("a").await.unwrap());
    tokio::time::advance(5 * MINUTE - Duration::from_millis(1)).await;
    fixture.manager.sweep(Instant::now());
    assert_eq!(fixture.shutdowns(), 0);
    tokio::time::advance(Duration::from_millis(1)).await;
    drop(fixture.acquire("b").await.unwrap());
    assert_eq!(fixture.shutdowns(), 1);
    drop(fixture.acquire("a").await.unwrap());
    assert_eq!(fixture.made(), 3);
}

#[tokio::test]
async fn no_more_idle_adapters_are_kept_than_calls_can_be_made() {
    let fixture = fixture(2);
    for model in ["a:1", "a:2", "a:3"] {
        drop(fixture.acquire(model).await.unwrap());
    }
    assert_eq!(fixture.shutdowns(), 1);
    drop(fixture.acquire("a:3").await.unwrap());
    assert_eq!(fixture.made(), 3);
}

#[tokio::test]
async fn what_finds_no_place_waits_until_one_is_given_back() {
    let fixture = fixture(1);
    let first = fixture.acquire("a").await.unwrap();
    let mut second = Box::pin(fixture.acquire("a"));
    assert!(second.as_mut().now_or_never().is_none());
    assert!(fixture.now("b").is_some(), "another provider has its own places");
    drop(first);
    assert!(second.await.is_ok());
}

#[tokio::test]
async fn who_waits_longest_is_served_first() {
    let fixture = fixture(1);
    let first = fixture.acquire("a").await.unwrap();
    let mut second = Box::pin(fixture.acquire("a:2"));
    let mut third = Box::pin(fixture.acquire("a:3"));
    assert!(second.as_mut().now_or_never().is_none());
    assert!(third.as_mut().now_or_never().is_none());
    drop(first);
    assert!(third.as_mut().now_or_never().is_none());
    drop(second.await.unwrap());
    assert!(third.await.is_ok());
}

#[tokio::test]
async fn who_stops_waiting_takes_no_place() {
    let fixture = fixture(1);
    let first = fixture.acquire("a").await.unwrap();
    let mut second = Box::pin(fixture.acquire("a"));
    assert!(second.as_mut().now_or_never().is_none());
    drop(first);
    drop(second);
    assert!(fixture.now("a").unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_too_long_is_told_so() {
    let fixture = fixture(1);
    let _first = fixture.acquire("a").await.unwrap();
    let error = fixture.acquire("a").await.unwrap_err();
    assert_eq!(error.code, ModelErrorCode::RateLimited);
    insta::assert_snapshot!(error, @"no place at provider `a` within 30 s; ask for less at a time, or raise its `max_parallel`");
}

#[tokio::test]
async fn a_queue_has_an_end() {
    let fixture = fixture(1);
    let _first = fixture.acquire("a").await.unwrap();
    let mut queue: Vec<_> = (0..100).map(|_| Box::pin(fixture.acquire("a"))).collect();
    for waiting in &mut queue {
        assert!(waiting.as_mut().now_or_never().is_none());
    }
    let error = fixture.now("a").unwrap().unwrap_err();
    insta::assert_snapshot!(error, @"100 calls wait for provider `a` already; try again later");
    queue.pop();
    assert!(fixture.now("a").is_none(), "there is room again");
}

#[tokio::test]
async fn a_model_that_cannot_be_made_takes_no_place() {
    let fixture = fixture(1);
    for name in ["a:broken", "l:broken"] {
        let error = fixture.acquire(name).await.unwrap_err();
        assert_eq!(error.message, "cannot be made");
    }
    assert!(fixture.now("a").unwrap().is_ok());
    assert!(fixture.now("l").unwrap().is_ok());
}

#[tokio::test]
async fn another_local_model_conflicts_with_the_one_in_use() {
    let fixture = fixture(5);
    let _active = fixture.acquire("l").await.unwrap();
    let error = fixture.acquire("k").await.unwrap_err();
    insta::assert_snapshot!(error, @"local model `l:m` is in use, so `k:m` cannot be; wait until it has answered");
}

#[tokio::test(start_paused = true)]
async fn a_call_of_the_local_model_in_use_waits_in_turn() {
    let fixture = fixture(1);
    let active = fixture.acquire("l").await.unwrap();
    let mut second = Box::pin(fixture.acquire("l"));
    assert!(second.as_mut().now_or_never().is_none());
    tokio::time::advance(5 * MINUTE).await;
    assert!(second.as_mut().now_or_never().is_none(), "a local model may be slow");
    drop(active);
    assert!(second.await.is_ok());
    assert_eq!(fixture.made(), 1);
}

#[tokio::test]
async fn as_many_calls_of_a_local_model_are_made_as_its_provider_takes() {
    let fixture = fixture(2);
    let calls = [fixture.acquire("l").await.unwrap(), fixture.acquire("l").await.unwrap()];
    assert!(fixture.now("l").is_none());
    assert!(fixture.now("k").unwrap().is_err());
    drop(calls);
    assert!(fixture.now("k").unwrap().is_ok());
}

#[tokio::test]
async fn another_local_model_does_not_come_in_between() {
    let fixture = fixture(1);
    let active = fixture.acquire("l").await.unwrap();
    let mut second = Box::pin(fixture.acquire("l"));
    assert!(second.as_mut().now_or_never().is_none());
    drop(active);
    assert!(fixture.now("k").unwrap().is_err(), "the second call is the next");
    drop(second);
    assert!(fixture.now("k").unwrap().is_ok(), "it stopped waiting");
}

#[tokio::test]
async fn an_idle_local_model_goes_for_another() {
    let fixture = fixture(5);
    drop(fixture.acquire("l").await.unwrap());
    let _other = fixture.acquire("k").await.unwrap();
    assert_eq!((fixture.made(), fixture.shutdowns()), (2, 1));
}

#[tokio::test]
async fn a_shutdown_wakes_who_waits_and_lets_nobody_in() {
    let fixture = fixture(1);
    drop(fixture.acquire("b").await.unwrap());
    let active = fixture.acquire("a").await.unwrap();
    let mut waiting = Box::pin(fixture.acquire("a"));
    assert!(waiting.as_mut().now_or_never().is_none());
    fixture.manager.shutdown();
    assert_eq!(fixture.shutdowns(), 1, "the idle one");
    insta::assert_snapshot!(waiting.await.unwrap_err(), @"the host is shutting down; no model is called any more");
    assert!(fixture.acquire("b").await.is_err());
    drop(active);
    assert_eq!(fixture.shutdowns(), 2, "the one that was in use");
}
