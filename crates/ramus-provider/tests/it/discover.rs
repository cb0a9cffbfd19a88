//! Models on this machine.

use std::time::{Duration, Instant};

use ramus_provider::discover::{Local, llama_cpp, ollama};
use ramus_provider::{Control, Facts};
use serde_json::json;

use crate::requests::name;
use crate::server::{Act, Server};

#[tokio::test]
async fn what_ollama_has() {
    let tags = json!({"models": [{"name": "qwen3:8b", "size": 5}, {"size": 1}]}).to_string();
    let shown = json!({
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960, "qwen3.block_count": 36},
        "capabilities": ["completion", "tools", "thinking"],
    });
    let mut server = Server::new(vec![Act::Route(vec![("/api/tags", tags), ("/api/show", shown.to_string())])]).await;
    let facts = Facts { window: Some(40_960), output: None, images: false, control: Control::Unknown };
    let expected = [Local { model: name("ollama", "qwen3:8b"), facts }];
    assert_eq!(ollama(Some(server.base.trim_start_matches("http://"))).await, expected);
    assert!(server.request().await.starts_with("GET /api/tags "));
    assert!(server.request().await.ends_with(r#"{"model":"qwen3:8b"}"#));
}

#[tokio::test]
async fn what_llama_cpp_has() {
    let models = json!({"object": "list", "data": [{"id": "tiny.gguf", "object": "model"}]}).to_string();
    let properties =
        json!({"default_generation_settings": {"n_ctx": 4096}, "modalities": {"vision": false}}).to_string();
    let server = Server::new(vec![Act::Route(vec![("/v1/models", models.clone()), ("/props", properties)])]).await;
    let facts = Facts { window: Some(4_096), output: None, images: false, control: Control::Unknown };
    let expected = [Local { model: name("local", "tiny.gguf"), facts }];
    assert_eq!(llama_cpp(&format!("{}/v1/", server.base), "local").await, expected);
    assert_eq!(llama_cpp(&server.base, "local").await, expected);
    // One that does not tell about itself still has its model.
    let server = Server::new(vec![Act::Route(vec![("/v1/models", models)])]).await;
    let expected = [Local { model: name("local", "tiny.gguf"), facts: Facts::default() }];
    assert_eq!(llama_cpp(&server.base, "local").await, expected);
}

#[tokio::test]
async fn nobody_is_asked_elsewhere_and_nobody_is_waited_for() {
    let start = Instant::now();
    assert_eq!(ollama(Some("http://192.0.2.1:11434")).await, []);
    assert!(start.elapsed() < Duration::from_millis(200), "only this machine is asked");
    let silent = Server::new(vec![Act::Wait]).await;
    assert_eq!(ollama(Some(&silent.base)).await, []);
    let nonsense = Server::new(vec![Act::Route(vec![("/api/tags", "<html>".to_owned())])]).await;
    assert_eq!(ollama(Some(&nonsense.base)).await, []);
    assert!(start.elapsed() < Duration::from_secs(4));
}
