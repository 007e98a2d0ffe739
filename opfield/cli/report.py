"""The command `report`: a campaign as a page to send, as Markdown, or as data."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from opfield.campaign.damage import meant_campaign
from opfield.cli.options import campaign_argument, json_option, warehouse_option
from opfield.cli.render import say
from opfield.errors import OpfieldError
from opfield.export.replacing import checked_target
from opfield.warehouse.session import open_warehouse

#: A report that is larger was not made here; nothing of it is read.
_MOST_BYTES: Final = 256 << 20


def _named_file(_context: click.Context, parameter: click.Parameter, value: str | None) -> Path | None:
    """Return the path that an option names; an empty one, as of a variable that is not set, names none."""
    if value is not None and not value.strip():
        raise click.BadParameter(f"it is empty; name a file, such as {parameter.opts[0]} report.html")
    return None if value is None else Path(value)


@click.command("report")
@campaign_argument
@click.option("-o", "--output", metavar="PATH", callback=_named_file, help="File to write; stdout where none.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "md", "json"]),
    default=None,
    help="A page, a short Markdown, or the same content as data. [default: what the file's name says, or html]",
)
@click.option("--no-content", is_flag=True, help="Leave out texts of cases, artifacts and failure messages.")
@click.option(
    "--verify",
    metavar="PATH",
    callback=_named_file,
    help="Compare a report that was made before, byte by byte, with what the warehouse gives now.",
)
@warehouse_option
@json_option
def report_command(
    campaign: str | None,
    output: Path | None,
    form: str | None,
    no_content: bool,
    verify: Path | None,
    warehouse: Path | None,
    as_json: bool,
) -> int:
    """Write a campaign's report: one page that opens offline; of the latest campaign where none is named.

    The same evidence gives the same bytes. A report names the digest of what it says, and `--verify` checks it.
    """
    if verify is not None:
        if campaign or output or form or no_content or as_json:
            raise click.UsageError("--verify takes a report and nothing beside it but --warehouse")
        _verify(verify, warehouse)
        return 0
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} ask for two things; leave one out")
    chosen = "json" if as_json else form or _form_of(output)

    opened = open_warehouse(warehouse, is_snapshot=True)
    if output is not None:
        # Before anything is read, which takes seconds of a large campaign.
        _check_target(output, opened.root)
    campaign_id = meant_campaign(opened, campaign, "report")
    made, digest = _made(opened.root, campaign_id, chosen, has_texts=not no_content)
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(made)
        sys.stdout.buffer.flush()
    else:
        _write(output, made)
        say(f"{output}: {len(made):,} bytes, report {digest}")
    return 0


def _made(root: Path, campaign_id: str, form: str, *, has_texts: bool) -> tuple[bytes, str]:
    """Return a report and the digest of its content."""
    # Loaded for this command alone, and the longest first, beside the rest.
    from opfield.report.scripts import load_scripts

    scripts = load_scripts() if form == "html" else None
    from opfield.report.content import read_report

    content = read_report(root, campaign_id, has_texts=has_texts)
    if form == "html":
        from opfield.report.page import render_html

        made = render_html(content, scripts)
    else:
        made = _as_json(content) if form == "json" else _as_markdown(content)
    return made.encode("utf-8"), str(content["report_digest"])


def _as_json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _as_markdown(content: Mapping[str, Any]) -> str:
    from opfield.report.markdown import render_markdown

    return render_markdown(content)


def _form_of(output: Path | None) -> str:
    named = {".md": "md", ".markdown": "md", ".json": "json"}
    return named.get(output.suffix.lower(), "html") if output is not None else "html"


def _check_target(output: Path, root: Path) -> None:
    """Find before a report is made where it cannot go.

    Raises:
        OpfieldError: where it cannot be written, or would lie inside a warehouse.
    """
    try:
        is_file = not output.exists() or output.is_file()
    except OSError as error:
        raise OpfieldError(f"{output} cannot be written: {error.strerror or error}; name another file") from None
    if output.is_dir():
        raise OpfieldError(f"{output} cannot be written: it is a folder; name a file in it, such as report.html")
    if is_file:
        checked_target(output, root)
    if not output.parent.is_dir():
        raise OpfieldError(f"{output} cannot be written: {output.parent} is no folder; make it, or name another file")


def _write(output: Path, made: bytes) -> None:
    """Write a report whole or not at all.

    Raises:
        OpfieldError: where it cannot be written.
    """
    try:
        if output.exists() and not output.is_file():
            # Such as /dev/stdout or a pipe: nothing that could be exchanged for a file.
            output.write_bytes(made)
            return
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name[:40]}-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(made)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, output)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise OpfieldError(
            f"{output} cannot be written: {error.strerror or error}; name another file with -o"
        ) from None


def _verify(path: Path, warehouse: Path | None) -> None:
    """Compare a report with what the warehouse gives, and say that they agree.

    Raises:
        OpfieldError: where they do not, or the file is no report.
    """
    from opfield.report.mark import read_mark

    try:
        if path.stat().st_size > _MOST_BYTES:
            raise OpfieldError(f"{path} has {path.stat().st_size:,} bytes: it is no report of opfield")
        told = path.read_bytes()
    except OSError as error:
        raise OpfieldError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        found = read_mark(told.decode("utf-8"))
    except UnicodeDecodeError:
        raise OpfieldError(f"{path}: it is no report of opfield") from None
    except OpfieldError as error:
        raise OpfieldError(f"{path}: {error}") from None
    opened = open_warehouse(warehouse, is_snapshot=True)
    made, digest = _made(
        opened.root, meant_campaign(opened, found.campaign_id, "report"), found.form, has_texts=found.has_texts
    )
    if made == told:
        say(f"{path} says what the warehouse gives: report {digest}")
        return
    if digest != found.report_digest:
        from importlib.metadata import version

        by = (
            f" (made by opfield {found.opfield}, this is {version('opfield')})"
            if found.opfield != version("opfield")
            else ""
        )
        raise OpfieldError(
            f"{path} does not say what the warehouse gives{by}: its content has the digest {found.report_digest}, the "
            f"warehouse gives {digest}"
        )
    raise OpfieldError(
        f"{path} was altered after it was made, or made by other versions: its digest stands, its bytes do not"
    )


COMMANDS: Final = (report_command,)
