use super::*;

fn world() -> World {
    World::empty("test", Time::from_secs(1_000_000))
}

fn start(world: &mut World, work: Work) -> Upid {
    let upid = world.start_task(&Identity::user("root@pam"), "pve1", work);
    Upid::parse(&upid).expect("a UPID")
}

fn status(world: &World, upid: &Upid) -> Option<String> {
    world
        .tasks
        .find(upid)?
        .end
        .as_ref()
        .map(|end| end.status.clone())
}

#[test]
fn effects_happen_when_time_passes_them() {
    let mut world = world();
    let work = Work::new("test", "")
        .log("begin")
        .wait(5)
        .run(|world, job| {
            world.quorum_lost = true;
            job.log("changed");
            job.wait(3);
            job.log("settled");
            Ok(())
        });
    let upid = start(&mut world, work);
    world.advance(Duration::from_secs(4));
    assert!(!world.quorum_lost);
    world.advance(Duration::from_secs(1));
    assert!(world.quorum_lost);
    assert_eq!(status(&world, &upid), None);
    world.advance(Duration::from_secs(3));
    assert_eq!(status(&world, &upid).as_deref(), Some("OK"));
    let log = world.tasks.find(&upid).expect("known").full_log();
    assert_eq!(log, ["begin", "changed", "settled", "TASK OK"]);
}

#[test]
fn a_second_task_waits_for_the_guest_and_gives_up() {
    let mut world = world();
    let long = start(
        &mut world,
        Work::new("a", 100).lock(Kind::Qemu, 100).wait(60),
    );
    let late = start(
        &mut world,
        Work::new("b", 100).lock(Kind::Qemu, 100).wait(1),
    );
    world.advance(Duration::from_secs(11));
    assert_eq!(status(&world, &long), None);
    let expected = "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout";
    assert_eq!(status(&world, &late).as_deref(), Some(expected));
}

#[test]
fn a_second_task_runs_once_the_guest_is_free() {
    let mut world = world();
    start(
        &mut world,
        Work::new("a", 100).lock(Kind::Qemu, 100).wait(3),
    );
    let late = start(
        &mut world,
        Work::new("b", 100).lock(Kind::Qemu, 100).wait(1),
    );
    world.advance(Duration::from_secs(10));
    assert_eq!(status(&world, &late).as_deref(), Some("OK"));
}

#[test]
fn a_fault_cuts_the_work_in_half() {
    let mut world = world();
    world.tasks.faults.push(TaskFault {
        kind: Some("clone".to_owned()),
        vmid: None,
        trouble: TaskTrouble::Fail {
            line: "disk full".to_owned(),
            exit: "no space left".to_owned(),
        },
        times: Some(1),
    });
    let work = || {
        Work::new("clone", 100).log("begin").wait(10).run(|_, job| {
            job.log("copied");
            Ok(())
        })
    };
    let (first, second) = (start(&mut world, work()), start(&mut world, work()));
    world.advance(Duration::from_secs(20));
    let log = world.tasks.find(&first).expect("known").full_log();
    assert_eq!(log, ["begin", "disk full", "TASK ERROR: no space left"]);
    assert_eq!(status(&world, &second).as_deref(), Some("OK"));
}

#[test]
fn an_idle_task_takes_its_time_ends_well_and_does_nothing() {
    let mut world = world();
    world.tasks.faults.push(TaskFault {
        kind: Some("clone".to_owned()),
        vmid: None,
        trouble: TaskTrouble::Idle,
        times: None,
    });
    let work = Work::new("clone", 100).wait(10).run(|world, _| {
        world.quorum_lost = true;
        Ok(())
    });
    let upid = start(&mut world, work);
    world.advance(Duration::from_secs(5));
    assert_eq!(status(&world, &upid), None);
    world.advance(Duration::from_secs(15));
    assert_eq!(status(&world, &upid).as_deref(), Some("OK"));
    assert!(!world.quorum_lost, "the task has done something");
}

#[test]
fn warnings_count_as_success() {
    let mut world = world();
    let upid = start(
        &mut world,
        Work::new("test", "").run(|_, job| {
            job.warn("old");
            Ok(())
        }),
    );
    world.advance(Duration::ZERO);
    assert_eq!(status(&world, &upid).as_deref(), Some("WARNINGS: 1"));
}

#[test]
fn readers_share_a_guest_and_keep_others_out() {
    let mut world = world();
    let read = || Work::new("clone", 100).share(Kind::Qemu, 100).wait(30);
    let first = start(&mut world, read());
    let second = start(&mut world, read());
    let writer = start(&mut world, Work::new("start", 100).lock(Kind::Qemu, 100));
    world.advance(Duration::from_secs(30));
    assert_eq!(status(&world, &first).as_deref(), Some("OK"));
    assert_eq!(status(&world, &second).as_deref(), Some("OK"));
    let status = status(&world, &writer).expect("ended");
    assert!(status.ends_with("got timeout"), "{status}");
}

#[test]
fn what_fails_or_is_stopped_cleans_up() {
    let work = || {
        let take = |world: &mut World, _: &mut Job| {
            world.quorum_lost = true;
            Ok(())
        };
        let give_back = |world: &mut World| world.quorum_lost = false;
        let work = Work::new("test", "").undo("interrupted", give_back);
        work.run(take).wait(10)
    };
    let mut world = world();
    let stopped = start(&mut world, work());
    world.advance(Duration::from_secs(5));
    assert!(world.quorum_lost);
    world.interrupt_task(&stopped);
    assert!(!world.quorum_lost);
    assert_eq!(status(&world, &stopped).as_deref(), Some("interrupted"));

    let failing = work().run(|_, _| Err("full".to_owned()));
    let failed = start(&mut world, failing);
    world.advance(Duration::from_secs(20));
    assert!(!world.quorum_lost);
    assert_eq!(status(&world, &failed).as_deref(), Some("full"));
}

#[test]
fn an_effect_that_fails_still_says_why() {
    let mut world = world();
    let failing = Work::new("test", "")
        .run(|_, job| {
            job.log("looking");
            Err("nothing there".to_owned())
        })
        .log("never written");
    let upid = start(&mut world, failing);
    world.advance(Duration::ZERO);
    let log = world.tasks.find(&upid).expect("known").full_log();
    assert_eq!(log, ["looking", "TASK ERROR: nothing there"]);
}
