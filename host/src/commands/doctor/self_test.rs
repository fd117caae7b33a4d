//! `art doctor --self-test`: attacks this host with a hostile tool, in the sandbox that runs use, and tells how each attack
//! ended. Some calls are no attacks but controls: the tool does what it is granted, and succeeds. They show that the refusals
//! of attacks are no mere failures.

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

/// How an attack or a control ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Verdict {
    /// The attack ended as required: the host stopped or refused it.
    Repelled,
    /// The attack or the control did not end as required.
    GotThrough,
    /// The control succeeded.
    Allowed,
}

/// A row of the output: an attack or a control, and how it ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AttackResult {
    /// Identifier of the attack, or for a control the letter of the attacks to which it belongs.
    id: &'static str,
    /// What the tool does.
    attack: &'static str,
    expected: &'static str,
    ended: String,
    /// Time that the call took above its limit, in milliseconds.
    over_limit_ms: f64,
    verdict: Verdict,
}

pub(super) fn self_test(global: &GlobalOptions, config: &Config) -> Result<Exit, CommandError> {
    let lab = Lab::new(config)?;
    let mut rows = Vec::new();
    for attack in &ATTACKS {
        rows.push(carry_out(&lab, attack)?);
    }
    rows.push(load_truncated_components(&lab));
    if global.json {
        render::json(&rows);
    } else {
        render::print(&to_table(&rows));
    }
    Ok(exit_code(&rows))
}

fn exit_code(rows: &[AttackResult]) -> Exit {
    let got_through = rows.iter().any(|row| row.verdict == Verdict::GotThrough);
    if got_through { Exit::Failure } else { Exit::Success }
}

fn carry_out(lab: &Lab, attack: &Attack) -> Result<AttackResult, CommandError> {
    let attempt = lab.attempt(attack)?;
    let is_as_expected = attack.is_as_expected(lab, &attempt);
    Ok(AttackResult {
        id: attack.id,
        attack: attack.action,
        expected: attack.expectation.in_words(),
        over_limit_ms: attempt.over_limit_ms(),
        ended: attempt.ending_in_words(attack.expectation),
        verdict: match (is_as_expected, attack.is_control()) {
            (true, true) => Verdict::Allowed,
            (true, false) => Verdict::Repelled,
            (false, _) => Verdict::GotThrough,
        },
    })
}

/// Tries to load truncated copies of the component of the hostile tool, all of which must be refused.
fn load_truncated_components(lab: &Lab) -> AttackResult {
    let loaded_count = lab.count_loaded_truncations();
    AttackResult {
        id: "C01",
        attack: "is a file that was cut off",
        expected: "is refused",
        ended: match loaded_count {
            0 => "refused".to_owned(),
            count => format!("{count} beginnings were loaded"),
        },
        over_limit_ms: 0.0,
        verdict: if loaded_count == 0 {
            Verdict::Repelled
        } else {
            Verdict::GotThrough
        },
    }
}

fn to_table(rows: &[AttackResult]) -> String {
    let heading = ["", "attack", "the tool", "expected", "ended", "over its limit"];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        let verdict = match row.verdict {
            Verdict::Repelled => "ok",
            Verdict::Allowed => "allowed",
            Verdict::GotThrough => "FAILED",
        };
        let over = match row.over_limit_ms {
            0.0 => "-".to_owned(),
            over => format!("{over:.1} ms"),
        };
        let texts = [verdict, row.id, row.attack, row.expected, &row.ended, &over];
        texts.map(str::to_owned).to_vec()
    }));
    let mut lines = table::lines(&cells);
    let (attacks, failed) = (
        rows.iter().filter(|row| row.verdict != Verdict::Allowed).count(),
        rows.iter().filter(|row| row.verdict == Verdict::GotThrough).count(),
    );
    lines.push(format!("{attacks} attacks, {failed} got through"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a row of the attack that computes for ever.
    fn row(verdict: Verdict) -> AttackResult {
        AttackResult {
            id: "A01",
            attack: "computes for ever",
            expected: "is stopped in time",
            ended: "timeout".to_owned(),
            over_limit_ms: 1.5,
            verdict,
        }
    }

    #[test]
    fn one_attack_that_gets_through_makes_the_command_fail() {
        let rows = [Verdict::Repelled, Verdict::GotThrough, Verdict::Allowed].map(row);
        assert_eq!(exit_code(&rows), Exit::Failure);
        assert!(
            to_table(&rows).ends_with("2 attacks, 1 got through"),
            "{}",
            to_table(&rows)
        );
        assert_eq!(
            exit_code(&[Verdict::Repelled, Verdict::Allowed].map(row)),
            Exit::Success
        );
    }

    #[test]
    fn the_table_shows_the_time_over_the_limit() {
        insta::assert_snapshot!(to_table(&[row(Verdict::Repelled)]), @r"
            attack  the tool           expected            ended    over its limit
        ok  A01     computes for ever  is stopped in time  timeout  1.5 ms
        1 attacks, 0 got through
        ");
    }
}
