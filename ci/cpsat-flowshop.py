"""Solves a flowshop with CP-SAT: python3 ci/cpsat-flowshop.py FILE [SECONDS] [THREADS].

Needs ortools from PyPI. FILE is an instance as `pleach solve flowshop` reads it: jobs and machines,
then a line of times per machine; or a file of PyJobShop with due dates (total tardiness) or setup
times. A literal for every pair of jobs decides which comes first on all machines; with setup times,
a circuit of literals decides which comes next.
"""

import sys
import time

from ortools.sat.python import cp_model

path = sys.argv[1]
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
threads = int(sys.argv[3]) if len(sys.argv) > 3 else 2
text = open(path).read()
n, m, *numbers = [int(word) for word in text.split()]
due, setups = None, None
if len(text.split("\n", 1)[0].split()) == 1:
    # PyJobShop's files have a line per job.
    if len(numbers) == n + n * m:
        due, numbers = numbers[:n], numbers[n:]
    elif len(numbers) == n * m + m * n * n:
        setups = [
            [numbers[n * m + (k * n + i) * n :][:n] for i in range(n)] for k in range(m)
        ]
    times = [numbers[k : n * m : m] for k in range(m)]
else:
    times = [numbers[k * n : (k + 1) * n] for k in range(m)]

model = cp_model.CpModel()
longest = sum(sum(row) for row in times) + sum(max(map(max, rows)) * n for rows in setups or [])
starts = [[model.new_int_var(0, longest, "") for _ in range(n)] for _ in range(m)]
ends = [[starts[k][j] + times[k][j] for j in range(n)] for k in range(m)]
for k in range(m):
    model.add_no_overlap(
        [model.new_fixed_size_interval_var(starts[k][j], times[k][j], "") for j in range(n)]
    )
for j in range(n):
    for k in range(m - 1):
        model.add(starts[k + 1][j] >= ends[k][j])
if setups:
    # City 0 is before the first job and after the last.
    arcs = [(0, j + 1, model.new_bool_var("")) for j in range(n)]
    arcs += [(j + 1, 0, model.new_bool_var("")) for j in range(n)]
    for i in range(n):
        for j in range(n):
            if i != j:
                follows = model.new_bool_var("")
                arcs.append((i + 1, j + 1, follows))
                for k in range(m):
                    least = ends[k][i] + setups[k][i][j]
                    model.add(starts[k][j] >= least).only_enforce_if(follows)
    model.add_circuit(arcs)
else:
    for i in range(n):
        for j in range(i + 1, n):
            before = model.new_bool_var("")
            for k in range(m):
                model.add(starts[k][j] >= ends[k][i]).only_enforce_if(before)
                model.add(starts[k][i] >= ends[k][j]).only_enforce_if(~before)
if due:
    late = [model.new_int_var(0, longest, "") for _ in range(n)]
    for j in range(n):
        model.add(late[j] >= ends[m - 1][j] - due[j])
    model.minimize(sum(late))
else:
    makespan = model.new_int_var(0, longest, "")
    for j in range(n):
        model.add(makespan >= ends[m - 1][j])
    model.minimize(makespan)

solver = cp_model.CpSolver()
solver.parameters.max_time_in_seconds = seconds
solver.parameters.num_workers = threads
begun = time.time()
status = solver.status_name(solver.solve(model))
value, bound = solver.objective_value, solver.best_objective_bound
gap = 100 * (value - bound) / value if value else 0.0
print(f"{path}: {status} {value:.0f}, bound {bound:.0f}, gap {gap:.1f} %, {time.time() - begun:.1f} s")
