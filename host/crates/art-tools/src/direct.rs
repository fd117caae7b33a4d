//! Tools that are functions of the host program (contract T14).

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use art_core::error::ToolErrorCode;
use art_core::intake::Intake;
use art_core::limits::Limits;
use art_core::outcome::{CallLog, Ending, Failure, Outcome, Success};
use art_core::tool::{ExecutionContext, ToolSchema};
use art_core::usage::ToolUsage;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::executor::{CheckedCall, ToolExecutor};
use crate::progress::NewestProgress;
use crate::run::micros;

/// The argument of a direct tool's function.
#[derive(Clone, Debug)]
pub struct DirectCall {
    /// The validated arguments, with defaults.
    pub arguments: Value,
    /// The run and the person for which the tool is called.
    pub context: ExecutionContext,
    /// Cancelled when the caller gives up. The function is then dropped, unless it has returned.
    pub cancel: CancellationToken,
    /// Receives progress reports of the function.
    pub progress: NewestProgress,
}

/// A tool that is an asynchronous function of the host program.
///
/// The function is trusted with the memory of the host, so only its time and output are limited. A panic ends only the
/// call, with a host error. The function must not block; use `spawn_blocking` for blocking work.
pub struct DirectTool {
    pub(crate) schema: ToolSchema,
    limits: Limits,
    is_repeatable: bool,
    function: Box<dyn Fn(DirectCall) -> BoxFuture<'static, Ending> + Send + Sync>,
}

impl DirectTool {
    /// Creates a tool with the default limits. [`success`] and [`failure`] create the usual results;
    /// [`typed`](Self::typed) derives the schema from the type of the function's argument.
    pub fn new<F, Fut>(schema: ToolSchema, function: F) -> Self
    where
        F: Fn(DirectCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Ending> + Send + 'static,
    {
        Self {
            schema,
            limits: Limits::EXECUTE,
            is_repeatable: false,
            function: Box::new(move |call| Box::pin(function(call))),
        }
    }

    /// Sets the limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Declares that a call during which the host stopped may be made again. Declare this only if calls of the tool have no
    /// effect, or if a second call with the same arguments has none.
    #[must_use]
    pub const fn repeatable(mut self) -> Self {
        self.is_repeatable = true;
        self
    }

    /// Runs the function and returns how the call ended.
    async fn run_function(&self, admitted: &CheckedCall) -> Ending {
        let argument = DirectCall {
            arguments: admitted.call().arguments.clone(),
            context: admitted.context().clone(),
            cancel: admitted.cancel().clone(),
            progress: admitted.progress().clone(),
        };
        let limit_ms = admitted.limits().timeout_ms;
        let function = AssertUnwindSafe(async { (self.function)(argument).await }).catch_unwind();
        tokio::select! {
            biased;
            () = admitted.cancel().cancelled() => Ending::Cancelled,
            finished = timeout(Duration::from_millis(limit_ms), function) => match finished {
                Ok(Ok(ending)) => ending,
                Ok(Err(_panic)) => Ending::HostError { message: "it panicked".to_owned() },
                Err(_elapsed) => Ending::Timeout { limit_ms },
            },
        }
    }
}

/// Returns a successful ending.
#[must_use]
pub fn success(output: &Value) -> Ending {
    Ending::Success(Success {
        output: output.to_string(),
        ..Success::default()
    })
}

/// Returns a failed ending. `message` is for the model.
#[must_use]
pub fn failure(code: ToolErrorCode, message: impl Into<String>) -> Ending {
    Ending::Failure(Failure {
        code,
        message: message.into(),
        retryable: code.is_retryable(),
        metadata: art_core::JsonObject::new(),
    })
}

impl fmt::Debug for DirectTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectTool")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl ToolExecutor for DirectTool {
    fn schema(&self) -> &ToolSchema {
        &self.schema
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }

    fn owner(&self) -> &str {
        "host"
    }

    fn execute<'a>(&'a self, call: &'a CheckedCall) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let start = Instant::now();
            let ending = self.run_function(call).await;
            let bytes_out = match &ending {
                Ending::Success(success) => success.output.len(),
                _ => 0,
            };
            Outcome {
                ending,
                usage: ToolUsage {
                    wall_us: micros(start.elapsed()),
                    bytes_in: u64::try_from(call.input_json().len()).unwrap_or(u64::MAX),
                    bytes_out: u64::try_from(bytes_out).unwrap_or(u64::MAX),
                    ..ToolUsage::default()
                },
                log: CallLog::default(),
                // What the function learns from outside is not recorded.
                intake: Intake::default(),
                denials: Vec::new(),
                uses: Vec::new(),
            }
        })
    }
}
