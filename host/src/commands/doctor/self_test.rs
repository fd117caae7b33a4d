//! `art doctor --self-test`: attacks this host with a hostile tool, in the sandbox that runs use, and tells how each attack
//! ended. Some calls are no attacks but controls: the tool does what it is granted, and succeeds. They show that the
//! refused calls fail because the host refuses them, and not because no such call can succeed.

mod attacks;
mod lab;

use art_runtime::config::Config;
use serde::Serialize;

use self::attacks::{ATTACKS, Attack};
use self::lab::Lab;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, table};

/// The verdict about an attack or a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum AttackVerdict {
    /// The attack ended as required: the host stopped or refused it.
    Repelled,
    /// The attack or the control did not end as required.
    #[serde(rename = "gotThrough")]
    Failed,
    /// The control succeeded.
    Allowed,
}

/// A row of the output: an attack or a control, and how it ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AttackRow {
    /// Identifier of the attack in `tests/attacks.toml`, or for a control only the letter with which the identifiers of its
    /// group begin.
    id: &'static str,
    /// What the tool does; completes the sentence "the tool ..".
    #[serde(rename = "attack")]
    action: &'static str,
    expected: &'static str,
    ended: String,
    /// Time that the call took above its limit, in milliseconds.
    over_limit_ms: f64,
    verdict: AttackVerdict,
}

pub(super) fn self_test(global: &GlobalOptions, config: &Config) -> Result<Exit, CommandError> {
    let lab = Lab::new(config)?;
    let mut rows = Vec::new();
    for attack in &ATTACKS {
        rows.push(run_attack(&lab, attack)?);
    }
    rows.push(load_truncated_components(&lab));
    if global.json {
        render::json(&rows);
    } else {
        render::print(&to_table(&rows));
    }
    Ok(exit_code(&rows))
}

fn exit_code(rows: &[AttackRow]) -> Exit {
    let any_failed = rows.iter().any(|row| row.verdict == AttackVerdict::Failed);
    if any_failed { Exit::Failure } else { Exit::Success }
}

fn run_attack(lab: &Lab, attack: &Attack) -> Result<AttackRow, CommandError> {
    let attempt = lab.attempt(attack)?;
    let is_as_expected = attack.is_as_expected(lab, &attempt);
    Ok(AttackRow {
        id: attack.id,
        action: attack.action,
        expected: attack.expectation.in_words(),
        over_limit_ms: attempt.over_limit_ms(),
        ended: attempt.ending_in_words(attack.expectation),
        verdict: match (is_as_expected, attack.is_control()) {
            (true, true) => AttackVerdict::Allowed,
            (true, false) => AttackVerdict::Repelled,
            (false, _) => AttackVerdict::Failed,
        },
    })
}

/// Tries to load truncated copies of the component of the hostile tool, all of which must be refused.
fn load_truncated_components(lab: &Lab) -> AttackRow {
    let loaded_count = lab.count_loaded_truncated_copies();
    AttackRow {
        id: "C01",
        action: "is a file that was cut off",
        expected: "is refused",
        ended: match loaded_count {
            0 => "refused".to_owned(),
            count => format!("{count} truncated files were loaded"),
        },
        over_limit_ms: 0.0,
        verdict: if loaded_count == 0 {
            AttackVerdict::Repelled
        } else {
            AttackVerdict::Failed
        },
    }
}

fn to_table(rows: &[AttackRow]) -> String {
    let heading = ["", "attack", "the tool", "expected", "ended", "over its limit"];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        let verdict = match row.verdict {
            AttackVerdict::Repelled => "ok",
            AttackVerdict::Allowed => "allowed",
            AttackVerdict::Failed => "FAILED",
        };
        let over = match row.over_limit_ms {
            0.0 => "-".to_owned(),
            over => format!("{over:.1} ms"),
        };
        let texts = [verdict, row.id, row.action, row.expected, &row.ended, &over];
        texts.map(str::to_owned).to_vec()
    }));
    let mut lines = table::lines(&cells);
    let (attacks, failed) = (
        rows.iter().filter(|row| row.verdict != AttackVerdict::Allowed).count(),
        rows.iter().filter(|row| row.verdict == AttackVerdict::Failed).count(),
    );
    lines.push(format!("{attacks} attacks, {failed} got through"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a row of the attack that computes for ever.
    fn row(verdict: AttackVerdict) -> AttackRow {
        AttackRow {
            id: "A01",
            action: "computes for ever",
            expected: "is stopped in time",
            ended: "timeout".to_owned(),
            over_limit_ms: 1.5,
            verdict,
        }
    }

    #[test]
    fn one_attack_that_gets_through_makes_the_command_fail() {
        let rows = [AttackVerdict::Repelled, AttackVerdict::Failed, AttackVerdict::Allowed].map(row);
        assert_eq!(exit_code(&rows), Exit::Failure);
        assert!(
            to_table(&rows).ends_with("2 attacks, 1 got through"),
            "{}",
            to_table(&rows)
        );
        assert_eq!(
            exit_code(&[AttackVerdict::Repelled, AttackVerdict::Allowed].map(row)),
            Exit::Success
        );
    }

    #[test]
    fn the_table_shows_the_time_over_the_limit() {
        insta::assert_snapshot!(to_table(&[row(AttackVerdict::Repelled)]), @r"
            attack  the tool           expected            ended    over its limit
        ok  A01     computes for ever  is stopped in time  timeout  1.5 ms
        1 attacks, 0 got through
        ");
    }
}
