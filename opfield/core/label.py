"""Labels: the text by which people and other tools refer to a case, a candidate, a group or a metric."""

from __future__ import annotations

from opfield.errors import DeclarationError


def check_label(what: str, text: object, limit: int = 1024) -> None:
    """Refuse a label that is no plain text; `/`, `..`, newlines and all other text is kept exactly.

    Args:
        what: what the label is, for the message, such as `case id`.
        text: the label.
        limit: largest length in UTF-8 bytes.

    Raises:
        DeclarationError: where it is not text, empty, longer than `limit`, holds NUL, or is not Unicode.
    """
    if not isinstance(text, str):
        remedy = (
            f"1 and '1' would be mixed up, so write {str(text)!r}" if isinstance(text, int | float) else "write text"
        )
        raise DeclarationError(f"{what} {text!r} is of type {type(text).__name__}, not text; {remedy}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise DeclarationError(f"{what} {text!r} has a lone surrogate, which is not Unicode; remove it") from None
    if size == 0:
        raise DeclarationError(f"a {what} is empty; give it a stable name")
    if size > limit:
        raise DeclarationError(f"{what} {text[:40]!r}… is {size} bytes long, at most {limit} are kept; shorten it")
    if "\0" in text:
        raise DeclarationError(f"{what} {text!r} holds a NUL character; remove it")
