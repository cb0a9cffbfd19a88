//! `login`: keeps the token of a server in the home.

use std::io::{self, BufRead as _, IsTerminal as _};

use clap::Args;
use ramus_client::Token;
use serde_json::json;

use crate::cli::Global;
use crate::failure::{Exit, Refusal};
use crate::home::Home;
use crate::render::{Text, json, style};
use crate::screen::Screen;
use crate::servers::{Kept, Named};

const EXAMPLES: &str = "\
The token is that of the login URL, of --token-file, of RAMUS_TOKEN, or the first line that comes in. It is tried, and kept in \
the home, where only you can read it; from then on `--server URL` is enough. The environment variable RAMUS_SERVER names a \
server for every command that does not name another.

Examples:
  ramus --server http://127.0.0.1:7347 login < ~/.local/share/ramus/token
  ramus --server https://build.example:7347 --cacert ca.pem login
  ramus --server https://build.example:7347 login --forget";

/// Keep the token of a server, so that --server URL is enough
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Login {
    /// Forget the token instead
    #[arg(long)]
    forget: bool,
}

impl Login {
    pub(crate) fn run(&self, global: &Global, home: &Home, screen: &mut Screen) -> anyhow::Result<Exit> {
        let missing = || Refusal::usage("no server is named").hint("ramus --server URL login");
        let named = Named::of(global)?.ok_or_else(missing)?;
        let kept = Kept::of(home);
        if self.forget {
            let was_there = kept.forget(&named.name())?;
            return tell(screen, &named.name(), false, if was_there { "forgotten" } else { "no token is kept" });
        }
        // What is kept already is not what someone who logs in means.
        let token = match named.given(global)? {
            Some(token) => token,
            None => typed(screen)?,
        };
        let client = named.client(global, Some(token.clone()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(client.list(&[("limit", "1")]))?;
        home.make()?;
        kept.keep(&named.name(), &token)?;
        tell(screen, &named.name(), true, "logged in")
    }
}

/// Reads the token that someone types or pipes in.
fn typed(screen: &mut Screen) -> anyhow::Result<Token> {
    if io::stdin().is_terminal() {
        screen.note(Text::new().plain("the token, which is shown as you type: ").end())?;
    }
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    match line.trim() {
        "" => Err(Refusal::usage("there is no token").hint("pipe it in, or name a file with --token-file").into()),
        token => Ok(Token::new(token)),
    }
}

fn tell(screen: &mut Screen, server: &str, is_kept: bool, words: &str) -> anyhow::Result<Exit> {
    if screen.wants_json() {
        screen.json(json::members(json!({"server": server, "kept": is_kept})))?;
    } else {
        let mut text = Text::new();
        screen.note(text.plain(words).plain(": ").styled(style::BOLD, server).end())?;
    }
    Ok(Exit::Done)
}
