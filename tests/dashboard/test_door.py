from __future__ import annotations

import http.client
import json

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.dashboard.serving import Served


def ask(
    served: Served,
    path: str,
    *,
    method: str = "GET",
    host: str | None = None,
    token: str | None = None,
    body: str | None = None,
    **headers: str,
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """Ask without what a client would mend: the path is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    if host != "":
        connection.putheader("Host", host or f"127.0.0.1:{served.port}")
    if token is not None:
        connection.putheader("Cookie", f"opfield-{served.port}={token}")
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body.encode() if body is not None else None)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content, answer.headers


def test_the_printed_url_lets_in_and_hides_its_token(served: Served) -> None:
    status, content, headers = ask(served, f"/?token={served.token}&campaign=small")

    assert (status, content) == (303, b"")
    assert headers["location"] == "/?campaign=small"
    cookie = headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    status, content, headers = ask(served, "/", token=served.token)
    assert status == 200
    assert b"Campaigns" in content
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/assets/index.js", "/health", "/api/kernel/set_ui_element_value", "/nothing"])
@pytest.mark.parametrize("token", [None, "", "wrong", "ü"])
def test_without_the_token_there_is_nothing(served: Served, path: str, token: str | None) -> None:
    sent = None if token is None else token.encode().decode("latin-1")
    status, content, headers = ask(served, path, token=sent)

    assert (status, content) == (401, b"")
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "query", ["token=", "token=wrong", "access_token={token}", "token=%C3%BC", "token=wrong&token={token}x"]
)
def test_a_wrong_token_gives_no_cookie(served: Served, query: str) -> None:
    status, content, headers = ask(served, f"/?{query.replace('{token}', served.token)}")

    assert (status, content) == (401, b"")
    assert "set-cookie" not in headers


def test_a_token_opens_the_page_alone_not_another_path(served: Served) -> None:
    status, content, _ = ask(served, f"/api/kernel/instantiate?token={served.token}")

    assert (status, content) == (401, b"")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", "0.0.0.0:{port}", ""]
)
def test_another_host_gets_nothing_even_with_the_token(served: Served, host: str) -> None:
    status, content, _ = ask(served, "/", host=host.replace("{port}", str(served.port)), token=served.token)

    # Without any, the server below refuses by itself.
    assert status == 403 if host else status in (400, 403)
    assert b"Campaigns" not in content
    assert host == "" or content == b""


def test_localhost_is_this_host(served: Served) -> None:
    assert ask(served, "/", host=f"localhost:{served.port}", token=served.token)[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
def test_a_foreign_origin_gets_nothing_even_with_the_token(served: Served, origin: str) -> None:
    origin = origin.replace("{port}", str(served.port))
    assert ask(served, "/", token=served.token, Origin=origin)[:2] == (403, b"")
    written = ask(
        served, "/api/kernel/set_ui_element_value", method="POST", token=served.token, body="{}", Origin=origin
    )
    assert written[:2] == (403, b"")


def test_writing_without_an_origin_gets_nothing(served: Served) -> None:
    path = "/api/kernel/set_ui_element_value"
    assert ask(served, path, method="POST", token=served.token, body="{}")[:2] == (403, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/assets/../../../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%2f..%2fetc/passwd",
        "/assets/..%5c..%5cetc/passwd",
        "//etc/passwd",
        "/etc/passwd",
        "/assets//etc/passwd",
        "/@file/100-x.txt",
        "/public/page.py",
        "/auth/login",
        "/login",
        "/api/files/read_code",
        "/api/export/html",
        "/api/kernel/run",
        "/api/kernel/function_call",
        "/openapi.json",
        "/docs",
        "/%00",
        "/%",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_paths_get_nothing_even_with_the_token(served: Served, path: str, method: str) -> None:
    status, content, _ = ask(
        served, path, method=method, token=served.token, body="{}", Origin=f"http://127.0.0.1:{served.port}"
    )

    assert (status, content) == (404, b"")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST"])
def test_the_page_is_read_only(served: Served, method: str) -> None:
    status, content, _ = ask(served, "/", method=method, token=served.token, Origin=f"http://127.0.0.1:{served.port}")

    assert (status, content) == (404, b"")


def test_the_socket_opens_for_the_page_alone(served: Served) -> None:
    url = f"ws://127.0.0.1:{served.port}/ws?session_id=s_test01"
    cookie = {"Cookie": f"opfield-{served.port}={served.token}"}
    own = f"http://127.0.0.1:{served.port}"
    refused: list[tuple[str, dict[str, str]]] = [
        (own, {}),
        (own, {"Cookie": f"opfield-{served.port}=wrong"}),
        ("http://evil.example", cookie),
        ("null", cookie),
    ]
    for origin, headers in refused:
        with pytest.raises((InvalidStatus, ConnectionClosed)) as told:
            connect(url, origin=Origin(origin), additional_headers=headers)
        assert "403" in str(told.value)
    with pytest.raises(InvalidStatus):
        connect(url, additional_headers=cookie)
    with pytest.raises(InvalidStatus):
        connect(url.replace("/ws", "/terminal/ws"), origin=Origin(own), additional_headers=cookie)
    with connect(url, origin=Origin(own), additional_headers=cookie) as socket:
        assert json.loads(socket.recv(timeout=20))["op"] == "kernel-ready"


def test_the_page_does_not_give_its_code_or_the_token(served: Served) -> None:
    content = ask(served, "/", token=served.token)[1].decode()

    assert served.token not in content
    assert "board_of" not in content
