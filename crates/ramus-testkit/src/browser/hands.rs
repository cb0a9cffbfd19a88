//! What a person does with a page: presses keys, writes, clicks, waits until something shows.

use std::io;
use std::time::Instant;

use serde_json::{Value, json};

use super::PATIENCE;
use super::chrome::Browser;
use super::protocol::BrowserError;

impl Browser {
    /// Presses keys one after the other: `j`, `Enter`, `Escape`, or `ctrl+k`.
    pub fn press(&mut self, keys: &[&str]) -> Result<(), BrowserError> {
        for key in keys {
            let (modifiers, key) = match key.strip_prefix("ctrl+") {
                Some(key) => (2, key),
                None => (0, *key),
            };
            let (code, text) = match key {
                "Enter" => (13, "\r"),
                "Escape" => (27, ""),
                "Tab" => (9, ""),
                "ArrowDown" => (40, ""),
                "ArrowUp" => (38, ""),
                one => (0, if modifiers == 0 && one.chars().count() == 1 { one } else { "" }),
            };
            let mut down = json!({"type": "keyDown", "key": key, "modifiers": modifiers});
            if let Some(members) = down.as_object_mut() {
                if code > 0 {
                    members.insert("windowsVirtualKeyCode".into(), code.into());
                    members.insert("code".into(), key.into());
                }
                if !text.is_empty() {
                    members.insert("text".into(), text.into());
                }
            }
            self.protocol.command("Input.dispatchKeyEvent", down)?;
            let up = json!({"type": "keyUp", "key": key, "modifiers": modifiers, "windowsVirtualKeyCode": code});
            self.protocol.command("Input.dispatchKeyEvent", up)?;
        }
        Ok(())
    }

    /// Writes where the focus is.
    pub fn write(&mut self, text: &str) -> Result<(), BrowserError> {
        self.protocol.command("Input.insertText", json!({"text": text})).map(drop)
    }

    /// Clicks on what a selector finds, once it is there.
    pub fn click(&mut self, selector: &str) -> Result<(), BrowserError> {
        let selector = Value::from(selector);
        self.wait_until(&format!(
            "(() => {{ const found = document.querySelector({selector}); found?.click(); return found !== null; }})()"
        ))
    }

    /// Waits until an expression is true. While one page takes the place of another it cannot be asked; then it is asked again.
    pub fn wait_until(&mut self, expression: &str) -> Result<(), BrowserError> {
        let began = Instant::now();
        let poll = format!(
            "(async () => {{ const end = performance.now() + 20000; while (!({expression})) {{ \
             if (performance.now() > end) return false; await new Promise((go) => setTimeout(go, 10)); }} return true; }})()"
        );
        while began.elapsed() < PATIENCE {
            match self.evaluate(&poll) {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(_) => break,
                Err(BrowserError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let seen = self.evaluate("document.body.innerText.slice(0, 1500)").unwrap_or_default();
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("it never was so: {expression}; the page says {seen}"))
            .into())
    }

    /// Forgets what happened so far.
    pub fn forget(&mut self) {
        self.protocol.events.clear();
    }

    /// Asks the browser something that only it knows.
    pub fn command(&mut self, method: &str, params: Value) -> Result<Value, BrowserError> {
        self.protocol.command(method, params)
    }
}
