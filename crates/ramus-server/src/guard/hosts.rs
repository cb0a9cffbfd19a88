//! The names a server may be asked under. A page that makes its own name point to this machine still says its own name.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::http::{HeaderMap, Uri, header};

use crate::config::Listen;
use crate::error::{ApiError, Kind};

/// An address of ours as its pages know it: the scheme, the name, and the port unless everybody knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site(Arc<str>);

impl Site {
    fn new(scheme: &str, host: &str) -> Self {
        Self(format!("{scheme}://{host}").into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Says whether browsers reach it encrypted, here or at a proxy.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }
}

/// The names as they stand in requests, and the site of each.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(Vec<(String, Site)>);

impl Hosts {
    /// The names of whoever listens here, and those that the user added. One that was added with a scheme is the name of a
    /// proxy, and stands for nothing else.
    pub(crate) fn new(listen: &Listen, bound: Option<SocketAddr>, is_encrypted: bool, allowed: &[String]) -> Self {
        let scheme = if is_encrypted { "https" } else { "http" };
        // In front: whoever says how a name is reached knows better than we do.
        let mut hosts: Vec<(String, Site)> = allowed.iter().filter_map(|name| site(name)).collect();
        let plain: Vec<String> = allowed.iter().filter(|name| !name.contains("://")).cloned().collect();
        let names = match (listen, bound) {
            (Listen::Tcp(_), Some(bound)) => of_address(bound, is_encrypted, &plain),
            _ => std::iter::once("localhost".to_owned()).chain(plain).collect(),
        };
        hosts.extend(names.into_iter().map(|name| name.to_ascii_lowercase()).map(|name| {
            let site = Site::new(scheme, &name);
            (name, site)
        }));
        Self(hosts)
    }

    /// Returns the site that a request asks for, if it is one of ours and the only one.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<Site, ApiError> {
        let wrong = || {
            let error = ApiError::new(Kind::Misdirected, "this server does not answer under that name");
            error.hint("use 127.0.0.1 or localhost with its port, or allow the name with --allow-host")
        };
        let mut given = headers.get_all(header::HOST).iter();
        let host = given.next().and_then(|host| host.to_str().ok()).ok_or_else(wrong)?.to_ascii_lowercase();
        let named = uri.authority().map(|authority| authority.as_str().to_ascii_lowercase());
        let is_one = given.next().is_none() && named.is_none_or(|named| named == host);
        let found = self.0.iter().find(|(name, _)| *name == host).filter(|_| is_one);
        found.map(|(_, site)| site.clone()).ok_or_else(wrong)
    }
}

/// Reads a name that was added with a scheme.
fn site(name: &str) -> Option<(String, Site)> {
    let (scheme, host) = name.split_once("://")?;
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.trim_end_matches('/').to_ascii_lowercase());
    // Nobody says the port that everybody knows.
    let known = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(known).unwrap_or(&host).to_owned();
    let site = Site::new(&scheme, &host);
    (!host.is_empty()).then_some((host, site))
}

/// The names of an address that is listened to, with its port.
fn of_address(bound: SocketAddr, is_encrypted: bool, allowed: &[String]) -> Vec<String> {
    let port = bound.port();
    let mut names = vec!["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned()];
    match bound.ip() {
        IpAddr::V4(ip) if !ip.is_unspecified() => names.push(ip.to_string()),
        IpAddr::V6(ip) if !ip.is_unspecified() => names.push(format!("[{ip}]")),
        _ => {}
    }
    names.extend(allowed.iter().cloned());
    let mut hosts = Vec::new();
    for name in names {
        // Names that were added may come with a port of their own, behind a proxy.
        if has_port(&name) {
            hosts.push(name);
            continue;
        }
        // Nobody says the port that everybody knows.
        if port == if is_encrypted { 443 } else { 80 } {
            hosts.push(name.clone());
        }
        hosts.push(format!("{name}:{port}"));
    }
    hosts.extend(allowed.iter().filter(|name| !has_port(name)).cloned());
    hosts
}

fn has_port(name: &str) -> bool {
    name.rsplit_once(':').is_some_and(|(host, port)| {
        !port.is_empty()
            && port.bytes().all(|byte| byte.is_ascii_digit())
            && (!host.contains(':') || host.ends_with(']'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(hosts: &Hosts, host: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap_or(axum::http::HeaderValue::from_static("")));
        hosts.check(&Uri::from_static("/health"), &headers).is_ok()
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let listen = Listen::default();
        let bound = Some(SocketAddr::from(([127, 0, 0, 1], 4711)));
        let hosts = Hosts::new(&listen, bound, false, &["ramus.example".into(), "proxy.example:8443".into()]);
        for ours in ["127.0.0.1:4711", "localhost:4711", "LocalHost:4711", "[::1]:4711"] {
            assert!(answers(&hosts, ours), "{ours}");
        }
        assert!(answers(&hosts, "ramus.example") && answers(&hosts, "ramus.example:4711"));
        assert!(answers(&hosts, "proxy.example:8443") && !answers(&hosts, "proxy.example"));
        for other in
            ["127.0.0.1", "localhost", "evil.com:4711", "127.0.0.1.nip.io:4711", "localhost.:4711", "[::]:4711"]
        {
            assert!(!answers(&hosts, other), "{other}");
        }
    }

    #[test]
    fn the_address_that_is_listened_to_is_answered() {
        for (bound, ours) in
            [("127.0.0.2:80", "127.0.0.2"), ("127.0.0.2:4711", "127.0.0.2:4711"), ("[::1]:1", "[::1]:1")]
        {
            let hosts = Hosts::new(&Listen::default(), bound.parse().ok(), false, &[]);
            assert!(answers(&hosts, ours) && !answers(&hosts, "127.0.0.3:4711"), "{bound}");
        }
        let everywhere = Hosts::new(&Listen::default(), "0.0.0.0:4711".parse().ok(), false, &[]);
        assert!(!answers(&everywhere, "0.0.0.0:4711"));
    }

    #[test]
    fn the_port_that_everybody_knows_may_be_left_out() {
        for (port, is_encrypted, is_known) in
            [(80, false, true), (443, true, true), (80, true, false), (443, false, false)]
        {
            let bound = Some(SocketAddr::from(([127, 0, 0, 1], port)));
            let hosts = Hosts::new(&Listen::default(), bound, is_encrypted, &[]);
            assert_eq!(answers(&hosts, "localhost"), is_known, "{port} {is_encrypted}");
        }
    }

    #[test]
    fn a_name_of_a_proxy_is_the_site_that_it_is_said_to_be() {
        let bound = Some(SocketAddr::from(([127, 0, 0, 1], 4711)));
        let allowed =
            ["https://Ramus.example/", "https://other.example:8443", "https://third.example:443", "plain.example"];
        let hosts = Hosts::new(&Listen::default(), bound, false, &allowed.map(str::to_owned));
        let site = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap_or(axum::http::HeaderValue::from_static("")));
            hosts.check(&Uri::from_static("/"), &headers).ok().map(|site| site.as_str().to_owned())
        };
        assert_eq!(site("ramus.example").as_deref(), Some("https://ramus.example"));
        assert_eq!(site("other.example:8443").as_deref(), Some("https://other.example:8443"));
        assert_eq!(site("third.example").as_deref(), Some("https://third.example"));
        assert_eq!(site("plain.example").as_deref(), Some("http://plain.example"));
        assert_eq!(site("localhost:4711").as_deref(), Some("http://localhost:4711"));
        assert_eq!([site("ramus.example:4711"), site("other.example"), site("ramus.example/")], [None, None, None]);
    }

    #[test]
    fn one_name_is_given_and_only_one() {
        let hosts = Hosts::new(&Listen::default(), Some(SocketAddr::from(([127, 0, 0, 1], 4711))), false, &[]);
        let mut headers = HeaderMap::new();
        let check = |headers: &HeaderMap, uri: &'static str| hosts.check(&Uri::from_static(uri), headers).is_ok();
        assert!(!check(&headers, "/"));
        headers.append(header::HOST, axum::http::HeaderValue::from_static("localhost:4711"));
        assert!(check(&headers, "/") && !check(&headers, "http://evil.com/"));
        headers.append(header::HOST, axum::http::HeaderValue::from_static("localhost:4711"));
        assert!(!check(&headers, "/"));
    }
}
