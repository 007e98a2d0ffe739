"""A plugin that the reference worker serves: operations that behave and operations that do not."""

from __future__ import annotations

import os
import time
from typing import Annotated

import opfield as of
from opfield.plugin import Context, Plugin

Number = Annotated[int, "served.number/v1"]

plugin = Plugin.named("served", "1")
plugin.schema("served.number/v1", int, examples=(1,))


@plugin.operation("served.next/v1", reads=())
def after(n: Number, context: Context) -> Number:
    print("this goes to people")
    context.observe("saw", n)
    return n + 1


@plugin.operation("served.refuse/v1")
def refuse(n: Number) -> Number:
    raise of.DomainFailure("odd", f"{n} is odd")


@plugin.operation("served.die/v1")
def die(n: Number) -> Number:
    os._exit(7)


@plugin.operation("served.sleep/v1")
def sleep(n: Number) -> Number:
    time.sleep(n)
    return n
