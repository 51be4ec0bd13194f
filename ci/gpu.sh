#!/usr/bin/env bash
# Run on a machine with a GPU and the built binary. First compares counts with the CPU's for every
# kernel, balancing rule and number of explorers; then measures. Takes less than 8 minutes.
#
#   ci/gpu.sh [DEVICE] [FOLDER]       DEVICE: gpu0, or emulated to test the script itself
#
# Writes FOLDER/gpu.json, a row per run, and FOLDER/gpu.md, a table for docs/measured.md.
set -euo pipefail
cd "$(dirname "$0")/.."

device=${1:-gpu0}
folder=${2:-target/gpu}
pleach=${PLEACH:-target/release/pleach}
if [ ! -x "$pleach" ]; then
    echo "$pleach: expected the built binary (cargo build --release)" >&2
    exit 2
fi
if ! command -v python3 >/dev/null; then
    echo "python3 not found; only this script needs it" >&2
    exit 2
fi
mkdir -p "$folder"
"$pleach" devices
exec python3 - "$pleach" "$device" "$folder" <<'PYTHON'
import datetime, json, shutil, subprocess, sys, time

pleach, device, folder = sys.argv[1:]
small = device == "emulated"
began = time.monotonic()
UNTIL = 450.0


def run(words, before=()):
    """Runs the command. Returns its JSON, or None, and what it wrote to stderr."""
    left = max(UNTIL - (time.monotonic() - began), 5.0)
    try:
        done = subprocess.run(
            [*before, pleach, *words.split(), "--json"], capture_output=True, text=True, timeout=left
        )
    except subprocess.TimeoutExpired:
        return None, "timed out"
    said = done.stderr.strip().replace("\n", "; ")
    if done.returncode not in (0, 3) or " not used: " in said or "continues on the CPU" in said:
        return None, said or f"exit code {done.returncode}"
    return json.loads(done.stdout.splitlines()[-1]), said


def nodes(answer):
    keys = ("branched", "bounded")
    return [int(answer["nodes"][key]) for key in keys] + [answer["count"]]


SMALL = ["count queens 8", "count queens 9"]
LARGE = ["count queens 14", "count queens 15"]
FLOWSHOP = "solve flowshop {} --best optimum --bound one"
cases = SMALL + ["count uts type=binomial,b0=50,q=0.18,m=5,seed=3", FLOWSHOP.format("VFR10_5_3")]
if not small:
    cases += LARGE + ["count uts T3", "count uts T1", FLOWSHOP.format("ta014"), FLOWSHOP.format("ta030")]

rows, wrong, unused = [], [], []
for case in cases:
    wanted, why = run(f"{case} --devices cpu")
    if wanted is None:
        wrong.append(f"{case} on the CPU: {why}")
        continue
    choices = [""] + [
        f":explorers={t}:inside={inside}{more}"
        for t in (1, 3, 33, 500)
        for inside in ("hypercube", "adapt")
        for more in ("", ":trigger=1", ":budget=3")
        if not (small and t > 33) and not (case not in SMALL and (t < 33 or more))
    ]
    for choice in choices:
        got, why = run(f"{case} --devices {device}{choice}")
        if got is None:
            (unused if "no kernel" in why else wrong).append(f"{case} on {device}{choice}: {why}")
            break
        if nodes(got) != nodes(wanted):
            wrong.append(f"{case} on {device}{choice}: {nodes(got)}, expected {nodes(wanted)}")
    both, why = run(f"{case} --devices cpu,{device}")
    if both is not None and nodes(both) != nodes(wanted):
        wrong.append(f"{case} on cpu,{device}: {nodes(both)}, expected {nodes(wanted)}")

sanitizer = shutil.which("compute-sanitizer")
if sanitizer and not small:
    for tool in ("memcheck", "racecheck", "synccheck"):
        before = (sanitizer, "--tool", tool, "--error-exitcode", "9")
        got, why = run(f"count queens 8 --devices {device}:explorers=33", before)
        if got is None:
            wrong.append(f"{tool}: {why}")

# Starts from the published optima, without looking for schedules.
OPTIMA = [2297, 2099, 2326, 2223, 2291, 2226, 2273, 2200, 2237, 2178]
TEN = {f"ta{21 + i:03}": best for i, best in enumerate(OPTIMA)}
benches = [("count queens 9", 1)] if small else [
    ("count queens 17", 3),
    ("count queens 18", 3),
    ("count uts T1XL", 3),
    ("count uts T3XXL", 2),
    *((f"solve flowshop {name} --best {best} --bound one", 1) for name, best in TEN.items()),
    ("count queens 20", 1),
]
if not wrong:
    # The device alone first: most claims are about it.
    for devices in (device, f"cpu,{device}", "cpu"):
        for case, times in benches:
            # Hours of CPU time that tell nothing new.
            skip = devices == "cpu" and (case == "count queens 20" or "ta023" in case)
            if skip or time.monotonic() - began > UNTIL - 30:
                continue
            answers = [run(f"{case} --devices {devices}")[0] for _ in range(times)]
            answers = sorted((a for a in answers if a), key=lambda a: a["seconds"])
            if answers:
                answer = answers[len(answers) // 2]
                rows.append({"case": case, "devices": devices, "seconds": answer["seconds"],
                             "setup_seconds": answer["setup_seconds"], "nodes": answer["nodes"],
                             "status": answer["status"], "units": answer["units"]})

about = json.loads(subprocess.run([pleach, "devices", "--json"], capture_output=True, text=True).stdout)
date = datetime.date.today().isoformat()
result = {"date": date, "device": about, "wrong": wrong, "unused": unused, "rows": rows,
          "seconds": round(time.monotonic() - began, 1)}
with open(f"{folder}/gpu.json", "w") as file:
    json.dump(result, file, indent=1)
lines = [f"{date}, {about['gpus'] or 'emulated'}", "",
         "| run | on | seconds | of which set-up | nodes | million nodes/s |", "|---|---|---|---|---|---|"]


def rate(row):
    """Nodes and nodes/s without set-up: branched ones for flowshop, else placed or hashed ones."""
    key = "branched" if "flowshop" in row["case"] else "bounded"
    searching = max(row["seconds"] - row["setup_seconds"], 1e-9)
    return int(row["nodes"][key]), int(row["nodes"][key]) / searching


for row in rows:
    count, speed = rate(row)
    lines.append(f"| `{row['case']}` | {row['devices']} | {row['seconds']:.3f} | {row['setup_seconds']:.3f} "
                 f"| {count:,} | {speed / 1e6:,.1f} |")
lines += ["", "| run | both vs. the device alone | both vs. the sum of the two |", "|---|---|---|"]
for case, _ in benches:
    on = {row["devices"]: rate(row)[1] for row in rows if row["case"] == case}
    alone, both, cpu = on.get(device), on.get(f"cpu,{device}"), on.get("cpu")
    if alone and both:
        lines.append(f"| `{case}` | {both / alone:.3f} | {f'{both / (alone + cpu):.3f}' if cpu else ''} |")
ten = [row for row in rows if row["devices"] == device and any(name in row["case"] for name in TEN)]
if len(ten) == len(TEN):
    together = sum(row["seconds"] for row in ten)
    branched = sum(rate(row)[0] for row in ten)
    lines += ["", f"ta021 to ta030 on {device}: {together:.2f} s in total for {branched:,} nodes branched"
              " (published: 4,316,755,466)"]
with open(f"{folder}/gpu.md", "w") as file:
    file.write("\n".join(lines) + "\n")
print("\n".join(lines))
for line in unused:
    print("skipped:", line)
for line in wrong:
    print("WRONG:", line)
sys.exit(1 if wrong else 0)
PYTHON
