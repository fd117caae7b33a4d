//! `[tools]`: limits on tool calls.

use std::fmt;

use art_core::limits::{LimitOverrides, LimitPolicy, SettableLimit};
use art_tools::{SystemConfig, check_name};
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ConfigError, check_range};

/// The table `[tools]`. A key that is not a setting is the name of a tool, whose table has the limits of its calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSettings {
    /// Limits on the number of calls.
    pub bounds: ToolBounds,
    /// Limits of each call. The key `max_fuel`, for example, is the ceiling: the most fuel that a tool may request. The key
    /// `fuel` is the default, for tools that do not request an amount.
    pub limits: LimitPolicy,
}

/// Limits of all tool calls together, over all runs of the host, and the time that cancelled calls still have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolBounds {
    /// Maximum number of running calls, from 1 to [`MAX_PARALLEL`](Self::MAX_PARALLEL).
    pub max_parallel: usize,
    /// Maximum number of waiting calls, up to [`MAX_QUEUE`](Self::MAX_QUEUE). Further calls are refused.
    pub max_queue: usize,
    /// Time that a cancelled call still has if its component asks whether it is cancelled, in milliseconds, up to
    /// [`MAX_CANCEL_GRACE_MS`](Self::MAX_CANCEL_GRACE_MS).
    pub cancel_grace_ms: u64,
}

impl ToolBounds {
    /// Maximum of `max_parallel`. More calls do not help on any machine, and each takes memory.
    pub const MAX_PARALLEL: usize = 1_024;
    /// Maximum of `max_queue`. More calls would wait too long to be useful.
    pub const MAX_QUEUE: usize = 65_536;
    /// Maximum of `cancel_grace_ms`. The host drops a cancelled call that does not end soon after it.
    pub const MAX_CANCEL_GRACE_MS: u64 = 1_000;
}

impl Default for ToolBounds {
    /// Returns the default bounds of the tool system, which runs the calls.
    fn default() -> Self {
        let SystemConfig {
            max_parallel,
            max_queue,
            ..
        } = SystemConfig::default();
        Self {
            max_parallel,
            max_queue,
            cancel_grace_ms: 250,
        }
    }
}

impl ToolSettings {
    /// Returns the settings. Fails if a number is out of range, a table does not name a tool, or a default exceeds its ceiling.
    pub(super) fn check(self) -> Result<Self, ConfigError> {
        let ToolBounds {
            max_parallel,
            max_queue,
            cancel_grace_ms,
        } = self.bounds;
        check_range(
            "tools.max_parallel",
            max_parallel as u64,
            1,
            ToolBounds::MAX_PARALLEL as u64,
        )?;
        check_range("tools.max_queue", max_queue as u64, 0, ToolBounds::MAX_QUEUE as u64)?;
        check_range(
            "tools.cancel_grace_ms",
            cancel_grace_ms,
            0,
            ToolBounds::MAX_CANCEL_GRACE_MS,
        )?;
        check_limits("tools.", self.limits.defaults)?;
        check_limits("tools.max_", self.limits.ceilings)?;
        for (name, limits) in &self.limits.tools {
            check_name(name).map_err(|_invalid| ConfigError::NotAToolName { name: name.clone() })?;
            check_limits(&format!("tools.{name}."), *limits)?;
        }
        self.check_ceilings()?;
        Ok(self)
    }

    /// Fails if the file sets a default of a limit that exceeds the ceiling in the file.
    fn check_ceilings(&self) -> Result<(), ConfigError> {
        for limit in &SettableLimit::ALL {
            if let Some(value) = limit.get(self.limits.defaults)
                && let Some(ceiling) = limit.get(self.limits.ceilings)
                && value > ceiling
            {
                return Err(ConfigError::OverCeiling {
                    setting: limit.setting,
                    value,
                    ceiling,
                });
            }
        }
        Ok(())
    }

    /// Reads the value of `key`. Returns `false` if `key` is not a setting of the table.
    fn read_setting<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "max_parallel" => self.bounds.max_parallel = map.next_value()?,
            "max_queue" => self.bounds.max_queue = map.next_value()?,
            "cancel_grace_ms" => self.bounds.cancel_grace_ms = map.next_value()?,
            _ => {
                let (limits, key) = match key.strip_prefix("max_") {
                    Some(key) => (&mut self.limits.ceilings, key),
                    None => (&mut self.limits.defaults, key),
                };
                let Some(field) = limit_field(limits, key) else {
                    return Ok(false);
                };
                *field = Some(map.next_value()?);
            }
        }
        Ok(true)
    }
}

/// Returns the field of the limit that `key` sets, or `None` if `key` is not a limit.
fn limit_field<'a>(limits: &'a mut LimitOverrides, key: &str) -> Option<&'a mut Option<u64>> {
    let limit = SettableLimit::ALL.iter().find(|limit| limit.setting == key)?;
    Some(limit.get_mut(limits))
}

/// Checks that each limit that is set is in range. A limit must not be 0, which would end every call.
fn check_limits(prefix: &str, limits: LimitOverrides) -> Result<(), ConfigError> {
    SettableLimit::ALL.iter().try_for_each(|limit| match limit.get(limits) {
        Some(value) => check_range(&format!("{prefix}{}", limit.setting), value, 1, limit.maximum),
        None => Ok(()),
    })
}

impl<'de> Deserialize<'de> for ToolSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ToolSettingsVisitor)
    }
}

struct ToolSettingsVisitor;

impl<'de> Visitor<'de> for ToolSettingsVisitor {
    type Value = ToolSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with settings of tools")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolSettings, A::Error> {
        let mut settings = ToolSettings::default();
        while let Some(key) = map.next_key::<String>()? {
            if !settings.read_setting(&key, &mut map)? {
                let ToolLimits(limits) = map.next_value()?;
                settings.limits.tools.insert(key, limits);
            }
        }
        Ok(settings)
    }
}

/// A table `[tools.NAME]`.
struct ToolLimits(LimitOverrides);

impl<'de> Deserialize<'de> for ToolLimits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ToolLimitsVisitor)
    }
}

struct ToolLimitsVisitor;

/// Keys of a table `[tools.NAME]`.
const LIMIT_KEYS: &[&str] = &["fuel", "timeout_ms", "memory_bytes", "output_bytes"];

impl<'de> Visitor<'de> for ToolLimitsVisitor {
    type Value = ToolLimits;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a table with the limits of a tool, since no setting has that name: `art config --help` lists them all",
        )
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolLimits, A::Error> {
        let mut limits = LimitOverrides::default();
        while let Some(key) = map.next_key::<String>()? {
            let field = limit_field(&mut limits, &key).ok_or_else(|| A::Error::unknown_field(&key, LIMIT_KEYS))?;
            *field = Some(map.next_value()?);
        }
        Ok(ToolLimits(limits))
    }
}

impl Serialize for ToolSettings {
    /// Writes the settings in effect, with the keys of the file.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("max_parallel", &self.bounds.max_parallel)?;
        map.serialize_entry("max_queue", &self.bounds.max_queue)?;
        map.serialize_entry("cancel_grace_ms", &self.bounds.cancel_grace_ms)?;
        for limit in &SettableLimit::ALL {
            map.serialize_entry(limit.setting, &self.limits.default_of(limit))?;
        }
        for limit in &SettableLimit::ALL {
            map.serialize_entry(&format!("max_{}", limit.setting), &self.limits.ceiling_of(limit))?;
        }
        for (name, limits) in &self.limits.tools {
            let set_limits = SettableLimit::ALL
                .iter()
                .filter_map(|limit| Some((limit.setting, limit.get(*limits)?)));
            map.serialize_entry(name, &set_limits.collect::<std::collections::BTreeMap<_, _>>())?;
        }
        map.end()
    }
}
