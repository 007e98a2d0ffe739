"""Operations and runners in other processes, in any language: a protocol of JSON lines, its host, a worker (§48.4)."""

from opfield.isolate.host import Host, HostLimits
from opfield.isolate.runner import IsolatedRunner
from opfield.isolate.trials import runner_plugin

__all__ = ["Host", "HostLimits", "IsolatedRunner", "runner_plugin"]
