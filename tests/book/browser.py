"""Looks at pages in headless Chromium, at desktop and at phone width.

A page of our own, served on the loopback interface together with the book, loads each page of the book
in a frame of each width, measures it, and sends the figures back.
"""

import functools
import http.server
import json
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

WIDTHS = {"desktop": 1280, "phone": 390}
HEIGHT = 844
LIMIT = 300
FEWEST_LETTERS = 80
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)

HARNESS = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const pages = PAGES, widths = WIDTHS_, results = [];
function load(page, width) {
    return new Promise(done => {
        const frame = document.createElement("iframe");
        frame.style.cssText = `width:${width}px;height:HEIGHT_px;border:0`;
        frame.onload = () => setTimeout(() => { done(frame); }, 30);
        frame.src = "/" + page;
        document.body.append(frame);
    });
}
function measure(frame) {
    const page = frame.contentDocument, root = page.documentElement;
    const main = page.querySelector("main");
    const limit = root.clientWidth + 1, wide = [];
    for (const element of main ? main.querySelectorAll("p, li, pre, table, svg, img, h1, h2, h3") : []) {
        const box = element.getBoundingClientRect();
        const scrolls = element.parentElement.closest("table, pre");
        if (box.right > limit && !scrolls) wide.push(element.tagName + " " + element.textContent.trim().slice(0, 60));
    }
    return {
        letters: main ? main.textContent.trim().length : 0,
        width: root.clientWidth, scroll: root.scrollWidth, wide: wide.slice(0, 5),
        images: [...page.images].filter(image => !image.naturalWidth).map(image => image.src),
    };
}
(async () => {
    for (const page of pages) for (const [name, width] of Object.entries(widths)) {
        const frame = await load(page, width);
        results.push({ page, at: name, ...measure(frame) });
        frame.remove();
    }
    await fetch("/results", { method: "POST", body: JSON.stringify(results) });
})();
</script></body>
"""


def find():
    """The browser, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the book and the harness; takes the figures."""

    def do_GET(self):
        """A file of the book, or the harness."""
        if self.path == "/harness":
            body = self.server.harness.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        else:
            super().do_GET()

    def do_POST(self):
        """The figures."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
        self.server.results = json.loads(body)
        self.server.ready.set()

    def log_error(self, format, *args):
        """Files that are not there."""
        if self.path != "/favicon.ico":
            self.server.missing.add(self.path)

    def log_message(self, format, *args):
        """Nothing."""


def look(chromium, folder, pages):
    """Yields, for each page and width, a title and what is wrong."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    server.harness = (
        HARNESS.replace("PAGES", json.dumps(pages))
        .replace("WIDTHS_", json.dumps(WIDTHS))
        .replace("HEIGHT_", str(HEIGHT))
    )
    server.results, server.ready, server.missing = [], threading.Event(), set()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        where = f"http://127.0.0.1:{server.server_port}/harness"
        command = [chromium, *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-port=0", where]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        came = server.ready.wait(LIMIT)
        process.kill()
        process.wait()
        server.shutdown()
    yield "pages in a browser", "" if came and server.results else f"no answer within {LIMIT} s"
    yield "files of the pages", "\n".join(sorted(server.missing))
    for row in server.results:
        yield f"{row['page']} at {row['at']} width", judge(row)


def judge(row):
    """What is wrong with a page."""
    problems = [f"{image}: does not load" for image in row["images"]]
    if row["letters"] < FEWEST_LETTERS:
        problems.append(f"only {row['letters']} letters of text")
    if row["scroll"] > row["width"] + 1:
        problems.append(f"{row['scroll']} pixels wide in a window of {row['width']}")
    problems += [f"beyond the edge: {element}" for element in row["wide"]]
    return "\n".join(problems)


def photograph(chromium, folder, pages, pictures):
    """Pictures of some pages, for people."""
    pictures.mkdir(parents=True, exist_ok=True)
    for page in pages:
        for name, width in WIDTHS.items():
            # A window has a least width: a narrow page is shown in a frame.
            file = pictures / f"{page.replace('/', '-').removesuffix('.html')}-{name}.png"
            with tempfile.TemporaryDirectory() as scratch:
                frame = Path(scratch) / "frame.html"
                address = (folder / page).resolve().as_uri()
                frame.write_text(
                    f'<body style="margin:0"><iframe src="{address}" '
                    f'style="width:{width}px;height:{HEIGHT}px;border:0"></iframe></body>',
                    encoding="utf-8",
                )
                size = f"--window-size={max(width, 500)},{HEIGHT}"
                profile = f"--user-data-dir={scratch}/profile"
                command = [chromium, *FLAGS, profile, size, f"--screenshot={file}", frame.as_uri()]
                subprocess.run(command, capture_output=True, check=False, timeout=LIMIT)
