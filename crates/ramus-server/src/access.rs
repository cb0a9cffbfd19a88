//! Who may come in: tokens and the owners they stand for, and cookies made of them.
//!
//! Secrets are compared in constant time, all of them each time, and never shown: a [`Token`] prints nothing.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

use crate::error::ApiError;
use crate::role::Role;

/// The name of the cookie that browsers are given.
pub(crate) const COOKIE: &str = "ramus";

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

/// For whom a request is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Owner(pub(crate) Arc<str>);

impl Owner {
    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

/// One holder of a token.
#[derive(Clone, Debug)]
struct Holder {
    owner: Owner,
    role: Role,
    token: [u8; 32],
    cookie: [u8; 32],
    /// The text of the cookie.
    shown: String,
}

/// Everyone who may come in.
#[derive(Clone, Debug)]
pub struct Access {
    holders: Vec<Holder>,
}

impl Access {
    /// Lets the user of the home in, who owns what nobody else does.
    pub fn new(owner: impl Into<String>, token: &Token) -> Self {
        Self { holders: vec![Holder::new(owner.into(), token, Role::Admin)] }
    }

    /// Lets someone else in, for the sessions of `owner` and no others, and for what `role` may.
    #[must_use]
    pub fn with(mut self, owner: impl Into<String>, token: &Token, role: Role) -> Self {
        self.holders.push(Holder::new(owner.into(), token, role));
        self
    }

    /// Says whether an owner is the user of the home.
    pub(crate) fn is_user(&self, owner: &Owner) -> bool {
        self.holders.first().is_some_and(|first| first.owner == *owner)
    }

    /// Refuses what only the user of the home may do.
    pub(crate) fn check_user(&self, owner: &Owner) -> Result<(), ApiError> {
        if self.is_user(owner) { Ok(()) } else { Err(ApiError::denied("only the user of the home may do this")) }
    }

    /// Finds who holds a token.
    pub(crate) fn by_token(&self, token: &str) -> Option<(Owner, Role)> {
        let digest = digest("token", token);
        self.find(|holder| holder.token.ct_eq(&digest)).map(Holder::known)
    }

    /// Finds who was given a cookie.
    pub(crate) fn by_cookie(&self, cookie: &str) -> Option<(Owner, Role)> {
        let digest: [u8; 32] = Sha256::digest(cookie.as_bytes()).into();
        self.find(|holder| holder.cookie.ct_eq(&digest)).map(Holder::known)
    }

    /// Returns the cookie that a token is exchanged for.
    pub(crate) fn cookie_for(&self, token: &str) -> Option<&str> {
        let digest = digest("token", token);
        self.find(|holder| holder.token.ct_eq(&digest)).map(|holder| holder.shown.as_str())
    }

    /// Looks at every holder, whoever it is, so that time tells nothing.
    fn find(&self, is_it: impl Fn(&Holder) -> Choice) -> Option<&Holder> {
        let mut found = u32::MAX;
        for (at, holder) in (0_u32..).zip(&self.holders) {
            found.conditional_assign(&at, is_it(holder));
        }
        self.holders.get(usize::try_from(found).ok()?)
    }
}

impl Holder {
    fn known(&self) -> (Owner, Role) {
        (self.owner.clone(), self.role)
    }

    fn new(owner: String, token: &Token, role: Role) -> Self {
        let shown = hex::encode(digest("cookie", token.reveal()));
        Self {
            owner: Owner(owner.into()),
            role,
            token: digest("token", token.reveal()),
            cookie: Sha256::digest(shown.as_bytes()).into(),
            shown,
        }
    }
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
        let owner = |token: &str| access.by_token(token).map(|(owner, _)| owner.name().to_owned());
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
        let cookie = access.cookie_for(token.reveal()).map(str::to_owned).unwrap_or_default();
        assert_eq!(access.by_cookie(&cookie), Some((Owner("default".into()), Role::Admin)));
        assert_eq!((access.by_token(&cookie), access.by_cookie(token.reveal())), (None, None));
    }

    #[test]
    fn what_could_be_guessed_or_sent_wrong_is_refused() {
        assert_eq!(Token::new("short"), Err(TokenError::Short));
        assert_eq!(Token::new("with a space in the middle"), Err(TokenError::Characters));
        assert!(Token::new("0123456789abcdef").is_ok());
        assert_eq!(format!("{:?}", Token::random()), "Token");
    }
}
