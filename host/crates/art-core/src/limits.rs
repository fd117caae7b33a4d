//! Limits of one tool call.

mod policy;

use serde::{Deserialize, Serialize};

pub use policy::{LimitPolicy, LimitsNotGranted, SettableLimit};

/// Limits of one call. A call that exceeds a limit fails, usually with the [`Ending`](crate::outcome::Ending) for that limit. A
/// log that exceeds its limits is only cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Fuel, in units: about one for each instruction.
    pub fuel: u64,
    /// Maximum duration in milliseconds, including time in host functions.
    pub timeout_ms: u64,
    /// Maximum size of all linear memories and tables together, in bytes.
    pub memory_bytes: u64,
    /// Maximum number of elements of one table.
    pub table_elements: u32,
    /// Maximum size of the input, in bytes.
    pub input_bytes: u64,
    /// Maximum size of the output, in bytes.
    pub output_bytes: u64,
    /// Maximum number of log lines that are kept; the others are counted.
    pub log_records: u32,
    /// Maximum size of one log line, and of what is kept of the guest's standard output and standard error each, in bytes.
    pub log_record_bytes: u32,
    /// Maximum size of the whole log, in bytes.
    pub log_bytes: u32,
    /// Maximum number of calls from the tool into the host.
    pub host_calls: u64,
    /// Maximum number of resources that the tool may hold at a time.
    pub handles: u32,
}

const MIB: u64 = 1 << 20;

impl Limits {
    /// Default limits of a call of `execute()`: 2 G fuel, 30 s, 64 MiB, 1 MiB of output.
    pub const EXECUTE: Self = Self {
        fuel: 2_000_000_000,
        timeout_ms: 30_000,
        memory_bytes: 64 * MIB,
        table_elements: 20_000,
        input_bytes: MIB,
        output_bytes: MIB,
        log_records: 1_000,
        log_record_bytes: 4_096,
        log_bytes: 256 << 10,
        host_calls: 100_000,
        handles: 512,
    };

    /// Limits of `schema()`, which runs before the tool is trusted and without any grant.
    pub const SCHEMA: Self = Self {
        fuel: 100_000_000,
        timeout_ms: 2_000,
        memory_bytes: 32 * MIB,
        input_bytes: 0,
        output_bytes: 256 << 10,
        log_records: 16,
        log_bytes: 64 << 10,
        host_calls: 1_000,
        ..Self::EXECUTE
    };

    /// Upper bounds of all limits, whatever a tool requests: 50 G fuel, 300 s, 256 MiB, 4 MiB of output.
    pub const MAX: Self = Self {
        fuel: 50_000_000_000,
        timeout_ms: 300_000,
        memory_bytes: 256 * MIB,
        input_bytes: 4 * MIB,
        output_bytes: 4 * MIB,
        ..Self::EXECUTE
    };

    /// Returns the smaller of each limit and that of `other`.
    #[must_use]
    pub fn at_most(self, other: Self) -> Self {
        Self {
            fuel: self.fuel.min(other.fuel),
            timeout_ms: self.timeout_ms.min(other.timeout_ms),
            memory_bytes: self.memory_bytes.min(other.memory_bytes),
            table_elements: self.table_elements.min(other.table_elements),
            input_bytes: self.input_bytes.min(other.input_bytes),
            output_bytes: self.output_bytes.min(other.output_bytes),
            log_records: self.log_records.min(other.log_records),
            log_record_bytes: self.log_record_bytes.min(other.log_record_bytes),
            log_bytes: self.log_bytes.min(other.log_bytes),
            host_calls: self.host_calls.min(other.host_calls),
            handles: self.handles.min(other.handles),
        }
    }

    /// Returns the limits if none of those for fuel, time, memory, input and output exceeds [`Limits::MAX`].
    ///
    /// # Errors
    /// Fails with the first of these limits that exceeds its maximum.
    pub fn checked(self) -> Result<Self, LimitTooHigh> {
        let max = Self::MAX;
        let limits = [
            ("fuel", self.fuel, max.fuel),
            ("timeoutMs", self.timeout_ms, max.timeout_ms),
            ("memoryBytes", self.memory_bytes, max.memory_bytes),
            ("inputBytes", self.input_bytes, max.input_bytes),
            ("outputBytes", self.output_bytes, max.output_bytes),
        ];
        for (name, requested, maximum) in limits {
            if requested > maximum {
                return Err(LimitTooHigh {
                    name,
                    requested,
                    maximum,
                });
            }
        }
        Ok(self)
    }
}

/// Limits that a tool requests or an operator sets. An absent limit keeps the value that it has without these overrides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LimitOverrides {
    /// See [`Limits::fuel`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// See [`Limits::timeout_ms`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// See [`Limits::memory_bytes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// See [`Limits::output_bytes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
}

/// The error for a requested limit that exceeds its hard maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("limit `{name}` is {requested}, more than the hard maximum {maximum}")]
pub struct LimitTooHigh {
    /// Name of the limit on the wire.
    pub name: &'static str,
    /// The requested value.
    pub requested: u64,
    /// The hard maximum.
    pub maximum: u64,
}

impl LimitOverrides {
    /// Returns `base` with these overrides.
    ///
    /// # Errors
    /// Fails if an override exceeds [`Limits::MAX`].
    pub fn apply(self, base: Limits) -> Result<Limits, LimitTooHigh> {
        Limits {
            fuel: self.fuel.unwrap_or(base.fuel),
            timeout_ms: self.timeout_ms.unwrap_or(base.timeout_ms),
            memory_bytes: self.memory_bytes.unwrap_or(base.memory_bytes),
            output_bytes: self.output_bytes.unwrap_or(base.output_bytes),
            ..base
        }
        .checked()
    }

    /// Returns these overrides, and those of `fallback` for the limits that are absent here.
    #[must_use]
    pub fn or(self, fallback: Self) -> Self {
        Self {
            fuel: self.fuel.or(fallback.fuel),
            timeout_ms: self.timeout_ms.or(fallback.timeout_ms),
            memory_bytes: self.memory_bytes.or(fallback.memory_bytes),
            output_bytes: self.output_bytes.or(fallback.output_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_replaces_only_its_limit() {
        let limits = LimitOverrides {
            fuel: Some(7),
            ..Default::default()
        }
        .apply(Limits::EXECUTE);
        assert_eq!(
            limits,
            Ok(Limits {
                fuel: 7,
                ..Limits::EXECUTE
            })
        );
    }

    #[test]
    fn each_limit_is_at_most_that_of_the_other_limits() {
        let no_limit = serde_json::to_value(Limits::MAX).unwrap();
        let no_limit = no_limit
            .as_object()
            .unwrap()
            .keys()
            .map(|name| (name.clone(), u32::MAX.into()));
        let no_limit: Limits = serde_json::from_value(serde_json::Value::Object(no_limit.collect())).unwrap();
        let unlimited = Limits {
            fuel: u64::MAX,
            ..no_limit
        };
        assert_eq!(unlimited.at_most(Limits::SCHEMA), Limits::SCHEMA);
        assert_eq!(Limits::SCHEMA.at_most(unlimited), Limits::SCHEMA);
    }

    #[test]
    fn an_empty_override_changes_nothing() {
        for base in [Limits::SCHEMA, Limits::EXECUTE, Limits::MAX] {
            assert_eq!(LimitOverrides::default().apply(base), Ok(base));
        }
    }

    /// A limit that can be overridden, with the functions that set it.
    struct OverridableLimit {
        name: &'static str,
        maximum: u64,
        override_with: fn(u64) -> LimitOverrides,
        limits_with: fn(u64) -> Limits,
    }

    macro_rules! overridable {
        ($name:literal, $field:ident) => {
            OverridableLimit {
                name: $name,
                maximum: Limits::MAX.$field,
                override_with: |requested| LimitOverrides {
                    $field: Some(requested),
                    ..LimitOverrides::default()
                },
                limits_with: |value| Limits {
                    $field: value,
                    ..Limits::EXECUTE
                },
            }
        };
    }

    const OVERRIDABLE: [OverridableLimit; 4] = [
        overridable!("fuel", fuel),
        overridable!("timeoutMs", timeout_ms),
        overridable!("memoryBytes", memory_bytes),
        overridable!("outputBytes", output_bytes),
    ];

    #[test]
    fn each_limit_can_be_lowered_to_zero_and_raised_to_its_maximum() {
        for limit in OVERRIDABLE {
            for requested in [0, 1, limit.maximum] {
                let applied = (limit.override_with)(requested).apply(Limits::EXECUTE);
                assert_eq!(applied, Ok((limit.limits_with)(requested)), "{}", limit.name);
            }
        }
    }

    #[test]
    fn each_limit_is_refused_one_over_its_maximum() {
        for limit in OVERRIDABLE {
            for requested in [limit.maximum + 1, u64::MAX] {
                let refused = LimitTooHigh {
                    name: limit.name,
                    requested,
                    maximum: limit.maximum,
                };
                assert_eq!((limit.override_with)(requested).apply(Limits::EXECUTE), Err(refused));
            }
        }
    }

    #[test]
    fn if_one_limit_exceeds_its_maximum_no_override_is_applied() {
        let overrides = LimitOverrides {
            fuel: Some(1),
            output_bytes: Some(u64::MAX),
            ..LimitOverrides::default()
        };
        assert!(overrides.apply(Limits::EXECUTE).is_err());
    }

    #[test]
    fn a_misspelt_or_negative_override_is_refused() {
        serde_json::from_str::<LimitOverrides>(r#"{"timeout": 5}"#).unwrap_err();
        serde_json::from_str::<LimitOverrides>(r#"{"fuel": -1}"#).unwrap_err();
    }

    #[test]
    fn limits_are_written_with_their_wire_names() {
        let written = serde_json::to_value(Limits::EXECUTE).unwrap();
        let names: Vec<_> = written.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            names.join(" "),
            "fuel timeoutMs memoryBytes tableElements inputBytes outputBytes logRecords logRecordBytes logBytes hostCalls \
             handles"
        );
        assert_eq!(serde_json::from_value::<Limits>(written).unwrap(), Limits::EXECUTE);
    }

    #[test]
    fn the_error_names_the_limit_with_its_value_and_its_maximum() {
        let error = LimitOverrides {
            timeout_ms: Some(300_001),
            ..Default::default()
        }
        .apply(Limits::EXECUTE)
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "limit `timeoutMs` is 300001, more than the hard maximum 300000"
        );
    }
}
