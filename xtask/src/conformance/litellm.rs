//! litellm, a gateway that nobody here wrote, between ramus and a model server: the turns of the real binary go through it
//! in all four formats, which it takes apart and puts together again as chat completions.
//!
//! What is judged: the turn ends as it should, the text arrives to the letter, results of tools are taken, and nothing that
//! litellm makes of our requests is turned away by the strict judge behind it.

mod proxy;
mod scenes;

use std::fs;

use anyhow::{Context as _, Result, bail, ensure};
use ramus_testkit::model_server::{Keys, ModelServer, Verdict as Judgement};
use serde_json::Value;

pub(super) use proxy::VERSION;
use proxy::{KEY, Proxy, Route};
use scenes::{SCENES, Scene};

use super::ramus::Ramus;
use super::{Row, Scope, Verdict};

const PROGRAM: &str = "litellm";

/// The formats, by the name of the provider that speaks them.
const PROVIDERS: [&str; 4] = ["openai", "openai-responses", "anthropic", "gemini"];

/// Plays every scene in every format. Where litellm cannot be installed or started, each scene is skipped.
pub(super) fn judge(ramus: &Ramus, scope: &Scope, show: &mut impl FnMut(Row)) -> Result<()> {
    let cases = PROVIDERS.iter().flat_map(|provider| SCENES.iter().map(move |scene| (*provider, scene)));
    let cases: Vec<_> = cases.filter(|(provider, scene)| scope.covers(&case(provider, scene))).collect();
    if cases.is_empty() {
        return Ok(());
    }
    let mut stages = Vec::new();
    for (provider, scene) in cases {
        let server = ModelServer::start_on(0, Keys::Unneeded, (scene.plan)()).context("cannot start a model server")?;
        let route =
            Route { model: format!("{provider}-{}", scene.name), upstream: format!("http://{}", server.address()) };
        stages.push(Stage { provider, scene, server, route });
    }
    let routes: Vec<&Route> = stages.iter().map(|stage| &stage.route).collect();
    let proxy = match Proxy::start(&routes) {
        Ok(proxy) => proxy,
        Err(reason) => {
            for stage in &stages {
                let skipped = (Verdict::Skipped, format!("{reason:#}"));
                show(Row::of(&case(stage.provider, stage.scene), PROGRAM, Ok(skipped)));
            }
            return Ok(());
        }
    };
    let project = ramus.folder().join("project");
    fs::write(project.join("first.txt"), "one ring\n")?;
    fs::write(project.join("second.txt"), "two rings\n")?;
    for stage in &stages {
        show(Row::of(&case(stage.provider, stage.scene), PROGRAM, stage.play(ramus, &proxy)));
    }
    Ok(())
}

fn case(provider: &str, scene: &Scene) -> String {
    format!("gateway/{provider}, {}", scene.name)
}

/// A scene in one format, and the server at its end.
struct Stage {
    provider: &'static str,
    scene: &'static Scene,
    server: ModelServer,
    route: Route,
}

impl Stage {
    fn play(&self, ramus: &Ramus, proxy: &Proxy) -> Result<(Verdict, String)> {
        let model = format!("{}/{}", self.provider, self.route.model);
        let session = (self.scene.prepare)(ramus)?;
        let mut arguments = vec!["run", "What do the files say?", "--model", &model];
        arguments.extend(session.as_deref().into_iter().flat_map(|session| ["--session", session]));
        let (base, v1) = (proxy.url(), format!("{}/v1", proxy.url()));
        let environment = [
            ("OPENAI_BASE_URL", v1.as_str()),
            ("ANTHROPIC_BASE_URL", &base),
            ("GEMINI_BASE_URL", &base),
            ("OPENAI_API_KEY", KEY),
            ("ANTHROPIC_API_KEY", KEY),
            ("GEMINI_API_KEY", KEY),
        ];
        let events = ramus.events(arguments, &environment)?;
        let end = events.iter().rev().find(|event| event.get("type").and_then(Value::as_str) == Some("turn_end"));
        let end = end.context("the turn does not end")?;
        if let Some(illegal) = self.server.illegal().first() {
            bail!("what litellm made of our request is turned away: {illegal}");
        }
        let reason = end.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
        ensure!(
            reason == self.scene.finish,
            "the turn ends with {reason}: {}",
            end.get("error").unwrap_or(&Value::Null)
        );
        let session = end.get("session").and_then(Value::as_str).context("no session")?;
        let said = (self.scene.judge)(&ramus.json(["context", session, "--dialect", "v3"])?)?;
        let asked = self.server.requests().iter().filter(|request| request.verdict == Judgement::Legal).count();
        Ok((Verdict::Same, format!("{said}; requests: {asked}")))
    }
}
