"""Jobs of a service that shares machines between users (``pleach serve``): submit them, watch them, fetch results."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import secrets
import ssl
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

__all__ = ["Job", "Refused", "Service"]

_OVER = ("done", "failed", "cancelled")
_AGAIN = 0.5
_PATIENCE = 30.0
_LONGEST = 64 << 20
"""The longest request, in bytes: `LONGEST_REQUEST` of the service."""


class Refused(ValueError):
    """The service refused a request; the message says why."""

    def __init__(self, status: int, why: str) -> None:
        """Keep the status of the answer."""
        super().__init__(why)
        self.status = status


class _OtherCertificate(ConnectionError):
    """The service has a different certificate; waiting does not help."""


class Service:
    """A service, as one of its users.

    ``credentials`` is the file that an operator made with ``pleach user``; without it, the environment variable
    ``PLEACH_SERVICE`` names the file.
    """

    def __init__(self, credentials: str | os.PathLike[str] | None = None) -> None:
        """Read the credentials; connect later."""
        path = Path(credentials or os.environ.get("PLEACH_SERVICE", ""))
        if not path.name:
            raise ValueError("expected a credentials file, or PLEACH_SERVICE to name one")
        words = ["address", "certificate", "name", "token"]
        lines = path.read_text().splitlines()
        if not lines or lines[0] != "pleach-service-1":
            raise ValueError(f"{path}, line 1: expected 'pleach-service-1'")
        values = []
        for number, word in enumerate(words, 2):
            line = lines[number - 1] if number <= len(lines) else ""
            if not line.startswith(word + " "):
                raise ValueError(f"{path}, line {number}: expected '{word}' and its value")
            values.append(line[len(word) + 1 :])
        self.address, self._certificate, self.name, self._token = values

    def submit(self, *command: str, files: Mapping[str, str | os.PathLike[str]] | None = None, priority: int = 0) -> Job:
        """Put a command into the queue: ``submit("solve", "flowshop", "ta021")``.

        ``files`` maps names that the command uses to paths of this machine.
        """
        if len(command) == 1:
            command = tuple(command[0].split())
        sent = {name: base64.b64encode(Path(path).read_bytes()).decode() for name, path in (files or {}).items()}
        # A submission that is sent twice, because an answer was lost, is one job.
        body = {"args": list(command), "files": sent, "priority": priority, "key": secrets.token_hex(32)}
        ids = self._ask("POST", "/v1/jobs", body)["ids"]
        return Job(self, ids[0])

    def job(self, number: int) -> Job:
        """Return the job with a number."""
        job = Job(self, number)
        job.refresh()
        return job

    def jobs(self) -> list[dict[str, Any]]:
        """Return the jobs that are not over and the latest that are, newest first, as dictionaries."""
        return list(self._ask("GET", "/v1/jobs")["jobs"])

    def __repr__(self) -> str:
        """Name the user and the service, not the token."""
        return f"Service({self.name} at {self.address})"

    def _connect(self, timeout: float) -> http.client.HTTPSConnection:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        # The certificate itself is known: who signed it, and for which name, does not matter.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(self.address, timeout=timeout, context=context)
        connection.connect()
        certificate = connection.sock.getpeercert(binary_form=True) or b""
        if hashlib.sha256(certificate).hexdigest() != self._certificate:
            connection.close()
            raise _OtherCertificate(
                f"the service at {self.address} has a different certificate from the one named in the credentials"
            )
        return connection

    def _send(
        self, connection: http.client.HTTPSConnection, method: str, path: str, body: bytes | None
    ) -> http.client.HTTPResponse:
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        if answer.status >= 300:
            text = answer.read().decode(errors="replace")
            try:
                why = str(json.loads(text)["error"])
            except (ValueError, KeyError, TypeError):
                why = f"the service answered with status {answer.status}"
            raise Refused(answer.status, why)
        return answer

    def _bytes(self, method: str, path: str, body: Any = None) -> bytes:
        sent = None if body is None else json.dumps(body).encode()
        if sent is not None and len(sent) > _LONGEST:
            # The service would close the connection before it has read everything.
            raise Refused(413, f"the request takes {len(sent)} bytes: expected at most {_LONGEST}")
        # Wait for a service that restarts.
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                connection = self._connect(60)
                try:
                    return self._send(connection, method, path, sent).read()
                finally:
                    connection.close()
            except _OtherCertificate:
                raise
            except (OSError, http.client.HTTPException):
                if time.monotonic() > end:
                    raise
                time.sleep(_AGAIN)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        return json.loads(self._bytes(method, path, body))

    def _events(self, path: str) -> Iterator[str]:
        connection = self._connect(30)
        try:
            for line in self._send(connection, "GET", path, None):
                text = line.decode(errors="replace")
                if text.startswith("data:"):
                    yield text[5:].strip()
        finally:
            connection.close()


class Job:
    """A job of a service. ``state`` is as of the last request: `refresh`, `watch` and `wait` ask again."""

    def __init__(self, service: Service, number: int) -> None:
        """Name a job, without asking for its state yet."""
        self.service, self.number = service, number
        self.info: dict[str, Any] = {}

    @property
    def state(self) -> str:
        """What the job is doing: waiting, running, paused, done, failed or cancelled."""
        return str(self.info.get("state", "waiting"))

    def refresh(self) -> dict[str, Any]:
        """Ask for the state of the job, and return what is known about it."""
        self.info = self.service._ask("GET", self._path())
        return self.info

    def watch(self) -> Iterator[dict[str, Any]]:
        """Yield what is known about the job, whenever it changes, until the job is over."""
        lost: float | None = None
        while self.state not in _OVER:
            try:
                # A stream begins with the state, however long nothing changes after it.
                for text in self.service._events(self._path("events")):
                    self.info = json.loads(text)
                    lost = None
                    yield self.info
            except _OtherCertificate:
                raise
            except (OSError, http.client.HTTPException):
                lost = time.monotonic() if lost is None else lost
                if time.monotonic() > lost + _PATIENCE:
                    raise
            if self.state not in _OVER:
                time.sleep(_AGAIN)

    def wait(self) -> dict[str, Any]:
        """Wait until the job is over, and return its result: what the command prints with ``--json``.

        Raise RuntimeError if it failed or was cancelled.
        """
        for _ in self.watch():
            pass
        if self.state != "done":
            raise RuntimeError(f"job {self.number} is {self.state}: {self.info.get('error') or 'no error'}")
        return self.result()

    def result(self) -> dict[str, Any]:
        """Return the result of a job that is done."""
        return dict(self.service._ask("GET", self._path("result")))

    def files(self) -> list[str]:
        """Return the names of the job's files: those that it read, and those that it wrote."""
        return list(self.service._ask("GET", self._path("files"))["files"])

    def file(self, name: str) -> bytes:
        """Return the content of a file."""
        return self.service._bytes("GET", self._path(f"files/{quote(name, safe='')}"))

    def log(self) -> str:
        """Return what the command printed besides its result."""
        return self.service._bytes("GET", self._path("log")).decode(errors="replace")

    def pause(self) -> None:
        """Save the job and take it off the machines."""
        self.info = self.service._ask("POST", self._path("pause"), {})

    def resume(self) -> None:
        """Put a paused job back into the queue."""
        self.info = self.service._ask("POST", self._path("continue"), {})

    def cancel(self) -> None:
        """End the job without a result."""
        self.info = self.service._ask("POST", self._path("cancel"), {})

    def set_priority(self, priority: int) -> None:
        """Change the priority among the user's jobs."""
        self.info = self.service._ask("POST", self._path("priority"), {"priority": priority})

    def __repr__(self) -> str:
        """Name the job and its last known state."""
        return f"Job({self.number}, {self.state})"

    def _path(self, rest: str = "") -> str:
        return f"/v1/jobs/{self.number}" + (f"/{rest}" if rest else "")
