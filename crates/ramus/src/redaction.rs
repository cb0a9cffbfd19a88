//! What this machine would rather keep to itself: values of the environment that are secrets by their names, the user, the
//! home directory and the name of the machine.

use ramus_redact::{Identity, Redactor};

/// Makes a redactor that knows this process.
pub(crate) fn redactor() -> Redactor {
    let named =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let secrets: Vec<String> =
        named.filter(|(name, _)| Redactor::is_secret_name(name)).map(|(_, value)| value).collect();
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let identity = Identity { user: variable("USER"), home: variable("HOME"), host };
    Redactor::new().with_secrets(&secrets).with_identity(&identity)
}
