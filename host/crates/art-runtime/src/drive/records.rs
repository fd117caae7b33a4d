//! Records the resources that tool calls and models used, and reads these records for the estimates of later runs.

use std::collections::BTreeMap;

use art_agent::{ModelRecord, ToolRecord};
use art_core::provider::RuntimeProviderConfig;
use art_core::tool::ToolSchema;
use art_core::usage::{ModelUsage, ModelWork};
use art_store::{CallRecord, Store, StoreError, WorkRecord};
use art_tools::{EndingKind, ToolRegistry};
use futures_util::future::{try_join, try_join_all};

use super::answer::CallUsage;

/// Maximum number of a tool's newest calls on which its estimates are based. This is enough for the 95th percentile in
/// each of a few classes of calls with inputs of similar size.
const MAX_CALLS_OF_TOOL: usize = 200;
/// Maximum number of a model's newest steps, and of its newest answers, on which its estimates are based.
const MAX_STEPS_OR_ANSWERS: usize = 200;

/// Returns the record of a call that succeeded, or `None` if the call did not succeed or its tool has no digest. A call that was
/// stopped or gave up does not show how much the tool needs for its work.
pub(super) fn call_record(call_usage: &CallUsage) -> Option<CallRecord> {
    let digest = call_usage.tool_digest.as_deref();
    let tool_digest = digest.filter(|_| call_usage.ending == EndingKind::Success)?.to_owned();
    Some(CallRecord {
        tool_digest,
        usage: call_usage.usage,
    })
}

/// Returns the records of the model calls and tokens that a model used for steps and answers.
pub(super) fn work_records(
    model: &RuntimeProviderConfig,
    usage_by_work: &[(ModelWork, ModelUsage)],
) -> Vec<WorkRecord> {
    let records = usage_by_work.iter().map(|(work, usage)| WorkRecord {
        model: model.to_string(),
        work: *work,
        usage: *usage,
    });
    records.collect()
}

/// Reads from the store how many model calls and tokens a model used for its newest steps and answers.
pub(crate) async fn read_model_record(
    store: &dyn Store,
    model: &RuntimeProviderConfig,
) -> Result<ModelRecord, StoreError> {
    let model = model.to_string();
    let list = |work| store.list_model_usage(&model, work, Some(MAX_STEPS_OR_ANSWERS));
    let (steps, answers) = try_join(list(ModelWork::Step), list(ModelWork::Answer)).await?;
    Ok(ModelRecord::new(&steps, &answers))
}

/// Returns the limits of `tools` and the resources that their recorded calls used, by name.
pub(crate) async fn read_tool_records(
    store: &dyn Store,
    registry: &ToolRegistry,
    tools: &[ToolSchema],
) -> Result<BTreeMap<String, ToolRecord>, StoreError> {
    let records = try_join_all(tools.iter().map(|tool| read_tool_record(store, registry, &tool.name)));
    Ok(records.await?.into_iter().flatten().collect())
}

/// Returns the name of a tool and its record, or `None` if the tool was removed in the meantime.
async fn read_tool_record(
    store: &dyn Store,
    registry: &ToolRegistry,
    name: &str,
) -> Result<Option<(String, ToolRecord)>, StoreError> {
    let Some(limits) = registry.limits(name) else {
        return Ok(None);
    };
    let digest = registry.digest(name).map(|digest| digest.to_string());
    let calls = match &digest {
        Some(digest) => store.list_calls(digest, Some(MAX_CALLS_OF_TOOL)).await?,
        None => Vec::new(),
    };
    Ok(Some((name.to_owned(), ToolRecord::new(digest, &limits, &calls))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::store_with_run;
    use art_core::usage::ToolUsage;

    fn call_usage(ending: EndingKind, tool_digest: Option<&str>, fuel: u64) -> CallUsage {
        CallUsage {
            item_id: "a".to_owned(),
            tool: "tool".to_owned(),
            ending,
            usage: ToolUsage {
                fuel,
                ..ToolUsage::default()
            },
            tool_digest: tool_digest.map(Into::into),
        }
    }

    #[test]
    fn a_call_is_recorded_only_if_it_succeeded_and_its_tool_has_a_digest() {
        let record = |ending, digest, fuel| call_record(&call_usage(ending, digest, fuel));
        let recorded = record(EndingKind::Success, Some("d"), 1).unwrap();
        assert_eq!((recorded.tool_digest.as_str(), recorded.usage.fuel), ("d", 1));
        assert_eq!(record(EndingKind::Timeout, Some("d"), 2), None);
        assert_eq!(record(EndingKind::Success, None, 3), None);
    }

    #[tokio::test]
    async fn the_record_of_a_model_does_not_have_the_steps_and_answers_of_other_models() {
        let usage = |output_tokens| ModelUsage {
            model_calls: 2,
            input_tokens: 10,
            output_tokens,
        };
        let model = RuntimeProviderConfig::new("p", "m");
        let work = work_records(&model, &[(ModelWork::Step, usage(5)), (ModelWork::Answer, usage(7))]);
        let store = store_with_run(|commit| commit.work = work).await;
        let expected = ModelRecord::new(&[usage(5)], &[usage(7)]);
        assert_eq!(read_model_record(&store, &model).await.unwrap(), expected);
        let other = RuntimeProviderConfig::new("p", "other");
        assert!(read_model_record(&store, &other).await.unwrap().is_empty());
    }
}
