"""Checks the whole certificate of a small flowshop: python3 ci/check-certificate.py TIMES CERTIFICATE.

TIMES begins with the numbers of jobs and machines; then a line per machine has the time of each job. The certificate must be about bound one and
branching min-branch, the defaults. Shares no code with Pleach: prints what is proven, or fails.
"""

import json
import sys
from collections import Counter


# The bound of a node about which nothing is known.
UNBOUNDED = -(2**63)


class Reader:
    """Numbers of seven bits a byte, least first, as Pleach packs them."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        assert self.at <= len(self.data), "the certificate is too short"
        return self.data[self.at - n : self.at]

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        return with_sign(self.number())

    def many(self, read):
        return [read() for _ in range(self.number())]

    def bytes(self):
        return self.take(self.number())

    def counts(self):
        branched, bounded, _total, _depth = [self.number() for _ in range(4)]
        self.many(self.number)  # counters of other trees
        return [branched, bounded]


def with_sign(raw):
    """0, -1, 1, -2, … by their places in this order."""
    return raw >> 1 if raw % 2 == 0 else -(raw >> 1) - 1


def nodes_of(pieces):
    """The nodes of pieces of work: bound, jobs at the front, jobs at the back from the last one."""
    nodes = []
    for piece in pieces:
        reader = Reader(piece)
        while reader.at < len(piece):
            depth = reader.number()
            for _ in range(reader.number()):
                raw = reader.number() - 1
                bound = with_sign(raw) if raw >= 0 else UNBOUNDED
                reader.take(4)  # an estimate of its part of the tree
                front, back = [tuple(reader.many(reader.number)) for _ in range(2)]
                assert len(front) + len(back) == depth, "a node has a wrong depth"
                nodes.append((bound, front, back))
    return nodes


times = [[int(word) for word in line.split()] for line in open(sys.argv[1]) if line.strip()][1:]
machines, jobs = len(times), len(times[0])
least_tail = [min(sum(row[j] for row in times[k + 1 :]) for j in range(jobs)) for k in range(machines)]
least_head = [min(sum(row[j] for row in times[:k]) for j in range(jobs)) for k in range(machines)]


def ends(order, rows):
    """When each machine ends its last job."""
    free = [0] * machines
    for job in order:
        end = 0
        for k, row in enumerate(rows):
            end = free[k] = max(end, free[k]) + row[job]
    return free


def bound(job, before, behind, left, rows):
    """A bound on schedules with a job next: on each machine its start, all work left, and what must follow."""
    end, most = 0, 0
    for k, row in enumerate(rows):
        begin = max(end, before[k])
        most = max(most, begin + sum(row[j] for j in left) + behind[k])
        end = begin + row[job]
    return most


def expand(node, reference, best):
    """The children of a node that are below `best`, and how many bounds were computed."""
    parent, front, back = node
    left = [job for job in range(jobs) if job not in front + back]
    heads, tails = ends(front, times), ends(back, times[::-1])[::-1]
    if len(left) == 1:
        makespan = ends(front + (left[0],) + back[::-1], times)[-1]
        assert makespan >= best, f"there is a schedule of makespan {makespan}"
        return [], 2
    behind = [max(tail, least) for tail, least in zip(tails, least_tail)]
    ahead = [max(head, least) for head, least in zip(heads, least_head)]
    at_front = [bound(job, heads, behind, left, times) for job in left]
    at_back = [bound(job, tails[::-1], ahead[::-1], left, times[::-1]) for job in left]
    kept = [sum(value < reference for value in side) for side in (at_front, at_back)]
    to_back = kept[1] < kept[0] or kept[1] == kept[0] and sum(at_front) < sum(at_back)
    children = []
    for job, value in zip(left, at_back if to_back else at_front):
        value = max(value, parent)
        if value < best:
            child = (front, back + (job,)) if to_back else (front + (job,), back)
            children.append((value, *child))
    return children, 2 * len(left)


content = Reader(open(sys.argv[2], "rb").read())
assert content.take(4) == b"plcf", "this is no certificate"
content.take(1 + 8 + 8)  # format, fingerprint, length
content.number()  # the run
content.number()  # its term
state = json.loads(content.bytes())["state"]
assert state["bound"] == "one" and state["asked"]["branching"] == "min-branch", "other rules"
content.number()  # the time
claimed = content.counts()
best = content.signed()
solution = (content.signed(), content.many(content.signed)) if content.number() else None
assert content.number() == 0 and content.number() == 0, "some work is open"
if solution:
    value, order = solution
    assert sorted(order) == list(range(1, jobs + 1)), "its schedule is no permutation"
    assert ends([job - 1 for job in order], times)[-1] == value == best, "its schedule has another value"

balance = Counter([(UNBOUNDED, (), ())])
counted = [0, 0]
regions = content.number()
for region in range(regions):
    begins, stops = nodes_of(content.many(content.bytes)), nodes_of(content.many(content.bytes))
    branched, bounded = content.counts()
    balance.update(stops)
    balance.subtract(begins)
    stops, found = Counter(stops), [0, 0]
    while begins:
        node = begins.pop()
        if stops[node] > 0:
            stops[node] -= 1
            continue
        children, made = expand(node, state["reference"], best)
        begins += children
        found = [found[0] + 1, found[1] + made]
    assert not any(stops.values()), f"region {region + 1} ends at nodes that are not in it"
    assert found == [branched, bounded], f"region {region + 1} has {found} nodes"
    counted = [counted[0] + branched, counted[1] + bounded]
assert not any(balance.values()), "regions do not fit together"
assert counted == claimed, "the counts of the regions do not add up"
what = f"the optimum is {best}" if solution else f"no schedule is shorter than {best}"
print(f"{what}: {regions} regions with {counted[1]} bounds make up the tree")
