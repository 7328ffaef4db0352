//! `/access/password`.

use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::world::World;

/// `PUT /access/password`. All but root confirm it with their own.
pub(super) fn change(world: &mut World, call: &Call) -> Reply {
    let name = call.text("userid").unwrap_or_default();
    let (_, realm) = name.rsplit_once('@').unwrap_or_default();
    if !world.access.users.contains_key(name) {
        return Err(ApiError::fail(format!("no such user ('{name}')")));
    }
    if !call.who.is_root() {
        confirm(world, call)?;
        let own = call.who.user == name;
        if !own && realm == "pam" {
            return Err(ApiError::denied(None));
        }
    }
    if !world.access.realms.contains_key(realm) {
        return Err(ApiError::fail(format!(
            "auth domain '{realm}' does not exist"
        )));
    }
    let password = call.text("password").map(str::to_owned);
    if let Some(user) = world.access.users.get_mut(name) {
        user.password = password;
    }
    done()
}

fn confirm(world: &World, call: &Call) -> Result<(), ApiError> {
    let Some(sent) = call.text("confirmation-password") else {
        return Err(ApiError::param(
            "confirmation-password",
            "password is required to modify user",
        ));
    };
    let caller = world.access.users.get(&call.who.user);
    let right = caller.and_then(|user| user.password.as_deref());
    if right == Some(sent) {
        Ok(())
    } else {
        Err(ApiError::fail("authentication failure"))
    }
}
