"""The stages of ci/gpu-first.sh: runs commands under limits, and reports."""

import argparse
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ("queens", "flowshop", "uts", "atsp")
# Seconds of each stage, of 480 in all.
SHARES = {"facts": 10, "driver": 10, "smoke": 60, "early": 60, "matrix": 100, "profile": 60, "sanitizers": 60,
          "settings": 40, "speed": 80}
# Published optima, so that no run looks for schedules first.
OPTIMA = [2297, 2099, 2326, 2223, 2291, 2226, 2273, 2200, 2237, 2178]
TEN = [f"solve flowshop ta{21 + i:03} --best {best} --bound one" for i, best in enumerate(OPTIMA)]
# Published counts.
KNOWN = {"count queens 17": 95_815_104, "count queens 18": 666_090_624, "count queens 20": 39_029_188_884,
         "count uts T1XXL": 4_230_646_601, "count uts T3XXL": 2_793_220_501, "count uts T1XL": 1_635_119_272}
SMALL = {"queens": "count queens 8", "flowshop": "solve flowshop VFR10_5_6 --best optimum --bound one",
         "uts": "count uts type=binomial,b0=50,q=0.18,m=5,seed=3",
         "atsp": "solve atsp crane:8:1 --bound partial --best 2301622"}
# The same with work as intervals.
INTERVALS = {"queens_intervals": "count queens 8 --nodes interval",
             "flowshop_intervals": f"{SMALL['flowshop']} --nodes interval",
             "flowshop_parallel": "solve flowshop VFR10_5_3 --best optimum --bound two --nodes interval",
             "atsp_intervals": f"{SMALL['atsp']} --nodes interval"}
# The value is the optimum.
CRANE = "solve atsp crane:16:1 --bound partial --best 3435015"
EARLY = ["count queens 17", "count queens 18", TEN[1], "count uts T1XXL", CRANE]
# The device only bounds, for five seconds.
EVALUATED = "solve flowshop ta021 --bound two --best 2297 --time-limit 5"
REST = ["count uts T1XL", "count uts T3XXL", *TEN[:1], *TEN[2:], "count queens 20"]
# Thin and bushy trees, and how explorers may share the nodes of the device.
SHARED = [TEN[6], "count uts T3XXL", "count queens 20"]
SETTINGS = ("", ":giving=always", ":giving=never", ":inside=adapt", ":giving=never:trigger=400")
# These would take hours of CPU time and show nothing new.
NOT_ON_CPU = ("count queens 20", TEN[2])


def arguments():
    parser = argparse.ArgumentParser(prog="gpu-first.sh", description="First minutes on a machine with a GPU")
    parser.add_argument("device", nargs="?", default="gpu0", help="gpu0, or emulated to rehearse")
    parser.add_argument("folder", nargs="?", default=str(ROOT / "target/gpu"), help="for results")
    parser.add_argument("--seconds", type=float, default=480, help="for everything")
    parser.add_argument("--limit", type=float, default=20, help="seconds for each command")
    parser.add_argument("--stages", default=",".join(SHARES), help="those to run, in this order")
    parser.add_argument("--small", action="store_true", help="only small cases")
    given = parser.parse_args()
    given.stages = given.stages.split(",")
    unknown = [stage for stage in given.stages if stage not in SHARES]
    if unknown or given.seconds <= 0 or given.limit <= 0:
        parser.error(f"--stages: expected some of {','.join(SHARES)}" if unknown else "expected a positive time")
    given.small = given.small or given.device == "emulated"
    return given


class Session:
    """What is known so far, and the time that is left."""

    def __init__(self, given):
        self.given, self.began = given, time.monotonic()
        # Seconds that a command has to end when it is asked to.
        self.grace = min(5.0, given.limit / 4)
        self.pleach = os.environ.get("PLEACH", str(ROOT / "target/release/pleach"))
        self.folder = pathlib.Path(given.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rows = []
        self.lines = open(self.folder / "rows.jsonl", "w")
        self.stage, self.until = "", 0.0
        self.missed, self.faults = [], set()

    def left(self):
        """Seconds until the end of the stage; the last ones of the run are for ending a command and for the report."""
        now = time.monotonic() - self.began
        return min(self.until, self.given.seconds - 3 - self.grace) - now

    def add(self, what, result, **more):
        """Keeps a result: ok, wrong, failed, timed out, crashed, skipped, or note."""
        row = {"stage": self.stage, "at": round(time.monotonic() - self.began, 2), "what": what, "result": result, **more}
        self.rows.append(row)
        self.lines.write(json.dumps(row) + "\n")
        self.lines.flush()
        os.fsync(self.lines.fileno())
        detail = more.get("why") or more.get("text") or ""
        print(f"{row['at']:7.2f} {self.stage:10} {result:9} {what} {detail}"[:400], flush=True)
        return row

    def run(self, what, command, limit=None, environment=None):
        """Runs a command under a limit. Returns exit code, or None with what went wrong, and its output."""
        limit = min(limit or self.given.limit, self.left())
        if limit < min(0.5, self.given.limit):
            self.missed.append(f"{self.stage}: {what}")
            return None
        # A separate process group, so that all of it can be ended; files for output, so that nothing waits for readers.
        paths = [self.folder / f".{name}" for name in ("out", "err")]
        with open(paths[0], "wb") as out, open(paths[1], "wb") as err:
            start = time.monotonic()
            try:
                process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                           start_new_session=True, env={**os.environ, **(environment or {})})
            except OSError as why:
                return Done(None, "", str(why), 0.0, f"cannot start: {why}")
            end = ended(process, limit)
            if end is None:
                stop(process, signal.SIGTERM)
                end = ended(process, self.grace)
                if end is None:
                    stop(process, signal.SIGKILL)
                    # A process inside the driver may not even end then; it is left behind.
                    ended(process, 1.0)
                problem = f"timed out after {limit:.1f} s"
            else:
                problem = f"crashed by signal {-end}" if end < 0 else ""
            seconds = time.monotonic() - start
        texts = [path.read_text(errors="replace") for path in paths]
        return Done(end, texts[0], texts[1], seconds, problem)

    def pleach_json(self, what, words, before=(), limit=None):
        """Runs Pleach. Returns its JSON, if it printed any, and the run."""
        done = self.run(what, [*before, self.pleach, *words.split(), "--json"], limit)
        return (None, None) if done is None else (found_json(done.out), done)


class Done:
    """A command that has ended, or was ended."""

    def __init__(self, code, out, err, seconds, problem):
        self.code, self.out, self.err, self.seconds, self.problem = code, out, err, seconds, problem

    def said(self):
        return "; ".join(line.strip() for line in self.err.splitlines() if line.strip())[:600]


def ended(process, limit):
    """The exit code, if the process ends within a time."""
    try:
        return process.wait(timeout=max(limit, 0.01))
    except subprocess.TimeoutExpired:
        return None


def stop(process, how):
    try:
        os.killpg(process.pid, how)
    except ProcessLookupError:
        pass


def found_json(text):
    """The line that is a JSON object: tools that watch a command print lines of their own."""
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                pass
    return None


def outcome(answer, done):
    """How a run of Pleach went, and why."""
    said = done.said()
    if done.problem:
        return ("timed out" if "timed" in done.problem else "crashed"), f"{done.problem}; {said}"
    if answer is None:
        return "failed", said or f"exit code {done.code} and no JSON"
    if " not used: " in said or "continues on the CPU" in said:
        return "failed", said
    return ("ok", said) if done.code in (0, 3) else ("failed", said or f"exit code {done.code}")


def nodes(answer):
    return [int(answer["nodes"][key]) for key in ("branched", "bounded")] + [answer["count"]]


def kernel_of(words):
    if "--nodes interval" in words and "--bound two" in words:
        return "flowshop_parallel"
    name = next(kernel for kernel in KERNELS if kernel in words)
    return f"{name}_intervals" if "--nodes interval" in words else name


def form_of(answer):
    return next((unit.get("kernel") for unit in answer["units"] if unit.get("kernel")), None)


def rate(answer, words):
    """Nodes a second without set-up: branched ones for flowshop and ATSP, bounds for `two`, otherwise placed or hashed."""
    key = "branched" if "solve" in words and "two" not in words else "bounded"
    searching = max(answer["seconds"] - answer["setup_seconds"], 1e-9)
    return round(int(answer["nodes"][key]) / searching)


# The stages.


def facts(s):
    s.add("pleach", "note", text=s.pleach, environment={key: os.environ[key] for key in (
        "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "PLEACH_NVRTC") if key in os.environ})
    fields = "name,driver_version,compute_cap,memory.total,clocks.max.sm,mig.mode.current"
    for words in ("nvidia-smi", f"nvidia-smi --query-gpu={fields} --format=csv"):
        if not shutil.which("nvidia-smi"):
            s.add("nvidia-smi", "note", text="not found")
            break
        done = s.run(words, words.split(), 5)
        if done:
            s.add(words, "note", text=(done.problem or done.out.strip() or done.said()), code=done.code)
    places = ["/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", *os.environ.get("LD_LIBRARY_PATH", "").split(":"),
              *(os.path.join(path, "nvidia/*/lib") for path in sys.path if path.endswith("-packages"))]
    libraries = [f for place in places if place for name in ("libnvrtc.so*", "libcuda.so*") for f in glob.glob(f"{place}/{name}")]
    s.add("libraries", "note", text=", ".join(libraries) or "no NVRTC in the toolkit, Python's packages or LD_LIBRARY_PATH")
    tools = {tool: shutil.which(tool) for tool in ("ncu", "nsys", "compute-sanitizer", "nvcc")}
    s.add("tools", "note", text=", ".join(f"{tool}: {path or 'none'}" for tool, path in tools.items()))
    # This measures, too; the facts do not depend on it.
    done = s.run("pleach devices", [s.pleach, "devices", "--json"])
    answer = done and found_json(done.out)
    if done:
        result, why = outcome(answer, done)
        missing = answer and s.given.device != "emulated" and answer.get("no_gpu")
        s.add("pleach devices", "failed" if missing else result, why=missing or why, answer=answer)


def driver(s):
    if s.given.device == "emulated":
        return
    number = "".join(c for c in s.given.device.split(":")[0] if c.isdigit()) or "0"
    files = [str(ROOT / f"gpu/kernels/ptx/{kernel}.ptx") for kernel in (*KERNELS, *INTERVALS)]
    if not all(map(os.path.exists, files)):
        s.add("driver alone", "skipped", why="gpu/kernels/ptx is not here")
        return
    done = s.run("driver alone", [sys.executable, str(ROOT / "ci/gpu-driver.py"), number, *files], min(10, s.given.limit))
    if done:
        text = "; ".join((done.out + done.err).split("\n")).strip("; ")
        bad = done.problem or done.code != 0
        s.add("driver alone", "failed" if bad else "ok", why=f"{done.problem} {text}" if bad else None, text=text)


def compared(s, words, device, wanted, **more):
    """Runs a case on a device and compares it with the CPU's counts, if these are known."""
    what = f"{words} --devices {device}"
    answer, done = s.pleach_json(what, what)
    if done is None:
        return None
    result, why = outcome(answer, done)
    row = {**more, "case": words, "devices": device}
    if answer is not None:
        row.update(seconds=answer["seconds"], setup_seconds=answer["setup_seconds"], nodes=answer["nodes"],
                   rate=rate(answer, words), kernel=form_of(answer), units=answer["units"])
        if result == "ok" and wanted is not None and nodes(answer) != wanted:
            result, why = "wrong", f"{nodes(answer)}, expected {wanted}"
        if result == "ok" and words in KNOWN and answer["count"] != KNOWN[words]:
            result, why = "wrong", f"count {answer['count']}, expected {KNOWN[words]}"
        if result == "ok" and words in TEN and answer["status"] not in ("no-better", "optimal"):
            result, why = "wrong", f"{answer['status']}, expected a proof that nothing is better"
    s.add(what, result, why=why or None, **row)
    if result not in ("ok",) and s.given.device != "emulated":
        fault(s, kernel_of(words), device)
    return answer


def fault(s, kernel, device):
    """Shows what memcheck finds in a kernel with a fault, once for each kernel."""
    if kernel in s.faults:
        return
    s.faults.add(kernel)
    if shutil.which("compute-sanitizer") and s.left() > 5:
        sanitize(s, "memcheck", {**SMALL, **INTERVALS}[kernel], device.split(",")[-1])


def sanitize(s, tool, words, device):
    log = s.folder / f"{tool}-{kernel_of(words)}.log"
    before = ("compute-sanitizer", "--tool", tool, "--error-exitcode", "9", "--log-file", str(log))
    name = f"{tool}: {words}"
    answer, done = s.pleach_json(name, f"{words} --devices {device.split(':')[0]}:explorers=33", before)
    if done is None:
        return
    result, why = outcome(answer, done)
    text = log.read_text(errors="replace").strip().splitlines()[-1:] if log.exists() else []
    if done.code == 9:
        result, why = "wrong", f"see {log.name}"
    s.add(name, result, why=why or None, text="".join(text), log=str(log))


def smoke(s):
    forms = ("",) if s.given.device.startswith("emulated") else (":form=compiled", ":form=committed")
    for kernel in KERNELS:
        answer, done = s.pleach_json(f"{SMALL[kernel]} on the CPU", f"{SMALL[kernel]} --devices cpu")
        if done is not None and answer is None:
            s.add(f"{SMALL[kernel]} on the CPU", *outcome(answer, done))
        wanted = answer and nodes(answer)
        for form in forms:
            for explorers in (":explorers=1", ":explorers=33", ""):
                compared(s, SMALL[kernel], f"{s.given.device}{form}{explorers}", wanted, kernel_name=kernel)


    for kernel, words in INTERVALS.items():
        answer, _ = s.pleach_json(f"{words} on the CPU", f"{words} --devices cpu")
        for form in forms:
            for explorers in (":explorers=33", ""):
                compared(s, words, f"{s.given.device}{form}{explorers}", answer and nodes(answer), kernel_name=kernel)
    words = "solve flowshop VFR10_10_2 --bound two --best optimum"
    answer, _ = s.pleach_json(f"{words} on the CPU", f"{words} --devices cpu")
    for form in forms:
        for rmax in (1, 3):
            choice = f"{s.given.device}{form}:mode=evaluate:rmax={rmax}"
            compared(s, words, choice, answer and nodes(answer), kernel_name="flowshop")


def measured(s, cases, everywhere):
    """The device alone first: most claims are about it."""
    choices = [s.given.device, f"cpu,{s.given.device}", "cpu"] if everywhere else [s.given.device]
    for devices in choices:
        for words in cases:
            if devices != "cpu" or words not in NOT_ON_CPU:
                compared(s, words, devices, None)


def early(s):
    measured(s, SMALL.values() if s.given.small else EARLY, False)


def settings(s):
    for words in SMALL.values() if s.given.small else SHARED:
        for setting in SETTINGS:
            compared(s, words, f"{s.given.device}{setting}", None)


def speed(s):
    if s.given.small:
        return measured(s, SMALL.values(), True)
    for devices in ("cpu", *(f"{s.given.device}:rmax={rmax}" for rmax in (1, 3, 10))):
        compared(s, EVALUATED, devices, None)
    measured(s, REST, False)
    measured(s, EARLY, True)


def matrix(s):
    for kernel in KERNELS:
        what = f"devices {kernel} --check {s.given.device}"
        # One process for many checks: it stops by itself in time, and reports what it has not reached.
        limit = max(s.left() / (len(KERNELS) + 1), 1.0)
        answer, done = s.pleach_json(what, f"{what} --time-limit {int(limit * 800)}ms", limit=limit)
        if done is None:
            continue
        result, why = outcome(answer, done)
        if answer is None:
            # What was checked before it stopped early.
            lines = [line.split(": ", 1)[-1] for line in done.err.splitlines()]
            s.add(what, result, why=why, checked=lines)
        else:
            for row in (row for row in answer["checks"] if row["result"] != "skipped"):
                name = f"check {kernel} {row['instance']} {row['choices']}"
                more = f"{row['found']}, expected {row['expected']}" if row["result"] == "wrong" else row["why"]
                s.add(name, row["result"], why=more, kernel_name=kernel, kernel=row["kernel"], seconds=row["seconds"])
            late = answer["skipped"]
            if late:
                s.missed.append(f"matrix: {late} checks of {kernel}")
        if (answer is None or answer["wrong"] or answer["failed"]) and s.given.device != "emulated":
            fault(s, kernel, s.given.device)
    for kernel in KERNELS:
        answer, done = s.pleach_json("cpu", f"{SMALL[kernel]} --devices cpu")
        for choice in ("", ":trigger=1", ":budget=3"):
            if answer is not None:
                compared(s, SMALL[kernel], f"cpu,{s.given.device}{choice}", nodes(answer), kernel_name=kernel)


def profile(s):
    tool = shutil.which("ncu") or shutil.which("nsys")
    if not tool or s.given.device == "emulated":
        s.add("profiles", "skipped", why="neither ncu nor nsys" if not tool else "emulated")
        return
    words = {"queens": "count queens 19", "flowshop": TEN[2], "uts": "count uts T1XXL", "atsp": CRANE}
    for kernel in KERNELS:
        target = str(s.folder / f"profile-{kernel}")
        # Explorers may give to one another from the first round on; the first rounds only spread the work.
        ncu = [tool, "--set", "full", "--clock-control", "none", "--kernel-name", "regex:^(explore|give)$",
               "--launch-skip", "12", "--launch-count", "1", "-f", "-o", target]
        nsys = [tool, "profile", "--trace", "cuda", "--force-overwrite", "true", "-o", target]
        case = SMALL[kernel] if s.given.small else words[kernel]
        device = f"{s.given.device.split(':')[0]}:form=compiled:lineinfo=yes"
        before = ncu if tool.endswith("ncu") else nsys
        answer, done = s.pleach_json(f"profile {case}", f"{case} --devices {device} --time-limit 5s", before)
        if done is not None:
            result, why = outcome(answer, done)
            files = glob.glob(f"{target}*")
            if result == "ok" and not files:
                result, why = "failed", "the profiler wrote no file"
            s.add(f"profile {case}", result, why=why or None, text=", ".join(files))


def sanitizers(s):
    if not shutil.which("compute-sanitizer") or s.given.device == "emulated":
        s.add("sanitizers", "skipped", why="emulated" if s.given.device == "emulated" else "no compute-sanitizer")
        return
    for tool in ("memcheck", "racecheck", "synccheck"):
        for words in (*SMALL.values(), *INTERVALS.values()):
            sanitize(s, tool, words, s.given.device)


STAGES = {"facts": facts, "driver": driver, "smoke": smoke, "early": early, "matrix": matrix,
          "profile": profile, "sanitizers": sanitizers, "settings": settings, "speed": speed}


def report(s):
    """What works, what does not, what was not reached; then the speeds."""
    bad = [row for row in s.rows if row["result"] in ("wrong", "failed", "timed out", "crashed")]
    good = [row for row in s.rows if row["result"] == "ok"]
    lines = [f"# {s.given.device}, {time.strftime('%Y-%m-%d')}, {time.monotonic() - s.began:.0f} s", ""]
    lines += [f"{len(good)} right, {len(bad)} not, {len(s.missed)} not reached.", "", "## What works", ""]
    for stage in s.given.stages:
        n = sum(row["stage"] == stage for row in good)
        lines += [f"- {stage}: {n}"] if n else []
    lines += ["", "## What does not", ""]
    lines += [f"- {row['stage']}: **{row['result']}** `{row['what']}`: {row.get('why') or ''}" for row in bad] or ["Nothing."]
    lines += ["", "## What was not reached", ""]
    lines += [f"- {what}" for what in s.missed] or ["Nothing."]
    lines += [f"- {row['what']}: {row['why']}" for row in s.rows if row["result"] == "skipped"]
    lines += ["", "## Facts", ""]
    lines += [f"- {row['what']}: {row['text']}".replace("\n", "\n  ") for row in s.rows if row["result"] == "note"]
    lines += ["", "## Speed", "", "| run | on | kernel | seconds | of which set-up | million nodes/s | |", "|---|---|---|---|---|---|---|"]
    fast = [row for row in s.rows if row["stage"] in ("early", "settings", "speed") and "rate" in row]
    for row in fast:
        remark = "" if row["result"] == "ok" else row["result"]
        lines.append(f"| `{row['case']}` | {row['devices']} | {row['kernel'] or ''} | {row['seconds']:.3f} "
                     f"| {row['setup_seconds']:.3f} | {row['rate'] / 1e6:,.1f} | {remark} |")
    lines += together(s, fast)
    (s.folder / "report.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return 1 if bad else 0


def together(s, fast):
    """How close both kinds of workers come to their sum, and the ten instances of 20 jobs on 20 machines."""
    lines = ["", "| run | both vs. the device alone | both vs. the sum of the two |", "|---|---|---|"]
    best = {(row["case"], row["devices"]): row["rate"] for row in fast if row["result"] == "ok"}
    for case in dict.fromkeys(row["case"] for row in fast):
        alone, both, cpu = (best.get((case, on)) for on in (s.given.device, f"cpu,{s.given.device}", "cpu"))
        if alone and both:
            lines.append(f"| `{case}` | {both / alone:.3f} | {f'{both / (alone + cpu):.3f}' if cpu else ''} |")
    ten = {row["case"]: row for row in fast if row["case"] in TEN and row["devices"] == s.given.device and row["result"] == "ok"}
    if len(ten) == len(TEN):
        branched = sum(int(row["nodes"]["branched"]) for row in ten.values())
        lines += ["", f"ta021 to ta030 on {s.given.device}: {sum(row['seconds'] for row in ten.values()):.2f} s in total "
                  f"for {branched:,} nodes branched (published: 4,316,755,466)"]
    return lines


def main():
    given = arguments()
    s = Session(given)
    if not os.access(s.pleach, os.X_OK):
        sys.exit(f"{s.pleach}: expected the built binary (cargo build --release), or its path in PLEACH")
    watcher = None
    if shutil.which("nvidia-smi"):
        with open(s.folder / "dmon.log", "w") as log:
            watcher = subprocess.Popen(["nvidia-smi", "dmon", "-o", "T"], stdout=log, stderr=log, start_new_session=True)
    # Nothing may outlast the limit: the report is written even from here.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    code = 1
    try:
        share = given.seconds / sum(SHARES[stage] for stage in given.stages)
        end = 0.0
        for stage in given.stages:
            # Time that a stage leaves is for those after it.
            end += SHARES[stage] * share
            s.stage, s.until = stage, end
            try:
                STAGES[stage](s)
            except Exception as why:
                s.add(f"stage {stage}", "failed", why=f"the script itself: {why!r}")
    finally:
        code = report(s)
        if watcher:
            stop(watcher, signal.SIGKILL)
    sys.exit(code)


main()
