const POLL_MS = 2000;
const RETRY_MS = 3000;
const LOG_CHARS = 200_000;
const TIME_STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 43200, 86400];
const RANK = { running: 0, waiting: 1, paused: 2 };

const $ = (id) => document.getElementById(id);
const isOver = (job) => !(job.state in RANK);

let me = null;
let jobs = [];
let detail = null; // the job of the detail view: {id, job, history}
let events = null;
let threads = 0; // of all joiners
const known = new Map(); // the last seen states, to tell of changes

/* Elements */

function el(tag, props = {}, ...children) {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// Equal text is left alone, so that a selection in it survives an update.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function tell(text, bad = false) {
  $("note").hidden = !text;
  $("note").classList.toggle("bad", bad);
  setText($("note"), text);
}

/* Words for values */

function duration(seconds) {
  if (seconds > 0 && seconds < 10) return `${seconds.toFixed(1)} s`;
  const s = Math.round(seconds);
  const parts = (large, a, small, b) => `${Math.floor(s / large)} ${a}` + (s % large < small ? "" : ` ${Math.floor((s % large) / small)} ${b}`);
  if (s < 60) return `${s} s`;
  if (s < 3600) return parts(60, "min", 1, "s");
  if (s < 86400) return parts(3600, "h", 60, "min");
  return parts(86400, "d", 3600, "h");
}

const date = (s) => new Date(s * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
const short = (n) => n.toLocaleString("en", { notation: "compact", compactDisplay: "long", maximumFractionDigits: 2 });
const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const value = (v, decimals = 0) => (v / 10 ** decimals).toFixed(decimals);
const given = (v) => v !== null && v !== undefined;

function gap(search) {
  if (!given(search?.best) || !given(search.bound)) return null;
  const unit = 10 ** search.decimals;
  const ratio = Math.abs(search.best - search.bound) / Math.max(Math.abs(search.best), unit);
  return `${(100 * ratio).toFixed(2)} %`;
}

const quoted = (word) => (/^[^\s"']+$/.test(word) ? word : word.includes('"') ? `'${word}'` : `"${word}"`);
const commandOf = (job) => (job.args.length ? job.args.map(quoted).join(" ") : "private");

function whyOf(job) {
  const more = given(job.more_in_s) ? ` More threads expected in about ${duration(job.more_in_s)}.` : "";
  return `${job.why}${more}`.trim();
}

/** Splits a command line on blanks outside quotes. */
function split(line) {
  const words = [];
  let word = null;
  let quote = null;
  for (const c of line) {
    if (quote) {
      if (c === quote) quote = null;
      else word += c;
    } else if (c === '"' || c === "'") {
      quote = c;
      word ??= "";
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + c;
    }
  }
  if (quote) throw new Error(`A quote ${quote} is not closed.`);
  if (word !== null) words.push(word);
  return words;
}

/* The service */

async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error("The service is not responding.");
  }
  if (answer.ok) return answer;
  const error = new Error(`The service answered with status ${answer.status}.`);
  error.status = answer.status;
  try {
    error.message = (await answer.json()).error ?? error.message;
  } catch { /* A proxy's answer is not JSON: the status says enough. */ }
  if (answer.status === 401 && me) signedOut();
  throw error;
}

const get = async (path) => (await ask("GET", path)).json();

async function act(job, action, body = {}) {
  try {
    await ask("POST", `/v1/jobs/${job.id}/${action}`, body);
    tell("");
    refresh();
    return true;
  } catch (error) {
    tell(`Job ${job.id}: ${error.message}`, true);
    return false;
  }
}

function connect() {
  events?.close();
  const source = new EventSource("/v1/events");
  events = source;
  source.addEventListener("jobs", (event) => showJobs(JSON.parse(event.data).jobs));
  source.onopen = () => {
    $("connection").hidden = true;
    // Shows what changed while nobody listened.
    refresh();
  };
  source.onerror = () => {
    $("connection").hidden = false;
    // The browser gives up after an answer such as a proxy's 502.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => source === events && start(), RETRY_MS);
  };
}

async function start() {
  try {
    const session = await get("/v1/session");
    if (me?.name === session.name) connect();
    else signedIn(session);
  } catch (error) {
    if (error.status === 401) return signedOut();
    $("connection").hidden = false;
    setTimeout(start, RETRY_MS);
  }
}

function signedIn(session) {
  me = session;
  setText($("who"), me.role === "user" ? me.name : `${me.name} (${me.role})`);
  connect();
  route();
}

function signedOut() {
  events?.close();
  events = me = detail = null;
  jobs = [];
  known.clear();
  // The next user of this page must see nothing of this one's.
  for (const id of ["share-list", "queue", "finished-jobs", "joiner-list", "facts", "chart", "log"]) $(id).replaceChildren();
  $("submit").reset();
  $("shares").hidden = $("joiners").hidden = true;
  $("connection").hidden = true;
  tell("");
  route();
}

async function refresh() {
  try {
    if (detail) await loadDetail();
    else await Promise.all([get("/v1/jobs").then((answer) => showJobs(answer.jobs)), loadSides()]);
  } catch { /* The connection's note tells it, and the next poll tries again. */ }
}

/* Tables */

/** Makes the rows of `items`, keeping those that exist, so that focus and typed text stay. */
function fillTable(table, columns, items, keyOf, mark = () => {}) {
  if (!table.tBodies[0]) {
    const heads = columns.map(([label]) => el("th", { scope: "col", role: "columnheader", textContent: label }));
    table.append(el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...heads)), el("tbody", { role: "rowgroup" }));
    table.role = "table";
  }
  const body = table.tBodies[0];
  const focused = document.activeElement;
  const keys = new Set(items.map((item) => String(keyOf(item))));
  const rows = new Map();
  for (const row of [...body.rows]) {
    if (keys.has(row.dataset.key)) rows.set(row.dataset.key, row);
    else row.remove();
  }
  items.forEach((item, i) => {
    const key = String(keyOf(item));
    let row = rows.get(key);
    if (!row) {
      // Roles are explicit, as the card layout of narrow windows would remove them.
      row = el("tr", { role: "row" }, ...columns.map(([label], n) => {
        const cell = el(n ? "td" : "th", { className: `col-${label.toLowerCase().split(" ")[0]}`, role: n ? "cell" : "rowheader" });
        if (!n) cell.scope = "row";
        cell.dataset.label = label;
        return cell;
      }));
      row.dataset.key = key;
    }
    mark(row, item);
    columns.forEach(([, fill], n) => {
      const text = fill(item, row.cells[n]);
      if (typeof text === "string") setText(row.cells[n], text);
    });
    if (body.rows[i] !== row) body.insertBefore(row, body.rows[i] ?? null);
  });
  table.hidden = !items.length;
  if (focused !== document.activeElement && focused?.isConnected) focused.focus();
}

function twoLines(cell, first, second) {
  if (!cell.firstChild) cell.append(el("div"), el("div", { className: "sub" }));
  setText(cell.firstChild, first);
  setText(cell.lastChild, second);
}

function fillState(job, cell) {
  if (!cell.firstChild) cell.append(el("span", { className: "state" }));
  setText(cell.firstChild, job.state);
}

function fillCommand(job, cell) {
  if (!cell.firstChild) {
    const name = job.args.length ? el("a", { href: `#job/${job.id}` }) : el("span");
    name.className = "command";
    cell.append(name, el("div", { className: "sub why" }), el("div", { className: "error" }));
  }
  setText(cell.children[0], commandOf(job));
  setText(cell.children[1], whyOf(job));
  setText(cell.children[2], job.error ?? job.search?.warning ?? "");
}

function fillBest(job, cell) {
  const s = job.search;
  if (!s) return "";
  const best = given(s.best) ? value(s.best, s.decimals) : "none yet";
  const bound = given(s.bound) ? `bound ${value(s.bound, s.decimals)}` : "";
  twoLines(cell, best, [bound, gap(s) && `gap ${gap(s)}`].filter(Boolean).join("\n"));
}

function fillProgress(job, cell) {
  const done = job.search?.done;
  if (!given(done)) return cell.replaceChildren();
  if (!cell.firstChild) cell.append(el("progress", { max: 1, ariaLabel: `Progress of job ${job.id}` }), el("div", { className: "sub" }));
  cell.firstChild.value = done;
  setText(cell.lastChild, `about ${(100 * done).toFixed(done < 0.1 ? 1 : 0)} %`);
}

const mayControl = (job) => me.role === "operator" || me.name === job.user;

function fillPriority(job, cell) {
  if (!mayControl(job) || isOver(job)) return setText(cell, String(job.priority));
  let input = cell.querySelector("input");
  if (!input) {
    input = el("input", { type: "number", step: "1", required: true, ariaLabel: `Priority of job ${job.id}` });
    input.onchange = async () => {
      const fine = input.checkValidity() && (await act(job, "priority", { priority: Number(input.value) }));
      if (!fine) input.value = input.defaultValue;
    };
    cell.replaceChildren(input);
  }
  input.defaultValue = job.priority;
  if (document.activeElement !== input) input.value = job.priority;
}

function fillActions(job, cell) {
  if (!mayControl(job) || isOver(job)) return cell.replaceChildren();
  if (!cell.firstChild) {
    // One button for both directions, so that the focus stays on it.
    const toggle = el("button", { type: "button", onclick: () => act(job, toggle.dataset.action) });
    const cancel = el("button", { type: "button", className: "danger", textContent: "Cancel", onclick: () => confirmCancel(job) });
    cancel.dataset.action = "cancel";
    cancel.ariaLabel = `Cancel job ${job.id}`;
    cell.append(el("div", { className: "actions" }, toggle, cancel));
  }
  const toggle = cell.querySelector("button");
  const [action, word] = job.state === "paused" ? ["continue", "Continue"] : ["pause", "Pause"];
  toggle.dataset.action = action;
  toggle.ariaLabel = `${word} job ${job.id}`;
  setText(toggle, word);
}

function fillLinks(job, cell) {
  if (!job.args.length || (cell.firstChild && cell.dataset.links === job.state)) return;
  cell.dataset.links = job.state;
  const link = (kind, text) => el("a", { href: `/v1/jobs/${job.id}/${kind}`, target: "_blank", rel: "noopener", textContent: text, ariaLabel: `${text} of job ${job.id}` });
  const links = job.state === "done" ? [link("result", "Result"), link("report", "Report")] : [];
  cell.replaceChildren(el("div", { className: "actions" }, ...links, link("log", "Log")));
}

const QUEUE = [
  ["Job", (job) => String(job.id)],
  ["State", fillState],
  ["Command", fillCommand],
  ["User", (job) => job.user],
  ["Best", fillBest],
  ["Progress", fillProgress],
  ["Threads", (job, cell) => twoLines(cell, String(job.workers), job.joiners ? count(job.joiners, "joiner") : "")],
  ["Priority", fillPriority],
  ["Actions", fillActions],
];

const FINISHED = [
  ...QUEUE.slice(0, 5),
  ["Thread time", (job) => duration(job.worker_s)],
  ["Ended", (job) => (given(job.ended) ? date(job.ended) : "")],
  ["Actions", fillLinks],
];

const JOINERS = [
  ["Name", (joiner) => joiner.name],
  ["Threads", (joiner) => String(joiner.threads)],
  ["Job", (joiner, cell) => {
    if (!given(joiner.job)) return "idle";
    if (cell.textContent !== `job ${joiner.job}`) cell.replaceChildren(el("a", { href: `#job/${joiner.job}`, textContent: `job ${joiner.job}` }));
  }],
  ["Only for", (joiner) => joiner.only_for ?? ""],
  ["Joined", (joiner) => date(joiner.since)],
];

function showJobs(list) {
  jobs = list;
  if (!me) return;
  for (const job of jobs) {
    const before = known.get(job.id);
    if (before && before !== job.state && isOver(job) && job.user === me.name) tell(`Job ${job.id} is ${job.state}.`, job.state === "failed");
    known.set(job.id, job.state);
  }
  const mark = (row, job) => Object.assign(row.dataset, { job: job.id, state: job.state });
  const open = jobs.filter((job) => !isOver(job)).sort((a, b) => RANK[a.state] - RANK[b.state] || a.id - b.id);
  const over = jobs.filter(isOver).sort((a, b) => (b.ended ?? 0) - (a.ended ?? 0));
  fillTable($("queue"), QUEUE, open, (job) => job.id, mark);
  fillTable($("finished-jobs"), FINISHED, over, (job) => job.id, mark);
  $("queue-empty").hidden = open.length > 0;
  $("finished").hidden = !over.length;
  setText($("finished-count"), `(${over.length})`);
}

/* Shares and joiners */

// A user's account may not let them see everything: what is refused stays hidden.
async function loadSides() {
  const [users, joiners] = await Promise.allSettled([get("/v1/users"), get("/v1/joiners")]);
  if (!me) return;
  if (joiners.value) showJoiners(joiners.value.joiners);
  if (users.value) showShares(users.value.users.filter((user) => user.role !== "joiner"));
}

function showJoiners(joiners) {
  threads = joiners.reduce((sum, joiner) => sum + joiner.threads, 0);
  $("joiners").hidden = false;
  setText($("joiners-sum"), joiners.length ? `${count(joiners.length, "joiner")}, ${count(threads, "thread")}` : "No joiners yet.");
  fillTable($("joiner-list"), JOINERS, joiners, (joiner) => joiner.name);
}

function showShares(users) {
  const wants = (user) => user.workers > 0 || jobs.some((job) => job.user === user.name && job.state in RANK && job.state !== "paused");
  const weights = users.filter(wants).reduce((sum, user) => sum + user.weight, 0);
  // The roots' own threads belong to no joiner, so more threads may be in use.
  const total = Math.max(threads, users.reduce((sum, user) => sum + user.workers, 0), 1);
  const list = $("share-list");
  $("shares").hidden = !users.length;
  while (list.children.length > users.length) list.lastChild.remove();
  users.forEach((user, i) => {
    const bar = el("div", { className: "bar", ariaHidden: "true" }, el("div", { className: "now" }), el("div", { className: "part" }));
    const item = list.children[i] ?? list.appendChild(el("li", {}, el("span", { className: "name" }), bar, el("span", { className: "words" })));
    const part = wants(user) && weights > 0 ? user.weight / weights : null;
    const mark = item.querySelector(".part");
    item.dataset.user = user.name;
    item.querySelector(".now").style.width = `${(100 * user.workers) / total}%`;
    mark.hidden = part === null;
    mark.style.left = `${100 * (part ?? 0)}%`;
    setText(item.querySelector(".name"), user.name);
    const due = part === null ? "no jobs" : `due ${(part * total).toFixed(1)}`;
    setText(item.querySelector(".words"), `${count(user.workers, "thread")}, ${due}, weight ${user.weight}${user.usage >= 1 ? `, used ${duration(user.usage)}` : ""}`);
  });
}

/* One job */

async function loadDetail() {
  const { id } = detail;
  const [job, history] = await Promise.all([get(`/v1/jobs/${id}`), get(`/v1/jobs/${id}/history`)]);
  if (detail?.id !== id) return; // The user has moved on meanwhile.
  Object.assign(detail, { job, history: history.history });
  showDetail();
  if ($("log-box").open) await loadLog();
}

function showDetail() {
  const { job } = detail;
  const s = job.search;
  $("job").dataset.state = job.state;
  setText($("job-state"), job.state);
  setText($("job-command"), commandOf(job));
  setText($("job-why"), whyOf(job));
  setText($("job-error"), [job.error, s?.warning].filter(Boolean).join(" "));
  fillActions(job, $("job-actions"));
  if (isOver(job)) $("job-priority").replaceChildren();
  else {
    if (!$("job-priority").firstChild) $("job-priority").append(el("label", {}, el("span", { textContent: "Priority " }), el("span")));
    fillPriority(job, $("job-priority").querySelector("label").lastChild);
  }
  fillLinks(job, $("job-links"));
  const facts = [
    ["User", job.user],
    ["Best", given(s?.best) ? value(s.best, s.decimals) : "none yet"],
    ["Bound", given(s?.bound) ? value(s.bound, s.decimals) : null],
    ["Gap", gap(s)],
    ["Done (estimate)", given(s?.done) ? `${(100 * s.done).toFixed(1)} %` : null],
    ["Nodes", s ? short(s.nodes) : null],
    ["Search time", s ? duration(s.seconds) : null],
    ["Busy workers", s ? `${s.busy} of ${s.units}` : null],
    ["Sites", s ? String(s.sites) : null],
    ["Threads now", isOver(job) ? null : `${job.workers}, ${count(job.joiners, "joiner")}`],
    ["Thread time", duration(job.worker_s)],
    ["Submitted", date(job.submitted)],
    ["Started", given(job.started) ? date(job.started) : null],
    ["Ended", given(job.ended) ? date(job.ended) : null],
    ["Priority", isOver(job) ? String(job.priority) : null],
    ["Crashes of joiners", job.crashes ? String(job.crashes) : null],
    ["Exit code", given(job.exit) ? String(job.exit) : null],
  ].filter(([, text]) => text !== null);
  const list = $("facts");
  const labels = facts.map(([label]) => label).join();
  if (list.dataset.labels !== labels || !list.firstChild) {
    list.dataset.labels = labels;
    list.replaceChildren(...facts.map(([label]) => el("div", {}, el("dt", { textContent: label }), el("dd"))));
  }
  facts.forEach(([, text], i) => setText(list.children[i].lastChild, text));
  drawChart();
}

async function loadLog() {
  const { id } = detail;
  let text;
  try {
    text = await (await ask("GET", `/v1/jobs/${id}/log`)).text();
  } catch (error) {
    text = error.message;
  }
  if (detail?.id !== id) return;
  const log = $("log");
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 20;
  setText(log, text.slice(-LOG_CHARS) || "empty");
  if (atEnd) log.scrollTop = log.scrollHeight;
}

/** Round values from `low` to `high`, about `n` of them. */
function ticks(low, high, n, steps) {
  const rough = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = steps?.find((s) => s >= rough) ?? [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step);
  return found;
}

/** The path of a step line; a missing value interrupts it. */
function steps(points, x, y, end) {
  let path = "";
  let pen = false;
  for (const [at, v] of points) {
    if (given(v)) path += pen ? `H${x(at)}V${y(v)}` : `M${x(at)} ${y(v)}`;
    else if (pen) path += `H${x(at)}`;
    pen = given(v);
  }
  return pen ? `${path}H${x(end)}` : path;
}

function drawChart() {
  const { job, history } = detail;
  const box = $("chart");
  const width = box.clientWidth;
  if (!width) return;
  if (history.length < 2) return box.replaceChildren(el("p", { className: "hint", textContent: "Nothing to draw yet." }));

  const decimals = job.search?.decimals ?? 0;
  const scale = 10 ** decimals;
  const origin = history[0].at;
  const end = Math.max(history.at(-1).at, job.state === "done" ? (job.ended ?? 0) : 0, origin + 1e-3) - origin;
  const values = history.flatMap((m) => [m.best, m.bound]).filter(given).map((v) => v / scale);
  let [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  if (!values.length) [low, high] = [0, 1];
  const pad = (high - low) * 0.06 || 1;
  [low, high] = [low - pad, high + pad];
  const most = Math.max(1, ...history.map((m) => m.units));

  const numbers = { maximumFractionDigits: Math.max(decimals, 2) };
  const valueTicks = ticks(low, high, 4).map((v) => [v, v.toLocaleString("en", numbers)]);
  const unitTicks = [...new Set([0, most])].map((v) => [v, String(v)]);
  const left = 12 + 7 * Math.max(...valueTicks.map(([, text]) => text.length), 4);
  const right = width - 8;
  const [top, middle, below, bottom] = [10, 210, 235, 305];
  const x = (at) => (left + (at / end) * (right - left)).toFixed(1);
  const y = (v) => (middle - ((v - low) / (high - low)) * (middle - top)).toFixed(1);
  const u = (n) => (bottom - (n / most) * (bottom - below)).toFixed(1);

  const points = (of) => history.map((m) => [m.at - origin, of(m)]);
  const scaled = (name) => points((m) => (given(m[name]) ? m[name] / scale : null));
  const line = (at, label, place) => [
    svg("line", { class: "grid", x1: left, x2: right, y1: place(at), y2: place(at) }),
    svg("text", { x: left - 8, y: Number(place(at)) + 4, "text-anchor": "end" }, label),
  ];
  const moments = ticks(0, end, Math.max(2, width / 140), end > 10 ? TIME_STEPS : undefined);
  const last = job.search;
  const words = `Best and bound over time, busy workers below.${given(last?.best) ? ` Best now ${value(last.best, decimals)}.` : ""}`;
  box.replaceChildren(svg("svg", { role: "img", "aria-label": words, viewBox: `0 0 ${width} 330`, height: 330 },
    ...valueTicks.flatMap(([v, label]) => line(v, label, y)),
    ...unitTicks.flatMap(([v, label]) => line(v, label, u)),
    ...moments.flatMap((at) => [
      svg("line", { class: "grid", x1: x(at), x2: x(at), y1: top, y2: bottom }),
      svg("text", { x: x(at), y: bottom + 18, "text-anchor": at > end * 0.93 ? "end" : "middle" }, duration(at)),
    ]),
    svg("path", { class: "busy", d: `${steps(points((m) => m.busy), x, u, end)}V${bottom}H${x(0)}Z` }),
    svg("path", { class: "units", d: steps(points((m) => m.units), x, u, end) }),
    svg("path", { class: "bound", d: steps(scaled("bound"), x, y, end) }),
    svg("path", { class: "best", d: steps(scaled("best"), x, y, end) })));
}

/* What the user does */

function confirmCancel(job) {
  const dialog = $("confirm");
  setText($("confirm-text"), `Cancel job ${job.id} (${commandOf(job)})? It will not run again.`);
  dialog.returnValue = "no";
  dialog.onclose = () => dialog.returnValue === "yes" && act(job, "cancel");
  dialog.showModal();
}

function route(event) {
  const match = /^#job\/(\d+)$/.exec(location.hash);
  $("account").hidden = !me;
  $("sign-in").hidden = !!me;
  $("overview").hidden = !me || !!match;
  $("job").hidden = !me || !match;
  document.title = match && me ? `Job ${match[1]} - Pleach` : "Pleach";
  detail = null;
  if (!me) return $("token").focus();
  if (match) {
    detail = { id: Number(match[1]) };
    for (const id of ["job-state", "job-command", "job-why", "job-error", "job-actions", "job-priority", "job-links", "facts", "chart", "log"]) $(id).replaceChildren();
    setText($("job-title"), `Job ${detail.id}`);
    $("log-box").open = false;
    loadDetail().catch((error) => setText($("job-error"), error.message));
  } else {
    refresh();
  }
  if (event) {
    tell("");
    $(match ? "job-title" : "jobs-title").focus();
  }
}

const base64 = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
  reader.readAsDataURL(file);
});

$("submit").onsubmit = async (event) => {
  event.preventDefault();
  const [button, problem] = [$("submit-button"), $("submit-error")];
  setText(problem, "");
  button.disabled = true;
  try {
    const args = split($("command").value);
    if (args[0] === "pleach") args.shift();
    if (!args.length) throw new Error("The command is empty.");
    const files = {};
    for (const file of $("files").files) files[file.name] = await base64(file);
    const answer = await ask("POST", "/v1/jobs", { args, files, priority: Number($("priority").value) });
    const { ids } = await answer.json();
    event.target.reset();
    tell(`${ids.length === 1 ? "Job" : "Jobs"} ${ids.join(", ")} submitted.`);
    refresh();
  } catch (error) {
    setText(problem, error.message);
  } finally {
    button.disabled = false;
  }
};

$("sign-in").onsubmit = async (event) => {
  event.preventDefault();
  setText($("sign-in-error"), "");
  try {
    const session = await (await ask("POST", "/v1/session", { token: $("token").value.trim() })).json();
    $("token").value = "";
    signedIn(session);
  } catch (error) {
    setText($("sign-in-error"), error.message);
  }
};

$("sign-out").onclick = async () => {
  try {
    await ask("DELETE", "/v1/session");
    signedOut();
  } catch (error) {
    tell(error.message, true);
  }
};

$("log-box").ontoggle = () => detail && $("log-box").open && loadLog();
addEventListener("hashchange", route);
// A browser opens six connections to a service: hidden tabs must not hold them all.
document.onvisibilitychange = () => {
  if (document.hidden) events?.close();
  else if (me) connect();
};
addEventListener("resize", () => detail?.history && drawChart());
setInterval(() => {
  if (!me || document.hidden) return;
  if (!detail) loadSides();
  else if (!detail.job || !isOver(detail.job)) refresh();
}, POLL_MS);

start();
