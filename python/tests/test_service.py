"""Jobs of a service, from Python: the program is that of the workspace, which ci/python.sh builds."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import pleach.service
from pleach.service import Job, Refused, Service

PROGRAM = os.environ.get("PLEACH_PROGRAM", "")

pytestmark = pytest.mark.skipif(not PROGRAM, reason="PLEACH_PROGRAM names no program")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    command = [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", str(folder / "data")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = next(line for line in process.stderr if "serving at" in line)
    threading.Thread(target=process.stderr.read, daemon=True).start()
    assert re.search("serving at", said)
    environment = {**os.environ, "PLEACH_SERVICE": str(folder / "data" / "operator")}
    subprocess.run([PROGRAM, "user", "ann"], env=environment, cwd=folder, check=True)
    yield Service(folder / "ann.service")
    process.terminate()
    process.wait()


def test_jobs_have_results_and_files(service: Service, tmp_path: Path) -> None:
    instance = tmp_path / "small.txt"
    instance.write_text("3 2\n4 2 3\n1 5 2\n")
    job = service.submit("solve", "flowshop", "mine.txt", "--gantt", "plan.svg", files={"mine.txt": instance}, priority=2)
    result = job.wait()
    assert (result["objective"], result["status"]) == (10, "optimal")
    assert job.files() == ["mine.txt", "plan.svg"]
    assert job.file("plan.svg").startswith(b"<svg")
    assert job.log() == "" and job.info["priority"] == 2
    assert [known["id"] for known in service.jobs()] == [job.number]
    assert service.job(job.number).state == "done"


def test_jobs_are_controlled(service: Service) -> None:
    job = service.submit("count uts T3 --pace 1000")
    for info in job.watch():
        if info["search"]:
            break
    job.set_priority(3)
    job.pause()
    assert job.state == "paused"
    job.resume()
    job.cancel()
    with pytest.raises(RuntimeError, match="is cancelled"):
        job.wait()
    with pytest.raises(Refused, match="is over: cancelled") as refused:
        job.cancel()
    assert refused.value.status == 409


def test_what_is_wrong_is_said(service: Service, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="expected solve, count, loop or sim"):
        service.submit("fly", "away")
    with pytest.raises(Refused, match="nothing.txt: expected a file"):
        service.submit("solve", "flowshop", "nothing.txt")
    short = tmp_path / "short.txt"
    short.write_text("5 2\n3 5\n")
    with pytest.raises(RuntimeError, match="short.txt"):
        service.submit("solve", "flowshop", "short.txt", files={"short.txt": short}).wait()
    assert "token" not in repr(service)
    wrong = tmp_path / "wrong"
    wrong.write_text("pleach-service-1\naddress 127.0.0.1:1\nname x\n")
    with pytest.raises(ValueError, match="line 3: expected 'certificate'"):
        Service(wrong)


def test_a_submission_that_is_too_long_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    credentials, shop = tmp_path / "ann.service", tmp_path / "shop.txt"
    credentials.write_text("pleach-service-1\naddress 127.0.0.1:1\ncertificate 00\nname ann\ntoken 00\n")
    shop.write_bytes(bytes(900))
    monkeypatch.setattr(pleach.service, "_LONGEST", 1000)
    with pytest.raises(Refused, match="the request takes [0-9]+ bytes: expected at most 1000") as refused:
        Service(credentials).submit("solve", "flowshop", "shop.txt", files={"shop.txt": shop})
    assert refused.value.status == 413


def test_a_job_that_was_quiet_is_watched_through_a_restart(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    connections: list[float] = []

    def passes(seconds: float) -> None:
        clock[0] += seconds

    def events(_: str) -> Iterator[str]:
        connections.append(clock[0])
        if len(connections) == 1:
            yield '{"state": "running"}'
            passes(100.0)
            raise ConnectionResetError
        if len(connections) < 10:
            raise ConnectionRefusedError
        yield '{"state": "done"}'

    monkeypatch.setattr(pleach.service, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=passes))
    monkeypatch.setattr(service, "_events", events)
    assert [info["state"] for info in Job(service, 1).watch()] == ["running", "done"]

    def nothing(_: str) -> Iterator[str]:
        raise ConnectionRefusedError

    monkeypatch.setattr(service, "_events", nothing)
    before = clock[0]
    with pytest.raises(ConnectionRefusedError):
        list(Job(service, 1).watch())
    assert clock[0] - before > 30.0
