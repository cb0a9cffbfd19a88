//! Where secrets turn up: configuration, code, dumps of the environment, diffs, logs, requests, JSON in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::formats::{Format, Place};
use super::template::fill;
use crate::random::Random;

/// A text that holds a secret.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The kind of secret.
    pub kind: &'static str,
    /// The kind of surroundings.
    pub surroundings: &'static str,
    /// The text.
    pub text: String,
    /// What must not be left of it: the secret in the spelling it has in the text, in parts when it is on several lines.
    pub must_go: Vec<String>,
}

/// Writes a secret under a name; the second value is its spelling there.
type Write = fn(&str, &str, &mut Random) -> (String, Vec<String>);

/// Surroundings that name a secret.
pub const SURROUNDINGS: &[(&str, Write)] = &[
    ("dotenv", |name, secret, _| plain(format!("PORT=8080\n{name}={secret}\nDEBUG=false\n"), secret)),
    ("export", |name, secret, _| plain(format!("$ export {name}=\"{secret}\"\n$ make deploy\n"), secret)),
    ("json", |name, secret, _| {
        plain(format!("{{\n  \"retries\": 3,\n  \"{}\": \"{secret}\"\n}}", lower_camel(name)), secret)
    }),
    ("json in json", |name, secret, _| {
        let inner = format!("{{\n\t\"{name}\": \"{secret}\",\n\t\"region\": \"eu\"\n}}");
        (serde_json::json!({"path": "config.json", "content": inner}).to_string(), vec![secret.to_owned()])
    }),
    ("json in json in json", |name, secret, _| {
        let inner = serde_json::json!({ "env": format!("A=1\n{name}={secret}\nB=2") }).to_string();
        (serde_json::json!({ "arguments": inner }).to_string(), vec![secret.to_owned()])
    }),
    ("yaml", |name, secret, _| {
        plain(format!("database:\n  host: db\n  {}: {secret}\n  pool: 5\n", name.to_lowercase()), secret)
    }),
    ("quoted yaml", |name, secret, _| plain(format!("env:\n  - name: {name}\n    value: '{secret}'\n"), secret)),
    ("python", |name, secret, _| {
        plain(format!("import os\n\n{} = \"{secret}\"  # rotate\n", name.to_lowercase()), secret)
    }),
    ("typescript", |name, secret, _| plain(format!("export const {} = '{secret}';\n", lower_camel(name)), secret)),
    ("go", |name, secret, _| plain(format!("cfg := Config{{\n\t{}: \"{secret}\",\n}}\n", camel(name)), secret)),
    ("rust", |name, secret, _| plain(format!("const {name}: &str = \"{secret}\";\n"), secret)),
    ("diff", |name, secret, _| {
        plain(format!("@@ -1,2 +1,2 @@\n-{name}=\n+{name}={secret}\n LOG_LEVEL=info\n"), secret)
    }),
    ("environment", |name, secret, random| {
        let dump = format!(
            "SHELL=/bin/bash\nPWD=/srv/shop\n{name}={secret}\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nSHLVL={}\n",
            random.below(4)
        );
        plain(dump, secret)
    }),
    ("toml", |name, secret, _| plain(format!("[service]\n{} = \"{secret}\"\n", name.to_lowercase()), secret)),
    ("properties", |name, secret, _| {
        plain(format!("server.port=8080\nshop.{}={secret}\n", name.to_lowercase().replace('_', ".")), secret)
    }),
    ("kubernetes", |name, secret, _| {
        let coded = STANDARD.encode(secret);
        (format!("apiVersion: v1\nkind: Secret\ndata:\n  {name}: {coded}\n"), vec![coded])
    }),
    ("flag", |name, secret, _| {
        let flag = name.to_lowercase().replace('_', "-");
        plain(format!("$ shopctl login --{flag} '{secret}' --region eu\nLogged in.\n"), secret)
    }),
    ("flag with =", |name, secret, _| {
        plain(format!("+ ./deploy --{}={secret} --dry-run\n", name.to_lowercase().replace('_', "-")), secret)
    }),
    ("compose", |name, secret, _| plain(format!("    environment:\n      - {name}={secret}\n"), secret)),
    ("container", |name, secret, _| plain(format!("\"Env\": [\n  \"{name}={secret}\",\n  \"A=b\"\n]"), secret)),
    ("xml", |name, secret, _| {
        plain(format!("<appSettings>\n  <add key=\"{name}\" value=\"{secret}\"/>\n</appSettings>"), secret)
    }),
    ("query", |name, secret, _| {
        let coded = percent(secret);
        let text = format!("GET https://api.shop.internal/v1/items?{}={coded}&page=2 401", name.to_lowercase());
        (text, vec![coded])
    }),
    ("coloured", |name, secret, _| {
        plain(format!("\x1b[32m{name}\x1b[0m=\x1b[33m{secret}\x1b[0m\n\x1b[1mdone\x1b[0m\n"), secret)
    }),
    ("docker build", |name, secret, _| plain(format!("Step 4/9 : ENV {name} {secret}\n ---> 3f2a9c01\n"), secret)),
    ("make", |name, secret, _| plain(format!("deploy:\n\t{name}={secret} ./bin/deploy\n"), secret)),
];

/// Surroundings that say nothing about it.
const BARE: &[(&str, Write)] = &[
    ("prose", |_, secret, _| plain(format!("I found the old key `{secret}` in the logs and will rotate it."), secret)),
    ("log", |_, secret, random| {
        let line = format!("2026-11-15T10:{}:30Z ERROR 401 for {secret} (attempt 2)", 10 + random.below(49));
        plain(line, secret)
    }),
    ("table", |_, secret, _| plain(format!("| what | value |\n|---|---|\n| live | {secret} |\n"), secret)),
    ("comment", |_, secret, _| plain(format!("fn main() {{\n    // was: {secret}\n    run();\n}}\n"), secret)),
    ("list", |_, secret, _| plain(format!("[\"{secret}\",\"other\"]"), secret)),
    ("escaped lines", |_, secret, _| {
        (serde_json::json!(format!("first\n{secret}\tthird")).to_string(), vec![secret.to_owned()])
    }),
    ("wrapped", |_, secret, random| {
        // Not within the first characters: nobody could tell what was begun.
        let least = 16.min(secret.len().saturating_sub(1));
        let at = least + random.below(secret.len().saturating_sub(least + 1));
        let (head, tail) = secret.split_at(at);
        let parts = [head, tail].into_iter().filter(|part| part.len() >= 12).map(str::to_owned).collect();
        (format!("token: {head}\n{tail}\nnext line\n"), parts)
    }),
    ("removed line", |_, secret, _| plain(format!("-  client = Client(\"{secret}\")\n+  client = Client()\n"), secret)),
    ("header", |_, secret, _| plain(format!("> GET /v1/me HTTP/1.1\n> X-Shop: {secret}\n> Accept: */*\n"), secret)),
];

fn plain(text: String, secret: &str) -> (String, Vec<String>) {
    (text, vec![secret.to_owned()])
}

/// Makes a secret of a format and puts it somewhere.
pub fn plant(format: &Format, random: &mut Random) -> Planted {
    let filled = fill(format.template, random);
    let (surroundings, (text, must_go)) = match format.place {
        Place::Whole => whole(&filled, random),
        Place::Named(name) => {
            let (title, write) = pick(SURROUNDINGS, random);
            (title, write(name, &filled, random))
        }
        Place::Anywhere if random.chance(40) => {
            let (title, write) = pick(BARE, random);
            (title, write("", &filled, random))
        }
        Place::Anywhere => {
            let names = ["SHOP_API_KEY", "ACCESS_TOKEN", "CLIENT", "VALUE", "DEPLOY_CREDENTIALS"];
            let name = names.get(random.below(names.len())).copied().unwrap_or("VALUE");
            let (title, write) = pick(SURROUNDINGS, random);
            (title, write(name, &filled, random))
        }
    };
    Planted { kind: format.kind, surroundings, text, must_go }
}

fn pick(from: &[(&'static str, Write)], random: &mut Random) -> (&'static str, Write) {
    from.get(random.below(from.len())).copied().unwrap_or(("nowhere", |_, _, _| Default::default()))
}

/// A text that brings its surroundings along, in some more.
fn whole(marked: &str, random: &mut Random) -> (&'static str, (String, Vec<String>)) {
    let (before, rest) = marked.split_once('<').unwrap_or(("", marked));
    let (secret, after) = rest.split_once('>').unwrap_or((rest, ""));
    let text = format!("{before}{secret}{after}");
    let lines = || secret.lines().map(str::to_owned).collect();
    match random.below(5) {
        0 => ("alone", (format!("{text}\n"), lines())),
        1 => ("in a dump", (format!("--- request ---\n{text}\n--- end ---\n"), lines())),
        2 => ("in json", (serde_json::json!({"output": format!("$ show\n{text}\n")}).to_string(), lines())),
        3 => ("in a diff", (text.lines().map(|line| format!("+{line}\n")).collect(), lines())),
        _ => ("in code", (format!("let text = \"{text}\";\n"), lines())),
    }
}

/// Puts a secret that the redactor was told about somewhere, in a spelling that hides it.
pub fn plant_own(secret: &str, random: &mut Random) -> Planted {
    let junk = fill("{alnum:0-7}", random);
    let (surroundings, (text, must_go)) = match random.below(9) {
        0 => ("as it is", plain(format!("the value is {secret}, as before"), secret)),
        1 => ("within a word", plain(format!("{junk}{secret}{junk}"), secret)),
        2 => {
            let once = serde_json::json!({ "out": format!("x={secret}\n") }).to_string();
            let escaped = inner(secret);
            ("in json", (once, vec![escaped]))
        }
        3 => {
            let once = serde_json::json!({ "out": secret }).to_string();
            ("in json in json", (serde_json::json!({ "arguments": once }).to_string(), vec![inner(&inner(secret))]))
        }
        4 => ("percent", (format!("?q={}&n=1", percent(secret)), vec![percent(secret)])),
        5 => {
            let coded = STANDARD.encode(format!("{junk}{secret}{junk}"));
            ("base64", (format!("blob {coded}\n"), vec![coded]))
        }
        6 => {
            let bytes = [&[0xff, 0x00, 0x1b][..], junk.as_bytes(), secret.as_bytes(), &[0xfe, 0x01][..]].concat();
            let coded = STANDARD.encode(&bytes);
            // The characters that also hold bits of the neighbours may stay.
            let skip = 3 + junk.len();
            let middle = coded.get((skip * 4).div_ceil(3) + 1..(skip + secret.len()) * 4 / 3 - 1);
            ("base64 of binary", (format!("blob {coded}\n"), vec![middle.unwrap_or_default().to_owned()]))
        }
        7 => {
            let at = 1 + random.below(secret.len().saturating_sub(1).max(1));
            let at = (at..secret.len()).find(|at| secret.is_char_boundary(*at)).unwrap_or(secret.len());
            let (head, tail) = secret.split_at(at);
            let whole = format!("{head}\n  {tail}");
            ("over two lines", (format!("> {whole} <"), vec![whole]))
        }
        _ => {
            let coded: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            ("hexadecimal", (format!("0x{coded}"), vec![coded]))
        }
    };
    Planted { kind: "own", surroundings, text, must_go }
}

/// The text as it stands between the quotes of a JSON string.
fn inner(text: &str) -> String {
    serde_json::json!(text).to_string().trim_matches('"').to_owned()
}

fn percent(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn camel(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1.min(word.len()));
        first.to_owned() + &rest.to_lowercase()
    };
    name.split('_').map(word).collect()
}

fn lower_camel(name: &str) -> String {
    let camel = camel(name);
    let (first, rest) = camel.split_at(1.min(camel.len()));
    first.to_lowercase() + rest
}
