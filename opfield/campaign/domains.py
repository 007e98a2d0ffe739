"""Domains: ready campaigns that come by entry point, the shipped ones like a third party's."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from opfield.campaign.declaration import Campaign
from opfield.core.offered import load_offered, offered_names
from opfield.errors import DeclarationError, OpfieldError, UnknownNameError, unknown_name

ENTRY_POINTS: Final = "opfield.domains"


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a domain.

    Attributes:
        name: keyword of the domain's `campaign`, and `--name` on the command line.
        help: what it means, in words.
        type: str, int, float or Path.
        default: value where it is not given.
    """

    name: str
    help: str
    type: type[str] | type[int] | type[float] | type[Path] = str
    default: Any = None


@dataclass(frozen=True, slots=True)
class Domain:
    """A campaign that can be run by name.

    Attributes:
        name: name on the command line.
        description: one line.
        campaign: builds the campaign from the options.
        options: what it takes.
    """

    name: str
    description: str
    campaign: Callable[..., Campaign]
    options: tuple[Option, ...] = ()


def installed_domain_names() -> tuple[str, ...]:
    """Return the names of the domains that are installed, sorted."""
    return offered_names(ENTRY_POINTS)


def load_domain(name: str) -> Domain:
    """Return an installed domain.

    Raises:
        UnknownNameError: listing the installed ones.
        DeclarationError: where the entry point is no domain.
    """
    try:
        return load_offered(ENTRY_POINTS, name, "domain", Domain)
    except UnknownNameError as error:
        module = name.removesuffix(".py").replace("/", ".")
        raise UnknownNameError(f"{error}; a campaign of your own is named {module}:campaign") from None


def load_campaign(target: str, options: Mapping[str, Any]) -> Campaign:
    """Return the campaign that `target` names: an installed domain, or `package.module:attribute`.

    Args:
        target: name of a domain, or where a `Campaign`, or a function that returns one, stands.
        options: options of the domain, or keywords of the function.

    Raises:
        UnknownNameError: for an unknown domain or option.
        DeclarationError: where the module cannot be imported or does not give a campaign.
    """
    if ":" not in target:
        domain = load_domain(target)
        known = {option.name: option for option in domain.options}
        for name in options:
            if name not in known:
                raise unknown_name(f"option of domain {target!r}:", name, known)
        return domain.campaign(**options)
    module_name, _, attribute = target.partition(":")
    found = _attribute(_imported(module_name.removesuffix(".py").replace("/", ".")), attribute)
    if callable(found) and not isinstance(found, Campaign):
        found = found(**options)
    elif options:
        raise DeclarationError(f"{target} is a campaign already and takes no options")
    if not isinstance(found, Campaign):
        raise DeclarationError(f"{target} is of type {type(found).__name__}, not a Campaign")
    return found


def _imported(name: str) -> ModuleType:
    """Import a module of the user's, from the current folder too, and tell what is wrong in it as it is."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise DeclarationError(f"there is no module {name!r} here; run from the folder that holds it") from error
        raise _broken(name, error) from error
    except OpfieldError:
        raise
    except Exception as error:
        raise _broken(name, error) from error


def _broken(name: str, error: Exception) -> DeclarationError:
    """Return the error of a module that cannot be imported, with the line in it where it went wrong."""
    if isinstance(error, SyntaxError):
        where = f"{error.filename}, line {error.lineno}"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if "importlib" not in frame.filename and frame.filename != __file__]
        where = f"{own[-1].filename}, line {own[-1].lineno}" if own else name
    return DeclarationError(f"importing {name!r} failed: {type(error).__name__}: {error} ({where})")


def _attribute(module: ModuleType, name: str) -> Any:
    if not hasattr(module, name):
        known = (found for found, value in vars(module).items() if isinstance(value, Campaign))
        raise unknown_name(f"campaign in module {module.__name__!r}:", name, known)
    return getattr(module, name)
