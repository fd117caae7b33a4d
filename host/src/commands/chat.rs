//! `art chat`: a conversation at a terminal, or one question a line for programs.

mod approvals;
mod commands;
mod input;
mod screen;
mod session;

use tokio::runtime::Runtime as Executor;

use super::interrupt::{AfterInterrupt, Interrupts};
use super::{attachment, config, ids, open, report, run};
use crate::cli::{ChatArgs, Global};
use crate::error::CommandError;
use crate::executor::executor;
use crate::exit::Exit;
use crate::render;
use commands::{ChatLine, ThreadChange};
use input::{Input, Typed};
use screen::Screen;
use session::Session;

/// How to leave, for a person who pressed Ctrl-C.
const LEAVE: &str = "to leave, press Ctrl-D or type /exit";

/// Tells its errors itself, since a program reads one JSON value a line.
pub(super) fn chat(global: &Global, args: &ChatArgs) -> Exit {
    let ended = begin(global).map(|(chat, input)| chat.hold(input, args.thread.clone()));
    ended.unwrap_or_else(|error| {
        Screen::new(global.json).error(&error);
        error.exit()
    })
}

fn begin(global: &Global) -> Result<(Chat, Input), CommandError> {
    let config = config(global)?;
    let input = Input::open(global.json, config.chat_history())?;
    let interrupts = Interrupts::listen(match input.is_interactive() {
        true => AfterInterrupt::GoOn,
        false => AfterInterrupt::End,
    })?;
    let executor = executor()?;
    let host = executor.block_on(open(global, config))?;
    let chat = Chat {
        screen: Screen::new(global.json),
        interactive: input.is_interactive(),
        executor,
        interrupts,
        session: Session::new(host),
        worst: Exit::Success,
    };
    Ok((chat, input))
}

struct Chat {
    screen: Screen,
    /// A person is at the other end, who sees what went wrong and asks again.
    interactive: bool,
    executor: Executor,
    interrupts: Interrupts,
    session: Session,
    worst: Exit,
}

impl Chat {
    /// Holds the conversation and gives back what the host has.
    fn hold(mut self, input: Input, thread: Option<String>) -> Exit {
        let ended = self.begin(thread).and_then(|()| self.read(input));
        if let Err(error) = &ended {
            self.fail(error);
        }
        self.executor.block_on(self.session.host.close());
        // A look-up of a host that nobody waits for any more must not hold the process.
        self.executor.shutdown_background();
        // A person has seen what went wrong; leaving is no failure, but being ended is.
        let left = self.interactive && ended.is_ok() && !self.interrupts.ended();
        if left { Exit::Success } else { self.worst }
    }

    fn begin(&mut self, thread: Option<String>) -> Result<(), CommandError> {
        if let Some(id) = thread {
            self.executor.block_on(self.session.go_on_with(&id))?;
        }
        let greeting = self.screen.greet(&self.session.host, self.interactive);
        self.executor.block_on(greeting)
    }

    /// Obeys one line after the other until the person leaves. What is wrong with a line is told, and the next one read.
    ///
    /// # Errors
    /// When no more lines can be read.
    fn read(&mut self, mut input: Input) -> Result<(), CommandError> {
        loop {
            let line = match input.next()? {
                Typed::Line(line) => ChatLine::parse(&line),
                Typed::Unreadable(why) => ChatLine::Wrong(why),
                Typed::Interrupted => {
                    self.screen.note(LEAVE);
                    continue;
                }
                Typed::End => return Ok(()),
            };
            if line == ChatLine::Exit {
                return Ok(());
            }
            if let Err(error) = self.obey(line) {
                self.fail(&error);
            }
            if self.interrupts.ended() {
                self.worst = Exit::Cancelled;
                return Ok(());
            }
            // What nobody can read is not worth asking for.
            if render::lost().is_some() {
                return Ok(());
            }
        }
    }

    fn fail(&mut self, error: &CommandError) {
        self.screen.error(error);
        self.worst = self.worst.worse(error.exit());
    }

    fn obey(&mut self, line: ChatLine) -> Result<(), CommandError> {
        let (screen, session) = (self.screen, &mut self.session);
        match line {
            ChatLine::Empty | ChatLine::Exit => {}
            ChatLine::Ask(query) => return self.ask(query),
            ChatLine::Thread(change) => return self.change_thread(change),
            ChatLine::Help => screen.say(&screen::help()),
            ChatLine::Tools => screen.say(&screen::tools(&session.host)),
            ChatLine::Model(name) => {
                if let Some(name) = name {
                    session.host.use_model(&name)?;
                    report::warn_of_cost(&session.host)?;
                }
                screen.say(&report::introduction(&session.host)?);
            }
            ChatLine::Cost => screen.say(&screen::costs(session)),
            ChatLine::Attach(path) => {
                let name = session.attach(&path)?;
                report::warn_of_size(&session.host, session.attachments.last());
                screen.say(&format!("`{name}` goes with the next question"));
            }
            ChatLine::Detach => screen.say(&screen::detached(&session.detach())),
            ChatLine::History => {
                let messages = self.executor.block_on(session.messages())?;
                screen.say(&screen::history(&messages));
            }
            ChatLine::Wrong(what) => return Err(CommandError::Usage(what)),
        }
        Ok(())
    }

    fn change_thread(&mut self, change: ThreadChange) -> Result<(), CommandError> {
        match change {
            ThreadChange::None => {}
            ThreadChange::New => self.session.begin_thread(),
            ThreadChange::To(id) => self.executor.block_on(self.session.go_on_with(&id))?,
        }
        let thread = self.session.thread();
        self.screen
            .say(thread.unwrap_or("none yet; the next question begins one"));
        Ok(())
    }

    /// A run can be cancelled without the conversation ending.
    fn ask(&mut self, query: String) -> Result<(), CommandError> {
        let run = self.interrupts.begin();
        let asked = self.screen.ask(&mut self.session, query, run.cancel.clone());
        let ended = self.executor.block_on(asked)?;
        self.worst = self.worst.worse(ended);
        Ok(())
    }
}
