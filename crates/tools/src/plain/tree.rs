//! Answers that are trees: what is shown of them is the leaves.

use serde_json::Value;

/// The nodes below this one that have no children and are no empty branch.
pub(super) fn leaves(tree: &Value) -> Vec<Value> {
    match tree.get("children").and_then(Value::as_array) {
        Some(children) => children.iter().flat_map(leaves).collect(),
        None if tree.get("leaf").and_then(pve::lenient::as_bool) == Some(true) => {
            vec![tree.clone()]
        }
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_branches_are_no_leaves() {
        let tree = json!({"leaf": 0, "children": [
            {"id": -3, "leaf": 0, "children": [{"id": 0, "leaf": 1}, {"id": 1, "leaf": "1"}]},
            {"id": -5, "leaf": 0},
        ]});
        let ids: Vec<_> = leaves(&tree)
            .iter()
            .map(|leaf| leaf["id"].clone())
            .collect();
        assert_eq!(ids, [0, 1]);
        assert_eq!(leaves(&json!(null)), [json!(null); 0]);
    }
}
