"""Serves the built page, and files of this machine to it. It answers as scripts/page-server.mjs and scripts/watchedFolder.mjs do in
Node: test/pageServer.test.ts asks both the same. `rules.json` has what both are made of (tools/pythonPackage.mjs)."""

import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote_to_bytes

PACKAGE = Path(__file__).parent
RULES = json.loads((PACKAGE / "rules.json").read_text("utf-8"))
READABLE = re.compile(RULES["readable"].removesuffix("$") + r"\Z", re.IGNORECASE | re.ASCII)
THIS_MACHINE = re.compile(r"(?:127\.0\.0\.1|localhost)(?::[0-9]+)?")
NO_FILE = "There is no such file here."


def now():
    return {"now": int(time.time() * 1000)}  # ms since 1970, as in JavaScript


def folder_list(folder):
    """What is in a folder now: readable files, as the page is told of them. No links are followed, because they may lead out of it."""
    files, pending, missing, left_out = [], [("", folder)], False, False
    while pending and not left_out:
        below, place = pending.pop()
        try:
            entries = list(os.scandir(place))
        except OSError:  # it has vanished, or may not be read
            missing = missing or below == ""
            continue
        for entry in entries:
            name = below + entry.name
            if len(files) >= RULES["maxFiles"]:
                left_out = True
                break
            if entry.is_dir(follow_symlinks=False):
                pending.append((f"{name}/", entry.path))
            if not entry.is_file(follow_symlinks=False) or not READABLE.search(name):
                continue
            for found in listed(name, entry.path):
                files.append({**found, **({"refused": RULES["tooLarge"]} if found["size"] > RULES["maxBytes"] else {})})
    return {"folder": os.path.basename(os.path.abspath(folder)), **now(), "missing": missing, "leftOut": left_out, "files": files}


def listed(name, place):
    """A file as the page is told of it; none if it has vanished."""
    try:
        found = os.stat(place)
    except OSError:
        return []
    stamp, changed = f"{found.st_dev}-{found.st_ino}", found.st_mtime_ns / 1e6
    return [{"path": name, "size": found.st_size, "stamp": stamp, "changed": changed}]


def list_of(watched):
    """What is in the followed folder now, or what the files are that were named on the command line."""
    if "folder" in watched:
        return folder_list(watched["folder"])
    files = [found for file in watched["files"] for found in listed(file["path"], file["place"])]
    return {"folder": "", **now(), "missing": False, "leftOut": False, "files": files}


def file_at(folder, address):
    """The file of a folder that an address names; None where there is none, or it lies elsewhere."""
    name = re.split(r"[?#]", address, maxsplit=1)[0]
    try:
        if re.search(r"%(?![0-9A-Fa-f]{2})", name):
            return None
        name = unquote_to_bytes(name).decode("utf-8")
        if not name.startswith("/") or re.search(r"[\0\\]", name):
            return None
        root = os.path.realpath(folder, strict=True)
        file = os.path.realpath(os.path.normpath(f"{root}/{'index.html' if name == '/' else name}"), strict=True)
    except (OSError, ValueError):
        return None
    inside = file.startswith(root + os.sep) and os.path.isfile(file)
    return file if inside and (name == "/" or not name.endswith("/")) else None


class Refused(Exception):
    """An answer without a file: its status, and why."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


class PageHandler(BaseHTTPRequestHandler):
    """Answers one connection. `server` is a PageServer."""

    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds that a connection may be idle
    disable_nagle_algorithm = True  # headers and text are written one after the other

    def do_GET(self):
        try:
            self.answer()
        except Refused as refused:
            self.refuse(refused.status, str(refused))
        except (ConnectionError, TimeoutError):  # the browser has given up
            self.close_connection = True

    do_HEAD = do_GET

    def do_POST(self):
        # the connection ends, as what it sends isn't read
        self.refuse(405, "This server only hands out files.", {"allow": "GET, HEAD", "connection": "close"})

    do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_POST

    def log_message(self, *_):
        pass

    def answer(self):
        given = self.watched_at()
        if isinstance(given, dict):
            return self.answer_list(given)
        file = file_at(self.server.site, self.path) if given is None else given
        if file is None:
            raise Refused(404, NO_FILE)
        self.answer_file(file, in_ranges=given is not None)

    def watched_at(self):
        """The list, or the place of a file, that an address below `watched/` stands for. Only pages of this server are answered."""
        watched = self.server.watched
        first, *rest = re.split(r"[?#]", self.path, maxsplit=1)[0].split("/")[1:] or [""]
        if watched is None or first != "watched":
            return None
        host = self.headers.get("host", "")
        if not THIS_MACHINE.fullmatch(host):
            raise Refused(403, "Files of this machine are handed out at 127.0.0.1 and localhost alone.")
        if self.headers.get("origin", f"http://{host}") != f"http://{host}" or (
            self.headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
        ):
            raise Refused(403, "Files of this machine are handed out to their own page alone.")
        if rest[:1] != [watched["token"]]:
            raise Refused(403, "The address has an old token. Open the address that the command printed.")
        if len(rest) == 1:
            return list_of(watched)
        address = "/".join(rest[1:])
        if "files" in watched:
            name = unquote_to_bytes(address).decode("utf-8", "replace")
            file = next((file["place"] for file in watched["files"] if file["path"] == name), None)
            if file is None:
                raise Refused(404, NO_FILE)
            return file
        file = file_at(watched["folder"], f"/{address}")
        if file is None or not READABLE.search(file):
            raise Refused(404, NO_FILE)
        try:
            size = os.path.getsize(file)
        except OSError:
            size = 0
        if size > RULES["maxBytes"]:
            raise Refused(413, f"The file is {RULES['tooLarge']}.")
        return file

    def shows_panel(self):
        query = re.search(r"\?([^#]*)", self.path)
        values = parse_qs(query[1], keep_blank_values=True) if query else {}
        return values.get("embed", [""])[0] in RULES["panels"]

    def head(self, status, headers):
        self.send_response_only(status)
        for name, value in {**RULES["headers"], **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()

    def send_text(self, status, text, headers):
        data = text.encode("utf-8")
        self.head(status, {"content-length": len(data), **headers})
        if self.command != "HEAD":
            self.wfile.write(data)

    def refuse(self, status, text, headers=None):
        self.send_text(status, f"{text}\n", {"content-type": RULES["types"][".txt"], **(headers or {})})

    def answer_list(self, given):
        text = json.dumps(given, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode("utf-8")
        self.send_text(200, text, {"content-type": RULES["types"][".json"], "cache-control": "no-store"})

    def answer_file(self, file, in_ranges):
        try:
            stream = open(file, "rb")  # before any header is sent: the file may vanish at any time
        except OSError:
            raise Refused(404, NO_FILE) from None
        with stream:
            size = os.fstat(stream.fileno()).st_size
            wanted = re.fullmatch(r"bytes=([0-9]{1,15})-", self.headers.get("range", "")) if in_ranges else None
            start = int(wanted[1]) if wanted else 0
            if start > 0 and start >= size:
                raise Refused(416, f"The file has {size} bytes.")
            site, extension = self.server.site, os.path.splitext(file)[1]
            named = file.startswith(os.path.join(site, "assets") + os.sep)  # after what it holds
            headers = {
                **(RULES["framedByAll"] if extension == ".html" and self.shows_panel() else {}),
                "content-type": RULES["types"].get(extension, "application/octet-stream"),
                "content-length": size - start,
                "cache-control": "public, max-age=31536000, immutable" if named else "no-cache",
            }
            if start > 0:
                headers["content-range"] = f"bytes {start}-{size - 1}/{size}"
            self.head(206 if start > 0 else 200, headers)
            left = 0 if self.command == "HEAD" else size - start
            stream.seek(start)
            while left > 0 and (chunk := stream.read(min(left, 2**18))):
                self.wfile.write(chunk)
                left -= len(chunk)
            self.close_connection = self.close_connection or left > 0  # the file was cut off meanwhile


class PageServer(ThreadingHTTPServer):
    """Serves a folder with the built page. `watched`: a token, and a folder or files with `path` and `place`."""

    daemon_threads = True

    def __init__(self, site, port, watched=None):
        self.site, self.watched = os.path.realpath(site, strict=True), watched
        super().__init__(("127.0.0.1", port), PageHandler)  # this machine alone
