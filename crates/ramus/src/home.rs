//! The home: where sessions and settings are kept, and what the settings are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use ramus_catalogue::History;
use ramus_engine::settings::Settings;
use ramus_engine::{Durability, Engine, prices};
use ramus_model::usage::Prices;
use ramus_store::{JsonlStore, Layout};

use crate::failure::Refusal;

/// The name by which our own entries record who wrote them.
const CLIENT: &str = "cli";

/// A home directory and its settings.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    root: PathBuf,
    settings: Settings,
}

impl Home {
    /// Finds the home (the flag or RAMUS_HOME, else the user's data directory) and reads its settings.
    pub(crate) fn open(named: Option<&Path>) -> anyhow::Result<Self> {
        let variable = || std::env::var_os("RAMUS_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
        let root = match named.map(Path::to_owned).or_else(variable) {
            Some(path) => path,
            None => default_root()?,
        };
        let root = std::path::absolute(&root).with_context(|| format!("cannot use {} as a home", root.display()))?;
        let settings = read_settings(&root)?;
        Ok(Self { root, settings })
    }

    /// Names a home that knows nothing but the defaults.
    pub(crate) fn pristine(root: PathBuf) -> anyhow::Result<Self> {
        Ok(Self { root, settings: Settings::defaults()? })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the file that `config set` writes.
    pub(crate) fn settings_file(&self) -> PathBuf {
        settings_file(&self.root)
    }

    /// Makes the directory, private to the user, if it is not there.
    pub(crate) fn make(&self) -> anyhow::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(&self.root).with_context(|| format!("cannot make {}", self.root.display()))
    }

    /// Reads what models cost.
    pub(crate) fn prices(&self) -> anyhow::Result<Prices> {
        read_prices(&self.root)
    }

    /// Returns when appends are made durable.
    pub(crate) fn durability(&self) -> anyhow::Result<Durability> {
        Ok(Durability::named(self.settings.get("durability")?.0).unwrap_or_default())
    }

    /// Makes an engine over the sessions of this home, and the store below it.
    pub(crate) fn engine(&self) -> anyhow::Result<(Engine, JsonlStore)> {
        let layout = match self.settings.get("layout")? {
            ("omp", _) => Layout::Omp { home: user_home()?, temporary: std::env::temp_dir() },
            _ => Layout::Pi,
        };
        let durability = self.durability()?;
        let store = JsonlStore::new(&self.root, layout);
        let engine = Engine::new(Arc::new(store.clone()), CLIENT).with_durability(durability);
        let engine = engine.with_owner(self.settings.get("owner")?.0);
        let engine = engine.with_catalogue(&self.root).with_history(Arc::new(History::at(&self.root)));
        Ok((
            engine
                .with_approvals(&self.root)
                .with_snapshots(&self.root)
                .with_shares(&self.root)
                .with_foreign(&self.root),
            store,
        ))
    }
}

fn read_prices(root: &Path) -> anyhow::Result<Prices> {
    let path = root.join("prices.toml");
    let mut known = prices::known()?;
    match std::fs::read_to_string(&path) {
        Ok(text) => prices::lay_over(&mut known, &text, &path.display().to_string())?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
    Ok(known)
}

fn settings_file(root: &Path) -> PathBuf {
    root.join("config.toml")
}

fn read_settings(root: &Path) -> anyhow::Result<Settings> {
    let path = settings_file(root);
    let mut settings = Settings::defaults()?;
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            settings = settings.with_user_file(&text, &path.display().to_string())?;
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    settings.with_environment(variable).context("cannot use the settings in the environment")
}

fn default_root() -> anyhow::Result<PathBuf> {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    match data {
        Some(data) => Ok(data.join("ramus")),
        None => Ok(user_home()?.join(".local/share/ramus")),
    }
}

fn user_home() -> anyhow::Result<PathBuf> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let missing = || Refusal::usage("there is no home directory").hint("name one with --home DIR or RAMUS_HOME");
    Ok(home.ok_or_else(missing)?)
}
