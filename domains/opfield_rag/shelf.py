"""Bounded shelves of what is expensive to make, shared by all threads of a process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import Future
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Shelf(Generic[Value]):
    """Builds each key once while it stays on the shelf; the key used longest ago leaves first.

    Args:
        size: values kept. Arms are interleaved, so it should hold the builds of all candidates at once.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._values: OrderedDict[str, Future[Value]] = OrderedDict()

    def get(self, key: str, build: Callable[[], Value]) -> tuple[Value, bool]:
        """Return the value of `key`, and whether it was there already.

        Threads that ask while it is being built wait for it; an exception of `build` reaches all of them, and
        the next to ask builds anew.
        """
        with self._lock:
            is_reused = key in self._values
            future = self._values.setdefault(key, Future())
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        if not is_reused:
            try:
                future.set_result(build())
            except BaseException as error:
                with self._lock:
                    self._values.pop(key, None)
                future.set_exception(error)
        return future.result(), is_reused


class Recent(MutableMapping[str, Value]):
    """A mapping that holds so many values; what was used longest ago leaves first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._values: OrderedDict[str, Value] = OrderedDict()

    def __getitem__(self, key: str) -> Value:
        with self._lock:
            self._values.move_to_end(key)
            return self._values[key]

    def __setitem__(self, key: str, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._size:
                self._values.popitem(last=False)

    def __delitem__(self, key: str) -> None:
        with self._lock:
            del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)
