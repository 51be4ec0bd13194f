"""Measures a service: python ci/service.py PLEACH shares|moves|idle|jobs|kills|requests [N]. Prints what it saw; asserts only counts."""

import atexit, http.client, json, os, random, re, shutil, signal, socket, ssl, subprocess, sys, tempfile, threading, time

PLEACH, WHAT = os.path.abspath(sys.argv[1]), sys.argv[2]
N = int(sys.argv[3]) if len(sys.argv) > 3 else None
FOLDER = tempfile.mkdtemp(prefix="pleach-service-")


class Service:
    """A service with a folder of its own."""

    def __init__(self, *flags):
        self.flags, self.at, self.process = flags, "127.0.0.1:0", None
        self.begin()

    def begin(self):
        command = [PLEACH, "serve", "--listen", self.at, "--data", FOLDER + "/data", *self.flags]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        for line in self.process.stderr:
            if "serving at" in line:
                self.at = re.search(r"serving at (\S+);", line)[1]
                break
        else:
            sys.exit("the service does not start")
        self.said = []
        threading.Thread(target=self.said.extend, args=(self.process.stderr,), daemon=True).start()
        self.connection = None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None, user="operator"):
        """An answer, with one connection for each user, opened again if it fails."""
        file = f"{FOLDER}/data/{user}" if user in ("operator", "joiners") else f"{FOLDER}/{user}.service"
        token = open(file).read().split()[-1]
        for attempt in (0, 1):
            if self.connection is None:
                context = ssl._create_unverified_context()
                self.connection = http.client.HTTPSConnection(self.at, context=context, timeout=60)
            try:
                headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
                self.connection.request(method, path, None if body is None else json.dumps(body), headers)
                answer = self.connection.getresponse()
                return json.loads(answer.read())
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt:
                    raise

    def user(self, name, weight):
        env = {**os.environ, "PLEACH_SERVICE": FOLDER + "/data/operator"}
        subprocess.run([PLEACH, "user", name, "--weight", str(weight)], env=env, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)

    def submit(self, words, user, key=""):
        return self.ask("POST", "/v1/jobs", {"args": words.split(), "key": key}, user)["ids"][0]

    def joiner(self, *flags):
        command = [PLEACH, "join", self.at, "--key", FOLDER + "/data/joiners", "--quiet", "--threads", "1", "--patience", "none"]
        return subprocess.Popen([*command, *flags], stderr=subprocess.DEVNULL)

    def jobs(self):
        return {job["id"]: job for job in self.ask("GET", "/v1/jobs")["jobs"]}


def cpu_and_memory(pid):
    """Processor seconds and resident MiB of a process."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    status = open(f"/proc/{pid}/status").read()
    return ticks / os.sysconf("SC_CLK_TCK"), int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def shares():
    """Three users with weights 1:2:4, paced joiners, mixed jobs: the parts of the threads over two minutes."""
    service = Service("--half-life", "60", "--roots", "9", "--threads", "1")
    weights = {"ann": 1, "bob": 2, "cleo": 4}
    for name, weight in weights.items():
        service.user(name, weight)
    joiners = [service.joiner("--pace", "20000") for _ in range(N or 16)]
    words = ["count uts T3 --pace 20000", "solve flowshop ta056 --pace 20000", "count queens 17 --pace 20000"]
    for user in weights:
        for word in words:
            service.submit(word, user)
    time.sleep(20)
    used = lambda: {user: sum(job["worker_s"] for job in service.jobs().values() if job["user"] == user) for user in weights}
    before = used()
    time.sleep(120)
    after = used()
    all_used = sum(after.values()) - sum(before.values())
    for user, weight in weights.items():
        part, due = (after[user] - before[user]) / all_used, weight / sum(weights.values())
        print(f"{user}: {100 * part:.2f} % of the thread-seconds, due {100 * due:.2f} %")
    return service, joiners


def moves():
    """One joiner is moved to and fro between two searches: time from the order to its work, nodes done twice."""
    service = Service("--half-life", "3600", "--roots", "2")
    service.user("ann", 1)
    joiner = service.joiner("--pace", "30000")
    jobs = [service.submit("count queens 13 --pace 30000", "ann") for _ in range(2)]
    times = []
    for n in range(N or 40):
        to = jobs[n % 2]
        time.sleep(1.0)
        begin = time.time()
        for job in jobs:
            service.ask("POST", f"/v1/jobs/{job}/priority", {"priority": 5 if job == to else 0}, "ann")
        while True:
            job = service.jobs()[to]
            if job["search"] and job["search"]["units"] == 2 and job["search"]["busy"] == 2:
                break
            time.sleep(0.005)
        times.append(time.time() - begin)
    times = sorted(times[1:])
    print(f"{len(times)} moves: median {1000 * times[len(times) // 2]:.0f} ms, worst {1000 * times[-1]:.0f} ms, "
          "from the order until the root of the other search reports two busy workers (it reports ten times a second)")
    while any(job["state"] != "done" for job in service.jobs().values()):
        time.sleep(1)
    results = [service.ask("GET", f"/v1/jobs/{job}/result") for job in jobs]
    twice = sum(site["redone"] for result in results for site in result["sites"] or [])
    visits = sum(len(result["sites"] or [1]) - 1 for result in results)
    assert all(result["nodes"]["bounded"] == 4674889 for result in results), results
    print(f"{twice} of {2 * 4674889} nodes done twice in {visits} visits of a joiner")
    return service, [joiner]


def idle():
    """Idle joiners, each a connection of its own from one process: memory and processor time of the service."""
    service = Service()
    token = open(FOLDER + "/data/joiners").read().split()[-1]
    build = re.search(r"pleach (\S+),", service.ask("POST", "/v1/joiners/orders", {"name": "x", "threads": 1, "build": ""}, "joiners")["error"])[1]
    service.connection = None
    n, context, sockets = N or 1000, ssl._create_unverified_context(), []
    body = lambda i: json.dumps({"name": f"j{i}", "threads": 1, "build": build})
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    begin = time.time()
    for i in range(n):
        connection = http.client.HTTPSConnection(service.at, context=context, timeout=60)
        connection.request("POST", "/v1/joiners/orders", body(i), headers)
        sockets.append(connection)
    print(f"{n} joiners came in {time.time() - begin:.1f} s")
    stop = False

    def poll():
        i = 0
        while not stop:
            try:
                sockets[i % n].getresponse().read()
            except http.client.HTTPException:
                return  # The service has ended.
            sockets[i % n].request("POST", "/v1/joiners/orders", body(i % n), headers)
            i += 1

    threading.Thread(target=poll, daemon=True).start()
    time.sleep(10)
    before, wall = cpu_and_memory(service.process.pid)[0], time.time()
    time.sleep(60)
    cpu, memory = cpu_and_memory(service.process.pid)
    there = len(service.ask("GET", "/v1/joiners")["joiners"])
    stop = True
    print(f"{there} joiners there: {100 * (cpu - before) / (time.time() - wall):.1f} % of a core, {memory:.0f} MiB")
    return service, []


def jobs():
    """Small jobs, submitted a thousand at a time: jobs a second."""
    service = Service("--roots", "8")
    service.user("ann", 1)
    n, begin = N or 10000, time.time()
    for at in range(0, n, 1000):
        batch = [{"args": ["count", "queens", "8"]} for _ in range(min(1000, n - at))]
        service.ask("POST", "/v1/jobs", {"jobs": batch}, "ann")
    submitted = time.time() - begin
    done = lambda: int(re.search(r'state="done"} (\d+)', metrics(service))[1])
    while done() < n:
        time.sleep(0.2)
    print(f"{n} jobs submitted in {submitted:.1f} s, done in {time.time() - begin:.1f} s: {n / (time.time() - begin):.0f} jobs/s")
    return service, []


def metrics(service):
    token = open(FOLDER + "/data/operator").read().split()[-1]
    connection = http.client.HTTPSConnection(service.at, context=ssl._create_unverified_context(), timeout=60)
    connection.request("GET", "/metrics", headers={"authorization": f"Bearer {token}"})
    return connection.getresponse().read().decode()


def kills():
    """Kills at random moments under load: every job is done once, with its count."""
    service = Service("--roots", "3")
    service.user("ann", 1)
    joiners = [service.joiner("--pace", "400000") for _ in range(2)]
    kinds = [("count queens 8", 92), ("count queens 10 --pace 100000", 724), ("count uts T1 --pace 400000", 4130071), ("count queens 6", 4)]
    wanted, rng, n = {}, random.Random(1), N or 200
    for kill in range(n):
        words, count = rng.choice(kinds)
        key = f"key-{kill}"
        for attempt in range(50):
            try:
                job = service.submit(words, "ann", key)
                break
            except (OSError, http.client.HTTPException, KeyError):
                time.sleep(0.1)
        assert job not in wanted, "a job was submitted twice"
        wanted[job] = count
        time.sleep(rng.random() * 0.6)
        service.kill()
        service.begin()
    ids = list(wanted)
    while True:
        state = re.search(r'state="done"} (\d+)', metrics(service))[1]
        if int(state) >= n:
            break
        time.sleep(0.5)
    for job in ids:
        result = service.ask("GET", f"/v1/jobs/{job}/result")
        assert result["count"] == wanted[job], (job, result)
    print(f"{n} kills, {len(ids)} jobs, each done once with its count; done are {state}")
    return service, joiners


def mutated(rng, data):
    """Bytes with a few changes: flipped, cut out, doubled, put in, or a number that is out of range."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(data) + 1), rng.randint(1, 8)
        change = rng.randrange(6)
        if change == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[at:at + length]
        elif change == 2:
            data[at:at] = data[at:at + length * 4] * rng.randint(1, 40)
        elif change == 3:
            data[at:at] = rng.randbytes(length)
        elif change == 4:
            data[at:at] = rng.choice([b"..", b"/", b"%2e%2e%2f", b"\x00", b"'", b'"', b"{", b"]", b"&", b"\r\n", b"\xff\xfe", b"--"])
        else:
            digits = [b"-1", b"18446744073709551616", b"1e999", b"0.1", b"NaN", b"null"]
            data[:] = re.sub(rb"\d+", lambda number: rng.choice([*digits, number[0]]), bytes(data))
    return bytes(data)


class Raw:
    """A connection that sends bytes as they are, and reads answers."""

    def __init__(self, at):
        host, port = at.rsplit(":", 1)
        plain = socket.create_connection((host, int(port)), timeout=20)
        self.socket = ssl._create_unverified_context().wrap_socket(plain)
        self.bytes = b""

    def more(self):
        more = self.socket.recv(1 << 16)
        if not more:
            raise EOFError
        self.bytes += more

    def answer(self):
        """The status and the body of the next answer."""
        while b"\r\n\r\n" not in self.bytes:
            self.more()
        head, self.bytes = self.bytes.split(b"\r\n\r\n", 1)
        if b"text/event-stream" in head:
            raise EOFError
        length = re.search(rb"content-length: (\d+)", head)
        length = int(length[1]) if length else 0
        while len(self.bytes) < length:
            self.more()
        body, self.bytes = self.bytes[:length], self.bytes[length:]
        return int(head.split(b" ", 2)[1]), body


def requests():
    """Mutated requests to every path, with a user's token, a joiner's, a changed one and none: no failure, no access."""
    service = Service("--roots", "1")
    service.user("ann", 1)
    service.ask("POST", "/v1/users/ann", {"jobs": 2})
    token = lambda file: open(f"{FOLDER}/{file}").read().split()[-1].encode()
    ann, joiner = token("ann.service"), token("data/joiners")
    described = service.ask("GET", "/openapi.json")
    paths = [(method.upper().encode(), path.encode()) for path, methods in described["paths"].items() for method in methods if method in ("get", "post", "delete")]
    bodies = [json.dumps(body).encode() for body in [
        {"args": ["count", "queens", "6"], "key": "k", "files": {"a.txt": "MQo="}, "priority": 1},
        {"args": ["solve", "flowshop", "shop.csv", "--due=due.csv"], "files": {"shop.csv": "MSAyCjMgNAo=", "due.csv": "MQ=="}},
        {"name": "x", "host": "h", "threads": 2, "build": "b", "job": 1, "run": 1, "problem": "crashed"},
        {"role": "operator", "weight": 2.5, "threads": 3, "jobs": 4, "memory": 5, "files": 6, "renew": True},
        {"token": "0" * 64}, {"priority": 3}, {}]]
    public = set()
    for path in ["/", "/style.css", "/app.js", "/favicon.ico", "/openapi.json"]:
        connection = Raw(service.at)
        connection.socket.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        public.add(connection.answer()[1])
    users = sorted(user["name"] for user in service.ask("GET", "/v1/users")["users"])
    rng, n, seen, broken, connection = random.Random(2), N or 20000, {}, 0, None

    def request():
        method, path = rng.choice(paths)
        path = path.replace(b"{id}", rng.choice([b"1", b"2", b"999"])).replace(b"{name}", rng.choice([b"ann", b"operator", b"a.txt"]))
        body = rng.choice(bodies) if method == b"POST" else b""
        secret = rng.choice([ann, joiner, re.sub(rb"[^\x21-\x7e]", b"", mutated(rng, ann)), b"", None, None])
        part = rng.randrange(3)
        if part == 0:
            path = b"/" + re.sub(rb"[\x00-\x20\x7f-\xff]", b"", mutated(rng, path[1:] or b"x"))
        elif part == 1 and body:
            body = mutated(rng, body)
        head = method + b" " + path + b" HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        if secret is not None:
            head += b"authorization: Bearer " + secret + b"\r\n"
        known = secret in (ann, joiner)
        return head + b"content-length: %d\r\n\r\n" % len(body) + body, known

    def check(status, body, known, sent):
        seen[status] = seen.get(status, 0) + 1
        assert status < 500, (status, body, sent)
        if not known and status < 400 and status != 304:
            # Anybody may sign out, with a valid token or without.
            signs_out = sent.startswith(b"DELETE /v1/session") and body == b"{}"
            assert body in public or signs_out, (status, body, sent)

    done = 0
    while done < n:
        if rng.randrange(20) == 0:
            # The whole request is changed; what follows on the connection would be read as part of it.
            sent, known = request()
            sent = mutated(rng, sent)
            done += 1
            raw = Raw(service.at)
            try:
                raw.socket.sendall(sent)
                socket.socket.shutdown(raw.socket, socket.SHUT_WR)
                check(*raw.answer(), known or ann in sent or joiner in sent, sent)
            except (OSError, EOFError):
                broken += 1
            raw.socket.close()
            continue
        batch = [request() for _ in range(20)]
        for sent, known in batch:
            connection = connection or Raw(service.at)
            try:
                connection.socket.sendall(sent)
                check(*connection.answer(), known, sent)
            except (OSError, EOFError):
                broken, connection = broken + 1, None
        done += len(batch)
    assert service.process.poll() is None, "the service has ended"
    assert sorted(user["name"] for user in service.ask("GET", "/v1/users")["users"]) == users
    assert not any("panicked" in line for line in service.said), service.said
    print(f"{done} requests: {dict(sorted(seen.items()))}, {broken} without an answer; {cpu_and_memory(service.process.pid)[1]:.0f} MiB")
    return service, []


service, joiners = {"requests": requests, "shares": shares, "moves": moves, "idle": idle, "jobs": jobs, "kills": kills}[WHAT]()
service.process.send_signal(signal.SIGTERM)
for process in joiners:
    process.send_signal(signal.SIGTERM)
for process in [service.process, *joiners]:
    process.wait()
shutil.rmtree(FOLDER)
