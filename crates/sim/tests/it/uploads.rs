//! Files that come to a storage: sent by a client, or fetched by the node.

use sim::Fault;

use crate::client::{Client, Reply};
use crate::storage::{content, start};

/// SHA-256 of `DATA`.
const SUM: &str = "c97c29c7a71b392b437ee03fd17f09bb10b75e879466fc0eb757b2c4a78ac938";

fn body(fields: &[(&str, &str)], name: &str) -> String {
    let part = |head: String, body: &str| {
        format!("--B\r\nContent-Disposition: form-data; name={head}\r\n\r\n{body}\r\n")
    };
    let fields = fields
        .iter()
        .map(|(name, value)| part(format!("\"{name}\""), value));
    let file = part(format!("\"filename\"; filename=\"{name}\""), "DATA");
    fields.collect::<String>() + &file + "--B--\r\n"
}

/// Sends an ISO image that holds `DATA`; `None` if no answer came.
async fn upload(client: &Client, node: &str, fields: &[(&str, &str)]) -> Option<Reply> {
    let multipart = client
        .clone()
        .header("content-type", "multipart/form-data; boundary=B");
    let target = format!("/api2/json/nodes/{node}/storage/nas/upload");
    let fields = [&[("content", "iso")][..], fields].concat();
    let body = body(&fields, "my disk.iso");
    multipart.send("POST", &target, &body).await
}

#[tokio::test]
async fn an_upload_becomes_a_volume() {
    let (_sim, client) = start().await;
    let checked = [("checksum-algorithm", "sha256"), ("checksum", SUM)];
    for fields in [&[][..], &checked] {
        let upid = upload(&client, "pve1", fields)
            .await
            .expect("an answer")
            .upid();
        assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    }
    let volumes = content(&client, "nas/content?content=iso").await;
    let uploaded = volumes
        .iter()
        .find(|volume| volume["volid"] == "nas:iso/my_disk.iso");
    assert_eq!(uploaded.expect("the file")["size"], 4);
}

#[tokio::test]
async fn an_image_may_be_larger_than_any_other_body() {
    let (_sim, client) = start().await;
    let client = client.header("content-type", "multipart/form-data; boundary=B");
    let form = body(&[("content", "iso")], "large.iso").replace("DATA", &"D".repeat(600_000));
    let target = "/api2/json/nodes/pve1/storage/nas/upload";
    let sent = client.send("POST", target, &form).await.expect("an answer");
    assert_eq!(client.wait_for("pve1", &sent.upid()).await, "OK");
    let volumes = content(&client, "nas/content?content=iso").await;
    assert!(volumes.iter().any(|volume| volume["size"] == 600_000));
}

#[tokio::test]
async fn a_file_with_another_checksum_becomes_nothing() {
    let (_sim, client) = start().await;
    let wrong = SUM.replace('c', "d");
    let fields = [
        ("checksum-algorithm", "sha256"),
        ("checksum", wrong.as_str()),
    ];
    let upid = upload(&client, "pve1", &fields)
        .await
        .expect("an answer")
        .upid();
    let exit = client.wait_for("pve1", &upid).await;
    assert_eq!(
        exit,
        format!("checksum mismatch: got '{SUM}' != expect '{wrong}'")
    );
    assert!(
        content(&client, "nas/content?content=iso")
            .await
            .iter()
            .all(|it| it["size"] != 4)
    );
}

#[tokio::test]
async fn the_node_that_is_asked_runs_the_task() {
    let (sim, client) = start().await;
    let upid = upload(&client, "pve2", &[])
        .await
        .expect("an answer")
        .upid();
    assert!(upid.starts_with("UPID:pve1:"), "{upid}");
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    sim.set_online("pve2", false);
    let refused = upload(&client, "pve2", &[]).await.expect("an answer");
    assert!(
        refused
            .reason
            .starts_with("can't activate storage 'nas' on node 'pve2'")
    );
}

#[tokio::test]
async fn a_full_storage_fails_the_copy() {
    let (sim, client) = start().await;
    sim.world(|world| {
        let full = world.used_space("pve1", "nas");
        world.storages.get_mut("nas").expect("nas").capacity = full + 3;
    });
    let upid = upload(&client, "pve1", &[])
        .await
        .expect("an answer")
        .upid();
    let exit = client.wait_for("pve1", &upid).await;
    assert!(
        exit.starts_with("import failed: cp: error writing"),
        "{exit}"
    );
    assert!(exit.ends_with("No space left on device"), "{exit}");
}

#[tokio::test]
async fn an_upload_that_is_cut_off_leaves_nothing() {
    let (sim, client) = start().await;
    sim.fault(Fault::drop_during().on("POST", "*/upload").times(1));
    assert!(upload(&client, "pve1", &[]).await.is_none());
    let tasks = client
        .get("/nodes/pve1/tasks?typefilter=imgcopy&source=all")
        .await;
    assert_eq!(tasks.data().as_array().expect("a list").len(), 0);
    assert!(upload(&client, "pve1", &[]).await.is_some());
}

#[tokio::test]
async fn a_download_tells_how_far_it_is() {
    let (_sim, client) = start().await;
    let form = "content=iso&filename=a.iso&url=https://example.org/a.iso";
    let upid = client
        .post("/nodes/pve1/storage/nas/download-url", form)
        .await
        .upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let log = client
        .get(&format!("/nodes/pve1/tasks/{upid}/log?limit=0"))
        .await;
    let lines: Vec<_> = log
        .data()
        .as_array()
        .expect("lines")
        .iter()
        .map(|line| line["t"].to_string())
        .collect();
    let shares: Vec<_> = lines.iter().filter(|line| line.contains("% ")).collect();
    assert!(shares.len() > 20, "{lines:#?}");
    assert!(
        shares[0].contains("     0K ........ ........ ........ ........   4%"),
        "{}",
        shares[0]
    );
    assert!(shares.last().expect("the last").contains("100%"));
}
