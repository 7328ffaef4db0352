//! The tokens by which callers are known, without what they keep secret.

use super::database::{Row, Trouble, Value};
use super::{Store, json};
use crate::caller::Bounds;
use crate::fault::Fault;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredToken {
    /// The part of it that is no secret.
    pub id: String,
    /// Whose it is: the caller's name.
    pub name: String,
    /// Of the part that is.
    pub hash: String,
    /// How far its caller may go.
    pub bounds: Bounds,
    /// Whether it is a person's, who may sign in at the page and decide. A program's may not.
    pub person: bool,
    /// Unix time at which it was given out.
    pub created: i64,
    /// Unix time after which it is worth nothing.
    pub expires: Option<i64>,
}

/// The columns that [`Store::read_token`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, hash, bounds, person, created, expires, seal FROM tokens ",
            $rest
        )
    };
}

impl Store {
    /// Keeps a new token. False: there is one of that name.
    pub async fn keep_token(&self, token: &StoredToken) -> Result<bool, Fault> {
        let bounds = json(&token.bounds)?;
        let seal = self.keys.seal(&sealed(token, &bounds).each());
        let row: [Value; 8] = [
            (&token.id).into(),
            (&token.name).into(),
            (&token.hash).into(),
            (&bounds).into(),
            token.person.into(),
            token.created.into(),
            token.expires.into(),
            (&seal).into(),
        ];
        let kept = self
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO tokens (id, name, hash, bounds, person, created, expires, seal)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
                    &row,
                )
            })
            .await?;
        Ok(kept == 1)
    }

    /// The token with this open part.
    pub async fn token(&self, id: &str) -> Result<Option<StoredToken>, Fault> {
        let values = [id.into()];
        let rows = self
            .read(move |tx| tx.query(select!("WHERE id = ?1"), &values))
            .await?;
        let found = rows.first().map(|row| self.read_token(row));
        Ok(found.transpose()?.flatten())
    }

    /// All of them, by name.
    pub async fn tokens(&self) -> Result<Vec<StoredToken>, Fault> {
        let rows = self
            .read(|tx| tx.query(select!("ORDER BY name"), &[]))
            .await?;
        let mut tokens = Vec::new();
        for row in &rows {
            tokens.extend(self.read_token(row)?);
        }
        Ok(tokens)
    }

    /// Whether any was given out. One that cannot be read counts, too: who loses the key must not open the door by that.
    pub async fn has_tokens(&self) -> Result<bool, Fault> {
        let rows = self
            .read(|tx| tx.query("SELECT id FROM tokens LIMIT 1", &[]))
            .await?;
        Ok(!rows.is_empty())
    }

    /// Takes a token back. False: there was none of that name.
    pub async fn remove_token(&self, name: &str) -> Result<bool, Fault> {
        let values = [name.into()];
        let gone = self
            .write(move |tx| {
                // What was agreed to for its holder is not for whoever has the name next.
                tx.execute(
                    "UPDATE plans SET state = 'replaced' WHERE caller = ?1 AND state IN ('waiting', 'approved')",
                    &values,
                )?;
                tx.execute("DELETE FROM tokens WHERE name = ?1", &values)
            })
            .await?;
        Ok(gone == 1)
    }

    /// `None` for a row that somebody wrote by hand.
    fn read_token(&self, row: &Row) -> Result<Option<StoredToken>, Trouble> {
        let bounds = row.text(3)?;
        let token = StoredToken {
            id: row.text(0)?,
            name: row.text(1)?,
            hash: row.text(2)?,
            bounds: serde_json::from_str(&bounds)?,
            person: row.number(4)? != 0,
            created: row.number(5)?,
            expires: row.maybe_number(6)?,
        };
        let genuine = self
            .keys
            .is_sealed(&sealed(&token, &bounds).each(), &row.text(7)?);
        Ok(genuine.then_some(token))
    }
}

/// All that a token is.
struct Sealed<'a> {
    token: &'a StoredToken,
    bounds: &'a str,
    person: [u8; 1],
    times: Vec<u8>,
}

fn sealed<'a>(token: &'a StoredToken, bounds: &'a str) -> Sealed<'a> {
    let mut times = token.created.to_be_bytes().to_vec();
    times.extend(token.expires.map(i64::to_be_bytes).into_iter().flatten());
    Sealed {
        token,
        bounds,
        person: [token.person.into()],
        times,
    }
}

impl Sealed<'_> {
    fn each(&self) -> [&[u8]; 7] {
        [
            b"token",
            self.token.id.as_bytes(),
            self.token.name.as_bytes(),
            self.token.hash.as_bytes(),
            self.bounds.as_bytes(),
            &self.person,
            &self.times,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_token_that_cannot_be_read_was_given_out_all_the_same() {
        let store = Store::in_memory().unwrap();
        assert!(!store.has_tokens().await.unwrap());
        let token = StoredToken {
            id: "abc".to_owned(),
            name: "ci".to_owned(),
            hash: "x".to_owned(),
            bounds: Bounds::default(),
            person: false,
            created: 100,
            expires: None,
        };
        assert!(store.keep_token(&token).await.unwrap());
        let edit = "UPDATE tokens SET person = 1";
        let edited = store.write(move |tx| tx.execute(edit, &[])).await;
        assert_eq!(edited.unwrap(), 1);
        assert!(store.tokens().await.unwrap().is_empty());
        assert!(store.has_tokens().await.unwrap());
    }
}
