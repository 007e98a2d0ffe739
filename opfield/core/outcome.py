"""What a trial ended as: four statuses, so that failure is data and never an absence (§11.4, §46.9)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Status(StrEnum):
    """Terminal status of a cell."""

    SUCCESS = "success"
    DOMAIN_FAILURE = "domain_failure"
    INFRASTRUCTURE_FAILURE = "infrastructure_failure"
    CANCELLED = "cancelled"


class MissingReason(StrEnum):
    """Why a metric that a cell reports has no value."""

    NOT_APPLICABLE = "not_applicable"
    JUDGE_FAILED = "judge_failed"
    NOT_FINITE = "not_finite"
    NOT_EMITTED = "not_emitted"


#: Longest failure message that the ledger keeps, in characters; the whole text is retained as an artifact.
MESSAGE_LIMIT: Final = 500

_SHORTEST_SECRET: Final = 4


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in a trial.

    Attributes:
        code: short stable name, such as `timeout` or `invalid_contract`.
        message: words for people; at most `MESSAGE_LIMIT` characters once recorded, secrets scrubbed.
        is_retryable: whether another attempt might succeed; read by retries and resume.
    """

    code: str
    message: str
    is_retryable: bool = False


# Three shapes: a name and its value, the scheme of an HTTP header between them or not; a token that its
# prefix gives away; the user part of a URL.
_CREDENTIAL = re.compile(
    r"""(?ix)
    ((?:api[_-]?key|token|secret|password|passwd|authorization|credential)["']?\s*[:=]\s*["']?(?:(?:bearer|basic)\s+)?
        |\bbearer\s+)
    [^\s"',;]{4,}
    |\b(?:(?:sk|pk|rk|gh[oprsu]|github_pat|glpat|hf|xox[abeprs])[-_]|AKIA|AIza|eyJ)[-\w.]{12,}
    |(?<=://)[^/\s:@]*:[^/\s@]+(?=@)
    """
)


def scrub(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return `text` without what looks like a credential and without the given secret values.

    Args:
        text: a failure message or traceback.
        secrets: values to remove word for word, such as those of the environment variables a campaign names;
            one of fewer than 4 characters is left, since removing it would only tear words apart.

    >>> scrub("401 for api_key=abcd1234efgh at https://me:pw@host/x")
    '401 for api_key=*** at https://***@host/x'
    """
    for secret in sorted(secrets, key=len, reverse=True):  # one may be the beginning of another
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return _CREDENTIAL.sub(lambda found: (found.group(1) or "") + "***", text)
