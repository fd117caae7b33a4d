//! The attacks, each with its required outcome.

use art_core::capability::{Access, FsGrant, HttpGrant, ToolPolicy};
use art_core::outcome::EndingKind::{
    self, FuelExhausted, InvalidOutput, MemoryExhausted, StackOverflow, Timeout, Trap,
};
use serde_json::{Value, json};

use super::lab::{Attempt, Lab};

/// An attack that `attacker.wat` implements, or a control: a call that must succeed, which shows that allowed access works.
#[derive(Debug)]
pub(super) struct Attack {
    /// Identifier of the attack in `tests/attacks.toml`. Several attacks here may have the same identifier. A control has only
    /// the letter with which the identifiers of its group begin.
    pub(super) id: &'static str,
    /// What the tool does; completes the sentence "the tool ..".
    pub(super) action: &'static str,
    /// Number of the action in `attacker.wat`. Attacks and controls with the same number differ in their aims.
    pub(super) number: u32,
    /// What the tool aims at, and what it is granted.
    pub(super) aim: Aim,
    /// The required outcome.
    pub(super) expectation: Expectation,
}

/// What an attack aims at, and the grants that the tool has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Nothing outside of the call. The tool has no grants.
    Nothing,
    /// A path in the folder of the test. The tool may read the subfolder `granted` of that folder, and nothing else.
    Path(&'static str),
    /// A path in the folder of the test. The tool has no grants.
    UngrantedPath(&'static str),
    /// The server of the test, under this host name. The tool has no grants.
    UngrantedHost(&'static str),
    /// The server of the test, under this host name. The tool has a grant for the host, but only at public addresses.
    HostGrantedIfPublic(&'static str),
    /// The server of the test, under this host name. The tool has a grant for the host, also at addresses that are not public.
    GrantedHost(&'static str),
}

/// The required outcome of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    /// The call ends in one of these ways.
    Ends(&'static [EndingKind]),
    /// The tool is told that access is refused, and reaches nothing.
    Refused,
    /// The tool succeeds, since this is allowed.
    Allowed,
    /// The log stays below its limit.
    LogIsCut,
    /// A second call finds nothing of the first one.
    FindsNothing,
    /// The fields of the result that only the host may set do not have the values that the tool chose.
    ForgeryIsIgnored,
}

impl Expectation {
    /// Returns the outcome in words that complete the sentence "the tool ..".
    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::Ends([Timeout]) => "is stopped in time",
            Self::Ends([FuelExhausted, ..]) => "runs out of fuel or time",
            Self::Ends([MemoryExhausted, ..]) => "gets no more memory",
            Self::Ends([StackOverflow]) => "overflows its own stack",
            Self::Ends([InvalidOutput]) => "has its output refused",
            Self::Ends(_) => "is stopped",
            Self::Refused => "is denied it",
            Self::Allowed => "succeeds",
            Self::LogIsCut => "has its log cut",
            Self::FindsNothing => "finds nothing",
            Self::ForgeryIsIgnored => "is not believed",
        }
    }
}

/// The host stops the tool because its fuel or its time is over.
const STOPPED: Expectation = Expectation::Ends(&[FuelExhausted, Timeout]);

/// Creates an attack that aims at nothing outside of its call.
const fn attack(id: &'static str, action: &'static str, number: u32, expectation: Expectation) -> Attack {
    aimed_attack(id, action, number, Aim::Nothing, expectation)
}

/// Creates an attack on something outside of its call, or a control that may access it.
const fn aimed_attack(
    id: &'static str,
    action: &'static str,
    number: u32,
    aim: Aim,
    expectation: Expectation,
) -> Attack {
    Attack {
        id,
        action,
        number,
        aim,
        expectation,
    }
}

/// The attacks and the controls, grouped by the letter of their identifiers. A control has only a letter as its identifier.
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
    attack("A12", "returns, and then computes for ever", 18, STOPPED),
    attack("A16", "aborts", 21, Expectation::Ends(&[Trap])),
    attack("B01", "returns 32 MiB", 19, Expectation::Ends(&[InvalidOutput])),
    attack("B02", "logs 125 MiB", 20, Expectation::LogIsCut),
    attack(
        "B03",
        "opens a million handles",
        23,
        Expectation::Ends(&[Trap, FuelExhausted]),
    ),
    attack(
        "D16",
        "sets fields that only the host may set",
        28,
        Expectation::ForgeryIsIgnored,
    ),
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
        "reads a file beside the granted folder",
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
        "connects to a granted name of this machine",
        27,
        Aim::HostGrantedIfPublic("localhost"),
        Expectation::Refused,
    ),
    aimed_attack(
        "F",
        "connects to a granted host",
        27,
        Aim::GrantedHost("127.0.0.1"),
        Expectation::Allowed,
    ),
    attack(
        "H01",
        "looks for traces of an earlier call",
        22,
        Expectation::FindsNothing,
    ),
];

impl Attack {
    /// Returns whether this is no attack but a control, which shows that allowed access works.
    pub(super) fn is_control(&self) -> bool {
        self.expectation == Expectation::Allowed
    }

    /// Returns what the tool is granted.
    pub(super) fn policy(&self, lab: &Lab) -> ToolPolicy {
        let mut policy = lab.policy_without_grants();
        let http_grant = |host: &str, also_at_private_addresses| {
            let url = format!("http://{}/", lab.authority(host)).parse().ok();
            url.map(|url| HttpGrant {
                private: also_at_private_addresses,
                ..HttpGrant::for_method(url, "GET")
            })
        };
        match self.aim {
            Aim::Nothing | Aim::UngrantedPath(_) | Aim::UngrantedHost(_) => {}
            Aim::Path(_) => policy.fs.push(FsGrant::new(lab.path("granted"), Access::Read)),
            Aim::HostGrantedIfPublic(host) => policy.http.extend(http_grant(host, false)),
            Aim::GrantedHost(host) => policy.http.extend(http_grant(host, true)),
        }
        policy
    }

    /// Returns the input of the tool: the number of its action, and the path or the address that it aims at.
    pub(super) fn input(&self, lab: &Lab) -> Value {
        let text = match self.aim {
            Aim::Nothing => String::new(),
            Aim::Path(path) | Aim::UngrantedPath(path) => {
                let path = lab.path(path).to_string_lossy().into_owned();
                // The tool opens paths relative to the directory `/`.
                path.trim_start_matches('/').to_owned()
            }
            Aim::UngrantedHost(host) | Aim::HostGrantedIfPublic(host) | Aim::GrantedHost(host) => lab.authority(host),
        };
        json!({"attack": self.number, "text": text})
    }

    /// Returns whether the attack or the control ended as required. The tool returns `true` if it reached what it aimed at.
    pub(super) fn is_as_expected(&self, lab: &Lab, attempt: &Attempt) -> bool {
        match self.expectation {
            Expectation::Ends(endings) => endings.contains(&attempt.report.ending),
            Expectation::Refused => {
                attempt.reached_aim() == Some(false) && attempt.connections == 0 && !lab.has_written_file()
            }
            Expectation::Allowed => attempt.reached_aim() == Some(true),
            Expectation::LogIsCut => attempt.log_bytes() > 0 && attempt.log_bytes() <= lab.max_log_bytes(),
            Expectation::FindsNothing => attempt.reached_aim() == Some(false),
            Expectation::ForgeryIsIgnored => attempt.reached_aim() == Some(false) && !attempt.has_forged_fields(),
        }
    }
}
