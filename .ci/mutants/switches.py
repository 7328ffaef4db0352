"""Changes of the code, written into it behind switches: what cargo-mutants would put in the place of something stands beside it,
and `crate::switches::on(7)` tells which of the two is meant."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

RUST = Parser(Language(tree_sitter_rust.language()))

# Counts what was come to, once each, and knows the one that is on.
SWITCHES = r"""
#![expect(missing_docs, clippy::all, clippy::pedantic, reason = "not part of the project")]
use std::io::Write as _;
use std::sync::{Mutex, OnceLock};

pub fn on(id: usize) -> bool {
    static ON: OnceLock<(usize, Option<std::path::PathBuf>)> = OnceLock::new();
    static SEEN: Mutex<Vec<bool>> = Mutex::new(Vec::new());
    let (on, log) = ON.get_or_init(|| {
        let on = std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(0);
        (on, std::env::var_os("MUTANTS_SEEN").map(Into::into))
    });
    if let Some(log) = log {
        let mut seen = SEEN.lock().unwrap_or_else(|broken| broken.into_inner());
        if seen.len() <= id {
            seen.resize(id + 1, false);
        }
        if !seen[id] {
            seen[id] = true;
            let file = std::fs::OpenOptions::new().create(true).append(true).open(log);
            let _ = file.and_then(|mut file| writeln!(file, "{id}"));
        }
    }
    *on == id
}
"""


@dataclasses.dataclass
class Mutant:
    id: int
    name: str
    file: str
    genre: str
    start: tuple[int, int]
    end: tuple[int, int]
    replacement: str
    why: str = ""
    """Why it is not tried."""

    @classmethod
    def of(cls, number: int, one: dict[str, Any]) -> Mutant:
        at = lambda end: (one["span"][end]["line"], one["span"][end]["column"])  # noqa: E731
        return cls(number, one["name"], one["file"], one["genre"], at("start"), at("end"), one["replacement"])

    @property
    def module(self) -> str:
        return Path(self.file).relative_to("crates/tools/src").parts[0].removesuffix(".rs").replace("store", "audit")

    @property
    def is_built(self) -> bool:
        return not self.why


def rewrite(text: str, mutants: list[Mutant]) -> str:
    """The text of a file with these in it. Those that find no place say so."""
    source = text.encode()
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def offset(at: tuple[int, int]) -> int:
        line = source[lines[at[0] - 1] : lines[at[0]]].decode()
        return lines[at[0] - 1] + len(line[: at[1] - 1].encode())

    root = RUST.parse(source).root_node
    at_node: dict[int, list[Mutant]] = {}
    for one in mutants:
        node = place(root, one, offset(one.start), offset(one.end))
        if node is None:
            one.why = one.why or "no place for a switch"
        else:
            at_node.setdefault(node.id, []).append(one)
    return render(root, source, at_node).decode()


def place(root: Node, one: Mutant, start: int, end: int) -> Node | None:
    """The part of the tree that is said otherwise."""
    node: Node | None = root.named_descendant_for_byte_range(start, end)
    if one.replacement.startswith("::std::iter::"):
        one.why = "another type would be returned"
        return None
    if one.genre == "FnValue":
        return climb(node, lambda it: it.type == "block" and it.parent is not None and it.parent.type == "function_item")
    if one.genre == "BinaryOperator":
        kinds = ("binary_expression", "compound_assignment_expr")
        return climb(node, lambda it: it.type in kinds and it.child_by_field_name("operator").start_byte == start)
    if one.genre == "UnaryOperator":
        return climb(node, lambda it: it.type == "unary_expression" and it.start_byte == start)
    if one.genre in ("MatchArm", "MatchArmGuard"):
        arm = climb(node, lambda it: it.type == "match_arm" and it.start_byte <= start)
        pattern = arm and arm.child_by_field_name("pattern")
        guard = pattern and pattern.child_by_field_name("condition")
        if guard is not None and guard.type in ("let_chain", "let_condition"):
            return None
        return pattern
    if one.genre == "StructField":
        node = root.named_descendant_for_byte_range(start, start + 1)
        return climb(node, lambda it: it.type in ("field_initializer", "shorthand_field_initializer") and it.start_byte == start)
    return None


def climb(node: Node | None, is_it: Any) -> Node | None:
    while node is not None and not is_it(node):
        node = node.parent
    return node


def render(node: Node, source: bytes, at_node: dict[int, list[Mutant]]) -> bytes:
    parts, position = [], node.start_byte
    for child in node.children:
        parts += [source[position : child.start_byte], render(child, source, at_node)]
        position = child.end_byte
    text = b"".join(parts) + source[position : node.end_byte]
    mutants = at_node.get(node.id)
    if not mutants:
        return text
    if node.type == "match_pattern":
        guard = node.child_by_field_name("condition")
        return patterned(node, source, render(guard, source, at_node) if guard else b"true", mutants)
    return switched(node, source, text, mutants)


def switched(node: Node, source: bytes, text: bytes, mutants: list[Mutant]) -> bytes:
    """What stands there now, and what would stand there instead. Only one is ever on: others need no switches within them."""
    if node.type == "block":
        ways = b"".join(marked(one, f"if {on(one)} {{ return {one.replacement}; }}".encode()) for one in mutants)
        return text[:1] + ways + text[1:]
    if node.type.endswith("field_initializer"):
        return left_to_base(node, source, text, mutants[0])
    ways = b""
    for one in mutants:
        ways += marked(one, f"if {on(one)} {{".encode() + instead(node, source, one) + b"}") + b" else "
    return b"(" + ways + b"{" + text + b"})"


def instead(node: Node, source: bytes, one: Mutant) -> bytes:
    if node.type == "unary_expression":
        return source[node.children[1].start_byte : node.end_byte]
    operator = node.child_by_field_name("operator")
    return source[node.start_byte : operator.start_byte] + one.replacement.encode() + source[operator.end_byte : node.end_byte]


def left_to_base(node: Node, source: bytes, text: bytes, one: Mutant) -> bytes:
    """A field that is not named is that of what comes after the two dots."""
    base = next(child for child in node.parent.children if child.type == "base_field_initializer").children[-1]
    other = source[base.start_byte : base.end_byte]
    if other == b"Default::default()":
        name = node.parent.parent.child_by_field_name("name")
        other = b"<" + source[name.start_byte : name.end_byte] + b" as Default>::default()"
    field, _, value = text.partition(b":") if node.type == "field_initializer" else (text, b":", text)
    return field + b": " + marked(one, f"if {on(one)} {{(".encode() + other + b")." + field + b"}") + b" else {" + value + b"}"


def patterned(node: Node, source: bytes, condition: bytes, mutants: list[Mutant]) -> bytes:
    """An arm that is not there is one whose guard never holds."""
    guard = node.child_by_field_name("condition")
    pattern = source[node.start_byte : guard.start_byte if guard else node.end_byte].rstrip()
    if guard:
        pattern = pattern.removesuffix(b"if")
    condition = b"(" + condition + b")"
    for one in mutants:
        if one.genre == "MatchArmGuard" and one.replacement == "true":
            condition = b"(" + marked(one, on(one).encode()) + b"||" + condition + b")"
        else:
            condition = b"(" + marked(one, f"!{on(one)}".encode()) + b"&&" + condition + b")"
    return pattern + b" if " + condition


def on(one: Mutant) -> str:
    return f"crate::switches::on({one.id})"


def marked(one: Mutant, text: bytes) -> bytes:
    """So that what the compiler says of it can be told from what it says of others."""
    return f"/*{one.id}<*/".encode() + text + f"/*>{one.id}*/".encode()
