//! The address that a server listens to, which may be told by its name.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};

use crate::failure::Refusal;

/// What every machine calls itself.
const LOCALHOST: &str = "localhost";

/// Returns the name that stands for an address, unless it is one that every server here answers under.
pub(super) fn name(host: &str) -> Option<&str> {
    Some(host).filter(|host| plain(host).parse::<IpAddr>().is_err() && !host.eq_ignore_ascii_case(LOCALHOST))
}

/// Finds the address that is meant. A name must stand for this machine alone, unless others may reach it.
pub(super) fn of(host: &str, port: u16, is_exposed: bool) -> Result<SocketAddr, Refusal> {
    if let Ok(address) = plain(host).parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, port));
    }
    // Nobody has to be asked what this one stands for.
    if host.eq_ignore_ascii_case(LOCALHOST) {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let unknown = |error| Refusal::usage(format!("--host {host:?} is no address and no name that is known: {error}"));
    let found: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(unknown)?.collect();
    let is_local = found.iter().all(|address| address.ip().is_loopback());
    match found.first() {
        None => Err(Refusal::usage(format!("--host {host:?} stands for no address"))),
        Some(_) if !is_local && !is_exposed => {
            let named = Refusal::usage(format!("--host {host:?} can be reached from other machines"));
            Err(named.hint("--expose allows it; whoever sees the traffic sees the token, so encrypt it"))
        }
        Some(first) => Ok(*first),
    }
}

/// Addresses of the newer kind stand in brackets where a port may follow.
fn plain(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_of_this_machine_are_found() {
        let found = |host| of(host, 7, false).ok().map(|address| address.to_string());
        for (host, address) in [
            ("localhost", "127.0.0.1:7"),
            ("LocalHost", "127.0.0.1:7"),
            ("127.0.0.2", "127.0.0.2:7"),
            ("::1", "[::1]:7"),
            ("[::1]", "[::1]:7"),
            // Whether others may reach it is asked when it is listened to.
            ("0.0.0.0", "0.0.0.0:7"),
        ] {
            assert_eq!(found(host).as_deref(), Some(address), "{host}");
        }
        assert_eq!([found("no such name"), found("")], [None, None]);
        let named = ["localhost", "::1", "[::1]", "127.0.0.2", "build.example"].map(name);
        assert_eq!(named, [None, None, None, None, Some("build.example")]);
    }
}
