//! API tokens.

use std::fmt;
use std::str::FromStr;

use super::IdError;

/// An API token by its full name, `root@pam!oxmox`. Its secret is no part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenId {
    /// Whose it is, with the realm.
    pub user: String,
    /// The part after `!`.
    pub name: String,
}

impl TokenId {
    /// This user's token of this name.
    pub fn new(user: &str, name: &str) -> Self {
        Self {
            user: user.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}!{}", self.user, self.name)
    }
}

impl FromStr for TokenId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let has_realm = |user: &str| {
            let parts = user.rsplit_once('@');
            parts.is_some_and(|(name, realm)| !name.is_empty() && !realm.is_empty())
        };
        // A secret that hangs on behind a `=` makes it something else.
        let parts = text.split_once('!').filter(|_| !text.contains('='));
        match parts {
            Some((user, name)) if has_realm(user) && !name.is_empty() => Ok(Self::new(user, name)),
            // Not quoted: people paste it with the secret.
            _ => Err(IdError::new("this is not the name of an API token")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_user_a_realm_and_a_name() {
        let token: TokenId = "root@pam!oxmox".parse().unwrap();
        assert_eq!(token, TokenId::new("root@pam", "oxmox"));
        assert_eq!(token.to_string(), "root@pam!oxmox");
        for wrong in [
            "root@pam",
            "root!x",
            "@pam!x",
            "root@!x",
            "root@pam!",
            "root@pam!x=canary",
        ] {
            let error = wrong.parse::<TokenId>().unwrap_err();
            assert!(!error.to_string().contains("canary"), "{error}");
        }
    }
}
