use super::*;

/// A directory with a file in it, and files beside it.
fn shelf() -> (tempfile::TempDir, Uploads) {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("images/deep")).unwrap();
    std::fs::write(root.path().join("images/a.iso"), "DATA").unwrap();
    std::fs::write(root.path().join("images/deep/b.iso"), "DATA").unwrap();
    std::fs::write(root.path().join("secret.iso"), "SECRET").unwrap();
    let uploads = Uploads::from_dirs(vec![root.path().join("images")]);
    (root, uploads)
}

#[tokio::test]
async fn files_are_found_by_their_path_whole_or_below_a_directory() {
    let (root, uploads) = shelf();
    let whole = root.path().join("images/a.iso");
    for name in [
        "a.iso",
        "deep/b.iso",
        "deep/../a.iso",
        whole.to_str().unwrap(),
    ] {
        let found = uploads.find(name, None).await.unwrap();
        assert_eq!(found.size, 4, "{name}");
        assert_eq!(
            found.sha256,
            "c97c29c7a71b392b437ee03fd17f09bb10b75e879466fc0eb757b2c4a78ac938"
        );
    }
}

#[tokio::test]
async fn without_a_directory_the_line_to_add_is_told() {
    let fault = Uploads::default().find("a.iso", None).await.unwrap_err();
    assert_eq!(fault.kind, Kind::Refused);
    assert!(
        fault.hint.unwrap().contains("upload_from = ["),
        "which line"
    );
}

/// Nobody learns here what lies elsewhere on this machine.
#[tokio::test]
async fn what_lies_outside_is_as_if_it_were_not_there() {
    let (root, uploads) = shelf();
    let outside = root.path().join("secret.iso");
    let told = async |name: &str| uploads.find(name, None).await.unwrap_err();
    for name in ["../secret.iso", outside.to_str().unwrap(), "/etc/passwd"] {
        let fault = told(name).await;
        assert_eq!(fault.kind, Kind::NotFound, "{fault}");
        let missing = told("../nothing.iso").await;
        let words = |fault: &Fault, name: &str| fault.to_string().replace(name, "X");
        assert_eq!(words(&fault, name), words(&missing, "../nothing.iso"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_count_by_where_they_lead() {
    use std::os::unix::fs::symlink;
    let (root, uploads) = shelf();
    let images = root.path().join("images");
    symlink(root.path().join("secret.iso"), images.join("out.iso")).unwrap();
    symlink(root.path(), images.join("up")).unwrap();
    symlink(images.join("a.iso"), images.join("in.iso")).unwrap();
    for name in ["out.iso", "up/secret.iso"] {
        assert_eq!(
            uploads.find(name, None).await.unwrap_err().kind,
            Kind::NotFound
        );
    }
    assert_eq!(uploads.find("in.iso", None).await.unwrap().name(), "a.iso");
}

#[cfg(unix)]
#[tokio::test]
async fn only_regular_files_that_hold_something_are_taken() {
    let (root, _) = shelf();
    let images = root.path().join("images");
    std::fs::write(images.join("empty.iso"), "").unwrap();
    std::os::unix::net::UnixListener::bind(images.join("socket.iso")).unwrap();
    let uploads = Uploads::from_dirs(vec![images, "/dev".into()]);
    for (name, why) in [
        ("deep", "is a directory"),
        ("empty.iso", "is empty"),
        ("socket.iso", "is no regular file"),
        ("/dev/null", "is no regular file"),
    ] {
        let fault = uploads.find(name, None).await.unwrap_err();
        assert!(fault.message.contains(why), "{fault}");
    }
}

#[tokio::test]
async fn a_file_that_changes_is_another_one() {
    let (root, uploads) = shelf();
    let planned = uploads.find("a.iso", None).await.unwrap();
    assert_eq!(uploads.open(&planned).await.unwrap().size(), 4);
    let path = root.path().join("images/a.iso");
    let other = root.path().join("images/other");
    std::fs::write(&other, "ATAD").unwrap();
    std::fs::rename(&other, &path).unwrap();
    let why = uploads.open(&planned).await.unwrap_err();
    assert!(why.contains("has changed since it was planned"), "{why}");
    std::fs::remove_file(&path).unwrap();
    assert!(uploads.open(&planned).await.is_err());
    let elsewhere = Uploads::from_dirs(vec![root.path().join("images/deep")]);
    let deep = uploads.find("deep/b.iso", None).await.unwrap();
    assert!(elsewhere.open(&deep).await.is_ok());
    assert!(
        Uploads::default().open(&deep).await.is_err(),
        "not any more"
    );
}

/// What was heard of a file that is read.
async fn heard(uploads: &Uploads, name: &str) -> (LocalFile, Vec<String>) {
    let (tell, mut news) = tokio::sync::mpsc::unbounded_channel();
    let found = uploads.find(name, Some(tell)).await.unwrap();
    let mut said = Vec::new();
    while let Some(progress) = news.recv().await {
        said.push(progress.message);
    }
    (found, said)
}

#[tokio::test]
async fn a_file_is_read_once_and_it_is_told_how_far_that_is() {
    let (root, uploads) = shelf();
    let path = root.path().join("images/large.iso");
    std::fs::write(&path, vec![1; 4 << 20]).unwrap();
    let (first, said) = heard(&uploads, "large.iso").await;
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(
        said[1].ends_with("for its checksum: 2.0 MiB of 4.0 MiB"),
        "{said:?}"
    );
    let (again, said) = heard(&uploads.clone(), "large.iso").await;
    assert_eq!((again, said.len()), (first.clone(), 0));
    let other = root.path().join("images/other");
    std::fs::write(&other, vec![2; 4 << 20]).unwrap();
    std::fs::rename(&other, &path).unwrap();
    let (changed, said) = heard(&uploads, "large.iso").await;
    assert_eq!(said.len(), 4, "{said:?}");
    assert_ne!(changed.sha256, first.sha256);
}

#[tokio::test]
async fn nobody_left_to_hear_ends_the_reading() {
    let (_root, uploads) = shelf();
    let (tell, news) = tokio::sync::mpsc::unbounded_channel();
    drop(news);
    let fault = uploads.find("a.iso", Some(tell)).await.unwrap_err();
    assert!(fault.message.contains("the caller has gone"), "{fault}");
}

#[tokio::test]
async fn a_file_of_our_own_is_never_sent_either() {
    let (root, _) = shelf();
    let own = vec![root.path().join("images/deep/b.iso")];
    let uploads = Uploads::from_dirs(vec![root.path().join("images")]).but_not(own);
    assert!(uploads.find("a.iso", None).await.is_ok());
    let fault = uploads.find("deep/b.iso", None).await.unwrap_err();
    assert_eq!(fault.kind, Kind::NotFound, "{fault}");
}

#[tokio::test]
async fn what_is_our_own_is_never_sent_by_a_wide_directory() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("state/uploads")).unwrap();
    for file in ["a.iso", "state/secret", "state/uploads/b.iso"] {
        std::fs::write(root.path().join(file), "DATA").unwrap();
    }
    let state = root.path().join("state");
    let wide = Uploads::from_dirs(vec![root.path().to_owned()]).but_not(vec![state.clone()]);
    assert!(wide.find("a.iso", None).await.is_ok());
    assert!(wide.find("state/secret", None).await.is_err());
    let itself = Uploads::from_dirs(vec![state.clone()]).but_not(vec![state.clone()]);
    assert!(itself.find("secret", None).await.is_err());
    let below = Uploads::from_dirs(vec![state.join("uploads")]).but_not(vec![state]);
    assert!(below.find("b.iso", None).await.is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn file_with_a_hard_link_is_refused() {
    let (root, uploads) = shelf();
    let secret = root.path().join("secret.iso");
    let inside = root.path().join("images/innocent.iso");
    std::fs::hard_link(&secret, &inside).unwrap();
    let fault = uploads.find("innocent.iso", None).await.unwrap_err();
    assert_eq!(fault.kind, Kind::Refused);
    assert!(fault.message.contains("2 names (hard links)"), "{fault}");
    std::fs::remove_file(&secret).unwrap();
    let found = uploads.find("innocent.iso", None).await.unwrap();
    assert_eq!(found.size, 6);
    // One that gets a second name after it was planned is not sent.
    std::fs::hard_link(&inside, &secret).unwrap();
    assert!(uploads.open(&found).await.is_err());
}
