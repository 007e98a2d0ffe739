"""What an exception of a runner means, and how a failure is written down (§11.4, §23.2)."""

from __future__ import annotations

import errno
import os
import re
import traceback
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import quote

from opfield.core import Failure, Status, scrub
from opfield.core.outcome import MESSAGE_LIMIT
from opfield.experiment import DomainFailure, InfrastructureFailure

#: Longest failure code that the ledger keeps, in characters.
CODE_LIMIT: Final = 100

_UNREACHABLE: Final = {errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH}

# Names of exception classes, wherever they are defined, that say the other side may answer later. They are
# matched by name, since naming the classes would mean importing every client library there is.
_TRANSIENT: Final = {
    "timeout": (
        "APITimeoutError ConnectTimeout ConnectTimeoutError DeadlineExceeded GatewayTimeout PoolTimeout "
        "ReadTimeout ReadTimeoutError RequestTimeout Timeout TimeoutException TimeoutError WriteTimeout"
    ),
    "connection": (
        "APIConnectionError ClientConnectionError ConnectError ConnectionError EndpointConnectionError "
        "IncompleteRead MaxRetryError NetworkError NewConnectionError ProtocolError ReadError "
        "RemoteProtocolError ServerDisconnectedError URLError WriteError gaierror"
    ),
    "rate_limit": "RateLimitError RateLimitExceeded ResourceExhausted ThrottlingException TooManyRequests",
    "server_error": ("BadGateway InternalServerError OverloadedError ServiceUnavailable ServiceUnavailableError"),
}
_CODE_OF_NAME: Final = {name: code for code, names in _TRANSIENT.items() for name in names.split()}

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# Characters that steer a terminal or have no UTF-8 form: controls, direction overrides, lone surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def judge_exception(error: BaseException) -> tuple[Status, Failure]:
    """Return the status and the failure that an exception of a runner stands for; never raises.

    A group of exceptions, as a task group raises, means what its first member that no retry can help means.

    >>> status, failure = judge_exception(ConnectionResetError("peer went away"))
    >>> failure.code, failure.is_retryable
    ('connection', True)
    """
    try:
        return _judged(error)
    except Exception:  # an exception of the runner's own making, whose members raise
        name = type(error).__name__
        return Status.INFRASTRUCTURE_FAILURE, Failure(snake_case(name), f"{name}: {safe_text(error)}")


# Characters kept from each end of a text of megabytes.
_KEPT_END: Final = 100_000


def failure_as_recorded(failure: Failure, secrets: tuple[str, ...] = ()) -> Failure:
    r"""Return the failure as the ledger keeps it: scrubbed, on one line, bounded.

    Args:
        failure: as a runner gave it; nothing about its members is taken for granted.
        secrets: values to remove, as `secret_values` gives them.

    >>> failure_as_recorded(Failure("", "first line\n  second"))
    Failure(code='unspecified', message='first line second', is_retryable=False)
    """
    code = one_line(printable(safe_text(failure.code), secrets), CODE_LIMIT) or "unspecified"
    message = one_line(printable(safe_text(failure.message), secrets))
    return Failure(code, message, failure.is_retryable is True)


def printable(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return `text` scrubbed, its terminal sequences removed and other unsafe characters shown as escapes.

    Lines are kept. Of a text of megabytes the beginning and the end are, since looking for secrets in all of it takes
    longer than a trial may.
    """
    if len(text) > 2 * _KEPT_END:
        # Named secrets go first, so that none is cut in two.
        for secret in secrets:
            text = text.replace(secret, "***")
        cut = len(text) - 2 * _KEPT_END
        text = f"{text[:_KEPT_END]}\n… ({cut:,} characters cut) …\n{text[-_KEPT_END:]}"
    return _UNSAFE.sub(_escape, scrub(_ANSI.sub("", text).replace("\r\n", "\n"), secrets))


def one_line(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return `text` with its white space folded, cut to `limit` characters that end in its full length.

    >>> one_line("one  two"), one_line("a" * 30, limit=20)
    ('one two', 'aaa… (30 characters)')
    """
    folded = " ".join(text.split())
    if len(folded) <= limit:
        return folded
    tail = f"… ({len(folded)} characters)"
    return folded[: limit - len(tail)] + tail


def traceback_text(error: BaseException) -> str:
    """Return the traceback as Python prints it, less the boundary's own frame; never raises."""
    trace = error.__traceback__
    try:
        return "".join(traceback.format_exception(type(error), error, trace.tb_next if trace else None))
    except Exception:
        return f"{type(error).__name__}: {safe_text(error)}\n(its traceback cannot be printed)\n"


def secret_values(names: Iterable[str]) -> tuple[str, ...]:
    """Return the values of the environment variables `names`, in the forms in which they turn up in messages.

    The longest come first, so that a value that contains another one is removed whole.
    """
    values = {os.environ.get(name, "").strip() for name in names} - {""}
    forms = {form for value in values for form in (value, repr(value)[1:-1], quote(value, safe=""))}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def safe_text(value: Any) -> str:
    """Return `str(value)`, or words that say that it has no text; never raises."""
    try:
        return str.__str__(str(value))
    except Exception:
        return f"(a {type(value).__name__} without text)"


def snake_case(name: str) -> str:
    """Return a class name as a failure code.

    >>> snake_case("JSONDecodeError")
    'json_decode_error'
    """
    return _WORD_START.sub("_", name).lower().strip("_")


def _judged(error: BaseException) -> tuple[Status, Failure]:
    deciding = error
    if isinstance(error, BaseExceptionGroup):
        leaves = list(_leaves(error))
        deciding = next((leaf for leaf in leaves if not _is_retryable(leaf)), leaves[0])
    if isinstance(deciding, DomainFailure):
        return Status.DOMAIN_FAILURE, Failure(deciding.code, deciding.message)
    if isinstance(deciding, InfrastructureFailure):
        failure = Failure(deciding.code, deciding.message, deciding.is_retryable)
        return Status.INFRASTRUCTURE_FAILURE, failure
    name, text = type(deciding).__name__, safe_text(deciding)
    message = f"{name}: {text}" if text else name
    code = _transient_code(deciding)
    return Status.INFRASTRUCTURE_FAILURE, Failure(code or snake_case(name), message, code is not None)


def _leaves(group: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    for member in group.exceptions:
        if isinstance(member, BaseExceptionGroup):
            yield from _leaves(member)
        else:
            yield member


def _is_retryable(error: BaseException) -> bool:
    if isinstance(error, InfrastructureFailure):
        return error.is_retryable is True
    return not isinstance(error, DomainFailure) and _transient_code(error) is not None


def _transient_code(error: BaseException) -> str | None:
    """Return the code of a failure that may pass by itself, or None where another attempt would not help."""
    status = _http_status(error)
    if status is not None:
        return _code_of_status(status)
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, ConnectionError) or (isinstance(error, OSError) and _member(error, "errno") in _UNREACHABLE):
        return "connection"
    codes = (_CODE_OF_NAME.get(kind.__name__) for kind in type(error).__mro__)
    return next((code for code in codes if code is not None), None)


def _code_of_status(status: int) -> str | None:
    if status == 408:
        return "timeout"
    if status == 429:
        return "rate_limit"
    return "server_error" if status in (409, 425) or status >= 500 else None


def _http_status(error: BaseException) -> int | None:
    """Return the HTTP status that a client library left on the exception or on its response."""
    for holder in (error, _member(error, "response")):
        for name in ("status_code", "http_status", "status"):
            status = _member(holder, name)
            if type(status) is int and 400 <= status <= 599:
                return status
    return None


def _member(holder: Any, name: str) -> Any:
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


def _escape(found: re.Match[str]) -> str:
    point = ord(found.group())
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"
