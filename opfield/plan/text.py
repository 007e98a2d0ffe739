"""Plans as one-line terms, printed and read back: `chunk(spec, corpus -> chunks) >> index(chunks -> index)`.

`@` binds more tightly than `>>`, as in Python. `id(a, b)`, `copy(a)` and `drop(a)` name their port,
`permute(a, b; 1, 0)` the order as well; an operation bears its signature. A name with other characters than letters,
digits and `._:+/-`, or one that means something here, stands in JSON quotes.
"""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

from opfield.core.operation import Port
from opfield.errors import PlanError
from opfield.plan.term import MAX_DEPTH, Plan, copy, drop, identity, is_unicode, permute, sequence, tensor

_WORDS: Final = {"id": "identity", "copy": "copy", "drop": "drop", "permute": "permute"}
_NAME: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._:+/]|-(?!>))*")
#: No wire has an index of more digits.
_MOST_DIGITS: Final = 9
_SPACE: Final = re.compile(r"\s*")
_TOKEN: Final = re.compile(rf'(?:(?P<name>{_NAME.pattern})|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<sign>->|>>|[@(),;]))')


def plan_text(plan: Plan) -> str:
    """Return a plan as a one-line term; `parse_plan` gives the normal form of it back."""
    done: list[str] = []
    waiting: list[tuple[Plan, bool]] = [(plan, False)]
    while waiting:
        node, are_children_done = waiting.pop()
        if node.children and not are_children_done:
            waiting.append((node, True))
            waiting += ((child, False) for child in reversed(node.children))
            continue
        parts = done[len(done) - len(node.children) :]
        del done[len(done) - len(node.children) :]
        done.append(_node_text(node, parts))
    return done[0]


def parse_plan(text: str) -> Plan:
    """Return the plan that a one-line term describes, in normal form.

    Raises:
        PlanError: where the text is no term, with the place, or its parts do not fit.

    >>> parse_plan("copy(a) >> (f(a -> b) @ id(a))").outputs
    ('b', 'a')
    """
    parser = _Parser(text)
    plan = parser.sequence(1)
    if parser.kind != "end":
        parser.refuse("the end, `>>` or `@`")
    return plan


def _node_text(node: Plan, parts: list[str]) -> str:
    match node.kind:
        case "primitive":
            return f"{_name(node.operation, is_operation=True)}({_arrow(node.inputs, node.outputs)})"
        case "sequence" | "tensor":
            sign = " >> " if node.kind == "sequence" else " @ "
            # What binds less tightly, and a part that would otherwise melt into its parent, stands in brackets.
            is_bare = {"sequence": ("sequence",), "tensor": ("sequence", "tensor")}[node.kind]
            told = sign.join(
                f"({part})" if child.kind in is_bare else part for child, part in zip(node.children, parts, strict=True)
            )
            return told or "id()"
        case "permute":
            return f"permute({_ports(node.inputs)}; {', '.join(map(str, node.permutation))})"
    word = next(word for word, kind in _WORDS.items() if kind == node.kind)
    return f"{word}({_ports(node.inputs)})"


def _arrow(inputs: Port, outputs: Port) -> str:
    return f"{_ports(inputs)} -> {_ports(outputs)}".strip()


def _ports(port: Port) -> str:
    return ", ".join(_name(schema) for schema in port)


def _name(text: str, *, is_operation: bool = False) -> str:
    is_plain = _NAME.fullmatch(text) and not (is_operation and text in _WORDS)
    return text if is_plain else json.dumps(text, ensure_ascii=False)


class _Parser:
    """One term, read from left to right with one token ahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = self.end = 0
        self.kind = self.value = ""
        self.advance()

    def advance(self) -> None:
        """Read the next token."""
        self.start = _SPACE.match(self.text, self.end).end()  # type: ignore[union-attr]  # it matches nothing, too
        if self.start == len(self.text):
            self.kind, self.value = "end", ""
            return
        found = _TOKEN.match(self.text, self.start)
        if found is None:
            self.kind, self.value = "other", self.text[self.start]
            self.refuse("a name, an operator or a bracket")
        self.kind = str(found.lastgroup)
        self.value, self.end = found[self.kind], found.end()

    def refuse(self, wanted: str) -> NoReturn:
        """Say what stands where something else was wanted."""
        found = "the text ends" if self.kind == "end" else f"{self.value!r} stands"
        raise PlanError(f"no plan: at character {self.start} {found} where {wanted} was expected")

    def is_sign(self, sign: str) -> bool:
        """Return whether the next token is this sign."""
        return self.kind == "sign" and self.value == sign

    def take(self, sign: str) -> None:
        """Read past a sign that must stand here."""
        if not self.is_sign(sign):
            self.refuse(f"`{sign}`")
        self.advance()

    def sequence(self, depth: int) -> Plan:
        """Read tensors joined by `>>`."""
        if depth > MAX_DEPTH:
            raise PlanError(f"no plan: brackets nest deeper than {MAX_DEPTH}")
        parts = [self.tensor(depth)]
        while self.is_sign(">>"):
            self.advance()
            parts.append(self.tensor(depth))
        return sequence(*parts)

    def tensor(self, depth: int) -> Plan:
        """Read atoms joined by `@`."""
        parts = [self.atom(depth)]
        while self.is_sign("@"):
            self.advance()
            parts.append(self.atom(depth))
        return tensor(*parts)

    def atom(self, depth: int) -> Plan:
        """Read a term in brackets, an operation, or a structural word with its port."""
        if self.is_sign("("):
            self.advance()
            inner = self.sequence(depth + 1)
            self.take(")")
            return inner
        word = _WORDS.get(self.value) if self.kind == "name" else None
        operation = self.name()
        self.take("(")
        inputs = self.port()
        plan = self.structure(word, inputs) if word else self.operation(operation, inputs)
        self.take(")")
        return plan

    def structure(self, kind: str, inputs: Port) -> Plan:
        """Return the structural plan over a port, its permutation read where it has one."""
        if kind != "permute":
            return {"identity": identity, "copy": copy, "drop": drop}[kind](inputs)
        self.take(";")
        order = []
        while self.kind == "name" and self.value.isdecimal() and len(self.value) <= _MOST_DIGITS:
            order.append(int(self.value))
            self.advance()
            if self.is_sign(","):
                self.advance()
        return permute(inputs, order)

    def operation(self, name: str, inputs: Port) -> Plan:
        """Return the plan of an operation, its outputs read."""
        self.take("->")
        return Plan("primitive", inputs, self.port(), name)

    def port(self) -> Port:
        """Read schemas separated by commas."""
        schemas = []
        while self.kind in ("name", "quoted"):
            schemas.append(self.name())
            if not self.is_sign(","):
                break
            self.advance()
        return tuple(schemas)

    def name(self) -> str:
        """Read a name."""
        if self.kind not in ("name", "quoted"):
            self.refuse("a name")
        value = self.value
        if self.kind == "quoted":
            try:
                value = json.loads(value)
            except ValueError:
                self.refuse("a name in JSON quotes")
            if not value or not is_unicode(value):
                self.refuse("a name of Unicode text that is not empty")
        self.advance()
        return str(value)
