//! What a killed server leaves beside its plans: a look inside a guest that nobody closes, and the part of a file that came.

use super::{Scene, kinds};

fn downloads(scene: &Scene) -> Vec<String> {
    let dir = scene.machine.state_dir().join("downloads");
    let entries = std::fs::read_dir(dir).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[tokio::test]
async fn a_look_is_closed_as_one_of_which_nothing_is_known() {
    let kind = kinds::look();
    for place in ["look-recorded", "looked"] {
        let scene = Scene::new(&kind).await;
        scene.killed_at(&kind, place).await;
        let open = scene.trail();
        assert!(matches!(&open[..], [(_, None)]), "{place}: {open:#?}");

        let mut server = scene.server().await;
        let said = server.hears("left open by an oxmox that ended").await;
        let trail = scene.trail();
        let [(look, Some(end))] = &trail[..] else {
            panic!("{place}: {trail:#?}")
        };
        assert_eq!(end["result"], "unknown", "{place}: {end:#}");
        let reason = end["reason"].as_str().unwrap();
        assert!(reason.contains("whether anything was seen"), "{reason}");
        assert!(said.contains(look), "{place}: {said}");
    }
}

async fn killed(place: &str) -> Scene {
    let kind = kinds::download();
    let scene = Scene::new(&kind).await;
    scene.killed_at(&kind, place).await;
    scene
}

#[tokio::test]
async fn no_part_of_a_file_stays() {
    for place in ["sent", "answered"] {
        let scene = killed(place).await;
        let left = downloads(&scene);
        let [part] = &left[..] else {
            panic!("{place}: {left:?}")
        };
        assert!(part.starts_with("part-"), "{place}: {part}");
        let mut server = scene.server().await;
        server.hears("left open by an oxmox that ended").await;
        assert_eq!(downloads(&scene), [""; 0], "{place}");
    }
}

#[tokio::test]
async fn a_whole_file_stays_under_its_name() {
    let scene = killed("step-kept").await;
    let kept = downloads(&scene);
    assert!(
        matches!(&kept[..], [name] if name.ends_with("-hosts") && !name.starts_with("part-")),
        "{kept:?}"
    );
    let mut server = scene.server().await;
    server.hears("left open by an oxmox that ended").await;
    assert_eq!(downloads(&scene), kept);
}
