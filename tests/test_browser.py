"""The built book in headless Chromium without a network: `make browser`, after `make book`."""

import http.server
import json
import os
import re
import subprocess
import threading
from functools import partial
from pathlib import Path

import pytest
from find_chromium import find

SITE = Path(__file__).resolve().parent.parent / "_build" / "html"
PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for folder in ("book", "notebooks")
    for path in (SITE / folder).rglob("*.html")
)
PHONE = 390  # pixels
# sphinx-thebe is loaded by Jupyter Book even where it is switched off, and declares this twice.
KNOWN_ERRORS = ("THEBE_JS_URL",)

pytestmark = pytest.mark.browser


def chromium(address: str, *more: str) -> subprocess.CompletedProcess:
    """Open one page, wait until its scripts are done, return its final markup."""
    command = [find(), "--headless=new", "--disable-gpu", "--hide-scrollbars", "--dump-dom"]
    command += ["--virtual-time-budget=20000", "--timeout=60000", "--enable-logging=stderr"]
    # No name resolves, this machine's own address apart: what the book does not hold is missing.
    command += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    command += ["--disable-background-networking", "--disable-component-update", "--no-first-run"]
    if os.geteuid() == 0:
        command.append("--no-sandbox")  # Chromium refuses to run as root with its sandbox
    done = subprocess.run(
        [*command, *more, address], capture_output=True, text=True, errors="replace", timeout=180
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def requests_in(log: Path) -> set[str]:
    """Addresses that pages asked for, from Chromium's own network log."""
    found = set()
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            about = json.loads(line.rstrip().rstrip(",")).get("params", {})
        except ValueError:
            continue  # the frame around the events
        # Chromium itself asks for updates; such requests come from "not an origin".
        if about.get("initiator", "not an origin") != "not an origin":
            if about["url"].startswith("http"):
                found.add(about["url"])
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The book at a local address, beside one page that measures the others."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_GET(self):
            if self.path != "/measure.html":
                return super().do_GET()
            body = MEASURE.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    handler = partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


# Chromium's window cannot be as narrow as a phone; a frame can. Its pages are of the same origin,
# so the script may look inside.
MEASURE = f"""<!doctype html><body><script>
const pages = {json.dumps(PAGES)};
const results = {{}};
const frame = document.createElement("iframe");
frame.style.cssText = "width: {PHONE}px; height: 800px; border: 0";
document.body.append(frame);
const settled = () => new Promise((done) => setTimeout(done, 500));
(async () => {{
  for (const page of pages) {{
    await new Promise((done) => {{ frame.onload = done; frame.src = "/" + page; }});
    const inside = frame.contentWindow;
    if (inside.MathJax && inside.MathJax.startup) await inside.MathJax.startup.promise;
    await settled();
    const root = inside.document.documentElement;
    const wide = [...inside.document.querySelectorAll(".bd-article *")].filter((element) => {{
      if (element.getBoundingClientRect().right <= {PHONE} + 1) return false;
      for (let box = element.parentElement; box; box = box.parentElement) {{
        const overflow = inside.getComputedStyle(box).overflowX;
        const ends = box.getBoundingClientRect().right;
        if (overflow !== "visible" && ends <= {PHONE} + 1) return false;
      }}
      return true;
    }});
    results[page] = {{
      width: root.scrollWidth,
      wide: wide.slice(0, 3).map((element) => element.outerHTML.slice(0, 120)),
    }};
  }}
  const out = document.createElement("pre");
  out.id = "results";
  out.textContent = encodeURIComponent(JSON.stringify(results));
  document.body.append(out);
}})();
</script></body>"""


def test_there_is_a_book_and_a_browser():
    assert PAGES, "no book yet: make book"
    assert find(), "no Chromium: python tools/find_chromium.py"


def test_a_request_would_be_noticed(tmp_path):
    page, log = tmp_path / "page.html", tmp_path / "network.json"
    page.write_text('<script src="https://example.org/x.js"></script>')
    chromium(f"file://{page}", f"--log-net-log={log}")
    assert requests_in(log) == {"https://example.org/x.js"}


@pytest.mark.parametrize("page", PAGES)
def test_page_reads_offline(page, tmp_path):
    log = tmp_path / "network.json"
    done = chromium(f"file://{SITE / page}", f"--log-net-log={log}")
    asked = requests_in(log)
    assert not asked, f"asked for {sorted(asked)}"
    errors = [
        line
        for line in done.stderr.splitlines()
        if "CONSOLE" in line
        and re.search(r"Uncaught|Error|Failed to load|ERR_", line)
        and not any(known in line for known in KNOWN_ERRORS)
    ]
    assert not errors, "\n".join(errors)
    source = (SITE / page).read_text(encoding="utf-8")
    if re.search(r'class="math ', source):
        assert "<mjx-container" in done.stdout, "formulas were not typeset"
    assert "<mjx-merror" not in done.stdout, "a formula has an error"
    left = re.findall(r'<(?:span|div) class="math [^>]*>\s*\\[(\[]', done.stdout)
    assert not left, f"{len(left)} formulas were not typeset"


def test_filter_of_the_claims_table():
    address = f"file://{SITE / 'book' / 'claims-table.html'}"
    rows = r"<tr[^>]*class=\"row-(?:even|odd)\"[^>]*>"

    def shown(markup: str) -> int:
        body = "".join(re.findall(r"<tbody>.*?</tbody>", markup, re.DOTALL))
        return sum("hidden" not in row for row in re.findall(rows, body))

    everything = shown(chromium(address).stdout)
    filtered = chromium(f"{address}#verdict=exact").stdout
    assert f"of {everything} claims" in filtered
    assert shown(filtered) == int(re.search(r"(\d+) of \d+ claims", filtered)[1])
    assert 0 < shown(filtered) <= everything


def test_pages_fit_a_phone(server):
    markup = chromium(f"{server}/measure.html", "--virtual-time-budget=600000").stdout
    found = re.search(r'<pre id="results">([^<]*)</pre>', markup)
    assert found, "the pages were not measured"
    from urllib.parse import unquote

    results = json.loads(unquote(found[1]))
    assert sorted(results) == PAGES
    too_wide = {
        page: result
        for page, result in results.items()
        if result["width"] > PHONE or result["wide"]
    }
    assert not too_wide, json.dumps(too_wide, indent=1)
