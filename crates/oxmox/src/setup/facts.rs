//! What the cluster is and has, as far as setup wants to know it.

use std::collections::{BTreeMap, BTreeSet};

use pve::{ClusterStatus, Permissions, Reader, Request, Version, lenient};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tools::fault::Fault;

use super::nodes::{self, Authority};
use crate::unanswered;

/// What it is.
#[derive(Debug)]
pub struct Facts {
    /// Its release.
    pub version: Version,
    /// Its name and its nodes.
    pub status: ClusterStatus,
    /// The privileges that this release knows.
    pub known: BTreeSet<String>,
    /// Its pools.
    pub pools: Vec<String>,
    /// Its storages.
    pub storages: Vec<String>,
    /// Its own certificate authority, as far as it is told.
    pub authority: Option<Authority>,
}

/// Who has which rights.
#[derive(Debug, Default)]
pub struct Accounts {
    /// Roles with their privileges.
    pub roles: BTreeMap<String, BTreeSet<String>>,
    /// Users with their tokens.
    pub users: BTreeMap<String, BTreeSet<String>>,
    /// What stands in the comments of tokens, by their ids.
    pub comments: BTreeMap<String, String>,
    /// Users with those of their tokens that have all that their user has.
    pub whole: BTreeMap<String, BTreeSet<String>>,
    /// Users with their groups.
    pub groups: BTreeMap<String, BTreeSet<String>>,
    /// Who has which role where.
    pub rules: Vec<Rule>,
}

/// A name that PVE tells: on one line, and with nothing in it for a terminal to act on. It stands in plans that a person agrees to.
fn name<'de, D: serde::Deserializer<'de>>(told: D) -> Result<String, D::Error> {
    lenient::text(told).map(|name| tools::clean::line(&name))
}

/// Who has which role where.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
pub struct Rule {
    /// Where.
    #[serde(deserialize_with = "name")]
    pub path: String,
    /// Who: a user, a group or a token.
    #[serde(deserialize_with = "name")]
    pub ugid: String,
    /// What.
    #[serde(deserialize_with = "name")]
    pub roleid: String,
    /// Whether also below that.
    #[serde(rename = "propagate", default, deserialize_with = "lenient::flag")]
    pub propagates: bool,
}

impl Rule {
    /// Whether it gives the same to the same in the same place: PVE has no two of them.
    pub fn is(&self, other: &Self) -> bool {
        let parts = |rule: &Self| [&rule.path, &rule.ugid, &rule.roleid].map(Clone::clone);
        parts(self) == parts(other)
    }
}

// Perl writes a name of digits as a number once something has counted with it.

#[derive(Deserialize)]
struct RoleRow {
    #[serde(deserialize_with = "name")]
    roleid: String,
    #[serde(default, deserialize_with = "lenient::opt_text")]
    privs: Option<String>,
}

#[derive(Deserialize)]
struct UserRow {
    #[serde(deserialize_with = "name")]
    userid: String,
    // PVE says null of a user without tokens.
    #[serde(default)]
    tokens: Option<Vec<TokenRow>>,
    groups: Option<String>,
}

#[derive(Deserialize)]
struct TokenRow {
    #[serde(deserialize_with = "name")]
    tokenid: String,
    #[serde(default, deserialize_with = "lenient::opt_flag")]
    privsep: Option<bool>,
    #[serde(default, deserialize_with = "lenient::opt_text")]
    comment: Option<String>,
}

#[derive(Deserialize)]
struct PoolRow {
    #[serde(deserialize_with = "name")]
    poolid: String,
}

#[derive(Deserialize)]
struct StorageRow {
    #[serde(deserialize_with = "name")]
    storage: String,
}

/// Asks, and says what was asked where that is not answered.
async fn asked<T: DeserializeOwned>(reader: &Reader, request: Request) -> Result<T, Fault> {
    let answer = reader.get(request.clone()).await;
    answer.map_err(|error| untold(&request, error))
}

/// What we may do on a path, all ways to a right counted in.
pub(super) async fn held_on(reader: &Reader, path: &str) -> Result<Permissions, Fault> {
    let held = reader.permissions_on(path).await;
    held.map_err(|error| untold(&Request::get(PERMISSIONS), error))
}

/// What we may do anywhere.
pub(super) async fn held(reader: &Reader) -> Result<Permissions, Fault> {
    let held = reader.permissions().await;
    held.map_err(|error| untold(&Request::get(PERMISSIONS), error))
}

const PERMISSIONS: &str = "/access/permissions";

fn untold(request: &Request, error: pve::Error) -> Fault {
    let hint = match error.status() {
        Some(403) => {
            "whoever logs in must be able to see this: log in as root@pam, or as a user with the role Administrator on /"
        }
        Some(500..) => {
            "PVE itself has a trouble there: `journalctl -u pvedaemon -u pveproxy` on the node tells more; then run the same \
             command again"
        }
        None if matches!(error, pve::Error::Decode { .. }) => {
            "something between here and the node may answer in its place, such as a proxy; or this is a PVE that oxmox does not \
             know yet: `pveversion` on the node tells which"
        }
        _ => "",
    };
    let fault = unanswered::told(&request.to_string(), error);
    if hint.is_empty() {
        fault
    } else {
        fault.hint(hint)
    }
}

impl Facts {
    /// Reads them.
    pub async fn read(reader: &Reader) -> Result<Self, Fault> {
        let administrator: BTreeMap<String, serde_json::Value> =
            asked(reader, Request::get("/access/roles/Administrator")).await?;
        let unread = |path: &'static str| move |error| untold(&Request::get(path), error);
        let pools: Vec<PoolRow> = reader.list("/pools").await.map_err(unread("/pools"))?;
        let storages: Vec<StorageRow> =
            reader.list("/storage").await.map_err(unread("/storage"))?;
        // A token without rights does not see it.
        let status = reader.cluster_status().await.unwrap_or(ClusterStatus {
            name: None,
            quorate: true,
            nodes: Vec::new(),
        });
        Ok(Self {
            version: reader.version().await.map_err(unread("/version"))?,
            authority: nodes::authority(reader, &status.nodes).await,
            status,
            known: administrator.into_keys().collect(),
            pools: pools.into_iter().map(|pool| pool.poolid).collect(),
            storages: storages.into_iter().map(|row| row.storage).collect(),
        })
    }
}

impl Accounts {
    /// Reads them, as far as whoever asks may see them. All of them or none: a row left out because it cannot be read would
    /// be taken for one that is not there, and things are made and removed by that.
    pub async fn read(reader: &Reader) -> Result<Self, Fault> {
        let known: Vec<RoleRow> = asked(reader, Request::get("/access/roles")).await?;
        let users: Vec<UserRow> =
            asked(reader, Request::get("/access/users").with("full", 1)).await?;
        let rules: Vec<Rule> = asked(reader, Request::get("/access/acl")).await?;
        let words = |text: &str| {
            let words = text.split([',', ' ']).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        };
        let tokens = |rows: Option<Vec<TokenRow>>| {
            let rows = rows.into_iter().flatten();
            rows.map(|token| token.tokenid).collect()
        };
        let groups = |row: &UserRow| {
            let groups = words(row.groups.as_deref().unwrap_or_default());
            (row.userid.clone(), groups)
        };
        let whole = |row: &UserRow| {
            let rows = row.tokens.iter().flatten();
            let rows = rows.filter(|token| token.privsep == Some(false));
            let names = rows.map(|token| token.tokenid.clone());
            (row.userid.clone(), names.collect())
        };
        let comments = |row: &UserRow| {
            let rows = row.tokens.iter().flatten();
            let told = rows.filter_map(|token| {
                let id = format!("{}!{}", row.userid, token.tokenid);
                Some((id, token.comment.clone()?))
            });
            told.collect::<Vec<_>>()
        };
        Ok(Self {
            comments: users.iter().flat_map(comments).collect(),
            whole: users.iter().map(whole).collect(),
            groups: users.iter().map(groups).collect(),
            roles: known
                .into_iter()
                .map(|row| (row.roleid, words(&row.privs.unwrap_or_default())))
                .collect(),
            users: users
                .into_iter()
                .map(|row| (row.userid, tokens(row.tokens)))
                .collect(),
            rules,
        })
    }

    /// Whether this is so already.
    pub fn has_rule(&self, path: &str, who: &str, role: &str) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.path == path && rule.ugid == who && rule.roleid == role)
    }

    /// Everybody who has a role, but for these.
    pub fn others_with(&self, role: &str, but: &[&str]) -> BTreeSet<&str> {
        let rules = self.rules.iter().filter(|rule| rule.roleid == role);
        let whom = rules.map(|rule| rule.ugid.as_str());
        whom.filter(|ugid| !but.contains(ugid)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_digits_come_as_numbers_too() {
        let user: UserRow = serde_json::from_value(
            json!({"userid": 7, "tokens": [{"tokenid": 42, "privsep": "1"}]}),
        )
        .unwrap();
        let tokens: Vec<_> = user
            .tokens
            .into_iter()
            .flatten()
            .map(|it| it.tokenid)
            .collect();
        assert_eq!((user.userid.as_str(), tokens), ("7", vec!["42".to_owned()]));
        for none in [
            json!({"userid": "a@pve"}),
            json!({"userid": "a@pve", "tokens": null}),
        ] {
            let user: UserRow = serde_json::from_value(none).unwrap();
            assert!(user.tokens.is_none());
        }
        let given = json!({"path": "/", "ugid": 12, "roleid": 34, "propagate": true});
        let given: Rule = serde_json::from_value(given).unwrap();
        assert_eq!((given.ugid.as_str(), given.roleid.as_str()), ("12", "34"));
        let role: RoleRow = serde_json::from_value(json!({"roleid": 34})).unwrap();
        assert_eq!((role.roleid.as_str(), role.privs), ("34", None));
        let pool: PoolRow = serde_json::from_value(json!({"poolid": 2026})).unwrap();
        let storage: StorageRow = serde_json::from_value(json!({"storage": 1})).unwrap();
        assert_eq!(
            (pool.poolid.as_str(), storage.storage.as_str()),
            ("2026", "1")
        );
    }
}
