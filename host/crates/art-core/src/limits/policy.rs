//! Limits that an operator sets for the calls of tools.

use std::collections::BTreeMap;
use std::fmt;

use super::{LimitOverrides, Limits};

/// Maximum length of the name of a tool.
const MAX_TOOL_NAME_BYTES: usize = 64;

/// The limits that an operator sets, which bound or replace those that tools request.
///
/// By default, a tool that requests no limits gets [`Limits::EXECUTE`], and a request for more is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitPolicy {
    /// Limits of a tool that requests none. An absent limit is the one of [`Limits::EXECUTE`], or the ceiling if the ceiling
    /// is lower.
    pub defaults: LimitOverrides,
    /// Maximum limits that a tool may request. An absent ceiling is the limit of a tool that requests none.
    pub ceilings: LimitOverrides,
    /// Limits of single tools, by name. They apply even if the tool requests less. A tool that requests more is refused.
    pub tools: BTreeMap<String, LimitOverrides>,
}

/// A limit that a tool may request and an operator may set.
#[derive(Clone, Copy, Debug)]
pub struct SettableLimit {
    /// Key in the operator's configuration file.
    pub setting: &'static str,
    /// Hard maximum for every tool.
    pub maximum: u64,
    /// Default for a tool that requests none.
    default: u64,
    field: fn(&mut LimitOverrides) -> &mut Option<u64>,
}

impl SettableLimit {
    /// All settable limits.
    pub const ALL: [Self; 4] = [
        Self {
            setting: "fuel",
            maximum: Limits::MAX.fuel,
            default: Limits::EXECUTE.fuel,
            field: |limits| &mut limits.fuel,
        },
        Self {
            setting: "timeout_ms",
            maximum: Limits::MAX.timeout_ms,
            default: Limits::EXECUTE.timeout_ms,
            field: |limits| &mut limits.timeout_ms,
        },
        Self {
            setting: "memory_bytes",
            maximum: Limits::MAX.memory_bytes,
            default: Limits::EXECUTE.memory_bytes,
            field: |limits| &mut limits.memory_bytes,
        },
        Self {
            setting: "output_bytes",
            maximum: Limits::MAX.output_bytes,
            default: Limits::EXECUTE.output_bytes,
            field: |limits| &mut limits.output_bytes,
        },
    ];

    /// Returns the value of this limit in `limits`.
    #[must_use]
    pub fn get(&self, mut limits: LimitOverrides) -> Option<u64> {
        *(self.field)(&mut limits)
    }

    /// Returns the field of this limit in `limits`.
    pub fn get_mut<'a>(&self, limits: &'a mut LimitOverrides) -> &'a mut Option<u64> {
        (self.field)(limits)
    }
}

impl LimitPolicy {
    /// Returns the limit of a tool that requests none and has no entry in `tools`.
    #[must_use]
    pub fn default_of(&self, limit: &SettableLimit) -> u64 {
        let ceiling = limit.get(self.ceilings).unwrap_or(u64::MAX);
        limit
            .get(self.defaults)
            .unwrap_or_else(|| limit.default.min(ceiling))
            .min(limit.maximum)
    }

    /// Returns the maximum that a tool without an entry in `tools` may request.
    #[must_use]
    pub fn ceiling_of(&self, limit: &SettableLimit) -> u64 {
        let ceiling = limit.get(self.ceilings).unwrap_or_else(|| self.default_of(limit));
        ceiling.min(limit.maximum)
    }

    /// Returns the limits for calls of `tool`, which requests `requested`.
    ///
    /// # Errors
    /// Fails if the tool requests more than the policy allows.
    pub fn grant(&self, tool: &str, requested: LimitOverrides) -> Result<Limits, LimitsNotGranted> {
        let entry = self.tools.get(tool).copied();
        let mut limits = LimitOverrides::default();
        let mut exceeded = Vec::new();
        for limit in &SettableLimit::ALL {
            let set_for_tool = limit
                .get(entry.unwrap_or_default())
                .map(|value| value.min(limit.maximum));
            let allowed = set_for_tool.unwrap_or_else(|| self.ceiling_of(limit));
            let requested = limit.get(requested);
            if let Some(requested) = requested.filter(|requested| *requested > allowed) {
                exceeded.push(Exceeded {
                    setting: limit.setting,
                    requested,
                    allowed,
                });
            }
            *limit.get_mut(&mut limits) = set_for_tool.or(requested).or_else(|| Some(self.default_of(limit)));
        }
        if exceeded.is_empty() {
            return Ok(Limits {
                fuel: limits.fuel.unwrap_or_default(),
                timeout_ms: limits.timeout_ms.unwrap_or_default(),
                memory_bytes: limits.memory_bytes.unwrap_or_default(),
                output_bytes: limits.output_bytes.unwrap_or_default(),
                ..Limits::EXECUTE
            });
        }
        Err(LimitsNotGranted {
            tool: tool.to_owned(),
            exceeded,
            has_entry: entry.is_some(),
            by_grants: false,
        })
    }
}

/// The error for a tool that requests more than the operator allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitsNotGranted {
    tool: String,
    exceeded: Vec<Exceeded>,
    /// Whether the operator set limits for this tool.
    has_entry: bool,
    /// Whether the grants of the component set the exceeded limits, and not `art.toml`.
    by_grants: bool,
}

/// A request for more than is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exceeded {
    setting: &'static str,
    requested: u64,
    allowed: u64,
}

impl LimitsNotGranted {
    /// Returns the error with a hint to the command that grants limits, because the grants of the component set the exceeded ones.
    #[must_use]
    pub fn by_grants(self) -> Self {
        Self {
            by_grants: true,
            ..self
        }
    }

    /// Returns a line of the operator's file for each exceeded limit. `value` chooses the requested or the allowed value.
    fn lines(&self, value: impl Fn(&Exceeded) -> u64) -> Vec<String> {
        let line = |exceeded: &Exceeded| format!("{} = {}", exceeded.setting, value(exceeded));
        self.exceeded.iter().map(line).collect()
    }

    /// Returns a hint with the lines to add to the operator's file, or `None` if the name of the tool cannot be a key there.
    fn hint(&self) -> Option<String> {
        let is_key_char = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if self.tool.is_empty() || self.tool.len() > MAX_TOOL_NAME_BYTES || !self.tool.chars().all(is_key_char) {
            return None;
        }
        let (tool, lines) = (&self.tool, self.lines(|exceeded| exceeded.requested));
        Some(if self.by_grants {
            let option = |exceeded: &Exceeded| format!(" --limit {}={}", exceeded.setting, exceeded.requested);
            let options: String = self.exceeded.iter().map(option).collect();
            format!("run `art grant add {tool}{options}`")
        } else if self.has_entry {
            format!(
                "set `{}` for `{tool}` under `[tools]` of `art.toml`",
                lines.join("`, `")
            )
        } else {
            format!(
                "add `{tool} = {{ {} }}` under `[tools]` of `art.toml`",
                lines.join(", ")
            )
        })
    }
}

impl fmt::Display for LimitsNotGranted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requested = self.lines(|exceeded| exceeded.requested).join(", ");
        let allowed = self.lines(|exceeded| exceeded.allowed).join(", ");
        write!(f, "asks for `{requested}`, more than the `{allowed}` that it may have")?;
        match self.hint() {
            Some(hint) => write!(f, " (hint: to allow it, {hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for LimitsNotGranted {}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_fuel(fuel: u64) -> LimitOverrides {
        LimitOverrides {
            fuel: Some(fuel),
            ..LimitOverrides::default()
        }
    }

    fn policy(defaults: LimitOverrides, ceilings: LimitOverrides) -> LimitPolicy {
        LimitPolicy {
            defaults,
            ceilings,
            ..LimitPolicy::default()
        }
    }

    fn policy_for_tool(name: &str, limits: LimitOverrides) -> LimitPolicy {
        LimitPolicy {
            tools: BTreeMap::from([(name.to_owned(), limits)]),
            ..LimitPolicy::default()
        }
    }

    #[test]
    fn without_settings_a_tool_may_request_at_most_the_default() {
        let policy = LimitPolicy::default();
        assert_eq!(policy.grant("t", LimitOverrides::default()), Ok(Limits::EXECUTE));
        assert_eq!(policy.grant("t", only_fuel(7)).unwrap().fuel, 7);
        let default_fuel = Limits::EXECUTE.fuel;
        assert_eq!(policy.grant("t", only_fuel(default_fuel)).unwrap().fuel, default_fuel);
        policy.grant("t", only_fuel(default_fuel + 1)).unwrap_err();
    }

    #[test]
    fn a_default_applies_to_tools_that_request_nothing() {
        let policy = policy(only_fuel(100), LimitOverrides::default());
        assert_eq!(policy.grant("t", LimitOverrides::default()).unwrap().fuel, 100);
        assert_eq!(policy.grant("t", only_fuel(99)).unwrap().fuel, 99);
        policy.grant("t", only_fuel(101)).unwrap_err();
    }

    #[test]
    fn a_ceiling_above_the_default_raises_only_what_a_tool_may_request() {
        let twice_the_default = Limits::EXECUTE.fuel * 2;
        let policy = policy(LimitOverrides::default(), only_fuel(twice_the_default));
        assert_eq!(
            policy.grant("t", only_fuel(twice_the_default)).unwrap().fuel,
            twice_the_default
        );
        assert_eq!(policy.grant("t", LimitOverrides::default()), Ok(Limits::EXECUTE));
        policy.grant("t", only_fuel(twice_the_default + 1)).unwrap_err();
    }

    #[test]
    fn a_ceiling_below_the_default_lowers_the_default() {
        let policy = policy(LimitOverrides::default(), only_fuel(5));
        assert_eq!(policy.grant("t", LimitOverrides::default()).unwrap().fuel, 5);
    }

    #[test]
    fn the_limits_of_one_tool_apply_to_that_tool_alone() {
        let twice_the_default = Limits::EXECUTE.fuel * 2;
        let policy = policy_for_tool("t", only_fuel(twice_the_default));
        for requested in [LimitOverrides::default(), only_fuel(1), only_fuel(twice_the_default)] {
            assert_eq!(policy.grant("t", requested).unwrap().fuel, twice_the_default);
        }
        policy.grant("t", only_fuel(twice_the_default + 1)).unwrap_err();
        policy.grant("other", only_fuel(twice_the_default)).unwrap_err();
    }

    #[test]
    fn nothing_raises_a_limit_over_its_maximum() {
        let policy_of_one_tool = policy_for_tool("t", only_fuel(u64::MAX));
        assert_eq!(
            policy_of_one_tool.grant("t", LimitOverrides::default()).unwrap().fuel,
            Limits::MAX.fuel
        );
        let policy_of_all_tools = policy(only_fuel(u64::MAX), only_fuel(u64::MAX));
        assert_eq!(
            policy_of_all_tools.grant("t", LimitOverrides::default()).unwrap().fuel,
            Limits::MAX.fuel
        );
        policy_of_all_tools
            .grant("t", only_fuel(Limits::MAX.fuel + 1))
            .unwrap_err();
    }

    #[test]
    fn a_refusal_shows_the_line_that_allows_the_request() {
        let requested = LimitOverrides {
            memory_bytes: Some(128 << 20),
            ..only_fuel(5_000_000_000)
        };
        let error = LimitPolicy::default().grant("diff_text", requested).unwrap_err();
        assert_eq!(
            error.to_string(),
            "asks for `fuel = 5000000000, memory_bytes = 134217728`, more than the `fuel = 2000000000, memory_bytes = \
             67108864` that it may have (hint: to allow it, add `diff_text = { fuel = 5000000000, memory_bytes = 134217728 \
             }` under `[tools]` of `art.toml`)"
        );
    }

    #[test]
    fn a_refusal_of_a_tool_that_has_an_entry_shows_what_to_set_in_the_entry() {
        let error = policy_for_tool("t", only_fuel(5))
            .grant("t", only_fuel(6))
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("set `fuel = 6` for `t` under `[tools]` of `art.toml`)"),
            "{error}"
        );
    }

    #[test]
    fn a_refusal_because_of_granted_limits_shows_the_command_that_grants_higher_ones() {
        let error = policy_for_tool("t", only_fuel(5))
            .grant("t", only_fuel(6))
            .unwrap_err()
            .by_grants();
        assert!(
            error.to_string().ends_with("run `art grant add t --limit fuel=6`)"),
            "{error}"
        );
    }

    #[test]
    fn a_name_that_no_tool_can_have_gets_no_hint() {
        for name in ["", "a]\nmodel = \"x\"", &"a".repeat(65)] {
            let error = LimitPolicy::default().grant(name, only_fuel(u64::MAX)).unwrap_err();
            assert!(!error.to_string().contains("hint"), "{error}");
        }
    }
}
