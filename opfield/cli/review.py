"""The command by which people approve or reject a candidate, and make the keys that sign their word."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from opfield.campaign.review import Review, record_review
from opfield.campaign.signatures import write_new_key
from opfield.cli.options import campaign_argument, json_option, the_unfinished, warehouse_option
from opfield.cli.render import out, print_json, say
from opfield.cli.work import report
from opfield.warehouse.session import open_warehouse

_FILE: Final = click.Path(path_type=Path)


@click.command("review")
@click.argument("candidate", required=False)
@campaign_argument
@click.option("--approve", is_flag=True, help="The candidate may be selected.")
@click.option("--reject", is_flag=True, help="The candidate fails, whatever else holds.")
@click.option("--by", "reviewer", metavar="NAME", help="Who reviews; recorded.")
@click.option("--comment", metavar="TEXT", help="Why, in words; recorded.")
@click.option("--key", type=_FILE, metavar="FILE", help="Private key to sign the review with.")
@click.option("--new-key", type=_FILE, metavar="FILE", help="Make a private key there, and print its public key.")
@warehouse_option
@json_option
@click.pass_context
def review_command(
    context: click.Context,
    candidate: str | None,
    campaign: str | None,
    approve: bool,
    reject: bool,
    reviewer: str | None,
    comment: str | None,
    key: Path | None,
    new_key: Path | None,
    warehouse: Path | None,
    as_json: bool,
) -> int:
    """Approve or reject a compared candidate, or make a key to sign with.

    A campaign whose policy has a review gate waits for reviews once every candidate is compared. The last one that was
    lacking lets it decide. Of several reviews by one reviewer the latest stands, as long as nothing is decided.
    """
    if new_key is not None:
        others = {"CANDIDATE": candidate, "--approve": approve, "--reject": reject, "--by": reviewer, "--key": key}
        given = [name for name, value in others.items() if value]
        if given:
            raise click.UsageError(f"--new-key makes a key and reviews nothing; leave out {', '.join(given)}")
        return _make_key(new_key, as_json)
    if candidate is None:
        raise click.UsageError("name the candidate to review, by its label or the beginning of its id", context)
    if approve == reject:
        raise click.UsageError(f"say one of --approve and --reject, not {'both' if approve else 'neither'}", context)
    if reviewer is None:
        raise click.UsageError("say who reviews, with --by NAME", context)
    opened = open_warehouse(warehouse, is_snapshot=True)
    review = Review(candidate, "approve" if approve else "reject", reviewer, comment, key)
    outcome = record_review(opened.root, the_unfinished(opened, campaign), review)
    return report(outcome, opened.root, as_json)


def _make_key(path: Path, as_json: bool) -> int:
    public_key = write_new_key(path)
    if as_json:
        print_json({"public_key": public_key, "file": str(path)})
        return 0
    out().print(public_key, markup=False, highlight=False)
    say(f"the private key is in {path}: keep it to yourself. Its public key above goes into the policy's review gate")
    return 0


COMMANDS: Final = (review_command,)
