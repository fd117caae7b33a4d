//! The attacks, each with its required outcome.

use art_core::capability::{Access, FsGrant, HttpGrant, ToolPolicy};
use art_core::outcome::CallEnding::{
    self, FuelExhausted, InvalidOutput, MemoryExhausted, StackOverflow, Timeout, Trap,
};
use serde_json::{Value, json};

use super::lab::{Attempt, Lab};

/// An attack that `attacker.wat` implements, or a control.
#[derive(Debug)]
pub(super) struct Attack {
    /// Identifier of the attack, or for a control the letter of the attacks to which it belongs.
    pub(super) id: &'static str,
    /// What the tool does; completes the sentence "the tool ..".
    pub(super) what: &'static str,
    /// Number of the attack in `attacker.wat`.
    pub(super) number: u32,
    /// What the tool aims at.
    pub(super) aim: Aim,
    /// The required outcome.
    pub(super) expectation: Expectation,
}

/// What an attack aims at, with the grants that the tool has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Nothing outside of its call.
    Nothing,
    /// A path in the folder of the test, of which only the folder `granted` is granted, for reading.
    Path(&'static str),
    /// A path in the folder of the test, without any grant.
    UngrantedPath(&'static str),
    /// The server of the test at this host, without any grant.
    UngrantedHost(&'static str),
    /// The server of the test at this host, with a grant that covers the host only at public addresses.
    PublicHost(&'static str),
    /// The server of the test at this host, with a grant that covers the host also at addresses that are not public.
    PrivateHost(&'static str),
}

/// The required outcome of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    /// The call ends in one of these ways.
    Ends(&'static [CallEnding]),
    /// The tool is told that access is refused, and reaches nothing.
    Refused,
    /// The tool succeeds, since this is allowed.
    Allowed,
    /// The log stays below its limit.
    ShortLog,
    /// A second call finds nothing of the first.
    Forgotten,
    /// The fields of the result that only the host may set do not have the values that the tool chose.
    NotForged,
}

impl Expectation {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Ends([Timeout]) => "is stopped in time",
            Self::Ends([FuelExhausted, ..]) => "runs out of fuel or time",
            Self::Ends([MemoryExhausted, ..]) => "gets no more memory",
            Self::Ends([StackOverflow]) => "overflows its own stack",
            Self::Ends([InvalidOutput]) => "has its output refused",
            Self::Ends(_) => "is stopped",
            Self::Refused => "is denied it",
            Self::Allowed => "succeeds",
            Self::ShortLog => "has its log cut",
            Self::Forgotten => "finds nothing",
            Self::NotForged => "is not believed",
        }
    }
}

const STOPPED: Expectation = Expectation::Ends(&[FuelExhausted, Timeout]);

const fn attack(id: &'static str, what: &'static str, number: u32, expectation: Expectation) -> Attack {
    aimed_attack(id, what, number, Aim::Nothing, expectation)
}

const fn aimed_attack(id: &'static str, what: &'static str, number: u32, aim: Aim, expectation: Expectation) -> Attack {
    Attack {
        id,
        what,
        number,
        aim,
        expectation,
    }
}

/// The attacks and the controls, by the letters of their identifiers.
pub(super) const ATTACKS: [Attack; 26] = [
    attack("A01", "computes for ever", 10, STOPPED),
    attack("A02", "calls the host for ever", 11, STOPPED),
    attack("A05", "sleeps for an hour", 12, Expectation::Ends(&[Timeout])),
    attack("A07", "sleeps for no time, for ever", 13, STOPPED),
    attack("A08", "fills 32 MiB again and again", 17, STOPPED),
    attack(
        "A09",
        "takes memory without end",
        14,
        Expectation::Ends(&[MemoryExhausted]),
    ),
    attack(
        "A10",
        "takes a table of ten million entries",
        15,
        Expectation::Ends(&[MemoryExhausted, Trap]),
    ),
    attack(
        "A11",
        "calls itself without end",
        16,
        Expectation::Ends(&[StackOverflow]),
    ),
    attack("A12", "loops after its end", 18, STOPPED),
    attack("A16", "aborts", 21, Expectation::Ends(&[Trap])),
    attack("B01", "returns 32 MiB", 19, Expectation::Ends(&[InvalidOutput])),
    attack("B02", "logs 125 MiB", 20, Expectation::ShortLog),
    attack(
        "B03",
        "opens a million handles",
        23,
        Expectation::Ends(&[Trap, FuelExhausted]),
    ),
    attack("D16", "writes what only the host may", 28, Expectation::NotForged),
    aimed_attack(
        "E",
        "reads a granted file",
        24,
        Aim::Path("granted/note.txt"),
        Expectation::Allowed,
    ),
    aimed_attack(
        "E01",
        "reads `../secret.txt`",
        24,
        Aim::Path("granted/../secret.txt"),
        Expectation::Refused,
    ),
    aimed_attack(
        "E01",
        "reads beside what is granted",
        24,
        Aim::Path("secret.txt"),
        Expectation::Refused,
    ),
    aimed_attack(
        "E04",
        "follows a link out of what is granted",
        24,
        Aim::Path("granted/link"),
        Expectation::Refused,
    ),
    aimed_attack(
        "E06",
        "writes where it may only read",
        25,
        Aim::Path("granted/new.txt"),
        Expectation::Refused,
    ),
    aimed_attack(
        "E08",
        "reads a pipe that nobody writes to",
        24,
        Aim::Path("granted/pipe"),
        Expectation::Refused,
    ),
    aimed_attack(
        "E14",
        "reads a file without a grant",
        24,
        Aim::UngrantedPath("granted/note.txt"),
        Expectation::Refused,
    ),
    attack("E14", "reads the environment", 26, Expectation::Refused),
    aimed_attack(
        "F01",
        "connects to this machine",
        27,
        Aim::UngrantedHost("127.0.0.1"),
        Expectation::Refused,
    ),
    aimed_attack(
        "F07",
        "has a granted name that leads here",
        27,
        Aim::PublicHost("localhost"),
        Expectation::Refused,
    ),
    aimed_attack(
        "F",
        "connects to a granted host",
        27,
        Aim::PrivateHost("127.0.0.1"),
        Expectation::Allowed,
    ),
    attack("H01", "looks for an earlier call", 22, Expectation::Forgotten),
];

impl Attack {
    /// Returns whether this is no attack but a control, which shows that allowed access works.
    pub(super) fn is_control(&self) -> bool {
        self.expectation == Expectation::Allowed
    }

    /// Returns what the tool is granted.
    pub(super) fn policy(&self, lab: &Lab) -> ToolPolicy {
        let mut policy = lab.policy();
        let http_grant = |host: &str, private| {
            let url = format!("http://{}/", lab.authority(host)).parse().ok();
            url.map(|url| HttpGrant {
                private,
                ..HttpGrant::of(url, "GET")
            })
        };
        match self.aim {
            Aim::Nothing | Aim::UngrantedPath(_) | Aim::UngrantedHost(_) => {}
            Aim::Path(_) => policy.fs.push(FsGrant::new(lab.path("granted"), Access::Read)),
            Aim::PublicHost(host) => policy.http.extend(http_grant(host, false)),
            Aim::PrivateHost(host) => policy.http.extend(http_grant(host, true)),
        }
        policy
    }

    /// Returns the input of the tool.
    pub(super) fn input(&self, lab: &Lab) -> Value {
        let text = match self.aim {
            Aim::Nothing => String::new(),
            Aim::Path(path) | Aim::UngrantedPath(path) => {
                let path = lab.path(path).to_string_lossy().into_owned();
                path.trim_start_matches('/').to_owned()
            }
            Aim::UngrantedHost(host) | Aim::PublicHost(host) | Aim::PrivateHost(host) => lab.authority(host),
        };
        json!({"attack": self.number, "text": text})
    }

    pub(super) fn is_as_expected(&self, lab: &Lab, attempt: &Attempt) -> bool {
        match self.expectation {
            Expectation::Ends(endings) => endings.contains(&attempt.report.ending),
            Expectation::Refused => {
                attempt.boolean_output() == Some(false) && attempt.connections == 0 && !lab.is_changed()
            }
            Expectation::Allowed => attempt.boolean_output() == Some(true),
            Expectation::ShortLog => attempt.log_bytes() > 0 && attempt.log_bytes() <= lab.max_log_bytes(),
            Expectation::Forgotten => attempt.boolean_output() == Some(false),
            Expectation::NotForged => attempt.boolean_output() == Some(false) && !attempt.is_forged(),
        }
    }
}
