//! The name of a task, in which PVE writes what the task is.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{IdError, NodeName, Vmid};

/// `UPID:node:pid:pstart:starttime:type:id:user:`, kept as PVE wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Upid {
    text: String,
    node: NodeName,
    pid: u32,
    pstart: u64,
    starttime: u64,
    task_type: String,
    id: String,
    user: String,
}

impl Upid {
    /// The whole UPID.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The node that runs it; questions about the task go there.
    pub fn node(&self) -> &NodeName {
        &self.node
    }

    /// The process id of the worker.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// When the worker's process began, in the node's clock ticks since its start.
    pub fn pstart(&self) -> u64 {
        self.pstart
    }

    /// When the task began, in Unix seconds.
    pub fn starttime(&self) -> u64 {
        self.starttime
    }

    /// The kind of task, such as `qmstart`.
    pub fn task_type(&self) -> &str {
        &self.task_type
    }

    /// What the task is about: a vmid, `200@local`, or nothing.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The guest that the task is about, if its id is one.
    pub fn vmid(&self) -> Option<Vmid> {
        self.id.parse().ok()
    }

    /// Who started it, `root@pam` or `root@pam!mcp`.
    pub fn user(&self) -> &str {
        &self.user
    }
}

impl fmt::Display for Upid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Upid {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let wrong = |why: &str| {
            IdError::new(format!(
                "{text:?} is not a task id: {why}; it reads UPID:node:pid:pstart:starttime:type:id:user:"
            ))
        };
        let fields: Vec<&str> = text.split(':').collect();
        let [
            "UPID",
            node,
            pid,
            pstart,
            starttime,
            task_type,
            id,
            user,
            _comment,
        ] = fields[..]
        else {
            return Err(wrong("it has other parts"));
        };
        // A plain sign would pass for a number.
        let hex = |field: &str| {
            u64::from_str_radix(field, 16)
                .ok()
                .filter(|_| field.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        if task_type.is_empty() || user.is_empty() {
            return Err(wrong("type or user is empty"));
        }
        if text
            .chars()
            .any(|c| c.is_control() || c.is_whitespace() || c == '/')
        {
            return Err(wrong("it holds a blank, a slash or a control character"));
        }
        Ok(Self {
            node: NodeName::new(node).map_err(|error| wrong(&error.to_string()))?,
            pid: hex(pid)
                .and_then(|pid| u32::try_from(pid).ok())
                .ok_or_else(|| wrong("the process id is not hexadecimal"))?,
            pstart: hex(pstart).ok_or_else(|| wrong("pstart is not hexadecimal"))?,
            starttime: hex(starttime).ok_or_else(|| wrong("the start time is not hexadecimal"))?,
            task_type: task_type.to_owned(),
            id: id.to_owned(),
            user: user.to_owned(),
            text: text.to_owned(),
        })
    }
}

impl Serialize for Upid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Upid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .trim()
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Upid {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Upid".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^UPID:" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_fields_are_read() {
        let text = "UPID:pve1:00000A12:000754C6:6AFA0702:qmstart:100:root@pam!mcp:";
        let upid: Upid = text.parse().unwrap();
        assert_eq!(upid.node(), "pve1");
        assert_eq!(upid.pid(), 2578);
        assert_eq!(upid.pstart(), 480_454);
        assert_eq!(upid.starttime(), 1_794_770_690);
        assert_eq!(upid.task_type(), "qmstart");
        assert_eq!(upid.vmid().unwrap().get(), 100);
        assert_eq!(upid.user(), "root@pam!mcp");
        assert_eq!(upid.to_string(), text);
    }

    #[test]
    fn ids_that_are_no_guest_are_kept() {
        let upid: Upid = "UPID:pve1:00003804:0008FB75:6AFA0B3C:imgdel:200@local:root@pam!mcp:"
            .parse()
            .unwrap();
        assert_eq!((upid.id(), upid.vmid()), ("200@local", None));
        let upid: Upid = "UPID:pve3:000000F0:00045E29:6AF9FF6C:aptupdate::root@pam:"
            .parse()
            .unwrap();
        assert_eq!(upid.id(), "");
    }

    #[test]
    fn what_is_not_a_upid_is_refused() {
        for bad in [
            "",
            "UPID",
            "UPID:pve1:1:2:3:qmstart:100:root@pam",
            "UPID:..:1:2:3:qmstart:100:root@pam:",
            "UPID:pve1:x:2:3:qmstart:100:root@pam:",
            "UPID:pve1:+1:2:3:qmstart:100:root@pam:",
            "UPID:pve1:1:2:3::100:root@pam:",
            "UPID:pve1:1:2:3:qmstart:100/..:root@pam:",
            "UPID:pve1:1:2:3:qmstart:100:root@pam:x:",
        ] {
            assert!(bad.parse::<Upid>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(
            node in "[a-z][a-z0-9]{0,8}",
            pid in any::<u32>(),
            start in any::<u32>(),
            kind in "[a-z]{1,10}",
            id in "[0-9a-z@.-]{0,10}",
            user in "[a-z]{1,8}@(pam|pve)(![a-z]{1,5})?",
        ) {
            let text = format!("UPID:{node}:{pid:08X}:{start:08X}:{start:08X}:{kind}:{id}:{user}:");
            let upid: Upid = text.parse().unwrap();
            prop_assert_eq!(upid.pid(), pid);
            prop_assert_eq!(upid.to_string(), text.clone());
            let json = serde_json::to_string(&upid).unwrap();
            prop_assert_eq!(serde_json::from_str::<Upid>(&json).unwrap(), upid);
        }

        #[test]
        fn parsing_never_panics(text in "(UPID:)?\\PC{0,60}") {
            let _ = text.parse::<Upid>();
        }
    }
}
