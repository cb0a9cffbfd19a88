//! A world with a server in it, and a browser that is logged in.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use ramus_testkit::browser::Browser;
use serde_json::Value;

use crate::world::World;

/// A server and a browser that shows its view.
pub(crate) struct Place {
    pub(crate) world: World,
    pub(crate) browser: Browser,
    pub(crate) address: String,
    server: Child,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns a browser, or says why a test did nothing.
fn browser() -> Option<Browser> {
    let browser = Browser::start().unwrap();
    if browser.is_none() {
        #[expect(clippy::print_stderr, reason = "who runs the tests must know what they did not do")]
        {
            eprintln!("skipped: there is no chromium on this machine");
        }
    }
    browser
}

/// Starts a server and returns what it says of itself.
fn serve(world: &World, port: &str, more: &[&str]) -> (Child, Value) {
    let mut command = world.command(&[&["serve", "--port", port, "--json", "--login"], more].concat());
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let ready = serde_json::from_str(&line).unwrap();
    (server, ready)
}

impl Place {
    /// Opens the view of a world, at what the address shall say; none when there is no browser.
    pub(crate) fn open(world: World, more: &[&str], query: &str) -> Option<Self> {
        let mut browser = browser()?;
        let (server, ready) = serve(&world, "0", more);
        let address = ready["address"].as_str().unwrap().to_owned();
        browser.go_online().unwrap();
        browser.look(1280, 800, false).unwrap();
        let login = ready["login"].as_str().unwrap();
        let to = query.replace('?', "%3F").replace('=', "%3D").replace('&', "%26");
        browser.visit(&format!("{login}&to={to}")).unwrap();
        browser.wait_until("location.pathname === '/' && document.querySelector('.panes')").unwrap();
        Some(Self { world, browser, address, server })
    }

    /// The same with a model that says what a script has it say.
    pub(crate) fn scripted(world: World, script: &str, query: &str) -> Option<Self> {
        let script = world.file("../script.toml", script);
        Self::open(world, &["--script", &script], query)
    }

    /// Ends the server as a crash would, and starts another in its place.
    pub(crate) fn restart(&mut self) {
        self.stop();
        let port = self.address.rsplit(':').next().unwrap().to_owned();
        self.server = serve(&self.world, &port, &[]).0;
    }

    fn stop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    pub(crate) fn until(&mut self, expression: &str) {
        self.browser.wait_until(expression).unwrap();
    }

    /// Waits until something on the page has this text.
    pub(crate) fn sees(&mut self, selector: &str, text: &str) {
        let (selector, text) = (Value::from(selector), Value::from(text));
        self.until(&format!(
            "[...document.querySelectorAll({selector})].some((one) => one.textContent.includes({text}))"
        ));
    }

    pub(crate) fn press(&mut self, keys: &[&str]) {
        self.browser.press(keys).unwrap();
    }

    /// Goes to the box and writes there.
    pub(crate) fn write(&mut self, text: &str) {
        self.press(&["i"]);
        self.until("document.activeElement.id === 'prompt'");
        self.browser.write(text).unwrap();
    }

    /// Writes something and sends it.
    pub(crate) fn say(&mut self, text: &str) {
        self.write(text);
        self.press(&["ctrl+Enter"]);
    }

    /// Lets time pass, for what must not happen.
    pub(crate) fn wait(&mut self, milliseconds: u32) {
        self.ask(&format!("new Promise((go) => setTimeout(go, {milliseconds}))"));
    }

    pub(crate) fn ask(&mut self, expression: &str) -> Value {
        self.browser.evaluate(expression).unwrap()
    }

    /// Presses the button with this text.
    pub(crate) fn push(&mut self, text: &str) {
        let find = format!(
            "[...document.querySelectorAll('button')].reverse().find((one) => one.textContent === {} && one.offsetParent && !one.disabled)",
            Value::from(text)
        );
        self.until(&find);
        self.ask(&format!("{find}.click()"));
    }

    /// Answers the question that is shown, as soon as it takes an answer.
    pub(crate) fn answer(&mut self, key: &str) {
        self.until("document.querySelector('.question[data-ready]')");
        self.press(&[key]);
    }

    /// Pushes something that is behind "More".
    pub(crate) fn more(&mut self, text: &str) {
        self.push("More ▾");
        self.push(text);
    }

    /// Does something by its name, as the palette does.
    pub(crate) fn act(&mut self, name: &str) {
        let name = Value::from(name);
        self.ask(&format!(
            "import(document.querySelector('script').src.replace('app.js', 'actions.js')).then(({{ act }}) => void act({name}))"
        ));
    }

    /// How many entries the tree says there are, once it has been read.
    pub(crate) fn entries(&mut self) -> u64 {
        self.until("document.getElementById('tree-count').textContent.includes('entries')");
        self.ask("parseInt(document.getElementById('tree-count').textContent.replaceAll(',', ''))").as_u64().unwrap()
    }

    /// Waits until the tree says that there are so many entries.
    pub(crate) fn has_entries(&mut self, count: u64) {
        self.until(&format!(
            "parseInt(document.getElementById('tree-count').textContent.replaceAll(',', '')) === {count}"
        ));
    }

    /// Nothing went wrong in the page, and it asked nobody but its server.
    pub(crate) fn was_quiet(&mut self) {
        assert_eq!(self.browser.complaints(), Vec::<String>::new());
        let others: Vec<String> = self
            .browser
            .requests()
            .into_iter()
            .filter(|url| !url.starts_with(&self.address) && !url.starts_with("data:image/") && url != "about:blank")
            .collect();
        assert_eq!(others, Vec::<String>::new());
    }
}
