"""What all tests share: times are not tested, so a slow machine fails nothing."""

from __future__ import annotations

from hypothesis import settings

from tests.browser import browser as browser
from tests.export.odd import odd_root as odd_root

settings.register_profile("opfield", deadline=None)
settings.load_profile("opfield")
