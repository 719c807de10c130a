"""The page in a real Chromium, by its driver's own protocol (W3C WebDriver): page.py URL TOKEN FOLDER PORT.

Says a line of JSON for each thing that was seen; screenshots go to FOLDER.
"""
import base64
import json
import os
import subprocess
import sys
import time
import urllib.request

url, token, folder, source = sys.argv[1:5]
driver = subprocess.Popen(
    ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
port = None
for line in driver.stdout:
    if "successfully on port " in line:
        port = int(line.rsplit("on port ", 1)[1].strip().rstrip("."))
        break
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=data, method=method, headers={"Content-Type": "application/json"})
    with opener.open(request, timeout=60) as answer:
        return json.load(answer)["value"]


def session(*more):
    options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        "--proxy-server=direct://", "--user-data-dir=" + folder + "/profile", *more]}
    capabilities = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
    return "/session/" + ask("POST", "/session", {"capabilities": capabilities})["sessionId"]


def run(script, *arguments):
    return ask("POST", at + "/execute/sync", {"script": script, "args": list(arguments)})


def until(what, script, *arguments):
    end = time.monotonic() + 30
    while True:
        value = run(script, *arguments)
        if value:
            return value
        if time.monotonic() > end:
            print(run("return document.body.innerText"), file=sys.stderr)
            sys.exit("not within 30 s: " + what)
        # Between two looks at another process.
        time.sleep(0.05)


def click(what, selector):
    """Once it is there: rows are made anew with each piece of news."""
    until(what, "const one = document.querySelector(arguments[0]); one?.click(); return one !== null", selector)


def picture(name):
    with open(os.path.join(folder, name + ".png"), "wb") as file:
        file.write(base64.b64decode(ask("GET", at + "/screenshot")))


def size(width, height):
    ask("POST", at + "/window/rect", {"width": width, "height": height})


def say(step, value):
    print(json.dumps({"step": step, "value": value}), flush=True)


at = session()
try:
    size(1200, 900)
    ask("POST", at + "/url", {"url": url + "/#token=" + token})
    until("the counts", "return document.getElementById('done').textContent.includes(' of ')")
    say("address", run("return location.href.includes('token')"))
    say("policy", run("return new Promise(r => { const s = document.createElement('script');"
                      "s.textContent = 'window.injected = 1'; document.body.append(s); setTimeout(() => r(!!window.injected), 50) })"))
    # A URL is added, and its job is seen.
    run("document.getElementById('add').click(); document.getElementById('urls').value = arguments[0];"
        "document.getElementById('addGo').click()", source + "large")
    until("the job runs", "return [...document.querySelectorAll('#runningRows .row')].length === 1")
    say("running", run("return document.querySelector('#runningRows .name').textContent"))
    picture("running")
    # The keyboard pauses it.
    run("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }))")
    until("it is chosen", "return document.querySelector('#runningRows .row.chosen') !== null")
    run("document.dispatchEvent(new KeyboardEvent('keydown', { key: ' ' }))")
    until("it is paused", "return document.getElementById('waits').innerText.includes('paused')")
    say("paused", True)
    filter = "const f = document.getElementById('filter'); f.value = arguments[0]; f.dispatchEvent(new Event('input'))"
    run(filter, "large")
    click("the job is found", "#allRows button[aria-label='Resume large']")
    run(filter, "")
    until("it runs again", "return [...document.querySelectorAll('#runningRows .row')].length === 1")
    # Cancelling asks first.
    click("it can be cancelled", "#runningRows button[aria-label^=Cancel]")
    until("it asks", "return document.getElementById('askBox').open")
    click("it takes an answer", "#askBox button[value=yes]")
    until("it is gone", "return document.querySelectorAll('#runningRows .row').length === 0")
    say("cancelled", True)
    # What failed, in groups.
    run("document.getElementById('add').click(); document.getElementById('urls').value = arguments[0];"
        "document.getElementById('addGo').click()", source + "missing1\n" + source + "missing2")
    until("failures", "return document.getElementById('needCount').textContent.startsWith('2 NEED YOU')")
    say("title", run("return document.title"))
    say("group", until("the group", "return document.querySelector('#failures li span')?.textContent"))
    picture("failures")
    # A hundred thousand jobs: few rows in the document, and no long frame while they are scrolled.
    rows = until("many rows", "return document.querySelectorAll('#allRows .row').length")
    say("rows", rows < 100)
    worst = ask("POST", at + "/execute/async", {"args": [], "script":
        "const done = arguments[0], box = document.getElementById('allRows'); let last = performance.now(), worst = 0, n = 0;"
        "(function step() { const now = performance.now(); worst = Math.max(worst, now - last); last = now;"
        "box.scrollTop += 900; if (++n < 120) requestAnimationFrame(step); else done(worst) })()"})
    say("worst frame, ms", round(worst))
    say("rows after scrolling", run("return document.querySelectorAll('#allRows .row').length") < 150)
    # Names for those who don't see, and headings.
    say("nameless buttons", run("return [...document.querySelectorAll('button, input, select, textarea')].filter(e =>"
        "!(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).length"))
    size(390, 800)
    click("there are tabs", ".tabs button[data-tab=need]")
    say("phone", run("return document.documentElement.scrollWidth <= innerWidth"))
    picture("phone")
    size(1200, 900)
    ask("POST", at + "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
        "features": [{"name": "prefers-color-scheme", "value": "dark"}]}})
    say("dark", run("return getComputedStyle(document.body).backgroundColor"))
    picture("dark")
    errors = [entry["message"] for entry in ask("POST", at + "/se/log", {"type": "browser"})
              if entry["level"] == "SEVERE" and "Content Security Policy" not in entry["message"]]
    say("errors", errors)
finally:
    try:
        ask("DELETE", at)
    finally:
        driver.terminate()
