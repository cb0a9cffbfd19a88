//! Where a server is: `http://…`, `https://…`, or `unix:` and the path of a socket. A login URL brings its token along.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use reqwest::Url;

use crate::error::Error;
use crate::token::Token;

/// Where a server is. It holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Over the network.
    Url(Url),
    /// At a socket in the file system.
    Unix(PathBuf),
}

/// An address, and the token that came with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Where the server is.
    pub address: Address,
    /// The token of a login URL.
    pub token: Option<Token>,
}

impl FromStr for Located {
    type Err = Error;

    /// Reads an address, or the login URL that a server printed.
    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let wrong = || Error::Address("a socket is named by its path: unix:/run/user/1000/ramus.sock".into());
            return match path {
                "" => Err(wrong()),
                path => Ok(Self { address: Address::Unix(PathBuf::from(path)), token: None }),
            };
        }
        let wrong = |why: &str| Error::Address(format!("{why}; say http://HOST:PORT, https://HOST:PORT or unix:PATH"));
        // Whatever is wrong with it, it may hold a token: it is not repeated.
        let mut url = Url::parse(text).map_err(|_| wrong("that is no address of a server"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(wrong("a server is asked over http, https or a socket"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("an address has no user and no password"));
        }
        let mut token = None;
        if url.path() == "/login" {
            let given = |text: Option<&str>| {
                let text = text?.split('&').find_map(|pair| pair.strip_prefix("token="))?;
                (!text.is_empty()).then(|| Token::new(text))
            };
            token = given(url.fragment()).or_else(|| given(url.query()));
            url.set_path("/");
        }
        url.set_fragment(None);
        url.set_query(None);
        if url.path() != "/" {
            return Err(wrong("an address ends with the port"));
        }
        Ok(Self { address: Address::Url(url), token })
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.parse().map(|located: Located| located.address)
    }
}

impl Address {
    /// Says whether nobody on the way can read what is sent.
    pub fn is_private(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Url(url) => url.scheme() == "https" || self.is_loopback(),
        }
    }

    /// Says whether it is this machine, without asking anybody.
    pub(crate) fn is_loopback(&self) -> bool {
        let Self::Url(url) = self else { return true };
        let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Returns what requests are made of.
    pub(crate) fn base(&self) -> Result<Url, Error> {
        match self {
            Self::Url(url) => Ok(url.clone()),
            // A server at a socket answers under this name.
            Self::Unix(_) => Url::parse("http://localhost/").map_err(|error| Error::Address(error.to_string())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url.as_str().trim_end_matches('/')),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, Option<String>)> {
        let located: Located = text.parse().ok()?;
        Some((located.address.to_string(), located.token.map(|token| token.reveal().to_owned())))
    }

    #[test]
    fn addresses_are_read_and_login_urls_bring_their_token() {
        let plain = |text: &str| Some((text.to_owned(), None));
        assert_eq!(read("http://127.0.0.1:7347"), plain("http://127.0.0.1:7347"));
        assert_eq!(read("https://ramus.example/"), plain("https://ramus.example"));
        assert_eq!(read("unix:/run/r.sock"), plain("unix:/run/r.sock"));
        assert_eq!(read("unix:///run/r.sock"), plain("unix:/run/r.sock"));
        let with_token = Some(("http://[::1]:1".to_owned(), Some("0123abcd".to_owned())));
        assert_eq!(read("http://[::1]:1/login#token=0123abcd"), with_token);
        assert_eq!(read("http://[::1]:1/login?token=0123abcd"), with_token);
        for wrong in ["", "unix:", "localhost:7347", "ftp://a", "http://", "http://a/b", "http://u:p@a"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_token_is_shown_nowhere() {
        let located: Result<Located, _> = "http://a/login#token=0123abcd".parse();
        assert!(located.is_ok_and(|located| !format!("{located:?} {}", located.address).contains("0123abcd")));
        let wrong = "http://a/b/login#token=0123abcd".parse::<Located>();
        assert!(wrong.is_err_and(|error| !format!("{error:?} {error}").contains("0123abcd")));
    }

    #[test]
    fn what_is_not_encrypted_is_private_on_this_machine_only() {
        let private = |text: &str| text.parse::<Address>().is_ok_and(|address| address.is_private());
        assert!(private("http://127.0.0.1:1") && private("http://[::1]:1") && private("http://localhost"));
        assert!(private("https://example.org") && private("unix:/s") && !private("http://192.168.0.2:7347"));
    }
}
