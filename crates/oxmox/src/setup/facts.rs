//! What the cluster is and has, as far as setup wants to know it.

use std::collections::{BTreeMap, BTreeSet};

use pve::{ClusterStatus, Reader, Request, Version};
use serde::Deserialize;
use tools::fault::Fault;

use super::nodes::{self, Authority};

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
    /// Who has which role where.
    pub rules: Vec<Rule>,
}

/// Who has which role where.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
pub struct Rule {
    /// Where.
    pub path: String,
    /// Who: a user, a group or a token.
    pub ugid: String,
    /// What.
    pub roleid: String,
}

#[derive(Deserialize)]
struct RoleRow {
    roleid: String,
    privs: Option<String>,
}

#[derive(Deserialize)]
struct UserRow {
    userid: String,
    // PVE says null of a user without tokens.
    tokens: Option<Vec<TokenRow>>,
}

#[derive(Deserialize)]
struct TokenRow {
    tokenid: String,
}

#[derive(Deserialize)]
struct PoolRow {
    poolid: String,
}

#[derive(Deserialize)]
struct StorageRow {
    storage: String,
}

impl Facts {
    /// Reads them.
    pub async fn read(reader: &Reader) -> Result<Self, Fault> {
        let administrator: BTreeMap<String, serde_json::Value> =
            reader.get("/access/roles/Administrator").await?;
        let pools: Vec<PoolRow> = reader.list("/pools").await?;
        let storages: Vec<StorageRow> = reader.list("/storage").await?;
        // A token without rights does not see it.
        let status = reader.cluster_status().await.unwrap_or(ClusterStatus {
            name: None,
            quorate: true,
            nodes: Vec::new(),
        });
        Ok(Self {
            version: reader.version().await?,
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
        let known: Vec<RoleRow> = reader.get("/access/roles").await?;
        let users: Vec<UserRow> = reader
            .get(Request::get("/access/users").with("full", 1))
            .await?;
        let rules: Vec<Rule> = reader.get("/access/acl").await?;
        let words = |text: &str| {
            let words = text.split([',', ' ']).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        };
        let tokens = |rows: Option<Vec<TokenRow>>| {
            let rows = rows.into_iter().flatten();
            rows.map(|token| token.tokenid).collect()
        };
        Ok(Self {
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
