"""Solves a flowshop with CP-SAT: python3 ci/cpsat-flowshop.py FILE [SECONDS] [THREADS].

Needs ortools from PyPI. FILE is an instance as `pleach solve flowshop` reads it: jobs and machines,
then a line of times per machine. A literal for every pair of jobs decides which comes first on all
machines.
"""

import sys
import time

from ortools.sat.python import cp_model

path = sys.argv[1]
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
threads = int(sys.argv[3]) if len(sys.argv) > 3 else 2
numbers = [int(word) for word in open(path).read().split()]
n, m = numbers[:2]
times = [numbers[2 + k * n : 2 + (k + 1) * n] for k in range(m)]

model = cp_model.CpModel()
longest = sum(sum(row) for row in times)
starts = [[model.new_int_var(0, longest, "") for _ in range(n)] for _ in range(m)]
makespan = model.new_int_var(0, longest, "")
for k in range(m):
    model.add_no_overlap(
        [model.new_fixed_size_interval_var(starts[k][j], times[k][j], "") for j in range(n)]
    )
for j in range(n):
    for k in range(m - 1):
        model.add(starts[k + 1][j] >= starts[k][j] + times[k][j])
    model.add(makespan >= starts[m - 1][j] + times[m - 1][j])
for i in range(n):
    for j in range(i + 1, n):
        before = model.new_bool_var("")
        for k in range(m):
            model.add(starts[k][j] >= starts[k][i] + times[k][i]).only_enforce_if(before)
            model.add(starts[k][i] >= starts[k][j] + times[k][j]).only_enforce_if(~before)
model.minimize(makespan)

solver = cp_model.CpSolver()
solver.parameters.max_time_in_seconds = seconds
solver.parameters.num_workers = threads
begun = time.time()
status = solver.status_name(solver.solve(model))
value, bound = solver.objective_value, solver.best_objective_bound
gap = 100 * (value - bound) / value if value else 0.0
print(f"{path}: {status} {value:.0f}, bound {bound:.0f}, gap {gap:.1f} %, {time.time() - begun:.1f} s")
