"""opfield: an experiment warehouse in a folder. `opfield.contents` lists what a user needs, as `opfield.…`.

The list is loaded when something of it is asked for: importing any module of the package runs this one, and what runs
campaigns takes longer to load than a small question to a warehouse takes to answer.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opfield.contents import *  # noqa: F403  the names are those that `contents` lists
    from opfield.contents import __all__ as __all__
else:

    def __getattr__(name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        contents = import_module("opfield.contents")
        if name != "__all__" and name not in contents.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(contents, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *import_module("opfield.contents").__all__})
