//! The view for programs that know the table `okc_conversations`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use ramus_catalogue::{Catalogue, Change, Residence, Row};
use rusqlite::Connection;

#[test]
fn conversations_have_the_columns_that_are_expected() {
    let home = tempfile::tempdir().unwrap();
    let mut catalogue = Catalogue::open(home.path(), "1").unwrap();
    let row = Row {
        name: "sessions/a.jsonl".into(),
        id: "a".into(),
        owner: "ada".into(),
        title: "Parser".into(),
        created: "2026-02-16T10:20:30.007Z".into(),
        created_millis: 1_771_237_230_007,
        updated: "2026-02-16T10:20:31.000Z".into(),
        updated_millis: 1_771_237_231_000,
        messages: 3,
        usage: r#"{"input":5}"#.into(),
        metadata: "{}".into(),
        workspace_root: Some("/w".into()),
        workspace_mount: Some("/mnt".into()),
        workspace_session: Some("s".into()),
        git_commit: Some("c0ffee".into()),
        git_dirty: Some(true),
        ..Row::default()
    };
    let base = Row { name: "bases/b.jsonl".into(), residence: Residence::Base, ..row.clone() };
    let unreadable = Row { name: "sessions/c.jsonl".into(), unreadable: Some("no".into()), ..row.clone() };
    let clean = Row { name: "sessions/d.jsonl".into(), id: "d".into(), git_dirty: Some(false), ..row.clone() };
    let unknown = Row { name: "sessions/e.jsonl".into(), id: "e".into(), git_dirty: None, ..row.clone() };
    let changes = [row, base, unreadable, clean, unknown].map(Change::put);
    catalogue.enter().unwrap().apply(&changes, &[]).unwrap();

    let connection = Connection::open(home.path().join("catalogue.db")).unwrap();
    let mut statement = connection.prepare("SELECT * FROM okc_conversations ORDER BY id").unwrap();
    assert_eq!(
        statement.column_names().collect::<Vec<_>>(),
        [
            "id",
            "client_id",
            "title",
            "created_at",
            "updated_at",
            "payload",
            "workspace_root",
            "workspace_mount",
            "workspace_session",
            "git_commit",
            "git_dirty"
        ]
    );
    let rows: Vec<Vec<Option<String>>> = statement
        .query_map((), |row| (0..11).map(|column| row.get(column)).collect())
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(rows.len(), 3);
    let text = |column: usize| rows[0][column].as_deref().unwrap();
    assert_eq!([text(0), text(1), text(2)], ["a", "ada", "Parser"]);
    assert_eq!([text(3), text(4)], ["2026-02-16 10:20:30.007000", "2026-02-16 10:20:31.000000"]);
    assert_eq!([text(6), text(7), text(8), text(9), text(10)], ["/w", "/mnt", "s", "c0ffee", "1"]);
    let payload: serde_json::Value = serde_json::from_str(text(5)).unwrap();
    assert_eq!(payload["workspace"]["git"], serde_json::json!({"commit": "c0ffee", "is_dirty": true}));
    assert_eq!((&payload["createdAt"], &payload["usage"]["input"]), (&"2026-02-16T10:20:30.007Z".into(), &5.into()));
    assert_eq!([rows[1][10].as_deref(), rows[2][10].as_deref()], [Some("0"), None]);
}
