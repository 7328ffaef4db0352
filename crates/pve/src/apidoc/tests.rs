use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::*;
use crate::request::{Method as Verb, Request, Value};

/// A small schema in the form that nodes serve.
fn document() -> String {
    let vmid =
        json!({"type": "integer", "format": "pve-vmid", "minimum": 100, "maximum": 999_999_999});
    let node = json!({"type": "string", "format": "pve-node"});
    let net = json!({
        "model": {"type": "string", "default_key": 1, "enum": ["virtio", "e1000"]},
        "macaddr": {"type": "string", "format": "mac-addr", "optional": 1},
        "virtio": {"alias": "macaddr", "keyAlias": "model"},
        "e1000": {"alias": "macaddr", "keyAlias": "model"},
        "bridge": {"type": "string", "optional": 1},
        "tag": {"type": "integer", "minimum": 1, "maximum": 4094, "optional": "1"},
        "firewall": {"type": "boolean", "optional": 1},
        "trunks": {"type": "string", "optional": 1, "requires": "bridge"},
    });
    let config = json!({
        "name": "update_vm", "method": "PUT", "description": "Set options.", "allowtoken": 1, "protected": 1,
        "permissions": {"check": ["perm", "/vms/{vmid}", ["VM.Config.Disk", "VM.Config.Network"], "any", 1]},
        "parameters": {"additionalProperties": 0, "properties": {
            "node": node, "vmid": vmid,
            "net[n]": {"type": "string", "format": net, "optional": 1},
            "cores": {"type": "integer", "minimum": 1, "optional": 1, "default": 1},
            "bwlimit": {"type": "number", "minimum": "0", "optional": 1},
            "onboot": {"type": "boolean", "optional": 1},
            "bios": {"type": "string", "enum": ["seabios", "ovmf"], "optional": 1},
            "digest": {"type": "string", "maxLength": 4, "optional": 1},
            "tags": {"type": "string", "format": "pve-tag-list", "optional": 1},
            "starttime": {"type": "integer", "optional": 1, "requires": "onboot"},
            "members": {"type": "array", "items": {"type": "string", "format": "pve-configid"}, "optional": 1},
        }},
        "returns": {"type": "null"},
    });
    let volume = json!({"DELETE": {"name": "delete", "parameters": {"properties": {
        "node": {"type": "string"}, "storage": {"type": "string"}, "volume": {"type": "string"},
    }}, "returns": {"type": "string", "optional": 1}}});
    let tree = json!([
        {"path": "/nodes", "text": "nodes", "leaf": 0, "info": {"GET": {"name": "index", "permissions": {"user": "all"}}},
         "children": [{"path": "/nodes/{node}", "children": [
            {"path": "/nodes/{node}/qemu/{vmid}/config", "leaf": 1, "info": {"PUT": config, "GET": {"name": "vm_config"}}},
            {"path": "/nodes/{node}/qemu/{vmid}/agent", "leaf": 1, "info": {"GET": {"name": "index"}, "PATCH": {"name": "no"}}},
            {"path": "/nodes/{node}/qemu/{vmid}/{thing}", "leaf": 1, "info": {"GET": {"name": "thing"}}},
            {"path": "/nodes/{node}/storage/{storage}/content/{volume}", "info": volume},
         ]}]},
        {"path": "/evil/../x", "info": {"GET": {"name": "left out"}}}, 7, null,
    ]);
    format!("const apiSchema = {tree};\nlet method2cmd = {{ GET: 'get' }};")
}

fn schema() -> Schema {
    Schema::parse(document().as_bytes()).unwrap()
}

fn put(params: &Json) -> Result<Request, String> {
    let schema = schema();
    let found = schema
        .find(Verb::Put, "/nodes/pve1/qemu/105/config")
        .unwrap();
    found
        .request(params.as_object().unwrap())
        .map_err(|problems| {
            let words: Vec<_> = problems.iter().map(ToString::to_string).collect();
            words.join("; ")
        })
}

#[test]
fn what_a_node_serves_is_read() {
    let schema = schema();
    let names: Vec<_> = schema.methods().iter().map(ToString::to_string).collect();
    assert_eq!(names[0], "GET /nodes");
    assert_eq!(names.len(), 6, "{names:?}");
    let method = schema
        .method(Verb::Put, "/nodes/{node}/qemu/{vmid}/config")
        .unwrap();
    assert_eq!(method.name, "update_vm");
    assert!(method.protected && method.allows_token && !method.may_start_task());
    assert_eq!(
        method.permission,
        Permission::Check(
            Check::On {
                path: "/vms/{vmid}".to_owned(),
                privileges: vec!["VM.Config.Disk".to_owned(), "VM.Config.Network".to_owned()],
                any: true,
                only_with: None
            },
            String::new()
        )
    );
    let old = document().replace("const apiSchema =", "var pveapi=");
    assert_eq!(Schema::parse(old.as_bytes()).unwrap().methods().len(), 6);
}

#[test]
fn what_is_no_schema_is_an_error() {
    assert_eq!(Schema::parse(b"").unwrap_err(), SchemaError::NoTree);
    assert_eq!(Schema::parse(b"<html>").unwrap_err(), SchemaError::NoTree);
    assert_eq!(Schema::parse(b"x = []").unwrap_err(), SchemaError::Empty);
    for odd in ["x = ", "x = {}", "x = [{", "x = 7", "x = [1,]"] {
        assert!(Schema::parse(odd.as_bytes()).is_err(), "{odd}");
    }
    let deep = format!("x = {}", "[".repeat(100_000));
    assert!(matches!(
        Schema::parse(deep.as_bytes()),
        Err(SchemaError::Unreadable(_))
    ));
}

#[test]
fn words_win_over_captures_and_volumes_take_the_rest() {
    let schema = schema();
    let name = |path: &str| {
        schema
            .find(Verb::Get, path)
            .map(|it| it.method.name.clone())
    };
    assert_eq!(name("/nodes/pve1/qemu/105/agent").unwrap(), "index");
    assert_eq!(name("api2/x").unwrap_err(), NearMiss::Paths(vec![]));
    assert_eq!(
        name("/api2/json/nodes/pve1/qemu/105/other/").unwrap(),
        "thing"
    );
    for path in ["local:iso/a%20b.iso", "local:iso%2Fa%20b.iso"] {
        let path = format!("/nodes/pve1/storage/local/content/{path}");
        let found = schema.find(Verb::Delete, &path).unwrap();
        assert_eq!(found.capture("volume"), Some("local:iso/a b.iso"));
        assert_eq!(
            found.path(),
            "/nodes/pve1/storage/local/content/local:iso%2Fa%20b.iso"
        );
        assert!(found.method.may_start_task());
    }
}

#[test]
fn a_path_that_means_something_else_is_refused() {
    let schema = schema();
    for path in [
        "/nodes/../access",
        "/nodes/%2e%2e/x",
        "/nodes?x=1",
        "/nodes/a\nb",
        "/nodes//x",
        "/nodes/pve1/storage/local/content/local:iso/../x",
        &"/x".repeat(2_000),
    ] {
        let miss = schema.find(Verb::Get, path).unwrap_err();
        assert!(matches!(miss, NearMiss::BadPath(_)), "{path:?} {miss:?}");
    }
    let miss = schema.find(Verb::Put, "/nodes/pve1%2Fqemu/105/config");
    assert!(matches!(miss, Err(NearMiss::Paths(_))), "{miss:?}");
    let miss = schema.find(Verb::Put, "/nodes/a%2Fb/qemu/105/config");
    assert!(matches!(miss, Err(NearMiss::Paths(_))), "{miss:?}");
}

#[test]
fn near_misses_are_named() {
    let schema = schema();
    assert_eq!(
        schema
            .find(Verb::Delete, "/nodes/pve1/qemu/105/config")
            .unwrap_err(),
        NearMiss::Verbs(vec![Verb::Get, Verb::Put])
    );
    let miss = schema
        .find(Verb::Get, "/nodes/pve1/qemo/105/config")
        .unwrap_err();
    let NearMiss::Paths(paths) = miss else {
        panic!("{miss:?}")
    };
    assert_eq!(paths[0], "/nodes/{node}/qemu/{vmid}/config");
}

#[test]
fn good_parameters_become_a_request() {
    let request = put(&json!({
        "cores": "4", "onboot": true, "bios": null, "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20,firewall=on",
        "net12": "e1000", "tags": ["a", "b"], "members": ["ab", "cd"], "bwlimit": 0.5, "vmid": 105,
    }))
    .unwrap();
    let wanted = Request::put("/nodes/pve1/qemu/105/config")
        .with("cores", 4)
        .with("onboot", true)
        .with(
            "net0",
            "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20,firewall=on",
        )
        .with("net12", "e1000")
        .with("tags", "a,b")
        .with("members", "ab")
        .with("members", "cd")
        .with("bwlimit", Value::Text("0.5".to_owned()));
    assert_eq!(request, wanted);
}

#[test]
fn everything_that_pve_would_refuse_is_told() {
    let cases = [
        (
            json!({"core": 1}),
            "core: there is no such parameter; there is cores",
        ),
        (
            json!({"net": "x"}),
            "net: there is no such parameter; there is net[n]",
        ),
        (
            json!({"net01": "virtio"}),
            "net01: there is no such parameter; there is net[n]",
        ),
        (json!({"cores": 0}), "cores: must be at least 1"),
        (json!({"cores": 1.5}), "cores: must be a whole number"),
        (json!({"cores": "x"}), "cores: must be a whole number"),
        (json!({"cores": [1]}), "cores: must be a whole number"),
        (json!({"bwlimit": -1}), "bwlimit: must be at least 0"),
        (json!({"onboot": "maybe"}), "onboot: must be a boolean"),
        (json!({"bios": "efi"}), "bios: must be one of seabios, ovmf"),
        (
            json!({"digest": "12345"}),
            "digest: must have at most 4 characters",
        ),
        (json!({"digest": {"a": 1}}), "digest: must be a text"),
        (
            json!({"tags": "ok;-no"}),
            "tags: \"-no\" is not a tag: letters, digits, _ - + and .",
        ),
        (
            json!({"starttime": 1}),
            "starttime: comes only together with onboot",
        ),
        (
            json!({"members": []}),
            "members: the list is empty: name at least one, or leave it out",
        ),
        (
            json!({"tags": []}),
            "tags: the list is empty: name at least one, or leave it out",
        ),
        (
            json!({"members": ["1x"]}),
            "members: \"1x\" is not a name: a letter, then letters, digits, _ and -, at least 2 characters",
        ),
        (
            json!({"vmid": 106}),
            "vmid: stands in the path, with another value",
        ),
        (
            json!({"net0": "bridge=vmbr0"}),
            "net0: it lacks model=<value>, for example model=virtio",
        ),
        (
            json!({"net0": "virtio,brige=vmbr0"}),
            "net0: it has no key brige; there is bridge",
        ),
        (
            json!({"net0": "virtio,e1000=BC:24:11:00:00:01"}),
            "net0: it has model twice",
        ),
        (
            json!({"net0": "virtio=BD:24:11:00:00:01"}),
            "net0: virtio: \"BD:24:11:00:00:01\" is not a MAC address of one card, such as BC:24:11:00:00:01",
        ),
        (
            json!({"net0": "virtio,tag=5000"}),
            "net0: tag: must be at most 4094",
        ),
        (
            json!({"net0": "vmxnet"}),
            "net0: model: must be one of virtio, e1000",
        ),
        (
            json!({"net0": "virtio,trunks=1"}),
            "net0: trunks comes only together with bridge",
        ),
    ];
    for (params, says) in cases {
        assert_eq!(put(&params).unwrap_err(), says, "{params}");
    }
    let both = put(&json!({"cores": 0, "bios": "efi"})).unwrap_err();
    assert!(
        both.contains("cores: ") && both.contains("bios: "),
        "{both}"
    );
}

#[test]
fn what_the_path_names_is_checked_too() {
    let schema = schema();
    let found = schema.find(Verb::Put, "/nodes/pve1/qemu/5/config").unwrap();
    assert_eq!(
        found.check(&Map::new())[0].to_string(),
        "vmid: must be at least 100"
    );
}

#[test]
fn checks_are_read_as_far_as_they_are_known() {
    let read = |check: Json| match Permission::read(Some(&json!({"check": check}))) {
        Permission::Check(check, _) => check,
        other => panic!("{other:?}"),
    };
    assert_eq!(read(json!(["userid-param", "self"])), Check::OwnUser);
    assert_eq!(
        read(json!([
            "or",
            ["perm-modify", "{path}"],
            ["userid-group", ["User.Modify"], "groups_param", 1]
        ])),
        Check::Any(vec![
            Check::Modify("{path}".to_owned()),
            Check::GroupOfUser(vec!["User.Modify".to_owned()])
        ])
    );
    let mut deep = json!(["perm", "/", ["Sys.Audit"]]);
    for _ in 0..50 {
        deep = json!(["and", deep]);
    }
    let _ = read(deep);
    assert_eq!(read(json!("odd")), Check::Unknown);
    assert_eq!(Permission::read(None), Permission::RootOnly);
    assert_eq!(
        Permission::read(Some(&json!({"user": "world"}))),
        Permission::World
    );
}

/// Any JSON, a few levels deep.
fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "\\PC{0,12}".prop_map(Json::from),
    ];
    let key = prop_oneof![
        "[a-z]{1,4}",
        prop::sample::select(vec![
            "path",
            "info",
            "GET",
            "PUT",
            "children",
            "parameters",
            "properties",
            "format",
            "items",
            "type",
            "enum",
            "permissions",
            "check",
            "optional",
            "minimum",
            "alias",
            "requires",
            "net[n]",
            "returns",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_document_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Schema::parse(&bytes);
    }

    #[test]
    fn no_tree_panics(info in any_json(), params in any_json(), path in "(/[a-z{}%.]{0,6}){0,4}") {
        let tree = json!([{"path": "/a/{b}", "info": {"GET": info, "PUT": {"parameters": {"properties": params}}}}]);
        let Ok(schema) = Schema::parse(format!("x = {tree}").as_bytes()) else { return Ok(()) };
        let _ = schema.find(Verb::Get, &path);
        if let (Ok(found), Json::Object(params)) = (schema.find(Verb::Put, "/a/x"), params) {
            let _ = found.check(&params);
        }
    }

    #[test]
    fn no_value_panics(value in any_json(), text in "\\PC{0,40}") {
        let names = ["net0", "cores", "tags", "members", "onboot", "bwlimit"];
        for name in names {
            let _ = put(&json!({name: value}));
            let _ = put(&json!({name: text}));
        }
        let _ = put(&json!({text: 1}));
    }
}

#[test]
fn what_is_said_beside_a_check_is_kept() {
    let rule = json!({"check": ["perm", "/vms/{vmid}", ["VM.Clone"]], "description": " And Datastore.AllocateSpace.\n"});
    let Permission::Check(_, said) = Permission::read(Some(&rule)) else {
        panic!("no check");
    };
    assert_eq!(said, "And Datastore.AllocateSpace.");
}

/// Comparing a long path with every other one takes seconds, and nobody mistypes one.
#[test]
fn no_guess_is_made_about_a_long_path() {
    let schema = schema();
    let guess = |node: &str| schema.find(Verb::Put, &format!("/nodes/{node}/qemo/105/config"));
    let near = guess("pve1").unwrap_err();
    assert!(
        matches!(&near, NearMiss::Paths(paths) if !paths.is_empty()),
        "{near:?}"
    );
    let far = guess(&"x".repeat(300)).unwrap_err();
    assert_eq!(far, NearMiss::Paths(vec![]));
    let long = json!({"method": "GET", "path": format!("/{}", "x".repeat(300))});
    assert!(Schema::from_methods(&[long]).methods().is_empty());
}
