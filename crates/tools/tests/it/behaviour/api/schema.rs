//! The API schema of a cluster: asked once, kept by version, done without where it cannot be had.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sim::Fault;

use crate::house::House;

const PATH: &str = "/pve-docs/api-viewer/apidoc.js";

/// How often the schema was asked for.
fn asked(house: &House) -> usize {
    let requests = house.sim.requests();
    requests.iter().filter(|it| it.path == PATH).count()
}

/// The one file that is kept.
fn file(dir: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(dir.join("schema")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none(), "drafts are left over");
    file
}

#[tokio::test]
async fn it_is_asked_once_and_kept_for_the_next_process() {
    let house = House::new().await;
    let dir = tempfile::tempdir().unwrap();
    let engine = house.beside(dir.path());
    let cluster = &engine.clusters()[0];
    let methods = cluster.schema().await.unwrap().methods().len();
    assert!(methods > 300);
    cluster.schema().await.unwrap();
    assert_eq!(asked(&house), 1);
    assert!(file(dir.path()).ends_with("homelab_9.1.8.js"));

    let next = house.beside(dir.path());
    let again = next.clusters()[0].schema().await.unwrap();
    assert_eq!((again.methods().len(), asked(&house)), (methods, 1));
}

#[tokio::test]
async fn another_version_a_broken_file_or_an_old_one_is_asked_for_anew() {
    let house = House::new().await;
    let dir = tempfile::tempdir().unwrap();
    let schema = async || {
        let engine = house.beside(dir.path());
        engine.clusters()[0].schema().await.unwrap();
        asked(&house)
    };
    assert_eq!(schema().await, 1);
    std::fs::write(file(dir.path()), "const apiSchema = [{").unwrap();
    assert_eq!(schema().await, 2);
    let old = SystemTime::now() - Duration::from_hours(48);
    let kept = std::fs::File::options().append(true).open(file(dir.path()));
    kept.unwrap().set_modified(old).unwrap();
    assert_eq!(schema().await, 3);
    house.sim.world(|world| world.version = "9.2.3".to_owned());
    assert_eq!(schema().await, 4);
}

#[tokio::test]
async fn what_is_kept_serves_while_the_cluster_does_not_tell() {
    let house = House::new().await;
    let dir = tempfile::tempdir().unwrap();
    let engine = house.beside(dir.path());
    engine.clusters()[0].schema().await.unwrap();
    let old = SystemTime::now() - Duration::from_hours(48);
    let kept = std::fs::File::options().append(true).open(file(dir.path()));
    kept.unwrap().set_modified(old).unwrap();
    house
        .sim
        .fault(Fault::refuse(404, "not here").on("GET", PATH));
    house.beside(dir.path()).clusters()[0]
        .schema()
        .await
        .unwrap();
}

#[tokio::test]
async fn a_cluster_without_one_says_why_and_is_asked_again() {
    let house = House::new().await;
    house
        .sim
        .fault(Fault::refuse(404, "not here").on("GET", PATH).times(1));
    let cluster = &house.engine.clusters()[0];
    let fault = cluster.schema().await.unwrap_err().to_string();
    assert!(
        fault.contains("not here") && fault.contains("pve-docs"),
        "{fault}"
    );
    assert!(cluster.schema().await.is_ok(), "it may have come back");
}
