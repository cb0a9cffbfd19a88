//! The lexer against `serde_json`, and what it must accept that no JSON tree can hold.

use proptest::prelude::*;
use ramus_model::json::{Checked, DEPTH, Node, Object, Raw, Shape, Tape, quote};

fn parses(text: &str) -> bool {
    Raw::parse(text.as_bytes()).is_some()
}

#[test]
fn blank_is_what_nobody_sees() {
    let is_blank = |text: &str| Raw::parse(text.as_bytes()).unwrap().is_blank();
    for blank in [r#""""#, r#""  \n\t ""#, r#"" \u0020\u00a0\u001c""#, "\"\u{a0}\u{2028}\u{3000} \"", r#""\f\r""#] {
        assert!(is_blank(blank), "{blank}");
    }
    for seen in [r#"" x""#, r#""\u00e9""#, r#""\\n""#, "\"\u{1f642}\"", r#""\ud83d""#, "\"\u{200b}\"", "null", "[]"] {
        assert!(!is_blank(seen), "{seen}");
    }
}

#[test]
fn accepts_what_javascript_accepts_and_nothing_else() {
    for good in [
        "null",
        " true ",
        "-0",
        "0.5e-7",
        "1E400",
        "123456789012345678901234567890",
        "\"\\ud83d\"",
        "\"\u{2028}\"",
        "[]",
        "{}",
        "[1,[2,{\"a\":[]}]]",
        "{\"a\":1,\"a\":2}",
        "\t\r\n[ 1 , 2 ]\n",
        "\"\\u0000\\/\"",
    ] {
        assert!(parses(good), "{good}");
    }
    for bad in [
        "",
        "nul",
        "+1",
        "01",
        "1.",
        ".5",
        "1e",
        "NaN",
        "Infinity",
        "'a'",
        "\"a",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":1,}",
        "{a:1}",
        "1 2",
        "{}{}",
        "[1}",
        "{\"a\":1]",
        "\u{feff}{}",
        "\"\u{0}\"",
        "tru",
        "--1",
        "[",
    ] {
        assert!(!parses(bad), "{bad}");
    }
}

#[test]
fn keeps_lone_surrogates_and_spellings_and_shows_the_rest() {
    let raw = Raw::parse(br#"{"lone":"\ud83d!","pair":"\ud83d\ude00","n":1e3,"esc\u0061ped":"\n"}"#).unwrap();
    assert_eq!(raw.field("lone").unwrap().bytes(), br#""\ud83d!""#);
    assert_eq!(raw.field("lone").unwrap().text().unwrap(), "\u{fffd}!");
    assert_eq!(raw.field("pair").unwrap().text().unwrap(), "\u{1f600}");
    assert_eq!(raw.field("n").unwrap().bytes(), b"1e3");
    assert_eq!(raw.field("n").unwrap().unsigned(), Some(1000));
    assert_eq!(raw.field("escaped").unwrap().text().unwrap(), "\n");
    let object = raw.object().unwrap();
    assert_eq!(object.text("escaped").unwrap(), "\n");
    assert_eq!(object.field("lone"), raw.field("lone"));
}

#[test]
fn of_two_members_with_one_name_the_last_counts() {
    let raw = Raw::parse(br#"{"a":1,"b":0,"a":2}"#).unwrap();
    assert_eq!(raw.field("a").unwrap().unsigned(), Some(2));
    assert_eq!(raw.object().unwrap().field("a").unwrap().unsigned(), Some(2));
}

#[test]
fn what_is_in_a_value_ends_where_it_should() {
    let raw = Raw::parse(br#" {"a\\":"\\\\" , "b":"\\\"}]" ,"c":[ "\\" ,{"d":"]"}, -1.5e+3 ,true],"e":{}} "#).unwrap();
    let fields: Vec<_> = raw.raw_fields().map(|(name, value)| (name.bytes(), value.bytes())).collect();
    let expected: [(&[u8], &[u8]); 4] = [
        (br#""a\\""#, br#""\\\\""#),
        (br#""b""#, br#""\\\"}]""#),
        (br#""c""#, br#"[ "\\" ,{"d":"]"}, -1.5e+3 ,true]"#),
        (br#""e""#, b"{}"),
    ];
    assert_eq!(fields, expected);
    let items: Vec<_> = raw.field("c").unwrap().items().map(Raw::bytes).collect();
    let expected: [&[u8]; 4] = [br#""\\""#, br#"{"d":"]"}"#, b"-1.5e+3", b"true"];
    assert_eq!(items, expected);
}

#[test]
fn checked_bytes_are_one_value_or_none() {
    let value = Checked::new(b" {\"a\":[1]}\n".into());
    assert_eq!(value.raw().map(Raw::bytes), Some(&b"{\"a\":[1]}"[..]));
    assert_eq!(value.raw(), value.clone().into_owned().raw());
    assert_eq!(&*value, b" {\"a\":[1]}\n");
    for bytes in [&b""[..], b"{", b"{} {}", b"{}x"] {
        assert!(Checked::new(bytes.into()).raw().is_none(), "{bytes:?}");
    }
}

#[test]
fn nesting_costs_no_stack() {
    let deep = format!("{}{}", "[".repeat(3_000_000), "]".repeat(3_000_000));
    assert_eq!(Raw::parse(deep.as_bytes()).map(Raw::shape), Some(Shape::Array));
    let mixed = format!("{}1{}", "{\"a\":[".repeat(100_000), "]}".repeat(100_000));
    assert!(parses(&mixed));
    assert!(!parses(&mixed[..mixed.len() - 1]));
    assert!(!parses(&"{\"a\":[".repeat(100_000)));
    assert!(Tape::read(deep.as_bytes()).is_some() && Tape::read(mixed.as_bytes()).is_some());
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(|float| serde_json::Number::from_f64(float).map_or(serde_json::Value::Null, Into::into)),
        ".{0,40}".prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((".{0,8}", inner), 0..6)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// What a tape says is what reading level by level says, as deep as it looks.
fn agrees(node: Node<'_, '_>, raw: Raw<'_>, depth: usize) {
    assert_eq!(node.raw(), raw);
    let fields = |object: Option<Object<'_>>| object.map(|object| format!("{object:?}"));
    if depth < DEPTH {
        assert_eq!(fields(node.object()), fields(raw.object()));
        for (name, value) in raw.fields() {
            assert_eq!(node.field(&name).map(Node::raw), raw.field(&name), "{name} {value:?}");
            if let Some(field) = node.field(&name) {
                agrees(field, raw.field(&name).unwrap(), depth + 1);
            }
        }
        assert_eq!(node.items().count(), raw.items().count());
        node.items().zip(raw.items()).for_each(|(node, raw)| agrees(node, raw, depth + 1));
    }
}

proptest! {
    #[test]
    fn a_tape_says_what_is_there(value in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = format!(" {value}\n").into_bytes();
        agrees(Tape::read(&bytes).unwrap().root(), Raw::parse(&bytes).unwrap(), 0);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        match (Tape::read(&bytes), Raw::parse(&bytes)) {
            (Some(tape), Some(raw)) => agrees(tape.root(), raw, 0),
            (None, None) => {}
            (tape, raw) => panic!("{} {raw:?}", tape.is_some()),
        }
    }

    #[test]
    fn reads_whatever_serde_writes(value in any_json()) {
        let text = value.to_string();
        let raw = Raw::parse(text.as_bytes()).unwrap();
        prop_assert_eq!(raw.bytes(), text.as_bytes());
        if let serde_json::Value::Object(fields) = &value {
            for (name, value) in fields {
                let field = raw.field(name).unwrap();
                prop_assert!(field.bytes() == value.to_string().as_bytes());
                if let serde_json::Value::String(text) = value {
                    prop_assert_eq!(&*field.text().unwrap(), text);
                }
            }
        }
    }

    #[test]
    fn quoting_reads_back(text in "\\PC*|[\\x00-\\x7f]{0,80}") {
        let mut quoted = Vec::new();
        quote(&text, &mut quoted);
        prop_assert_eq!(Raw::parse(&quoted).unwrap().text().unwrap(), text.clone());
        prop_assert_eq!(serde_json::from_slice::<String>(&quoted).unwrap(), text);
    }

    #[test]
    fn agrees_with_serde_on_mangled_json(value in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = value.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        ramus_model::fuzz::line(&bytes);
    }
}

#[test]
fn member_names_keep_their_spelling() {
    let line = br#"{"type":"x","\ud800":1,"\ud801":2,"\u0061":3}"#;
    let draft = ramus_model::Draft::parse(line).unwrap();
    let written = draft.body.to_line(&"id".into(), None, "t");
    assert!(written.ends_with(
        br#","\ud800":1,"\ud801":2,"\u0061":3}
"#
    ));
}
