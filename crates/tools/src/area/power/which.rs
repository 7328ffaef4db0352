//! Which guests a call is about: one, several by their ids, or all that match a filter.

use pve::Vmid;

use crate::claim::Claim;
use crate::context::{Context, Guest};
use crate::fault::{Fault, Kind};
use crate::filter::Filter;
use crate::words;

/// Guests at most, where the caller does not say more.
pub(super) const MOST: usize = 20;

/// The arguments that name guests. Exactly one of the first three is given.
#[derive(Debug)]
pub(super) struct Which {
    pub(super) vmid: Option<Vmid>,
    pub(super) vmids: Option<Vec<Vmid>>,
    pub(super) filter: Option<String>,
    pub(super) max: Option<usize>,
}

impl Which {
    /// Whether it names one guest, whose plan then speaks of it alone.
    pub(super) fn is_one(&self) -> bool {
        self.vmid.is_some()
    }

    /// The guests, by their numbers, all on one cluster. What a filter matches is settled here and now: the plan names
    /// the guests, not the filter.
    pub(super) async fn guests(&self, cx: &Context) -> Result<Vec<Guest>, Fault> {
        match (self.vmid, &self.vmids, &self.filter) {
            (Some(vmid), None, None) => {
                let guest = cx.guest(vmid, None, None).await?;
                Ok(vec![guest])
            }
            (None, Some(vmids), None) => self.listed(cx, vmids).await,
            (None, None, Some(filter)) => self.matching(cx, filter).await,
            (None, None, None) => Err(Fault::bad_input(
                "no guest is named by vmid, vmids or filter",
            )
            .hint("send vmid for one guest, vmids for several, or filter for all that match")),
            _ => Err(Fault::bad_input(
                "vmid, vmids and filter each say which guests, and more than one was sent",
            )
            .hint("send exactly one of them")),
        }
    }

    async fn listed(&self, cx: &Context, vmids: &[Vmid]) -> Result<Vec<Guest>, Fault> {
        let mut vmids = vmids.to_vec();
        vmids.sort_unstable();
        vmids.dedup();
        if vmids.is_empty() {
            return Err(Fault::bad_input("vmids is empty").hint("send at least one id"));
        }
        self.check_number(vmids.len(), "vmids names", "send fewer")?;
        cx.guests(&vmids).await
    }

    async fn matching(&self, cx: &Context, text: &str) -> Result<Vec<Guest>, Fault> {
        let filter = Filter::parse(text)?;
        if filter.is_empty() {
            return Err(Fault::bad_input("an empty filter would match every guest")
                .hint("say which, for example filter: \"tag:web status:running\""));
        }
        if let Some(word) = as_word(&cx.claim) {
            return Err(Fault::bad_input(
                "node and vm_type check one guest; a filter says it itself",
            )
            .hint(format!("send filter: \"{} {word}\"", text.trim())));
        }
        let guests = cx.guests_that(|row| filter.matches(row)).await?;
        let shown = words::clip(text, 80);
        if guests.is_empty() {
            return Err(
                Fault::new(Kind::NotFound, format!("no guest matches \"{shown}\"")).hint(
                    "list_proxmox_resources takes the same filter; it leaves out what the token may not see",
                ),
            );
        }
        let named = format!("\"{shown}\" matches");
        self.check_number(guests.len(), &named, "narrow the filter")?;
        Ok(guests)
    }

    fn check_number(&self, number: usize, names: &str, instead: &str) -> Result<(), Fault> {
        let most = self.max.unwrap_or(MOST);
        if number <= most {
            return Ok(());
        }
        Err(
            Fault::bad_input(format!("{names} {number} guests, more than {most}")).hint(format!(
                "{instead}, or send max: {number} if all of them are meant"
            )),
        )
    }
}

/// What is said of one guest, as a word of a filter.
fn as_word(claim: &Claim) -> Option<String> {
    let node = claim.node.as_ref().map(|node| format!("node:{node}"));
    node.or_else(|| claim.kind.map(|kind| format!("type:{kind}")))
}
