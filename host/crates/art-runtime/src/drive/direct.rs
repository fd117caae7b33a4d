//! A direct call: a tool call that a person makes, without a model, in a run of its own.

use art_agent::{CallToMake, RunStart};
use art_core::agent::AgentProps;
use art_core::id;
use art_core::json::{MAX_LEVELS, is_deeper};
use art_core::text::truncate;
use art_sandbox::Sandbox;
use art_store::{NewThread, Thread};
use tokio_util::sync::CancellationToken;

use super::lease::ThreadLease;
use super::prepare::config_with_all_tools;
use super::question::check_id;
use super::{Answer, Driver, Watcher};
use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// Maximum length of the arguments in the text that the run has in place of a question, in characters. The run stores the
/// complete arguments as well.
const MAX_SHOWN_CHARS: usize = 200;

/// A tool call, and the person who makes it. Without a person, the conversation of the call has no owner.
#[derive(Clone, Debug, PartialEq)]
pub struct UserCall {
    call: CallToMake,
    user_id: Option<String>,
}

impl From<CallToMake> for UserCall {
    fn from(call: CallToMake) -> Self {
        Self { call, user_id: None }
    }
}

impl UserCall {
    /// Makes the call as this person, who owns its conversation.
    #[must_use]
    pub fn of_user(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = Some(user_id.into());
        self
    }
}

impl Runtime {
    /// Calls a tool for a person, in a run of its own in a new conversation. No model is asked, and none has to be set up. The
    /// call is committed before it is made, and its end is committed before this method returns. The arguments reach the tool
    /// unchanged. Cancelling `cancel` ends the call early. The report of the call is in
    /// [`Answer::direct_call_report`].
    ///
    /// # Errors
    /// Fails if the arguments nest deeper than 64 levels, the identifier of the person is empty or too long, another host takes
    /// the run over, or the store fails. A call that fails or is refused is not an error of this method.
    pub async fn call_tool(
        &self,
        call: impl Into<UserCall>,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, RuntimeError> {
        let UserCall { call, user_id } = call.into();
        check_id("user", user_id.as_deref())?;
        if is_deeper(&call.arguments, MAX_LEVELS) {
            return Err(RuntimeError::Request(format!(
                "the arguments nest deeper than {MAX_LEVELS} levels; pass less deeply nested ones"
            )));
        }
        let new = NewThread {
            id: id::time_ordered(),
            user_id,
            config: config_with_all_tools(),
        };
        let (thread, lease) = ThreadLease::for_new_thread(self, new).await?;
        let start = self.run_start_of_call(thread, call);
        Driver::begin(self, start, lease, cancel, watcher)?
            .drive_and_release()
            .await
    }

    /// Returns the start of the run that makes the call. The limits in `[execution]` of the configuration do not apply to it.
    fn run_start_of_call(&self, thread: Thread, call: CallToMake) -> RunStart {
        let shown_arguments = truncate(&call.arguments.to_string(), MAX_SHOWN_CHARS);
        let props = AgentProps {
            query: format!("direct call: {} {shown_arguments}", call.tool_name),
            thread_id: thread.id,
            trace_id: Some(id::time_ordered()),
            user_id: thread.user_id,
            // The answer is the unchanged output of the tool, so no model writes one.
            raw: true,
            ..AgentProps::default()
        };
        RunStart {
            // Identifies how this host counts fuel.
            fuel_basis: Sandbox::fuel_basis().to_owned(),
            tools: self.tools.registry().available(|name| name == call.tool_name),
            ..RunStart::of_call(props, call)
        }
    }
}
