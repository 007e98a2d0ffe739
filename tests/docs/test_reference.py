"""The generated pages of reference say what is there: every relation, command, option and public name."""

from __future__ import annotations

import dataclasses
import html
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import opfield
from opfield.campaign.domains import installed_domain_names, load_domain
from opfield.cli.app import cli
from opfield.ingest.installed import installed_reader_names, load_reader
from opfield.warehouse.contract import load_contract, load_practice_contract
from opfield.warehouse.views import load_views

TABLES = load_contract() | load_practice_contract()


def sections(page: Path) -> dict[str, str]:
    """Return what stands below each heading of a built page, by the heading's anchor."""
    text = page.read_text(encoding="utf-8")
    parts = re.split(r'<h[1-4] id="([^"]+)">', text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture(scope="session")
def relations(site: Path) -> dict[str, str]:
    pages = sorted((site / "reference" / "relations").glob("*.html"))
    return {name: text for page in pages if page.stem != "index" for name, text in sections(page).items()}


def test_every_relation_has_its_columns_in_order(relations: dict[str, str]) -> None:
    tables = {name: [each.name for each in table.columns] for name, table in TABLES.items()}
    views = {name: list(each.columns) for name, each in load_views().relations.items() if not each.is_macro}
    column = r"<tr>\s*<td><code>(\w+)</code></td>"
    assert {name: re.findall(column, relations.get(name, "")) for name in tables | views} == tables | views


def test_every_relation_is_listed_with_a_purpose(site: Path) -> None:
    text = (site / "reference" / "relations" / "index.html").read_text(encoding="utf-8")
    listed = dict(re.findall(r'<a href="\w+\.html#(\w+)"><code>\w+</code></a></td>\s*<td>(.+?)</td>', text))
    assert listed.keys() == {*TABLES, *load_views().relations}


def test_every_macro_shows_its_signature(relations: dict[str, str]) -> None:
    macros = [name for name, each in load_views().relations.items() if each.is_macro]
    assert [name for name in macros if f"{name}</" not in relations[name]] == []


@pytest.mark.parametrize("name", ["cells", "measurements", "comparisons", "decisions", "costs", "bounds"])
def test_types_are_those_of_the_relation_over_a_warehouse(
    name: str, relations: dict[str, str], folder_after: Callable[[str], Path]
) -> None:
    found = opfield.open(folder_after("tutorial/first-campaign.md") / "warehouse", is_snapshot=True).sql(f"from {name}")
    real = {column: str(kind).lower() for column, kind in zip(found.columns, found.types, strict=True)}
    rows = re.findall(r"<tr>\s*<td><code>(\w+)</code></td>\s*<td>(.*?)(?:, never NULL)?</td>", relations[name])
    assert {column: html.unescape(kind) for column, kind in rows} == real


def test_every_command_shows_its_options_with_their_meaning(site: Path) -> None:
    shown = sections(site / "reference" / "command.html")
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        section = html.unescape(re.sub(r"<[^>]+>", "", shown[f"opfield-{name}"]))
        for option in (each for each in command.params if isinstance(each, click.Option)):
            assert option.opts[0] in section, name
            assert " ".join((option.help or "").split()).replace("`", "") in " ".join(section.split()), option.opts[0]


def test_every_domain_and_every_reader_shows_its_options(site: Path) -> None:
    shown = sections(site / "reference" / "command.html")
    offered = {f"domain-{name}": [each.name for each in load_domain(name).options] for name in installed_domain_names()}
    for name in installed_reader_names():
        offered[f"reader-{name}"] = [each.name for each in load_reader(name).options]
    for anchor, names in offered.items():
        assert [each for each in names if f"--{each.replace('_', '-')}</code>" not in shown[anchor]] == []


def test_every_exit_code_is_told(site: Path) -> None:
    told = sections(site / "reference" / "command.html")["exit-codes"]
    assert re.findall(r'<td style="text-align: right;">(\d+)</td>', told) == ["0", "1", "2", "3", "4", "130"]


def test_every_public_name_shows_its_parameters(site: Path) -> None:
    shown = sections(site / "reference" / "python.html")
    for name in opfield.__all__:
        value = getattr(opfield, name)
        anchor = f"class-{name.lower()}" if inspect.isclass(value) else name.lower()
        section = re.sub(r"<[^>]+>", "", shown[anchor])
        if inspect.isfunction(value):
            parameters = inspect.signature(value).parameters
            assert [each for each in parameters if each not in section] == [], name
        if dataclasses.is_dataclass(value):
            fields = [each.name for each in dataclasses.fields(value) if each.init]
            assert [each for each in fields if each not in section] == [], name
