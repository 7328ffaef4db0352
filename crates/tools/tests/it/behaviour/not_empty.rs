//! What PVE deletes only when nothing is in it is looked into before a person is asked.

use sim::world::Pool;

use crate::house::House;

async fn refused(house: &House, tool: &str, args: &str) -> (String, String) {
    let fault = house.agreed(tool, args).await.unwrap_err();
    assert_eq!(house.writes(), [""; 0], "{tool}: {fault}");
    (fault.message, fault.hint.unwrap_or_default())
}

#[tokio::test]
async fn a_pool_says_what_is_in_it() {
    let house = House::new().await;
    house.sim.world(|world| {
        let lab = world.pools.get_mut("lab").unwrap();
        lab.guests = [105, 9_999].into();
        lab.storages = ["nas".to_owned()].into();
        world.pools.insert("lab/web".to_owned(), Pool::default());
        world.pools.insert("label".to_owned(), Pool::default());
    });
    let (because, instead) = refused(&house, "delete_pool", r#"{"poolid": "lab"}"#).await;
    assert_eq!(
        because,
        "pool lab is not empty: guest 105 and storage nas are in it; pool lab is not empty: pool lab/web is in it"
    );
    assert_eq!(
        instead,
        "take guests and storages out with update_pool and delete: true first; they stay as they are; delete the pools below it first with delete_pool"
    );
    // Of a guest that is gone PVE does not speak either.
    house.sim.world(|world| {
        world.pools.remove("lab/web");
        let lab = world.pools.get_mut("lab").unwrap();
        (lab.guests, lab.storages) = ([9_999].into(), [].into());
    });
    let gone = house.agreed("delete_pool", r#"{"poolid": "lab"}"#).await;
    assert_eq!(gone.unwrap().data["status"], "applied");
}

#[tokio::test]
async fn a_zone_names_its_networks_and_a_network_its_subnets() {
    let house = House::new().await;
    let (because, _) = refused(&house, "delete_sdn_zone", r#"{"zone": "lab"}"#).await;
    assert_eq!(
        because,
        "SDN zone lab is not empty: network blue and network green are in it"
    );
    let (because, _) = refused(&house, "delete_sdn_vnet", r#"{"vnet": "blue"}"#).await;
    assert!(
        because.contains("subnet lab-10.8.0.0-24 is in it"),
        "{because}"
    );
}
