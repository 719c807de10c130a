"""The page in a real Chromium, by its driver's own protocol (W3C WebDriver): page.py URL SECRET READ-SECRET FOLDER SOURCE.

Says a line of JSON for each thing that was seen; screenshots go to FOLDER.
"""
import base64
import glob
import json
import os
import subprocess
import sys
import time
import urllib.request

url, secret, reading, folder, source = sys.argv[1:6]
driver = subprocess.Popen(
    ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
port = None
for line in driver.stdout:
    if "successfully on port " in line:
        port = int(line.rsplit("on port ", 1)[1].strip().rstrip("."))
        break
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
ENTER, ESCAPE, DOWN, SHIFT = "\ue007", "\ue00c", "\ue015", "\ue008"


def ask(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=data, method=method, headers={"Content-Type": "application/json"})
    with opener.open(request, timeout=60) as answer:
        return json.load(answer)["value"]


def service(method, path, body=None):
    """Another client of the service."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url + "/api/v1/" + path, data=data, method=method,
        headers={"Content-Type": "application/json", "Authorization": "Bearer " + secret})
    with opener.open(request, timeout=30) as answer:
        return json.load(answer)


def session(*more):
    options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        "--proxy-server=direct://", "--user-data-dir=" + folder + "/profile", *more]}
    capabilities = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
    return "/session/" + ask("POST", "/session", {"capabilities": capabilities})["sessionId"]


def run(script, *arguments):
    return ask("POST", at + "/execute/sync", {"script": script, "args": list(arguments)})


def chromium(command, **parameters):
    return ask("POST", at + "/goog/cdp/execute", {"cmd": command, "params": parameters})


def until(what, script, *arguments):
    end = time.monotonic() + 30
    while True:
        value = run(script, *arguments)
        if value:
            return value
        if time.monotonic() > end:
            print(run("return document.body.innerText")[:3000], file=sys.stderr)
            sys.exit("not within 30 s: " + what)
        # Between two looks at another process.
        time.sleep(0.05)


def click(what, selector):
    """Once it is there: rows are made anew with each piece of news."""
    until(what, "const one = document.querySelector(arguments[0]); one?.click(); return one !== null", selector)


def press(*keys):
    """Real keys; a tuple is pressed together."""
    actions = []
    for group in keys:
        group = group if isinstance(group, tuple) else (group,)
        actions += [{"type": "keyDown", "value": key} for key in group]
        actions += [{"type": "keyUp", "value": key} for key in reversed(group)]
    ask("POST", at + "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})


def fill(**values):
    for name, value in values.items():
        run("document.getElementById(arguments[0]).value = arguments[1]", name, value)


def choose(name, value):
    run("const one = document.getElementById(arguments[0]); one.value = arguments[1];"
        "one.dispatchEvent(new Event('input')); one.dispatchEvent(new Event('change'))", name, value)


def only(text, view="all"):
    """The rows with a text, in a view."""
    run("document.getElementById('view').value = arguments[0]", view)
    choose("filter", text)


def row(text):
    return ("[...document.querySelectorAll('#rows .row')].find(row => row.querySelector('.name').textContent === "
            + json.dumps(text) + ")")


def state(name, word):
    until(f"{name} is {word}", f"return {row(name)}?.querySelector('.meter').textContent === arguments[0]", word)


def names():
    return run("return [...document.querySelectorAll('#rows .row')].sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)"
               ".map(row => row.querySelector('.name').textContent)")


def add(urls):
    run("document.getElementById('add').click(); document.getElementById('urls').value = arguments[0];"
        "document.getElementById('addGo').click()", urls)
    until("they are added", "return !document.getElementById('addBox').open")


def picture(name):
    with open(os.path.join(folder, name + ".png"), "wb") as file:
        file.write(base64.b64decode(ask("GET", at + "/screenshot")))


def size(width, height):
    chromium("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)


def say(step, value):
    print(json.dumps({"step": step, "value": value}), flush=True)


def visit(token):
    # Only another page, and not another fragment, loads it anew.
    ask("POST", at + "/url", {"url": "about:blank"})
    ask("POST", at + "/url", {"url": url + "/" + ("#token=" + token if token else "")})


# Cells of one row, and things in the head, that lie over each other or reach out of the window.
COVERED = """
const boxes = list => list.filter(e => e.checkVisibility() && e.getClientRects().length).map(e => [e, e.getBoundingClientRect()]);
const faults = [];
const groups = [...document.querySelectorAll('#rows .row')].map(row => [...row.children]);
groups.push([...document.querySelectorAll('header > *')], [...document.querySelectorAll('.counts > *')],
  [...document.querySelectorAll('.tabs > *')], [...document.querySelectorAll('#bulk > *')]);
document.querySelectorAll('ul.list li, #rows .buttons').forEach(item => groups.push([...item.children]));
for (const group of groups) {
  const seen = boxes(group).filter(([e, box]) => box.width && e.textContent.trim() + e.querySelectorAll('input, progress').length);
  for (const [e, box] of seen) {
    if (box.right > innerWidth + 1 || box.left < -1) faults.push('out: ' + e.textContent);
    for (const [f, other] of seen) if (e !== f && Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1
      && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 1) faults.push(e.textContent + ' over ' + f.textContent);
  }
}
for (const [e] of boxes([...document.querySelectorAll('button, .counts span')]))
  if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).textOverflow !== 'ellipsis' && getComputedStyle(e).display !== 'inline')
    faults.push('cut: ' + e.textContent);
return faults
"""

def accessibility():
    """The faults that axe-core finds, in both colours, of the page and its boxes; none where it is not installed."""
    tests = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    found = glob.glob(os.path.dirname(tests) + "/.build/peers/python/lib/*/site-packages/axe_core_python/axe.min.js")
    if not found:
        return None
    with open(found[0]) as file:
        axe = file.read()
    faults = []
    for colour in ["light", "dark"]:
        chromium("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colour}])
        for box in ["", "addBox", "limitsBox", "jobBox", "keysBox", "askBox", "loginBox"]:
            run("if (arguments[0]) document.getElementById(arguments[0]).showModal()", box)
            faults += ask("POST", at + "/execute/async", {"args": [box], "script": axe + """;
                const [box, done] = arguments;
                axe.run(document).then(result => done(result.violations.flatMap(fault =>
                  fault.nodes.map(node => [box, fault.id, node.html.slice(0, 200)].join(' ')))), fault => done([String(fault)]))"""})
            run("if (arguments[0]) document.getElementById(arguments[0]).close()", box)
    return faults


at = session()
try:
    size(1280, 900)
    # Without JavaScript there is a sentence, and nothing that cannot work.
    chromium("Emulation.setScriptExecutionDisabled", value=True)
    visit("")
    chromium("Emulation.setScriptExecutionDisabled", value=False)
    say("noscript", run("return document.body.innerText.includes('needs JavaScript')"
                        " && ![...document.querySelectorAll('button')].some(e => e.checkVisibility())"))
    # A wrong secret is named as such; the right one is taken in its place.
    visit("wrong-secret")
    say("wrong secret", until("the secret is refused", "return document.getElementById('loginFault').textContent"))
    until("the question has the focus", "return document.activeElement?.id === 'secret'")
    press(*secret, ENTER)
    until("the right one is taken", "return document.getElementById('done').textContent.includes(' of ')")
    visit(secret)
    until("the counts", "return document.getElementById('done').textContent.includes(' of ')")
    say("address", run("return location.href.includes('token')"))
    say("policy", run("return new Promise(r => { const s = document.createElement('script');"
                      "s.textContent = 'window.injected = 1'; document.body.append(s); setTimeout(() => r(!!window.injected), 50) })"))
    until("it is the owner's", "return !document.body.classList.contains('reader')")
    # A URL is added by keys alone, and its job is seen.
    run("document.activeElement?.blur()")
    press("n")
    until("the box has the focus", "return document.activeElement?.id === 'urls'")
    press(*(source + "large"))
    run("document.getElementById('addGo').focus()")
    press(ENTER)
    only("", "running")
    until("the job runs", "return document.querySelectorAll('#rows .row').length === 1")
    say("running", names()[0])
    picture("running")
    # The keyboard finds it, shows its details and pauses it.
    press("/")
    until("the filter has the focus", "return document.activeElement?.id === 'filter'")
    press(DOWN)
    until("the table has the focus", "return document.activeElement?.id === 'grid'")
    press("j")
    until("it is chosen", "return document.getElementById('grid').getAttribute('aria-activedescendant') !== null")
    press(ENTER)
    say("details", until("its attempts", "return document.getElementById('jobBox').open"
                         " && document.getElementById('attempts').innerText.includes('running')"))
    picture("details")
    press(ESCAPE)
    until("the details are closed", "return !document.getElementById('jobBox').open")
    run("document.getElementById('grid').focus()")
    press(" ")
    until("it is paused", "return document.querySelectorAll('#rows .row').length === 0")
    only("large")
    state("large", "paused")
    say("paused", True)
    click("the job is found", "#rows button[aria-label='Resume large']")
    only("", "running")
    until("it runs again", "return document.querySelectorAll('#rows .row').length === 1")
    # Another client pauses it and resumes it: the row says so at once, and stays.
    gid = service("GET", "jobs?q=large")["jobs"][0]["gid"]
    only("large")
    service("POST", "steer", {"action": "pause", "select": {"gids": [gid]}})
    state("large", "paused")
    service("POST", "steer", {"action": "resume", "select": {"gids": [gid]}})
    until("it runs again", "return document.querySelector('#rows progress') !== null")
    say("changed by others", True)
    # Cancelling asks first.
    click("it can be cancelled", "#rows button[aria-label^=Cancel]")
    until("it asks", "return document.getElementById('askBox').open")
    click("it takes an answer", "#askBox button[value=yes]")
    state("large", "cancelled")
    say("cancelled", True)
    # What failed, in groups.
    add(source + "missing1\n" + source + "missing2")
    until("failures", "return document.getElementById('needCount').textContent.startsWith('2 NEED YOU')")
    say("title", run("return document.title"))
    say("group", until("the group", "return document.querySelector('#failures li span')?.textContent"))
    picture("failures")
    only("missing1", "failed")
    click("it has details", "#rows button[aria-label='Details of missing1']")
    say("why", until("its reason", "return document.getElementById('whyText').innerText.includes('404')"))
    click("they close", "#jobClose")
    # A job with every option.
    run("document.getElementById('add').click(); document.getElementById('options').open = true")
    fill(urls=source + "one", folder="given", name="<img src=x onerror=window.injected=1>", headers="X-One: 1\nX-Two: a: b",
         checksum="sha256:" + "0" * 64, mirrors=source + "other", batch="options")
    run("document.getElementById('paused').checked = true; document.getElementById('addGo').click()")
    until("it is added", "return !document.getElementById('addBox').open")
    only("options")
    state("given/<img src=x onerror=window.injected=1>", "paused")
    say("markup in a name runs", run("return !!window.injected"))
    # A fault of a job stays in its box.
    run("document.getElementById('add').click()")
    fill(urls=source + "one", name="../outside", headers="", checksum="", mirrors="", folder="")
    run("document.getElementById('addGo').click()")
    say("fault", until("the fault", "return document.getElementById('addFault').textContent"))
    # An upload and a copy.
    for kind, values in {"upload": {"file": "some-file", "target": source + "up"},
                         "copy": {"source": source + "one", "target": source + "up2"}}.items():
        run("if (!document.getElementById('addBox').open) document.getElementById('add').click();"
            "document.querySelector('input[value=' + arguments[0] + ']').click(); document.getElementById('paused').checked = true",
            kind)
        fill(**values, batch="sent")
        run("document.getElementById('addGo').click()")
        until("it is added", "return !document.getElementById('addBox').open")
    say("sent", sorted(job["to"] for job in service("GET", "jobs?batch=sent&direction=upload")["jobs"]))
    # The limits, live.
    run("document.getElementById('limits').click()")
    until("the limits", "return document.getElementById('limitsBox').open")
    fill(concurrency="50", perHost="50", limitRate="64M")
    run("document.getElementById('limitsGo').click()")
    until("they are set", "return !document.getElementById('limitsBox').open")
    say("limits", service("GET", "limits"))
    # Several are selected by keys, and change their order.
    service("POST", "jobs?paused=1&batch=order",
            [{"download": f"{source}order{n}", "to": f"order{n}"} for n in range(4)])
    only("order")
    until("they are there", "return document.querySelectorAll('#rows .row').length === 4")
    run("document.getElementById('grid').focus()")
    press("j", "j", "j", (SHIFT, DOWN))
    until("two are selected", "return document.getElementById('bulk').innerText.startsWith('2 selected')")
    press("t")
    until("they are first", f"return {row('order2')}.ariaRowIndex === '2'")
    say("order", names())
    press(ESCAPE)
    # Finished jobs leave the list, and stay away.
    add(source + "done1")
    only("done1")
    state("done1", "done")
    click("it can be cleared", "#rows button[aria-label^=Clear]")
    until("it is gone", "return document.querySelectorAll('#rows .row').length === 0")
    visit(secret)
    only("done1")
    until("the list is read", "return document.querySelector('#rows .none')?.textContent === 'no job has this text'")
    click("all can be cleared", "#clear")
    until("it asks", "return document.getElementById('askBox').open")
    say("asked", run("return document.getElementById('askText').textContent.includes('2 jobs that failed')")
        or run("return document.getElementById('askText').textContent"))
    click("it takes an answer", "#askBox button[value=yes]")
    until("none needs anybody", "return document.getElementById('needCount').textContent === 'nothing needs you'")
    say("known to the queue", len(service("GET", "jobs?q=done1")["jobs"]))
    # Five hundred jobs: at most two requests a second on the mean, and every row true.
    only("five")
    run("performance.clearResourceTimings(); performance.setResourceTimingBufferSize(10000)")
    start = time.monotonic()
    service("POST", "jobs?batch=five", [{"download": source + "done1", "to": f"five/{n}"} for n in range(500)])
    until("all are done", "return fetch('/api/v1/jobs?limit=1000&batch=five&state=done', { headers: { Authorization: 'Bearer '"
          "+ sessionStorage.getItem('token') } }).then(a => a.json()).then(a => a.jobs.length === 500)")
    until("every row is true", "const rows = [...document.querySelectorAll('#rows .row')];"
          "return rows.length > 10 && rows.every(row => row.querySelector('.meter').textContent === 'done')")
    # The page's own requests, without those of this script.
    requests = run("return performance.getEntriesByType('resource').filter(e => !e.name.includes('batch=five')).length")
    # A cycle of two seconds may have begun just before.
    say("requests a second", requests / (time.monotonic() - start + 2))
    # Many jobs: few rows in the document, and no long frame while they are scrolled.
    only("")
    rows = until("many rows", "const n = document.querySelectorAll('#rows .row').length; return n > 20 && n")
    say("rows", rows < 100)
    worst = ask("POST", at + "/execute/async", {"args": [], "script":
        "const done = arguments[0], box = document.getElementById('rows'); let last = performance.now(), worst = 0, n = 0;"
        "(function step() { const now = performance.now(); worst = Math.max(worst, now - last); last = now;"
        "box.scrollTop += 900; if (++n < 120) requestAnimationFrame(step); else done(worst) })()"})
    say("worst frame, ms", round(worst))
    say("rows after scrolling", run("return document.querySelectorAll('#rows .row').length") < 150)
    # A column sorts them.
    only("many")
    run("document.querySelector('[data-column=name] button').click();"
        "document.querySelector('[data-column=name] button').click()")
    until("they are sorted", f"return {row('many/9999')}?.ariaRowIndex === '2'")
    say("sorted", run("return document.querySelector('[data-column=name]').ariaSort"))
    run("document.querySelector('[data-column=name] button').click()")
    # Names for those who don't see, and headings.
    say("nameless buttons", run("return [...document.querySelectorAll('button, input, select, textarea')].filter(e =>"
        "!(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).length"))
    # A phone, with a job in each state that it shows.
    add(source + "missing3\n" + source + "large2")
    say("covered", run(COVERED))
    size(390, 800)
    choose("filter", "")
    covered = {}
    for tab in ["need", "run", "wait", "all"]:
        click("there are tabs", f".tabs button[data-tab={tab}]")
        until("the rows are there", "return document.querySelectorAll('#rows .row').length > 0 || arguments[0] === 'need'", tab)
        if tab == "need":
            until("a failure is there", "return document.querySelector('#failures b') !== null")
        covered[tab] = run(COVERED)
        say("phone " + tab, run("return document.documentElement.scrollWidth <= innerWidth"))
        picture("phone-" + tab)
    say("covered on a phone", [fault for list in covered.values() for fault in list])
    size(1280, 900)
    chromium("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    say("dark", run("return getComputedStyle(document.body).backgroundColor"))
    picture("dark")
    errors = [entry["message"] for entry in ask("POST", at + "/se/log", {"type": "browser"})
              if entry["level"] == "SEVERE" and "Content Security Policy" not in entry["message"]
              and "401 (Unauthorized)" not in entry["message"] and "422 (" not in entry["message"]
              and "403 (" not in entry["message"]]
    say("errors", errors)
    # The service is away, and comes back.
    chromium("Network.enable")
    chromium("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    until("the page says so", "return document.getElementById('trouble').textContent.startsWith('No service')"
          " && document.getElementById('pauseAll').disabled")
    chromium("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    until("it is back", "return document.getElementById('trouble').hidden && !document.getElementById('pauseAll').disabled")
    say("back", True)
    # A secret for reading: no query of a URL, and no button that cannot work.
    service("POST", "jobs?paused=1&batch=signed", [{"download": source + "signed?signature=abc", "to": "signed"}])
    visit(reading)
    until("the counts", "return document.getElementById('done').textContent.includes(' of ')")
    only("signed")
    state("signed", "paused")
    say("reader", run("return !document.body.outerHTML.includes('abc') && [...document.querySelectorAll('.owner')]"
                      ".every(e => !e.checkVisibility())"))
    say("a reader's phone", (size(390, 800), run(COVERED))[1])
    say("accessibility of a reader's phone", accessibility())
    size(1280, 900)
    visit(secret)
    until("it is the owner's", "return !document.body.classList.contains('reader')")
    until("rows", "return document.querySelectorAll('#rows .row').length > 1")
    say("accessibility", accessibility())
finally:
    try:
        ask("DELETE", at)
    finally:
        driver.terminate()
