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
            try:
                found = os.stat(entry.path, follow_symlinks=False)
            except OSError:
                continue
            refused = {"refused": RULES["tooLarge"]} if found.st_size > RULES["maxBytes"] else {}
            stamp, changed = f"{found.st_dev}-{found.st_ino}", found.st_mtime_ns / 1e6
            files.append({"path": name, "size": found.st_size, "stamp": stamp, "changed": changed, **refused})
    name = os.path.basename(os.path.abspath(folder))
    return {"folder": name, "now": int(time.time() * 1000), "missing": missing, "leftOut": left_out, "files": files}


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
        followed = self.watched_at()
        given = self.opened_at() if followed is None else followed
        if isinstance(given, (dict, list)):
            return self.answer_list(given)
        file = file_at(self.server.site, self.path) if given is None else given
        if file is None:
            raise Refused(404, NO_FILE)
        self.answer_file(file, in_ranges=followed is not None)

    def is_own_host(self):
        return THIS_MACHINE.fullmatch(self.headers.get("host", "")) is not None

    def parts(self):
        return re.split(r"[?#]", self.path, maxsplit=1)[0].split("/")[1:]

    def watched_at(self):
        """The list or the file of the watched folder that the address stands for. Only pages of this server are answered."""
        watched, (first, *rest) = self.server.watched, self.parts() or [""]
        if watched is None or first != "watched":
            return None
        host = self.headers.get("host", "")
        if not self.is_own_host():
            raise Refused(403, "A watched folder is handed out at 127.0.0.1 and localhost alone.")
        if self.headers.get("origin", f"http://{host}") != f"http://{host}" or (
            self.headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
        ):
            raise Refused(403, "A watched folder is handed out to its own page alone.")
        if rest[:1] != [watched["token"]]:
            raise Refused(403, "The address has an old token. Open the address that the command printed.")
        if len(rest) == 1:
            return folder_list(watched["folder"])
        file = file_at(watched["folder"], f"/{'/'.join(rest[1:])}")
        if file is None or not READABLE.search(file):
            raise Refused(404, "There is no such file in the folder.")
        try:
            size = os.path.getsize(file)
        except OSError:
            size = 0
        if size > RULES["maxBytes"]:
            raise Refused(413, f"The file is {RULES['tooLarge']}.")
        return file

    def opened_at(self):
        """The list of the files that were named on the command line, or the place of one."""
        opened, (first, *rest) = self.server.opened, self.parts() or [""]
        if opened is None or first != "opened" or rest[:1] != [opened["token"]] or not self.is_own_host():
            return None
        if len(rest) == 1:
            return [file["path"] for file in opened["files"]]
        number = int(rest[1]) if len(rest) == 2 and re.fullmatch(r"[0-9]{1,9}", rest[1]) else -1
        return opened["files"][number]["place"] if 0 <= number < len(opened["files"]) else None

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
    """Serves a folder with the built page. `opened`: a token, and files with `path` and `place`; `watched`: a token and a folder."""

    daemon_threads = True

    def __init__(self, site, port, opened=None, watched=None):
        self.site, self.opened, self.watched = os.path.realpath(site, strict=True), opened, watched
        super().__init__(("127.0.0.1", port), PageHandler)  # this machine alone
