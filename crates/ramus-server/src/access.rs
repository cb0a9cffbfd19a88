//! Who may come in: tokens and the owners they stand for, and cookies made of them.
//!
//! Secrets are compared in constant time, all of them each time, and never shown: a [`Token`] prints nothing.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};
use tokio::sync::watch;

use crate::error::ApiError;
use crate::role::Role;

/// Names the cookie that browsers are given. They do not tell ports apart, and one machine may have several servers.
pub(crate) fn cookie_name(port: Option<u16>) -> String {
    port.map_or_else(|| "ramus".to_owned(), |port| format!("ramus-{port}"))
}

/// How long a cookie lets in, in seconds.
pub(crate) const COOKIE_LIFETIME: u32 = 30 * 86_400;

/// The shortest token.
const SHORTEST: usize = 16;

/// Why a token cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It could be guessed.
    #[error("a token has at least {SHORTEST} characters")]
    Short,
    /// It cannot stand in a header.
    #[error("a token is made of visible ASCII characters")]
    Characters,
}

/// A secret that lets its holder in.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Takes a token that someone chose.
    pub fn new(text: impl Into<String>) -> Result<Self, TokenError> {
        let text = text.into();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Characters);
        }
        if text.len() < SHORTEST {
            return Err(TokenError::Short);
        }
        Ok(Self(text))
    }

    /// Draws a token of 244 random bits.
    pub fn random() -> Self {
        Self(format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple()))
    }

    /// Returns the secret, for whoever must hand it on.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// For whom a request is made, and through which surface: that is no part of who it is.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    name: Arc<str>,
    surface: Option<Arc<str>>,
}

impl Owner {
    pub(crate) fn new(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), surface: None }
    }

    /// Says through which surface the request came.
    pub(crate) fn through(self, surface: Option<&str>) -> Self {
        Self { surface: surface.map(Arc::from), ..self }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The surface; none when it did not say: then it is the server's own.
    pub(crate) fn surface(&self) -> Option<&str> {
        self.surface.as_deref()
    }
}

impl PartialEq for Owner {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Owner {}

impl std::hash::Hash for Owner {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// Who sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) owner: Owner,
    pub(crate) role: Role,
    /// By which token, digested.
    token: [u8; 32],
    expires: Option<i64>,
    /// The cookie that was made of it, when one was sent.
    cookie: Option<String>,
}

impl Known {
    /// Says whether it is a browser that was logged in.
    pub(crate) fn is_browser(&self) -> bool {
        self.cookie.is_some()
    }
}

/// One holder of a token.
#[derive(Clone, Debug)]
struct Holder {
    known: Known,
    /// What cookies are signed with that are made of the token.
    key: [u8; 32],
}

/// Everyone who may come in. A clone is the same: whoever is let in or kept out through one is so through all.
#[derive(Clone, Debug)]
pub struct Access {
    holders: watch::Sender<Vec<Holder>>,
    /// Cookies that were given back, and when their time is over.
    dismissed: watch::Sender<HashMap<String, i64>>,
}

impl Access {
    /// Lets the user of the home in, who owns what nobody else does.
    pub fn new(owner: impl Into<String>, token: &Token) -> Self {
        let holders = vec![Holder::new(owner.into(), token, Role::Admin)];
        Self { holders: watch::Sender::new(holders), dismissed: watch::Sender::default() }
    }

    /// Lets someone else in, for the sessions of `owner` and no others, and for what `role` may.
    #[must_use]
    pub fn with(self, owner: impl Into<String>, token: &Token, role: Role) -> Self {
        self.holders.send_modify(|holders| holders.push(Holder::new(owner.into(), token, role)));
        self
    }

    /// Has the token that was added last end at a time, in milliseconds since 1970.
    #[must_use]
    pub fn until(self, time: i64) -> Self {
        self.holders.send_modify(|holders| {
            if let Some(last) = holders.last_mut() {
                last.known.expires = Some(time);
            }
        });
        self
    }

    /// Lets in whom `other` lets in, and nobody else. Whoever reads events and is not among them is cut off.
    pub fn replace(&self, other: &Self) {
        let others = other.holders.borrow().clone();
        self.holders.send_replace(others);
    }

    /// Says whether an owner is the user of the home.
    pub(crate) fn is_user(&self, owner: &Owner) -> bool {
        self.holders.borrow().first().is_some_and(|first| first.known.owner == *owner)
    }

    /// Refuses what only the user of the home may do.
    pub(crate) fn check_user(&self, owner: &Owner) -> Result<(), ApiError> {
        if self.is_user(owner) { Ok(()) } else { Err(ApiError::denied("only the user of the home may do this")) }
    }

    /// Finds who holds a token.
    pub(crate) fn by_token(&self, token: &str) -> Option<Known> {
        let digest = digest("token", token);
        self.find(|holder| holder.known.token.ct_eq(&digest), |holder| holder.known.clone())
    }

    /// Finds who was given a cookie, as long as it lasts and was not given back.
    pub(crate) fn by_cookie(&self, cookie: &str) -> Option<Known> {
        let (name, signature) = cookie.rsplit_once('.')?;
        let expires: i64 = name.split_once('.')?.1.parse().ok()?;
        let known = self.find(
            |holder| sign(&holder.key, name).as_bytes().ct_eq(signature.as_bytes()),
            |holder| Known {
                expires: Some(holder.known.expires.map_or(expires, |end| end.min(expires))),
                cookie: Some(name.to_owned()),
                ..holder.known.clone()
            },
        )?;
        (now() < expires && !self.dismissed.borrow().contains_key(name)).then_some(known)
    }

    /// Returns a cookie that a token is exchanged for, another one each time. It is signed and not remembered, so that it lets
    /// in after a restart too.
    pub(crate) fn cookie_for(&self, token: &str) -> Option<String> {
        let digest = digest("token", token);
        let expires = now().saturating_add(i64::from(COOKIE_LIFETIME) * 1000);
        let name = format!("{}.{expires}", uuid::Uuid::new_v4().simple());
        let signature = self.find(|holder| holder.known.token.ct_eq(&digest), |holder| sign(&holder.key, &name))?;
        Some(format!("{name}.{signature}"))
    }

    /// Has a cookie let nobody in any more, and what it opened end.
    pub(crate) fn dismiss(&self, cookie: &str) {
        let Some(Known { cookie: Some(name), expires: Some(expires), .. }) = self.by_cookie(cookie) else { return };
        self.dismissed.send_modify(|dismissed| {
            let now = now();
            dismissed.retain(|_, expires| now < *expires);
            dismissed.insert(name, expires);
        });
    }

    /// Waits until somebody who came in may not any more: the token was taken back or the cookie given back, or its time is
    /// over.
    pub(crate) async fn ended(self, known: Known) {
        let mut holders = self.holders.subscribe();
        let taken_back = holders.wait_for(|holders| !holders.iter().any(|holder| holder.is(&known)));
        let mut dismissed = self.dismissed.subscribe();
        let given_back = dismissed.wait_for(|gone| known.cookie.as_ref().is_some_and(|name| gone.contains_key(name)));
        let left = known.expires.map(|end| end.saturating_sub(now()).max(0).unsigned_abs());
        let over = async {
            match left {
                Some(left) => tokio::time::sleep(Duration::from_millis(left)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = taken_back => {}
            _ = given_back => {}
            () = over => {}
        }
    }

    /// Looks at every holder, whoever it is, so that time tells nothing.
    fn find<T>(&self, is_it: impl Fn(&Holder) -> Choice, take: impl Fn(&Holder) -> T) -> Option<T> {
        let holders = self.holders.borrow();
        let mut found = u32::MAX;
        for (at, holder) in (0_u32..).zip(&*holders) {
            found.conditional_assign(&at, is_it(holder));
        }
        let holder = holders.get(usize::try_from(found).ok()?)?;
        holder.known.expires.is_none_or(|end| now() < end).then(|| take(holder))
    }
}

impl Holder {
    fn new(owner: String, token: &Token, role: Role) -> Self {
        let key = digest("cookie", token.reveal());
        let token = digest("token", token.reveal());
        Self { known: Known { owner: Owner::new(owner), role, token, expires: None, cookie: None }, key }
    }

    /// Says whether somebody who came in is this one.
    fn is(&self, known: &Known) -> bool {
        let ours = &self.known;
        // A cookie may end before the token that it was made of, and never after it.
        let lasts = ours.expires.is_none_or(|end| known.expires.is_some_and(|expires| expires <= end));
        ours.token == known.token && ours.owner == known.owner && ours.role == known.role && lasts
    }
}

/// Signs the name of a cookie. It is digested twice, so that nothing can be added to what was signed.
fn sign(key: &[u8; 32], name: &str) -> String {
    let inner = Sha256::new().chain_update(key).chain_update(name).finalize();
    hex::encode(Sha256::new().chain_update(key).chain_update(inner).finalize())
}

/// What the clock says, in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Digests of the same length take the same time to compare, whatever was sent.
fn digest(purpose: &str, secret: &str) -> [u8; 32] {
    Sha256::new().chain_update("ramus ").chain_update(purpose).chain_update([0]).chain_update(secret).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_the_token() {
        let (ours, theirs) = (Token::random(), Token::random());
        let access = Access::new("default", &ours).with("bob", &theirs, Role::View);
        let owner = |token: &str| access.by_token(token).map(|known| known.owner.name().to_owned());
        assert_eq!(owner(ours.reveal()).as_deref(), Some("default"));
        assert_eq!(owner(theirs.reveal()).as_deref(), Some("bob"));
        for wrong in ["", "x", &ours.reveal()[1..], &format!("{} ", ours.reveal()), &ours.reveal().to_uppercase()] {
            assert_eq!(owner(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_cookie_is_no_token_and_a_token_no_cookie() {
        let token = Token::random();
        let access = Access::new("default", &token);
        let cookie = access.cookie_for(token.reveal()).unwrap_or_default();
        let found = access.by_cookie(&cookie).map(|known| (known.owner, known.role));
        assert_eq!(found, Some((Owner::new("default"), Role::Admin)));
        assert_eq!((access.by_token(&cookie), access.by_cookie(token.reveal())), (None, None));
        let (id, rest) = cookie.split_once('.').unwrap_or_default();
        let (expires, signature) = rest.split_once('.').unwrap_or_default();
        for forged in [format!("{id}.9{expires}.{signature}"), format!("{id}.{expires}."), format!("{id}.{expires}")] {
            assert_eq!(access.by_cookie(&forged), None, "{forged}");
        }
        let old = format!("{id}.1");
        let signed = format!("{old}.{}", sign(&digest("cookie", token.reveal()), &old));
        assert_eq!(access.by_cookie(&signed), None, "its time is over");
    }

    #[tokio::test]
    async fn a_cookie_that_was_given_back_lets_nobody_in() {
        let token = Token::random();
        let access = Access::new("default", &token);
        let cookies = [(); 2].map(|()| access.cookie_for(token.reveal()).unwrap_or_default());
        let [Some(goes), Some(stays)] = [0, 1].map(|at| access.by_cookie(&cookies[at])) else { panic!("nobody") };
        let waited = |known| tokio::time::timeout(Duration::from_millis(50), access.clone().ended(known));
        access.dismiss(&cookies[0]);
        assert_eq!([0, 1].map(|at| access.by_cookie(&cookies[at]).is_some()), [false, true]);
        assert!(waited(goes).await.is_ok() && waited(stays).await.is_err());
        assert!(access.by_token(token.reveal()).is_some());
    }

    #[test]
    fn a_token_is_one_until_it_ends_or_is_taken_back() {
        let [ours, early, late] = [Token::random(), Token::random(), Token::random()];
        let access = Access::new("default", &ours);
        let access = access.with("bob", &early, Role::View).until(now()).with("bob", &late, Role::View);
        let access = access.until(now() + 3_600_000);
        let comes_in = |token: &Token| {
            let cookie = access.cookie_for(token.reveal());
            assert_eq!(cookie.is_some(), access.by_token(token.reveal()).is_some());
            cookie.is_some_and(|cookie| access.by_cookie(&cookie).is_some())
        };
        assert_eq!([comes_in(&ours), comes_in(&early), comes_in(&late)], [true, false, true]);
        access.clone().replace(&Access::new("default", &ours));
        assert_eq!([comes_in(&ours), comes_in(&late)], [true, false]);
    }

    #[tokio::test]
    async fn whoever_is_kept_out_is_told() {
        let [ours, theirs] = [Token::random(), Token::random()];
        let access = Access::new("default", &ours).with("bob", &theirs, Role::View);
        let ended = |token: &Token| access.by_token(token.reveal()).map(|known| access.clone().ended(known));
        let (stays, goes) = (ended(&ours), ended(&theirs));
        access.replace(&Access::new("default", &ours));
        let waited = |ended| tokio::time::timeout(Duration::from_millis(50), ended);
        let [Some(stays), Some(goes)] = [stays.map(waited), goes.map(waited)] else { panic!("nobody came in") };
        assert!(goes.await.is_ok() && stays.await.is_err());
        let short = Access::new("default", &ours).until(now() + 10);
        let known = short.by_token(ours.reveal()).unwrap_or_else(|| panic!("nobody came in"));
        assert!(tokio::time::timeout(Duration::from_secs(10), short.clone().ended(known)).await.is_ok());
    }

    #[test]
    fn what_could_be_guessed_or_sent_wrong_is_refused() {
        assert_eq!(Token::new("short"), Err(TokenError::Short));
        assert_eq!(Token::new("with a space in the middle"), Err(TokenError::Characters));
        assert!(Token::new("0123456789abcdef").is_ok());
        assert_eq!(format!("{:?}", Token::random()), "Token");
    }
}
