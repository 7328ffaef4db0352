//! People who are signed in at the page. In the store, so that any replica knows them.

use super::Store;
use crate::fault::Fault;

/// Somebody who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The open part of the token that they brought along; `None` where nobody has one.
    pub token: Option<String>,
    /// Their name.
    pub name: String,
    /// Unix time after which it is worth nothing.
    pub expires: i64,
}

impl Store {
    /// Keeps a session under what the browser holds, of which only a hash is kept.
    pub async fn keep_session(
        &self,
        secret: &str,
        session: &StoredSession,
        now: i64,
    ) -> Result<(), Fault> {
        let id = self.session_id(secret);
        let seal = self.seal_session(&id, session);
        let row = [
            (&id).into(),
            session.token.as_deref().into(),
            (&session.name).into(),
            session.expires.into(),
            (&seal).into(),
        ];
        self.write(move |tx| {
            tx.execute("DELETE FROM sessions WHERE expires <= ?1", &[now.into()])?;
            tx.execute(
                "INSERT INTO sessions (id, token, name, expires, seal) VALUES (?1, ?2, ?3, ?4, ?5)",
                &row,
            )
        })
        .await?;
        Ok(())
    }

    /// The session of this secret, if it holds now. A row written by hand does not.
    pub async fn session(&self, secret: &str, now: i64) -> Result<Option<StoredSession>, Fault> {
        let id = self.session_id(secret);
        let values = [(&id).into(), now.into()];
        let rows = self
            .read(move |tx| {
                tx.query(
                    "SELECT token, name, expires, seal FROM sessions WHERE id = ?1 AND expires > ?2",
                    &values,
                )
            })
            .await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let session = StoredSession {
            token: row.maybe_text(0)?,
            name: row.text(1)?,
            expires: row.number(2)?,
        };
        let genuine = self.seal_session(&id, &session) == row.text(3)?;
        Ok(genuine.then_some(session))
    }

    /// Ends it.
    pub async fn end_session(&self, secret: &str) -> Result<(), Fault> {
        let values = [(&self.session_id(secret)).into()];
        self.write(move |tx| tx.execute("DELETE FROM sessions WHERE id = ?1", &values))
            .await?;
        Ok(())
    }

    fn session_id(&self, secret: &str) -> String {
        self.keys.seal(&[b"session id", secret.as_bytes()])
    }

    fn seal_session(&self, id: &str, session: &StoredSession) -> String {
        // Whether there is a token counts, not only which.
        let (is_some, token) = match &session.token {
            Some(token) => ("1", token.as_str()),
            None => ("0", ""),
        };
        self.keys.seal(&[
            b"session",
            id.as_bytes(),
            is_some.as_bytes(),
            token.as_bytes(),
            session.name.as_bytes(),
            &session.expires.to_be_bytes(),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> StoredSession {
        StoredSession {
            token: Some("abc".to_owned()),
            name: "owner".to_owned(),
            expires: 200,
        }
    }

    #[tokio::test]
    async fn a_session_holds_until_it_expires_or_is_ended() {
        let store = Store::in_memory().unwrap();
        store.keep_session("one", &session(), 100).await.unwrap();
        assert_eq!(store.session("one", 199).await.unwrap(), Some(session()));
        assert_eq!(store.session("one", 200).await.unwrap(), None);
        assert_eq!(store.session("two", 100).await.unwrap(), None);
        store.end_session("one").await.unwrap();
        assert_eq!(store.session("one", 100).await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_row_written_by_hand_signs_nobody_in() {
        for edit in [
            "UPDATE sessions SET name = 'colleague'",
            "UPDATE sessions SET token = NULL",
            "UPDATE sessions SET token = 'abd'",
            "UPDATE sessions SET expires = 900",
        ] {
            let store = Store::in_memory().unwrap();
            store.keep_session("one", &session(), 100).await.unwrap();
            let edited = store.write(move |tx| tx.execute(edit, &[])).await;
            assert_eq!(edited.unwrap(), 1);
            assert_eq!(store.session("one", 100).await.unwrap(), None, "{edit}");
        }
    }
}
