//! The names a server may be asked under. A page that makes its own name point to this machine still says its own name.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, Uri, header};

use crate::config::Listen;
use crate::error::{ApiError, Kind};

/// The names, as they stand in requests.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    /// The names of whoever listens here, and those that the user added.
    pub(crate) fn new(listen: &Listen, bound: Option<SocketAddr>, is_encrypted: bool, allowed: &[String]) -> Self {
        let mut hosts = Vec::new();
        match (listen, bound) {
            (Listen::Tcp(_), Some(bound)) => {
                let port = bound.port();
                let mut names = vec!["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned()];
                match bound.ip() {
                    IpAddr::V4(ip) if !ip.is_unspecified() && !ip.is_loopback() => names.push(ip.to_string()),
                    IpAddr::V6(ip) if !ip.is_unspecified() && !ip.is_loopback() => names.push(format!("[{ip}]")),
                    _ => {}
                }
                names.extend(allowed.iter().cloned());
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
            }
            _ => {
                hosts.push("localhost".to_owned());
                hosts.extend(allowed.iter().cloned());
            }
        }
        hosts.iter_mut().for_each(|host| host.make_ascii_lowercase());
        Self(hosts)
    }

    /// Returns the name that a request asks for, if it is one of ours and the only one.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<String, ApiError> {
        let wrong = || {
            let error = ApiError::new(Kind::Misdirected, "this server does not answer under that name");
            error.hint("use 127.0.0.1 or localhost with its port, or allow the name with --allow-host")
        };
        let mut given = headers.get_all(header::HOST).iter();
        let host = given.next().and_then(|host| host.to_str().ok()).ok_or_else(wrong)?.to_ascii_lowercase();
        let named = uri.authority().map(|authority| authority.as_str().to_ascii_lowercase());
        let is_ours = given.next().is_none() && self.0.contains(&host) && named.is_none_or(|named| named == host);
        if is_ours { Ok(host) } else { Err(wrong()) }
    }
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
