"""A scripted web for the cases: many hosts on one port, as an HTTP proxy or asked directly.

A script is {host: {path: rule}}; '*' stands for any host or path, and a path is looked up with
its query first. A rule is a step, {"steps": [step, ...]} (one a request, the last one stays;
"mode": "cycle" begins again), {"gen": name, ...}, or a function of the request. A step:

    s status   h headers   b body   fill body of n bytes   cond inm | ims | ims_exact | always304
    gzip true  delay seconds  abort bytes sent before the connection is cut
    no_length true  hang true (no answer at all)

{{n}} {{host}} {{path}} {{port}} in bodies and headers are filled in.
"""

import asyncio
import gzip
import socket
import struct
import threading
import time
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from urllib.parse import urlsplit

from servers.background import Background


@dataclass(frozen=True)
class Asked:
    """One request as the lab saw it, and what it answered."""

    t: float
    host: str
    path: str
    n: int  # of this host and path, from 1
    headers: dict
    status: int = 0
    sent: int = 0

    @property
    def url(self):
        return self.host + self.path

    @property
    def inm(self):
        return self.headers.get("if-none-match")

    @property
    def ims(self):
        return self.headers.get("if-modified-since")


def page(*hrefs, text=""):
    """A step: an HTML page with these links."""
    body = text + "".join(f"<a href='{href}'>{i}</a>\n" for i, href in enumerate(hrefs))
    return {"h": {"Content-Type": "text/html; charset=utf-8"}, "b": f"<html><body>{body}"}


class Lab(Background):
    """`script` may be changed while it serves. `asked` is the log; robots.txt is in it too."""

    def __init__(self, script, now=time.time, on_request=None):
        self.script = script
        self.now = now
        self.on_request = on_request
        self.asked = []
        self._counts = {}
        self._lock = threading.Lock()

    async def begin(self):
        self.port = await self.listen(self._serve)

    # what tests look at

    def of(self, path, host=None):
        """The requests for one path."""
        return [a for a in self.asked if a.path == path and host in (None, a.host)]

    def pages(self, host=None):
        """All requests but those for robots.txt."""
        return [a for a in self.asked if a.path != "/robots.txt" and host in (None, a.host)]

    def statuses(self, path):
        return [a.status for a in self.of(path)]

    def clear(self):
        self.asked.clear()

    # serving

    async def _serve(self, reader, writer):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.rstrip().split("\r\n")
            target = first.split(" ")[1]
            headers = {
                k.strip().lower(): v.strip() for k, _, v in (x.partition(":") for x in lines)
            }
            if not await self._answer(writer, target, headers):
                return

    async def _answer(self, writer, target, headers):
        url = urlsplit(target)
        host = url.hostname if url.scheme else headers.get("host", "").rpartition(":")[0]
        path = target.split("/", 3)[3] if url.scheme else target[1:]
        asked, rule = self._look_up(host, "/" + path, headers)
        step = self._step(rule, asked)
        if self.on_request:
            self.on_request(asked)
        if step.get("delay"):
            await asyncio.sleep(step["delay"])
        if step.get("hang"):
            self._log(asked, 0, 0)
            await asyncio.sleep(60)
            return False
        head, body = self._render(step, asked)
        body = body[: step["abort"]] if "abort" in step else body
        writer.write(head + body)
        await writer.drain()
        self._log(asked, int(head.split(b" ")[1]), len(head) + len(body))
        if "abort" in step:
            reset = struct.pack("ii", 1, 0)
            await asyncio.sleep(0.02)
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            writer.transport.abort()
        return "abort" not in step and not step.get("no_length")

    def _look_up(self, host, path, headers):
        site = self.script.get(host) or self.script.get("*") or {}
        bare = path.partition("?")[0]
        found = path if path in site else bare if bare in site else "*"
        with self._lock:
            n = self._counts[host, path] = self._counts.get((host, path), 0) + 1
        return Asked(self.now(), host, path, n, headers), site.get(found, {"s": 404, "b": "no"})

    def _step(self, rule, asked):
        if callable(rule):
            rule = rule(asked)
        if "gen" in rule:
            return generated(rule, asked)
        if "steps" not in rule:
            return rule
        steps = rule["steps"]
        at = asked.n - 1
        return steps[at % len(steps) if rule.get("mode") == "cycle" else min(at, len(steps) - 1)]

    def _render(self, step, asked):
        status, headers = step.get("s", 200), dict(step.get("h", {}))
        if unmodified(step.get("cond"), headers, asked):
            status = 304
        body = b""
        if status not in (204, 304):
            body = b"d" * step["fill"] if "fill" in step else step.get("b", "")
            body = self._filled(body, asked) if isinstance(body, str) else body
            if step.get("gzip") and "gzip" in asked.headers.get("accept-encoding", ""):
                body = gzip.compress(body)
                headers["Content-Encoding"] = "gzip"
        headers["Date"] = formatdate(self.now(), usegmt=True)
        if step.get("no_length"):
            headers["Connection"] = "close"
        else:
            headers["Content-Length"] = str(len(body))
        lines = [f"HTTP/1.1 {status} Said", *(f"{k}: {v}" for k, v in headers.items())]
        head = self._filled("\r\n".join(lines) + "\r\n\r\n", asked)
        return head.decode().encode("latin-1", "replace"), body

    def _filled(self, text, asked):
        values = {"n": asked.n, "host": asked.host, "path": asked.path, "port": self.port}
        for name, value in values.items():
            text = text.replace("{{" + name + "}}", str(value))
        return text.encode("utf-8", "surrogateescape")

    def _log(self, asked, status, sent):
        known = asked.t, asked.host, asked.path, asked.n, asked.headers
        self.asked.append(Asked(*known, status, sent))


def unmodified(cond, headers, asked):
    """Does a server that honours `cond` answer 304?"""
    if cond == "always304":
        return bool(asked.inm or asked.ims)
    if cond == "inm":
        tag = headers.get("ETag", "").removeprefix("W/")
        named = (t.strip().removeprefix("W/") for t in (asked.inm or "").split(","))
        return bool(tag) and tag in named
    modified = headers.get("Last-Modified")
    if cond == "ims_exact":
        return bool(modified) and asked.ims == modified
    if cond == "ims" and asked.ims and modified:
        return parsedate_to_datetime(asked.ims) >= parsedate_to_datetime(modified)
    return False


def generated(rule, asked):
    """Pages made by rule: a listing, a path that grows, a chain of redirects."""
    if rule["gen"] == "pages":
        return page(*(f"/page/{i}" for i in range(rule.get("n", 100))))
    if rule["gen"] == "grow":
        return page(rule.get("link", "sub/page/"), "/real/1", "/real/2", text="<p>same text</p>")
    path, _, query = asked.path.partition("?")
    i = int(query.removeprefix("i=") or 0)
    if i < rule.get("hops", 10):
        return {"s": 302, "h": {"Location": f"{path}?i={i + 1}"}}
    return {"b": "end of chain"}
