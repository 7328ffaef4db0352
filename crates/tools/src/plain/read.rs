//! Running a plain read.

use std::cmp::Reverse;

use pve::lenient::as_u64;
use serde_json::Value;

use super::Plain;
use super::show::Shows;
use crate::context::Context;
use crate::fault::Fault;
use crate::tool::{Object, Rendered};

impl Plain {
    pub(super) async fn read(
        &self,
        form: &Shows,
        mut values: Object,
        cx: &Context,
    ) -> Result<Rendered, Fault> {
        let place = self.place(&mut values, cx).await?;
        let pve = &place.cluster.pve;
        let request = self.request(&values, |_, value| super::arg::value(value));
        let mut answer: Value = match pve.get(request).await {
            Ok(answer) => answer,
            Err(error) => {
                return Err(crate::preview::refused(error, &self.needed(&values), pve).await);
            }
        };
        crate::clean::answer(&mut answer, self.path);
        if let (Value::Array(rows), Some(field)) = (&mut answer, self.newest) {
            rows.sort_by_key(|row| Reverse(row.get(field).and_then(as_u64)));
        }
        let limit = self.args.iter().find(|arg| arg.limit);
        let most = limit.and_then(|arg| values.get(arg.name)?.as_u64());
        if let (Value::Array(rows), Some(most)) = (&mut answer, most) {
            rows.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        let mut shown = form.show(answer)?;
        // PVE leaves out of its lists what a token may not see, and says nothing.
        if shown.is_empty() || self.filtered {
            let needs = self.needed(&values);
            let missing = crate::preview::missing(&needs, pve).await;
            if !missing.is_empty() {
                shown.note(format!(
                    "the token lacks {}: there may be more",
                    missing.join(", ")
                ));
            }
        }
        Ok(shown.rendered())
    }
}
