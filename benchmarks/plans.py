"""How long plans take: a fold of 10,000 nodes, and what executing a node costs above its function.

Run it from anywhere: `python -m benchmarks.plans`. The peer of execution is the same chain as bare function calls with
their values sealed by hand, which is the least that evidence of each step can cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

from opfield.core import seal
from opfield.interpret import analyze, compile_plan
from opfield.plan import normalize, parse_plan, plan_id, plan_text, sequence, tensor
from opfield.plugin import Plugin, Registry

NODES = 10_000
Number = Annotated[int, "toy.number/v1"]


def best(act: Callable[[], object], times: int = 5) -> float:
    """Return the least seconds that `act` took."""
    took = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        took.append(time.perf_counter() - started)
    return min(took)


def main() -> None:
    plugin = Plugin.named("toy", "1")
    plugin.schema("toy.number/v1", int)

    @plugin.operation("toy.next/v1")
    def after(n: Number) -> Number:
        return n + 1

    registry = Registry().register(plugin)
    chain = sequence(*[after.plan] * NODES)
    side = tensor(*[after.plan] * 100)
    grid = sequence(*[side] * (NODES // 100))
    given = seal("toy.number/v1", 0)

    for name, plan in (("sequence", chain), ("tensors in a sequence", grid)):
        fold_s = best(lambda plan=plan: analyze(plan, registry.descriptors))  # type: ignore[misc]  # bound at once
        text_s = best(lambda plan=plan: parse_plan(plan_text(plan)))  # type: ignore[misc]  # likewise
        id_s = best(lambda plan=plan: plan_id(normalize(plan)))  # type: ignore[misc]  # likewise
        print(f"{name}, {plan.size:,} nodes: fold {fold_s:.3f} s, text and back {text_s:.3f} s, identity {id_s:.3f} s")

    def by_hand() -> None:
        value = 0
        for _ in range(NODES):
            value = after(value)
            seal("toy.number/v1", value)

    def bare() -> None:
        value = 0
        for _ in range(NODES):
            value = after(value)

    compiled = compile_plan(chain, registry)
    serial_s, hand_s, bare_s = best(lambda: compiled.run([given])), best(by_hand), best(bare)
    above = (serial_s - bare_s) / NODES * 1e6
    print(
        f"executing a chain: {above:.1f} µs a node above the functions; {serial_s / hand_s:.1f} times calling and "
        f"sealing by hand ({hand_s / NODES * 1e6:.1f} µs)"
    )
    with ThreadPoolExecutor(2) as threads:
        concurrent = compile_plan(grid, registry, threads)
        frame = [given] * 100
        serial = compile_plan(grid, registry)
        print(
            f"a grid on 2 threads: {best(lambda: concurrent.run(frame)) / best(lambda: serial.run(frame)):.2f} × serial"
        )


if __name__ == "__main__":
    main()
