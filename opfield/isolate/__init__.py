"""Operations in other processes, in any language: a protocol of JSON lines, its host, a reference worker (§48.4)."""

from opfield.isolate.host import Host, HostLimits

__all__ = ["Host", "HostLimits"]
