//! Planted secrets are found, known ones always, and clean lines are left alone.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::collections::BTreeMap;

use proptest::strategy::Strategy as _;
use ramus_redact::{Identity, Redactor};
use ramus_testkit::random::Random;
use ramus_testkit::secrets::{FORMATS, Planted, clean_line, fill, plant, plant_own};

const PLANTED: usize = 10_000;
const CLEAN: usize = 1_000_000;

fn leaks(redactor: &Redactor, planted: &Planted) -> Option<String> {
    let redacted = redactor.pass().redact(&planted.text, "").into_owned();
    planted.must_go.iter().any(|part| redacted.contains(part.as_str())).then_some(redacted)
}

/// What leaked, most frequent first.
fn tell(leaked: &[(Planted, String)]) -> String {
    let mut kinds: BTreeMap<(&str, &str), Vec<&(Planted, String)>> = BTreeMap::new();
    leaked.iter().for_each(|leak| kinds.entry((leak.0.kind, leak.0.surroundings)).or_default().push(leak));
    let line = |((kind, around), leaks): (&(&str, &str), &Vec<&(Planted, String)>)| {
        format!("{} × {kind} in {around}: {:?} -> {:?}\n", leaks.len(), leaks[0].0.text, leaks[0].1)
    };
    kinds.iter().map(line).collect()
}

#[test]
fn i12_ten_thousand_planted_secrets_are_taken_out() {
    let redactor = Redactor::new();
    let mut random = Random::new(12);
    let all = (0..PLANTED).map(|index| plant(&FORMATS[index % FORMATS.len()], &mut random));
    let leaked: Vec<(Planted, String)> =
        all.filter_map(|planted| leaks(&redactor, &planted).map(|redacted| (planted, redacted))).collect();
    assert!(leaked.len() * 200 <= PLANTED, "{} of {PLANTED} leaked:\n{}", leaked.len(), tell(&leaked));
}

#[test]
fn i12_known_secrets_are_taken_out_in_every_spelling() {
    let mut random = Random::new(31);
    for round in 0..1_000 {
        let templates =
            ["{alnum:8}", "{password:9-30}", "p\"w\\{alnum:6}/ö{digit:3}", "pass phrase {letter:9}", "{base64:40}=="];
        let own: Vec<String> = templates.iter().map(|template| fill(template, &mut random)).collect();
        let redactor = Redactor::new().with_secrets(&own);
        for secret in &own {
            let planted = plant_own(secret, &mut random);
            if let Some(left) = leaks(&redactor, &planted) {
                panic!("round {round}: {secret:?} {}: {:?} -> {left:?}", planted.surroundings, planted.text);
            }
        }
    }
}

/// A secret of 100,000 bytes with a space in every tenth, as pretty JSON of credentials has.
fn long_secret() -> String {
    (0..10_000).map(|at| format!("\"k{at:06}\": ")).collect()
}

#[test]
fn a_long_secret_is_taken_out_and_stands_in_no_other_ones_way() {
    let began = std::time::Instant::now();
    let (long, short) = (long_secret(), "correct.horse.battery".to_owned());
    let redactor = Redactor::new().with_secrets(&[long.clone(), short.clone()]);
    let shown = |text: &str| redactor.pass().redact(text, "").into_owned();
    assert_eq!(shown(&format!("a {short} b")), "a [redacted: own-secret 1] b");
    assert_eq!(shown(&format!("a {} b", long.trim())), "a [redacted: own-secret 1] b");
    // Wrapped anywhere, with and without the space that the line was broken at.
    let wrapped = long.trim().replace("\": \"k0005", "\":\n    \"k0005").replace("k0007", "k0\n007");
    assert_eq!(shown(&format!("a {wrapped} b")), "a [redacted: own-secret 1] b");
    // Only the beginning of it: that much is taken out.
    let part: String = long.chars().take(3_000).collect();
    assert!(!shown(&part).contains("k0000"), "{}", shown(&part));
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn words_apart_are_no_secret_that_has_them_together() {
    let redactor = Redactor::new().with_secrets(&["testuser".to_owned()]);
    assert_eq!(redactor.pass().redact("a test user\nand another", ""), "a test user\nand another");
}

#[test]
fn i12_clean_lines_are_left_alone() {
    let redactor = Redactor::new();
    let mut random = Random::new(77);
    let mut touched: Vec<(String, String)> = Vec::new();
    for _ in 0..CLEAN {
        let line = clean_line(&mut random);
        if let std::borrow::Cow::Owned(redacted) = redactor.pass().redact(&line, "") {
            touched.push((line, redacted));
        }
    }
    let shown: String = touched.iter().take(40).map(|(line, out)| format!("{line:?} -> {out:?}\n")).collect();
    assert!(touched.len() * 1000 <= CLEAN, "{} of {CLEAN} touched:\n{shown}", touched.len());
}

#[test]
fn hostile_texts_take_no_longer_than_their_length() {
    let redactor = Redactor::new().with_secrets(&["aaaaaaaaab".to_owned(), "a".repeat(50_000)]);
    let shapes = [
        "eyJ-",
        "password=",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "sk-",
        "cookie: a=",
        "\\u0041",
        "%41",
        "AKIA",
        "key",
        "authorization: ",
        ".",
        "1:",
        "\n",
        "~",
        "QUFB",
        "xoxb-1-",
        "{\"password\":\"",
        "\\\\\\\\",
        "glpat-.-",
        "ya29.-",
        "a",
        "\x1b[",
        "password: = ",
        "ö",
    ];
    // Work that grew with the square of the length would take hours for this.
    let began = std::time::Instant::now();
    for shape in shapes {
        let text = shape.repeat(1_000_000 / shape.len());
        redactor.pass().redact(&text, "");
    }
    assert!(began.elapsed().as_secs() < 120, "{:?}", began.elapsed());
}

proptest::proptest! {
    #[test]
    fn any_text_can_be_redacted(parts in proptest::collection::vec(
        proptest::prop_oneof![
            "\\PC{0,12}",
            proptest::sample::select(&["password=", "\\u00", "%C3", "sk-ant-", "-----BEGIN RSA PRIVATE KEY-----", "://x:", "\n", "\\",
                "\"", "Cookie: ", "Bearer ", "ö", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "eyJ", ".", "a1B2c3D4e5F6g7H8i9J0"][..])
                .prop_map(str::to_owned),
        ], 0..24))
    {
        let text = parts.concat();
        let redactor = Redactor::new().with_secrets(&["ö\nsecret".to_owned()]).with_identity(&Identity {
            user: "ada".to_owned(), home: "/home/ada".to_owned(), host: "tower".to_owned(),
        });
        let mut pass = redactor.pass();
        let redacted = pass.redact(&text, "here").into_owned();
        let taken: usize = pass.findings().iter().map(|finding| finding.count).sum();
        proptest::prop_assert_eq!(taken == 0, redacted == text);
    }
}

#[test]
fn the_same_secret_has_the_same_number_everywhere() {
    let redactor = Redactor::new();
    let mut pass = redactor.pass();
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let other = "ghp_9876543210abcdefghijABCDEFGHIJ012345";
    assert_eq!(pass.redact(&format!("a {key} b"), "one"), "a [redacted: github-token 1] b");
    assert_eq!(pass.redact(&format!("{other} {key}"), "two"), "[redacted: github-token 2] [redacted: github-token 1]");
    let account: Vec<_> =
        pass.findings().iter().map(|finding| (finding.number, finding.count, finding.places.join(","))).collect();
    assert_eq!(account, [(1, 2, "one,two".to_owned()), (2, 1, "two".to_owned())]);
}

#[test]
fn names_and_homes_become_nobodys() {
    let identity = Identity { user: "adalove".to_owned(), home: "/data/adalove".to_owned(), host: "tower7".to_owned() };
    let redactor = Redactor::new().with_identity(&identity);
    let shown = |text: &str| redactor.pass().redact(text, "").into_owned();
    assert_eq!(shown("adalove@tower7:/data/adalove/shop$ ls"), "user@host:~/shop$ ls");
    assert_eq!(shown("/home/bob/x.rs and C:\\Users\\Bob\\x.rs"), "~/x.rs and ~\\x.rs");
    assert_eq!(shown("file:///Users/bob/x"), "file://~/x");
    assert_eq!(shown("src/home/page.tsx and /srv/home/x"), "src/home/page.tsx and /srv/home/x");
    assert_eq!(shown("--data-adalove-shop--"), "-~-shop--");
}

#[test]
fn there_are_sixty_kinds_of_keys_and_more() {
    assert!(ramus_redact::tokens::kinds().len() >= 60);
}
