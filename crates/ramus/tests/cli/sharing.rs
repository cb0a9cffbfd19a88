//! Sessions that leave the home and come into another one.

use serde_json::json;

use crate::world::World;

#[test]
fn a25_a_bundle_goes_into_another_home_and_out_again() {
    let (here, there) = (World::new(), World::new());
    let session = here.branched();
    let bundle = here.ok(&["export", &session]) + "\n";
    assert!(bundle.starts_with("{\"format\":\"ramus-bundle\""), "{bundle}");
    let file = there.file("session.json", &bundle);
    let dry = there.json(&["import", &file, "--dry-run"]);
    assert_eq!(dry["imported"][0]["id"], json!(session));
    assert_eq!(there.run(&["show", &session]).code, 3, "a dry run imports nothing");
    let imported = there.json(&["import", &file]);
    assert_eq!(imported["imported"][0]["source"], "ramus-bundle");
    assert_eq!(imported["imported"][0]["branches"], 2);
    assert_eq!(imported["imported"][0]["lossy"], json!([]));
    assert_eq!((&imported["skipped"], &imported["failed"]), (&json!([]), &json!([])));
    let again = there.json(&["session", "import", &file]);
    assert_eq!((&again["imported"], &again["skipped"][0]["id"]), (&json!([]), &json!(session)));
    // The names that other agents use, and a file instead of stdout.
    let path = there.path("project/again.json").display().to_string();
    there.ok(&["session", "export", &session, "--output", &path, "-q"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), bundle);
    assert_eq!(there.ok(&["tree", &session, "--json"]), here.ok(&["tree", &session, "--json"]));
    // Both go on, and neither can be had in the other's place.
    here.say(&session, "user", "this way");
    there.say(&session, "user", "that way");
    let longer = here.ok(&["export", &session]) + "\n";
    let refused = there.run_with(&longer, &["import", "-"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    let copied = there.run_with(&longer, &["import", "-", "--as-new", "--json"]);
    assert_eq!(copied.code, 0, "{}", copied.stderr);
    assert_eq!(there.run_with(&longer[..longer.len() / 2], &["import", "-", "--as-new"]).code, 5);
    assert_eq!(there.run(&["import", "no-such-file.json"]).code, 3);
    // What says that it came from elsewhere goes with it.
    assert!(there.path("home/imported").join(&session).exists());
    there.ok(&["delete", &session, "--yes"]);
    assert!(!there.path("home/imported").join(&session).exists());
}

#[test]
fn i11_secrets_of_the_settings_are_taken_out_whatever_they_are_called() {
    let world = World::new().with("SHOP_WORD", "staple-gun-tourniquet").with("OTHER", "plain-speaking-parrot");
    let session = world.branched();
    let written = std::fs::write(
        world.path("home/config.toml"),
        "[providers.shop]\nbase_url = \"http://127.0.0.1:9\"\nkey_env = \"SHOP_WORD\"\n\
         headers = { Authorization = \"Bearer seldom-seen-sailor\", Accept = \"application/json\" }\n\
         [mcp.tools]\ncommand = \"tools\"\nenv = { API_TOKEN = \"mostly-made-of-moss\", MODE = \"quiet-and-calm\" }\n",
    );
    written.unwrap();
    let words = "staple-gun-tourniquet seldom-seen-sailor mostly-made-of-moss";
    world.say(&session, "user", &format!("{words} application/json quiet-and-calm plain-speaking-parrot"));
    let text = world.ok(&["export", &session, "--to", "md", "--redact"]);
    for hidden in words.split(' ') {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    assert!(text.contains("application/json quiet-and-calm plain-speaking-parrot"), "{text}");
}

#[test]
fn a25_files_of_snapshots_go_along_and_can_be_restored_elsewhere() {
    let (here, there) = (World::new(), World::new());
    let session = here.branched();
    let path = here.file("notes.txt", "first\n");
    let first = here.json(&["snapshot", &session])["snapshot"]["id"].as_str().unwrap().to_owned();
    std::fs::write(&path, "second\n").unwrap();
    here.ok(&["snapshot", &session]);
    let bundle = here.ok(&["export", &session, "--with-snapshots"]) + "\n";
    assert!(bundle.len() > here.ok(&["export", &session]).len());
    let file = there.file("session.json", &bundle);
    let imported = there.json(&["import", &file]);
    assert_eq!(imported["snapshots"], 2, "{imported}");
    assert_eq!(there.ok(&["export", &session, "--with-snapshots"]) + "\n", bundle);
    there.ok(&["restore", &session, &first]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first\n");
    // A bundle without them says so when they are wanted.
    let without = World::new();
    let file = without.file("session.json", &(here.ok(&["export", &session]) + "\n"));
    assert_eq!(without.json(&["import", &file])["snapshots"], 0);
    let refused = without.run(&["restore", &session, &first]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("without its files"), "{}", refused.stderr);
    assert_eq!(here.run(&["export", &session, "--to", "md", "--with-snapshots"]).code, 2);
}

#[test]
fn a25_pages_and_texts_are_written() {
    let world = World::new();
    let session = world.branched();
    let page = world.ok(&["export", &session, "--to", "html"]);
    for part in
        ["<!doctype html>", "Content-Security-Policy", "id=\"e-bbbb0001\"", "id=\"e-cccc0002\"", "Call sorted(names)."]
    {
        assert!(page.contains(part), "{part}");
    }
    let text = world.ok(&["export", &format!("{session}@bbbb0001"), "--to", "md"]);
    assert!(text.contains("And in reverse?") && !text.contains("Without changing it?"), "{text}");
    let all = world.ok(&["export", &session, "--to", "md", "--all"]);
    assert!(all.contains("## Branch 1, from `aaaa0004`"), "{all}");
    assert_eq!(world.run(&["export", &session, "--redact"]).code, 2);
}

#[test]
fn i11_i12_a_share_is_previewed_made_listed_and_taken_back() {
    let world = World::new().with("SHOP_TOKEN", "correct-horse-battery");
    let session = world.branched();
    world.say(&session, "user", "the key is AKIAIOSFODNN7ABCDEFG and correct-horse-battery");
    let dry = world.json(&["share", &session, "--dry-run"]);
    let kinds: Vec<&str> =
        dry["redacted"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["aws-access-key", "own-secret"]);
    assert_eq!(world.json(&["share", "--list"])["shares"], json!([]), "a dry run shares nothing");
    let page = world.path("project/shared.html").display().to_string();
    let answer = world.json(&["share", &session, "--include", "messages,diffs", "--expires", "12h", "--html", &page]);
    let (share, page) = (&answer["share"], std::fs::read_to_string(page).unwrap());
    let secret = share["secret"].as_str().unwrap();
    let url = format!("/share/{}?secret={secret}", share["id"].as_str().unwrap());
    assert!(share["url"].as_str().unwrap().ends_with(&url) && share["expires"].is_string(), "{share}");
    for hidden in ["AKIAIOSFODNN7ABCDEFG", "correct-horse", "And in reverse?", &session, "list.py"] {
        assert!(!page.contains(hidden), "{hidden}");
    }
    assert!(page.contains("[redacted: aws-access-key 1]") && page.contains("Call sorted(names)."), "{page}");
    assert_eq!(world.json(&["list"])["sessions"][0]["share"]["id"], share["id"]);
    assert_eq!(world.json(&["show", &session])["session"]["share"]["secret"], json!(null));
    assert_eq!(world.json(&["unshare", &session, "--yes"])["unshared"][0]["id"], share["id"]);
    assert_eq!(world.json(&["list"])["sessions"][0]["share"], json!(null));
    assert_eq!(world.run(&["unshare", &session, "--yes"]).code, 3);
    for wrong in [vec!["--expires", "soon"], vec!["--include", "everything"]] {
        assert_eq!(world.run(&[vec!["share", &session], wrong].concat()).code, 2);
    }
}

#[test]
fn i11_what_is_erased_is_not_shared_any_more() {
    let world = World::new();
    let session = world.branched();
    let share = |target: &str| world.json(&["share", target, "--yes"])["share"]["id"].clone();
    let open = || {
        let all = world.json(&["share", "--list"])["shares"].as_array().unwrap().clone();
        all.into_iter().filter(|share| share["revoked"].is_null()).count()
    };
    let other = share(&format!("{session}@aaaa0002"));
    let branch = share(&format!("{session}@bbbb0001"));
    let target = format!("{session}@bbbb0001");
    let planned = world.run(&["purge", &target, "--dry-run"]);
    assert!(
        planned.stderr.contains(&format!("would take share {} back", branch.as_str().unwrap())),
        "{}",
        planned.stderr
    );
    assert_eq!(open(), 2);
    assert_eq!(world.json(&["purge", &target, "--yes"])["purged"]["shares"], json!([branch]));
    assert_eq!(open(), 1);
    assert_eq!(world.json(&["reset", &session, "--dry-run"])["removed"]["shares"], json!([other]));
    let reset = world.run(&["reset", &session, "--yes"]);
    assert!(reset.stderr.contains(&format!("took share {} back", other.as_str().unwrap())), "{}", reset.stderr);
    assert_eq!(open(), 0);
}
