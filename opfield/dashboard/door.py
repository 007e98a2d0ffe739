"""The door: what stands before the page. It lets in those who know the token, and of the framework what the page needs.

A page on this machine's loopback can still be asked for by any site that a browser visits, and by every user of the
machine. So a request names this host (else a foreign name was bound to the loopback address), comes from no foreign
page, bears the token, and asks for one of few known paths; what does not is answered with a status and nothing else.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, QueryParams
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from opfield.dashboard.address import Address

TOKEN: Final = "token"

#: What the page asks the framework for, by method; nothing else of it is reached.
_READ: Final = re.compile(
    r"/|/assets/[A-Za-z0-9_.-]+|/(favicon\.ico|manifest\.json|health|public-files-sw\.js)"
    r"|/(apple-touch-icon|favicon-16x16|favicon-32x32|android-chrome-[0-9]+x[0-9]+|logo)\.png"
)
_WRITTEN: Final = frozenset({"/api/kernel/set_ui_element_value", "/api/kernel/instantiate"})
_SOCKET: Final = "/ws"

#: The browser itself keeps the page from asking anybody else for anything. Vega compiles its expressions, and the
#: framework's page has scripts and styles in it.
_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "manifest-src 'self'; form-action 'self'; base-uri 'self'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Door:
    """An ASGI application that stands before another one.

    Attributes:
        app: the framework's application.
        port: port that is listened on.
        first_view: from an address to the HTML of it, which stands in the page until the framework has loaded.
        token: what a visitor has to know.
    """

    app: ASGIApp
    port: int
    first_view: Callable[[Address], str]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on what may pass."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refused = self._refused(scope)
        if refused is not None:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await refused(scope, receive, send)
            return
        if scope["type"] == "http" and scope["path"] == "/":
            await self._page(scope, receive, send)
            return
        await self.app(scope, receive, _with_headers(send))

    def _refused(self, scope: Scope) -> Response | None:
        """Return the answer to a request that may not pass; None where it may."""
        headers = Headers(scope=scope)
        hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}
        if headers.getlist("host") != [headers.get("host")] or headers.get("host") not in hosts:
            return Response(status_code=403)
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        origin = headers.get("origin")
        # A page elsewhere can make a browser send the cookie with these; with what it merely reads it gets no answer.
        if (origin is not None or not is_read) and origin != f"http://{headers['host']}":
            return Response(status_code=403)
        query = QueryParams(scope["query_string"])
        if is_read and scope["path"] == "/" and TOKEN in query:
            return self._let_in(query) if self._knows(query.get(TOKEN)) else Response(status_code=401)
        if not self._knows(self._cookie(headers)):
            return Response(status_code=401)
        return None if _is_known(scope, is_read) else Response(status_code=404)

    def _let_in(self, query: QueryParams) -> Response:
        """Return the answer that gives the cookie, and takes the token out of what the browser remembers."""
        rest = Address.of({name: query.getlist(name) for name in query}).query
        answer = RedirectResponse(f"/?{rest}" if rest else "/", status_code=303, headers=_HEADERS)
        answer.set_cookie(self._cookie_name, self.token, httponly=True, samesite="lax", path="/")
        return answer

    def _knows(self, told: str | None) -> bool:
        return told is not None and hmac.compare_digest(told.encode(), self.token.encode())

    @property
    def _cookie_name(self) -> str:
        # Cookies do not tell ports apart, and several dashboards may run.
        return f"opfield-{self.port}"

    def _cookie(self, headers: Headers) -> str | None:
        try:
            found = SimpleCookie("; ".join(headers.getlist("cookie"))).get(self._cookie_name)
        except CookieError:
            return None
        return None if found is None else found.value

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the framework's page, the first view put into it."""
        query = QueryParams(scope["query_string"])
        address = Address.of({name: query.getlist(name) for name in query})
        view = await run_in_threadpool(self.first_view, address)
        # The framework answers what it finds changed only; the view may have changed when its page did not.
        asked = {**scope, "headers": [each for each in scope["headers"] if each[0] != b"if-none-match"]}
        told: list[Message] = []

        async def keep(message: Message) -> None:
            told.append(message)

        await self.app({**asked, "method": "GET"}, receive, keep)
        status = next(each["status"] for each in told if each["type"] == "http.response.start")
        body = b"".join(each.get("body", b"") for each in told if each["type"] == "http.response.body")
        if status != 200:
            await Response(status_code=status)(scope, receive, send)
            return
        # Before the framework's scripts and styles, so that it is painted before any of them is loaded.
        page = body.decode().replace("<script", f"{view}<script", 1)
        answer = Response(page, media_type="text/html", headers={**_HEADERS, "cache-control": "no-store"})
        await answer(scope, receive, send)


def _is_known(scope: Scope, is_read: bool) -> bool:
    path = scope["path"]
    if scope.get("raw_path", path.encode()).split(b"?")[0] != path.encode():
        # An escaped path names something else than what it looks like.
        return False
    if scope["type"] == "websocket":
        return bool(path == _SOCKET)
    if is_read:
        return _READ.fullmatch(path) is not None
    return scope["method"] == "POST" and path in _WRITTEN


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            kept = [each for each in message.get("headers", ()) if each[0].lower().decode("latin-1") not in _HEADERS]
            message = {**message, "headers": [*kept, *own]}
        await send(message)

    return sent
