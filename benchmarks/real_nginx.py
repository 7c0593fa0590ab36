"""A folder of files, served by nginx on loopback: ETag, Last-Modified, gzip, access log."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

NGINX = Path("/usr/sbin/nginx")
MANUAL = Path("/usr/share/doc/python3.11/html")

CONFIG = """\
{user}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 256; }}
http {{
    types {{ text/html html; text/plain txt; text/css css; application/javascript js;
            image/png png; image/svg+xml svg; application/json json; }}
    default_type application/octet-stream;
    log_format visits '$msec $request_time $status $bytes_sent $connection "$http_if_none_match" '
                      '"$request_completion" $request_uri';
    access_log {folder}/access.log visits;
    etag on;
    gzip on;
    keepalive_timeout 60s;
    keepalive_requests 100000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port}{tls};
        {certificate}
        root {root};
        index index.html;
    }}
}}
"""


@dataclass(frozen=True)
class Hit:
    """One line of the access log."""

    begun: float  # epoch seconds, to the millisecond
    ended: float
    status: int
    sent: int  # bytes
    connection: int
    conditional: bool
    whole: bool  # the answer was sent to its end
    path: str


def missing() -> str:
    """Why this machine can't serve the manual; '' where it can."""
    if not NGINX.exists():
        return f"{NGINX} is absent: apt-get install nginx-light"
    if not MANUAL.is_dir():
        return f"{MANUAL} is absent: apt-get install python3.11-doc"
    return ""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


class Nginx:
    """nginx over `root`, its own files in `folder`; a context manager.

    `certificates`: a folder with srv.crt and srv.key, for TLS.
    """

    def __init__(self, root: Path, folder: Path, certificates: Path | None = None) -> None:
        self.root, self.folder, self.certificates = root, folder, certificates
        self.port = free_port()

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        tls = self.certificates
        (self.folder / "nginx.conf").write_text(
            CONFIG.format(
                user="user root;" if os.geteuid() == 0 else "",
                folder=self.folder,
                root=self.root,
                port=self.port,
                tls=" ssl" if tls else "",
                certificate=f"ssl_certificate {tls}/srv.crt; ssl_certificate_key {tls}/srv.key;"
                if tls
                else "",
            )
        )
        with (self.folder / "stderr").open("w") as errors:
            self._process = subprocess.Popen(
                [NGINX, "-p", self.folder, "-c", self.folder / "nginx.conf"],
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        until = time.monotonic() + 10
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                raise SystemExit("nginx did not start:\n" + (self.folder / "stderr").read_text())
            time.sleep(0.02)
        return self

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(10)

    def log_size(self) -> int:
        """Bytes of the access log: it grows with every answer."""
        log = self.folder / "access.log"
        return log.stat().st_size if log.exists() else 0

    def hits(self, skip: int = 0) -> list[Hit]:
        """The access log from line `skip` on."""
        log = self.folder / "access.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [_hit(line) for line in lines[skip:]]


def _hit(line: str) -> Hit:
    ended, took, status, sent, connection, etag, whole, path = line.split(" ", 7)
    return Hit(
        float(ended) - float(took),
        float(ended),
        int(status),
        int(sent),
        int(connection),
        etag != '"-"',
        whole == '"OK"',
        path,
    )
