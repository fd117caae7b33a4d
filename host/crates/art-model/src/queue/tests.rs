use super::*;
use crate::testing::ScriptedModel;
use futures_util::FutureExt;

const MINUTE: Duration = Duration::from_secs(60);

/// A queue of calls to two local providers and to two that are not local.
struct Fixture {
    queue: CallQueue,
    providers: BTreeMap<String, Provider>,
}

/// Creates the queue. Each provider has `max_parallel` slots.
fn fixture(max_parallel: usize) -> Fixture {
    let provider = |name: &str| Provider {
        name: name.to_owned(),
        max_parallel,
        local: name.starts_with("local"),
        ..Provider::in_process(Arc::new(ScriptedModel::new(Vec::new())))
    };
    let names = ["remote", "remote2", "local", "local2"];
    let providers = BTreeMap::from(names.map(|name| (name.to_owned(), provider(name))));
    Fixture {
        queue: CallQueue::new(&providers, &EngineLimits::default()),
        providers,
    }
}

impl Fixture {
    /// Waits for a slot for a call of the model `name`: `PROVIDER:MODEL`, or `PROVIDER` for the model `m` of the provider.
    async fn acquire(&self, name: &str) -> Result<Slot, ModelError> {
        let (provider, model) = name.split_once(':').unwrap_or((name, "m"));
        let model = RuntimeProviderConfig::new(provider, model);
        Ok(self.queue.acquire(&self.providers[provider], &model).await?)
    }

    /// Returns the result of [`Fixture::acquire`], or `None` if the call has to wait.
    fn try_acquire(&self, name: &str) -> Option<Result<Slot, ModelError>> {
        self.acquire(name).now_or_never()
    }
}

#[tokio::test]
async fn a_call_without_a_free_slot_waits_for_one() {
    let fixture = fixture(1);
    let first = fixture.acquire("remote").await.unwrap();
    let mut second = Box::pin(fixture.acquire("remote"));
    assert!(second.as_mut().now_or_never().is_none());
    assert!(
        fixture.try_acquire("remote2").is_some(),
        "another provider has its own slots"
    );
    drop(first);
    assert!(second.await.is_ok());
}

#[tokio::test]
async fn waiting_calls_are_admitted_in_order() {
    let fixture = fixture(1);
    let first = fixture.acquire("remote").await.unwrap();
    let mut second = Box::pin(fixture.acquire("remote"));
    let mut third = Box::pin(fixture.acquire("remote"));
    assert!(second.as_mut().now_or_never().is_none());
    assert!(third.as_mut().now_or_never().is_none());
    drop(first);
    assert!(third.as_mut().now_or_never().is_none());
    drop(second.await.unwrap());
    assert!(third.await.is_ok());
}

#[tokio::test]
async fn a_dropped_waiting_call_takes_no_slot() {
    let fixture = fixture(1);
    let first = fixture.acquire("remote").await.unwrap();
    let mut second = Box::pin(fixture.acquire("remote"));
    assert!(second.as_mut().now_or_never().is_none());
    drop(first);
    drop(second);
    assert!(fixture.try_acquire("remote").unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_too_long_fails() {
    let fixture = fixture(1);
    let _first = fixture.acquire("remote").await.unwrap();
    let error = fixture.acquire("remote").await.unwrap_err();
    assert_eq!(error.code, ModelErrorCode::RateLimited);
    insta::assert_snapshot!(error, @"no free slot at provider `remote` within 30 s; send fewer calls at a time, or raise its `max_parallel`");
}

#[tokio::test]
async fn a_full_queue_refuses_calls() {
    let fixture = fixture(1);
    let _first = fixture.acquire("remote").await.unwrap();
    let max_waiting = EngineLimits::default().max_queue;
    let mut waiting_calls: Vec<_> = (0..max_waiting).map(|_| Box::pin(fixture.acquire("remote"))).collect();
    for waiting in &mut waiting_calls {
        assert!(waiting.as_mut().now_or_never().is_none());
    }
    let error = fixture.try_acquire("remote").unwrap().unwrap_err();
    insta::assert_snapshot!(error, @"100 calls already wait for provider `remote`; try again later");
    waiting_calls.pop();
    assert!(fixture.try_acquire("remote").is_none(), "the queue has room again");
}

#[tokio::test]
async fn another_local_model_is_refused_while_one_is_in_use() {
    let fixture = fixture(5);
    let _active = fixture.acquire("local").await.unwrap();
    let error = fixture.acquire("local2").await.unwrap_err();
    insta::assert_snapshot!(error, @"local model `local2:m` cannot be used while `local:m` is in use; wait until it has answered");
}

#[tokio::test(start_paused = true)]
async fn another_call_of_the_local_model_in_use_waits() {
    let fixture = fixture(1);
    let active = fixture.acquire("local").await.unwrap();
    let mut second = Box::pin(fixture.acquire("local"));
    assert!(second.as_mut().now_or_never().is_none());
    // A call at a provider that is not local would fail after 30 s.
    tokio::time::advance(5 * MINUTE).await;
    assert!(second.as_mut().now_or_never().is_none(), "a local model may be slow");
    drop(active);
    assert!(second.await.is_ok());
}

#[tokio::test]
async fn a_local_model_runs_as_many_calls_as_its_provider_allows() {
    let fixture = fixture(2);
    let calls = [
        fixture.acquire("local").await.unwrap(),
        fixture.acquire("local").await.unwrap(),
    ];
    assert!(fixture.try_acquire("local").is_none());
    assert!(fixture.try_acquire("local2").unwrap().is_err());
    drop(calls);
    assert!(fixture.try_acquire("local2").unwrap().is_ok());
}

#[tokio::test]
async fn another_local_model_is_refused_while_a_call_of_the_first_still_waits() {
    let fixture = fixture(1);
    let active = fixture.acquire("local").await.unwrap();
    let mut second = Box::pin(fixture.acquire("local"));
    assert!(second.as_mut().now_or_never().is_none());
    drop(active);
    assert!(
        fixture.try_acquire("local2").unwrap().is_err(),
        "the second call still claims its model"
    );
    drop(second);
    assert!(
        fixture.try_acquire("local2").unwrap().is_ok(),
        "the second call stopped waiting"
    );
}

#[tokio::test]
async fn another_local_model_is_admitted_once_the_first_is_released() {
    let fixture = fixture(5);
    drop(fixture.acquire("local").await.unwrap());
    assert!(fixture.acquire("local:other").await.is_ok());
    assert!(fixture.acquire("local2").await.is_ok());
}

#[tokio::test]
async fn a_closed_queue_refuses_waiting_and_new_calls() {
    let fixture = fixture(1);
    let _active = fixture.acquire("remote").await.unwrap();
    let mut waiting = Box::pin(fixture.acquire("remote"));
    assert!(waiting.as_mut().now_or_never().is_none());
    fixture.queue.close();
    insta::assert_snapshot!(waiting.await.unwrap_err(), @"the host is shutting down and accepts no more model calls");
    assert!(fixture.acquire("remote2").await.is_err());
}
