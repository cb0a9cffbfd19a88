//! Addresses of repositories in one spelling: host and path, whatever the way there and whoever goes it.
//!
//! What comes out is written to logs, so it must hold no secret: users, passwords and queries are dropped, and an address
//! that cannot be told apart with certainty is dropped whole.

use std::path::{Component, Path, PathBuf};

/// The longest address that is kept.
const LONGEST: usize = 1024;

/// Brings an address into its one spelling; relative paths are meant from `base`.
pub(super) fn normal(address: &str, base: &Path) -> Option<String> {
    let address = address.trim();
    if address.is_empty() || address.len() > LONGEST || address.chars().any(char::is_control) {
        return None;
    }
    let normal = match address.split_once("://") {
        Some((scheme, rest)) if is_word(scheme) => of_url(&scheme.to_ascii_lowercase(), rest)?,
        _ => match colon_before_slash(address) {
            // `helper::address` names a program that understands the rest; we do not.
            Some((helper, rest)) if rest.starts_with(':') && is_word(helper) => return None,
            Some((host, path)) => of_host(host, None, path)?,
            // Nor can a password that holds a slash be told from a path.
            None if !address.starts_with('/') && address.contains('@') => return None,
            None => of_path(Path::new(address), base)?,
        },
    };
    (normal.len() <= LONGEST).then_some(normal)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Splits `host:path`, where the host may be an address in brackets. A slash before the colon makes it a path.
fn colon_before_slash(address: &str) -> Option<(&str, &str)> {
    let from = match address.find('[') {
        Some(open) if !address.get(..open)?.contains(['/', ':']) => address.find(']')?,
        _ => 0,
    };
    let colon = from + address.get(from..)?.find(':')?;
    let host = address.get(..colon)?;
    (!host.contains('/')).then_some((host, address.get(colon + 1..)?))
}

fn of_url(scheme: &str, rest: &str) -> Option<String> {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    // Behind the first slash an `@` may end a password that holds a slash.
    if path.contains('@') {
        return None;
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let usual_port = match scheme {
        "file" if authority.is_empty() || authority.eq_ignore_ascii_case("localhost") => {
            return of_path(&Path::new("/").join(path.trim_start_matches('/')), Path::new("/"));
        }
        "https" => "443",
        "http" => "80",
        "ssh" | "git+ssh" | "ssh+git" => "22",
        "git" => "9418",
        _ => "",
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // A colon inside brackets belongs to the address.
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (host, None),
    };
    // A port that is no number is a password in the wrong place.
    if port.is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    of_host(host, port.filter(|port| !port.is_empty() && *port != usual_port), path)
}

fn of_host(host: &str, port: Option<&str>, path: &str) -> Option<String> {
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_lowercase();
    let path = path.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    let path = without_suffix(&path);
    // In `user:password@host:path` what seems to be the path is not all of it.
    if !is_host(&host) || path.is_empty() || path.contains('@') {
        return None;
    }
    Some(match port {
        Some(port) => format!("{host}:{port}/{path}"),
        None => format!("{host}/{path}"),
    })
}

/// A name or an address in brackets, and nothing that could be more than that.
fn is_host(text: &str) -> bool {
    let bracketed = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    match bracketed {
        Some(address) => address.chars().all(|c| c.is_ascii_alphanumeric() || ":.%".contains(c)),
        None => !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_.~".contains(c)),
    }
}

/// A repository on this machine, by its whole path.
fn of_path(path: &Path, base: &Path) -> Option<String> {
    let mut whole = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    let path = without_suffix(whole.to_str()?);
    (path.starts_with('/') && path.len() > 1).then(|| path.to_owned())
}

fn without_suffix(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let bare = path.strip_suffix(".git").filter(|bare| !bare.is_empty()).unwrap_or(path);
    bare.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::normal;

    fn of(address: &str) -> Option<String> {
        normal(address, Path::new("/home/ada/shop"))
    }

    #[test]
    fn one_repository_has_one_spelling() {
        for address in [
            "https://github.com/ada/shop",
            "https://github.com/ada/shop.git",
            "https://ada:secret@GitHub.com:443/ada/shop.git/",
            "https://x-access-token:ghs_secret@github.com/ada/shop?private_token=secret#secret",
            "http://github.com:80//ada//shop/",
            "ssh://git@github.com:22/ada/shop.git",
            "git+ssh://git@github.com/ada/shop",
            "git://github.com:9418/ada/shop.git",
            "git@github.com:ada/shop.git",
            "github.com:/ada/shop",
            " git@github.com:ada/shop.git ",
        ] {
            assert_eq!(of(address).as_deref(), Some("github.com/ada/shop"), "{address}");
        }
    }

    #[test]
    fn other_ways_and_places() {
        for (address, expected) in [
            ("ssh://git@host:2222/a/b.git", "host:2222/a/b"),
            ("ssh://[::1]:2222/a", "[::1]:2222/a"),
            ("ssh://[::1]/a", "[::1]/a"),
            ("ada@[fe80::1]:a/b.git", "[fe80::1]/a/b"),
            ("host:~ada/b", "host/~ada/b"),
            ("s3://bucket/key", "bucket/key"),
            ("/srv/git/a.git", "/srv/git/a"),
            ("file:///srv/git/a.git", "/srv/git/a"),
            ("file://localhost/srv/git/a", "/srv/git/a"),
            ("../a.git", "/home/ada/a"),
            ("./b:c", "/home/ada/shop/b:c"),
            ("/srv/with blank", "/srv/with blank"),
            ("https://host/Ada/.git", "host/Ada"),
            (".", "/home/ada/shop"),
        ] {
            assert_eq!(of(address).as_deref(), Some(expected), "{address}");
        }
    }

    #[test]
    fn what_might_hold_a_secret_is_dropped() {
        for address in [
            "",
            "https://",
            "https://host",
            "https://ada:sec/ret@host/a",
            "https://ada:12/ret@host/a",
            "https://secr/et@host/a",
            "ada:secret@host:a/b",
            "ext::ssh -i key host %S a",
            "codecommit::eu-west-1://profile@a",
            "https://host/a\u{1b}[2J",
            "https://host/a\0b",
            "secr/et@host:a",
            "https://host?token=secr/et",
            "https://host#secr/et",
            "/",
            "///.git",
        ] {
            assert_eq!(of(address), None, "{address}");
        }
        assert_eq!(of(&format!("https://host/{}", "a".repeat(2000))), None);
    }

    proptest! {
        #[test]
        fn a_secret_never_comes_through(
            scheme in "https|http|ssh|git|svn|HTTPS",
            user in "[a-z:/@?#%]{0,6}",
            secret in "SECRET[a-zA-Z0-9:/@?#%]{0,4}SECRET",
            host in "[a-z.]{1,8}",
            path in "[a-z/@:]{0,10}",
        ) {
            let url = format!("{scheme}://{user}:{secret}@{host}/{path}");
            for address in [url, format!("{user}:{secret}@{host}:{path}"), format!("{user}{secret}@{host}:{path}")] {
                let kept = of(&address).unwrap_or_default().to_uppercase();
                // What starts with a slash is a path of this machine, and holds no password.
                prop_assert!(address.starts_with('/') || !kept.contains("SECRET"), "{address}: {kept}");
            }
        }

        #[test]
        fn any_text_is_survived_and_normal_stays_normal(address in ".{0,40}") {
            if let Some(normal) = of(&address) {
                prop_assert!(!normal.chars().any(char::is_control));
                prop_assert!(!normal.ends_with('/'));
            }
        }
    }
}
