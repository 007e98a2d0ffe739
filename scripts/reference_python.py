"""The page of reference for Python: every public name with its signature and docstring.

The documentation's site makes it when it is built (`scripts/reference_site.py`).
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import opfield

PAGE: Final = "reference/python.md"

_SECTIONS: Final = ("Args", "Attributes", "Raises", "Returns", "Yields")


def pages() -> dict[str, str]:
    """Return the page's Markdown by its path below `docs`."""
    values = {name: getattr(opfield, name) for name in sorted(opfield.__all__, key=str.lower)}
    classes = {name: value for name, value in values.items() if inspect.isclass(value)}
    functions = {name: value for name, value in values.items() if name not in classes and callable(value)}
    listed = [
        f"{title}: " + " · ".join(f"[`{name}`](#{prefix}{name.lower()})" for name in names) + "."
        for title, prefix, names in (("Functions", "", functions), ("Classes", "class-", classes))
    ]
    parts = [
        "# Python\n\n"
        "All that a user needs stands in one module: `import opfield as of`, then `of.declare` and the rest below.",
        *listed,
        *(_function(name, value) for name, value in functions.items()),
        *(_class(name, value) for name, value in classes.items()),
    ]
    return {PAGE: "\n\n".join(parts) + "\n"}


def _function(name: str, value: Callable[..., Any]) -> str:
    return f"## {name}\n\n{_signature(f'of.{name}', value)}\n\n{markdown(value.__doc__)}"


def _class(name: str, value: type[Any]) -> str:
    parts = [f"## class {name}"]
    if dataclasses.is_dataclass(value) and not issubclass(value, enum.Enum):
        parts.append(_signature(f"of.{name}", value))
    if issubclass(value, enum.Enum):
        parts.append("One of " + ", ".join(f"`{each.value}`" for each in value) + ".")
    parts.append(markdown(inspect.getdoc(value)))
    for member, found in vars(value).items():
        what = found.__func__ if isinstance(found, classmethod | staticmethod) else found
        if member.startswith("_") or not (inspect.isfunction(what) or isinstance(what, property)):
            continue
        owner = name if isinstance(found, classmethod | staticmethod) else name.lower()
        if isinstance(what, property):
            parts.append(f"### {name}.{member}\n\n{markdown(what.__doc__)}")
        elif what.__doc__:
            parts.append(f"### {name}.{member}\n\n{_signature(f'{owner}.{member}', what)}\n\n{markdown(what.__doc__)}")
    return "\n\n".join(parts)


def _signature(name: str, value: Callable[..., Any]) -> str:
    """Return a call as a block of code, one argument a line where it is long."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return f"```python\n{name}(…)\n```"
    shown = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
    plain = [_parameter(each) for each in shown]
    if any(each.kind is inspect.Parameter.KEYWORD_ONLY for each in shown) and not any(
        each.kind is inspect.Parameter.VAR_POSITIONAL for each in shown
    ):
        at = next(ix for ix, each in enumerate(shown) if each.kind is inspect.Parameter.KEYWORD_ONLY)
        plain.insert(at, "*")
    has_result = signature.return_annotation is not inspect.Parameter.empty and not inspect.isclass(value)
    result = f" -> {_annotation(signature.return_annotation)}" if has_result else ""
    line = f"{name}({', '.join(plain)}){result}"
    if len(line) > 100:
        line = f"{name}(\n" + "".join(f"    {each},\n" for each in plain) + f"){result}"
    return f"```python\n{line}\n```"


def _parameter(parameter: inspect.Parameter) -> str:
    kind = parameter.kind
    stars = "*" if kind is inspect.Parameter.VAR_POSITIONAL else "**" if kind is inspect.Parameter.VAR_KEYWORD else ""
    annotation = "" if parameter.annotation is inspect.Parameter.empty else f": {_annotation(parameter.annotation)}"
    if parameter.default is inspect.Parameter.empty:
        return f"{stars}{parameter.name}{annotation}"
    made = re.search(r" at 0x|<factory>|<function|\bobject\b", repr(parameter.default))
    return f"{stars}{parameter.name}{annotation} = {'…' if made else repr(parameter.default)}"


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def markdown(docstring: str | None) -> str:
    """Return a Google docstring as Markdown: sections as lists, examples as blocks of code.

    >>> print(markdown('''Add.
    ...
    ... Args:
    ...     a: first,
    ...         and more.
    ... '''))
    Add.
    <BLANKLINE>
    **Args**
    <BLANKLINE>
    - `a`: first, and more.
    """
    told: list[str] = []
    for block in inspect.cleandoc(docstring or "").split("\n\n"):
        lines = block.split("\n")
        title = lines[0].removesuffix(":")
        if lines[0].endswith(":") and title in _SECTIONS:
            told.append(f"**{title}**\n\n" + "\n".join(_items(lines[1:])))
        elif lines[0].startswith(">>>"):
            told.append("```pycon\n" + block + "\n```")
        else:
            told.append(_escaped(block))
    return "\n\n".join(told)


def _items(lines: Iterable[str]) -> list[str]:
    """Return the entries of a section, each on one line."""
    entries: list[str] = []
    for line in lines:
        if not entries or re.match(r" {4}\S", line):
            entries.append(line.strip())
        else:
            entries[-1] += " " + line.strip()
    return [
        f"- `{name}`: {_escaped(rest)}" if colon and re.fullmatch(r"[\w*.]+", name) else f"- {_escaped(entry)}"
        for entry in entries
        for name, colon, rest in [entry.partition(": ")]
    ]


def _escaped(text: str) -> str:
    """Return text whose stars, brackets and angles mean themselves outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if ix % 2 else re.sub(r"([*\[\]])", r"\\\1", part).replace("<", "&lt;").replace(">", "&gt;")
        for ix, part in enumerate(parts)
    )
