"""A remote reranker: what it may see is told from the plan, and a certificate of something else grants nothing."""

from __future__ import annotations

import pytest

import opfield as of
from opfield.cli.app import invoke
from opfield.core import Status
from opfield.interpret import execute
from opfield.plugin import Registry
from opfield.testing import check_plugin
from opfield_rag.plugin import GARDENING, Indexed, chunk, index
from opfield_rag.plugin import plugin as toy
from opfield_rag.remote import Certificate, Subject, authorize, plugin, search
from opfield_rag.spec import Spec

ASKING = Subject("when to prune roses", ("roses",))


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry().register(toy)


@pytest.fixture(scope="module")
def built() -> Indexed:
    made: Indexed = index(chunk(Spec(), GARDENING))
    return made


def test_an_authorization_before_the_remote_party_is_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "check", "ragremote.authorized_first"]) == 0
    assert "may run: 3 operations, cpu, network, remote.disclosure" in capsys.readouterr().err


def test_an_authorization_behind_the_remote_party_is_refused_with_the_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "check", "ragremote.authorized_last"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "no authorization dominates: unauthorized by ragremote.search/v1 -> ragremote.rerank/v1; authorize" in told


def test_the_plugin_behaves_as_it_declares(registry: Registry, built: Indexed) -> None:
    found = search(built, Spec(top_k=9), ASKING)
    granted, certificate = authorize(found, ASKING)
    examples = {
        "ragremote.search/v1": [[built, Spec(top_k=9), ASKING]],
        "ragremote.authorize/v1": [[found, ASKING]],
        "ragremote.rerank/v1": [[granted, certificate]],
    }
    assert check_plugin(plugin, examples, registry) == ()
    assert {each.document for each in granted.passages} == {"roses"} < {each.document for each in found.passages}


def test_a_certificate_of_other_candidates_is_a_failure_of_the_system(registry: Registry, built: Indexed) -> None:
    known = registry.register(plugin)

    def sealed(schema: str, value: object) -> of.Envelope:
        return of.seal(schema, known.schemas[schema].codec.encode(schema, value))

    asked = sealed("ragremote.subject/v1", ASKING)
    inputs = [sealed("ragtoy.index/v1", built), sealed("ragtoy.spec/v1", Spec()), asked]
    assert execute(known.plan("ragremote.authorized_first"), known, [*inputs, asked]).status is Status.SUCCESS
    foreign = sealed("ragremote.certificate/v1", Certificate("may_read", "sha256:other"))
    done = execute(known.plan("ragremote.authorized_last"), known, [*inputs, foreign, asked])
    assert done.failure is not None
    assert (done.status, done.failure.code) == (Status.DOMAIN_FAILURE, "not_authorized")
