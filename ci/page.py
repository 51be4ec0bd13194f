"""Tries the page of a service in a browser: python page.py PLEACH CHROMIUM FOLDER [SCREENSHOTS]."""

import atexit
import base64
import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import sys
import threading
import time

PLEACH, CHROMIUM, FOLDER = (os.path.abspath(word) if os.sep in word else word for word in sys.argv[1:4])
SCREENSHOTS = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
# Nothing takes this long, however busy the machine is.
PATIENCE = 600


def start(command, **how):
    """Starts a process that ends with this one."""
    process = subprocess.Popen(command, **how)
    atexit.register(process.kill)
    return process


class Browser:
    """A browser without a window, controlled through a pair of pipes."""

    def __init__(self):
        to_read, self.write = os.pipe()
        self.read, to_write = os.pipe()

        def place():
            # The browser reads from descriptor 3 and writes to 4.
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
            for end, number in zip(ends, (3, 4)):
                os.dup2(end, number)

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--ignore-certificate-errors", "--remote-debugging-pipe",
                 f"--user-data-dir={FOLDER}/browser", "about:blank"]
        self.process = start([CHROMIUM, *flags], preexec_fn=place, close_fds=False,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.text, self.number, self.session, self.log = b"", 0, None, []
        pages = self.ask("Target.getTargets")["targetInfos"]
        page = next(page["targetId"] for page in pages if page["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.text:
                if not select.select([self.read], [], [], PATIENCE)[0]:
                    sys.exit(f"the browser does not answer {method}")
                self.text += os.read(self.read, 1 << 20)
            one, self.text = self.text.split(b"\0", 1)
            answer = json.loads(one)
            if answer.get("id") == self.number:
                return answer["result"] if "result" in answer else sys.exit(f"{method}: {answer}")
            if answer.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.log.append(json.dumps(answer["params"]))

    def value(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, what, script):
        """Waits until a condition holds on the page."""
        end = time.time() + PATIENCE
        while not self.value(script):
            if time.time() > end:
                sys.exit(f"not seen on the page: {what}: {self.value('document.body.innerText')}\n{self.log}")
            time.sleep(0.05)
        print(f"ok  {what}", flush=True)

    def picture(self, name, width, height, dark):
        if SCREENSHOTS:
            self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
            scheme = "dark" if dark else "light"
            self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            time.sleep(1)
            data = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            open(f"{SCREENSHOTS}/{name}.png", "wb").write(base64.b64decode(data))


def begin(at):
    """Starts the service; returns its process and address."""
    command = [PLEACH, "serve", "--listen", at, "--data", f"{FOLDER}/data", "--roots", "2"]
    process = start(command, stderr=subprocess.PIPE, text=True)
    late = threading.Timer(PATIENCE, process.kill)
    late.daemon = True
    late.start()
    for line in process.stderr:
        if "serving at" in line:
            late.cancel()
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, re.search(r"serving at (\S+);", line)[1]
    sys.exit("the service does not start")


def visible(name):
    return f"!!document.getElementById('{name}') && document.getElementById('{name}').getClientRects().length > 0"


def row(job, state):
    return f"!!document.querySelector('tr[data-job=\"{job}\"][data-state={state}]')"


def click(job, action):
    return f"document.querySelector('[data-job=\"{job}\"] [data-action={action}]').click()"


def submit(browser, command):
    browser.value(f"document.getElementById('command').value = {json.dumps(command)}; "
                  "document.getElementById('submit-button').click()")


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
service, at = begin("127.0.0.1:0")
environment = {**os.environ, "PLEACH_SERVICE": f"{FOLDER}/data/operator"}
subprocess.run([PLEACH, "user", "ann"], env=environment, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL,
               timeout=PATIENCE)
token = open(f"{FOLDER}/ann.service").read().split()[-1]
join = [PLEACH, "join", at, "--key", f"{FOLDER}/data/joiners", "--threads", "1", "--quiet", "--patience", "none", "--pace", "1000"]
joiners = [start(join) for _ in range(2)]
browser = Browser()
browser.ask("Page.navigate", url=f"https://{at}/")
browser.until("the sign-in form", visible("sign-in"))
browser.value("document.getElementById('token').value = 'wrong'; document.querySelector('#sign-in button').click()")
browser.until("a token that is refused", "document.getElementById('sign-in-error').textContent.length > 0")
browser.value(f"document.getElementById('token').value = '{token}'; document.querySelector('#sign-in button').click()")
browser.until("the queue", visible("jobs"))
browser.until("two joiners", "document.querySelectorAll('#joiners tbody tr').length == 2")
submit(browser, "fly")
browser.until("a command that is refused", "document.getElementById('submit-error').textContent.includes('expected solve')")
submit(browser, "solve flowshop ta056 --pace 1000")
browser.until("a running job", row(1, "running"))
browser.until("its joiners", "document.querySelector('tr[data-job=\"1\"]').innerText.includes('3')")
joiners.pop().kill()
browser.until("one joiner after the other was killed", "document.querySelectorAll('#joiners tbody tr').length == 1")
browser.value(click(1, "pause"))
browser.until("a paused job", row(1, "paused"))
browser.value(click(1, "continue"))
browser.until("a job that continues", row(1, "running"))
submit(browser, "solve flowshop ta001")
browser.until("a job that is done", row(2, "done"))
browser.picture("queue", 1200, 900, False)
browser.picture("queue-phone-dark", 360, 800, True)
service.kill()
service.wait()
browser.until("the lost connection", visible("connection"))
service, _ = begin(at)
browser.until("the connection again", f"!({visible('connection')})")
browser.until("the job that continues after the restart", row(1, "running"))
browser.value("location.hash = '#job/1'")
browser.until("a job's chart", "document.querySelectorAll('#chart path').length > 0")
browser.picture("job", 1200, 900, True)
browser.value("location.hash = '#job/2'")
browser.until("links to result and report", "[...document.querySelectorAll('#job a')].some(link => /report$/.test(link.href))")
report = browser.value("fetch('/v1/jobs/2/report').then(answer => answer.text())")
assert "1278" in report and "<html" in report, report[:200]
browser.value("location.hash = ''")
browser.until("the queue again", visible("jobs"))
browser.value(click(1, "cancel"))
browser.until("the question before a job is cancelled", "document.getElementById('confirm').open")
browser.value("document.querySelector('#confirm [value=yes]').click()")
browser.until("a cancelled job", row(1, "cancelled"))
browser.value("document.getElementById('sign-out').click()")
browser.until("the sign-in form again", visible("sign-in"))
assert not browser.value("!!document.querySelector('[data-job]')"), "jobs are left on the page"
# The refused token, and requests while the service was away, are in the browser's log; nothing else is.
known = ("401", "400", "ERR_CONNECTION", "ERR_INCOMPLETE", "ERR_EMPTY", "ERR_NETWORK", "502", "503")
odd = [entry for entry in browser.log if "verbose" not in entry and not any(word in entry for word in known)]
assert not odd, odd
browser.process.terminate()
service.terminate()
joiners[0].terminate()
for process in (browser.process, service, *joiners):
    process.wait(PATIENCE)
