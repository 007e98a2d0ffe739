"""Execution: the meaning of plans, serial and concurrent alike, and every failure an attributed outcome."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given

from opfield.core import Envelope, Status, seal
from opfield.core.execution import Execution
from opfield.errors import PlanError
from opfield.interpret import compile_plan, execute, wiring
from opfield.plan import Plan, copy, fold, identity, normalize, tensor
from opfield.plugin import Context, JsonCodec, Operation, Plugin, Registry, Schema
from tests.plan.drawing import SCHEMAS, operations_of, plans, some
from tests.plan.running import Running, term
from tests.plugin.toy import toy

REGISTRY = Registry().register(toy())


def number(value: int) -> Envelope:
    """Return the envelope of a number."""
    return seal("toy.number/v1", value)


def run(plan: Plan | Operation, *inputs: Envelope) -> Execution:
    """Return what a plan makes of envelopes."""
    return execute(plan if isinstance(plan, Plan) else plan.plan, REGISTRY, inputs)


def op(name: str) -> Operation:
    """Return an operation of the toy."""
    return REGISTRY.operations[f"toy.{name}/v1"]


def symbolic(plan: Plan) -> Registry:
    """Return a registry in which each operation of a plan makes texts that say what made them."""
    schemas = {name: _json_schema(name) for name in SCHEMAS}
    operations = {
        id: Operation(each, _telling(id, len(each.outputs)), "context") for id, each in operations_of(plan).items()
    }
    return Registry(schemas=schemas, operations=operations)


def _json_schema(name: str) -> Schema:
    plugin = Plugin.named("x", "1")
    plugin.schema(name, codec=JsonCodec())
    return plugin.schemas[0]


def _telling(name: str, count: int) -> Callable[..., object]:
    def function(*texts: str, context: Context) -> object:
        context.observe("ran", list(texts))
        told = tuple(term(name, texts, ix) for ix in range(count))
        return told[0] if count == 1 else told

    return function


@some
@given(plans())
def test_a_plan_means_in_envelopes_what_it_means_in_symbols_serial_and_concurrent(plan: Plan) -> None:
    registry = symbolic(plan)
    frame = [f"in {ix}" for ix in range(len(plan.inputs))]
    inputs = [seal(schema, text) for schema, text in zip(plan.inputs, frame, strict=True)]
    serial = execute(plan, registry, inputs)
    assert [each.payload for each in serial.outputs] == fold(plan, Running(), operations_of(plan))(frame)
    assert tuple(each.schema for each in serial.outputs) == plan.outputs
    # Where an operation is observed is where the graph of the plan says that it stands.
    steps = [(each.operation.id, each.branch) for each in wiring(plan, registry.descriptors).steps]
    assert [(each.operation, each.branch) for each in serial.observations] == steps
    with ThreadPoolExecutor(2) as threads:
        concurrent = execute(plan, registry, inputs, threads)
    assert replace(concurrent, seconds=0) == replace(serial, seconds=0)
    normal = execute(normalize(plan), registry, inputs)
    assert normal.outputs == serial.outputs
    assert [(each.operation, each.value) for each in normal.observations] == [
        (each.operation, each.value) for each in serial.observations
    ]


def test_values_pass_along_wires_and_observations_say_where_they_come_from() -> None:
    plan = (op("next") @ identity(("toy.word/v1",))) >> op("swap") >> (identity(("toy.word/v1",)) @ op("say").plan)
    done = run(plan, number(1), seal("toy.word/v1", "語"))
    assert (done.status, [each.payload for each in done.outputs]) == (Status.SUCCESS, ["語"])
    assert [(each.name, each.value, each.operation, each.branch) for each in done.observations] == [
        ("swapped", [2, "語"], "toy.swap/v1", (1,)),
        ("said", 2, "toy.say/v1", (2, 1)),
    ]


@pytest.mark.parametrize(
    ("name", "status", "code", "message"),
    [
        ("refuse", Status.DOMAIN_FAILURE, "odd", "operation toy.refuse/v1 of plugin toy: odd: 3 is odd"),
        ("break", Status.INFRASTRUCTURE_FAILURE, "exception", "of plugin toy: ZeroDivisionError: "),
        ("babble", Status.INFRASTRUCTURE_FAILURE, "exception", "of plugin toy: nan is not finite"),
        ("lie", Status.INFRASTRUCTURE_FAILURE, "invalid_output", "of plugin toy: value of toy.word/v1 is no str"),
        ("few", Status.INFRASTRUCTURE_FAILURE, "invalid_output", "declares 2 outputs, its function returned 1 in"),
        ("many", Status.INFRASTRUCTURE_FAILURE, "invalid_output", "declares 2 outputs, its function returned 3 in"),
        ("mute", Status.INFRASTRUCTURE_FAILURE, "exception", "_MuteError: its message cannot be read, RuntimeError"),
        ("exit", Status.INFRASTRUCTURE_FAILURE, "exception", "of plugin toy: SystemExit: 3"),
        ("deep", Status.INFRASTRUCTURE_FAILURE, "invalid_output", "operation toy.deep/v1 of plugin toy: "),
        ("nan", Status.INFRASTRUCTURE_FAILURE, "invalid_output", "operation toy.nan/v1 of plugin toy: "),
    ],
)  # fmt: skip
def test_every_way_to_go_wrong_is_an_outcome_that_names_the_operation(
    name: str, status: Status, code: str, message: str
) -> None:
    done = run(op("say") @ op(name), number(1), number(3))
    assert (done.status, done.outputs) == (status, ())
    assert done.failure is not None
    assert done.failure.code == code
    assert message in done.failure.message
    # What was observed before it stays.
    assert [each.name for each in done.observations] == ["said"]


def test_a_sequence_ends_at_its_first_failure() -> None:
    done = run(op("refuse") >> op("say"), number(1))
    assert (done.status, done.observations) == (Status.DOMAIN_FAILURE, ())


def test_an_operation_that_changes_its_input_changes_no_envelope() -> None:
    given = seal("toy.bag/v1", {"a": 1})
    done = run(copy(("toy.bag/v1",)) >> (op("spoil") @ op("spoil")), given)
    assert [each.payload for each in done.outputs] == [{"kept": ["a", "spoiled"]}] * 2
    assert given.payload == {"a": 1}


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], r"takes \(toy.number/v1\), was given \(\)"),
        ([seal("toy.word/v1", "1")], r"was given \(toy.word/v1\)"),
        ([Envelope("toy.number/v1", 2, number(1).digest)], "it was altered after it was sealed"),
        ([3], r"was given \(int, which is no envelope; see `seal`\)"),
        ([seal("toy.number/v1", "1")], "payload of toy.number/v1 does not fit int"),
    ],
)
def test_inputs_of_a_wrong_number_schema_digest_or_payload_run_nothing(
    inputs: Sequence[Envelope], message: str
) -> None:
    done = run(op("say"), *inputs)
    assert (done.status, done.observations) == (Status.INFRASTRUCTURE_FAILURE, ())
    assert done.failure is not None
    assert done.failure.code == "invalid_input"
    assert re.search(message, done.failure.message)


def test_a_plan_of_unregistered_operations_is_refused_before_anything_runs() -> None:
    with pytest.raises(PlanError, match="unknown operation"):
        compile_plan(op("next").plan, Registry())


def test_parts_side_by_side_run_at_once_and_nested_ones_never_block_each_other() -> None:
    nested = op("thread").plan
    for _ in range(6):
        nested = copy(("toy.number/v1",)) >> (nested @ nested) >> (op("say") @ op("thread"))
    with ThreadPoolExecutor(2) as threads:
        done = execute(nested, REGISTRY, [number(1)], threads)
    assert done.status is Status.SUCCESS
    serial = execute(nested, REGISTRY, [number(1)])
    names = [(each.name, each.branch) for each in done.observations]
    assert names == [(each.name, each.branch) for each in serial.observations]
    assert len({each.value for each in done.observations if each.name == "thread"}) > 1


def test_the_leftmost_failure_is_the_outcome_whoever_failed_first() -> None:
    plan = tensor(op("thread").plan, op("refuse").plan, op("break").plan, op("say").plan)
    inputs = [number(1)] * 4
    serial = execute(plan, REGISTRY, inputs)
    for _ in range(20):
        with ThreadPoolExecutor(3) as threads:
            done = execute(plan, REGISTRY, inputs, threads)
        assert (done.status, done.failure) == (serial.status, serial.failure)
        assert [each.name for each in done.observations] == ["thread"]
