"""The command `rollout-playground`, as scripts/rollout-playground.mjs and scripts/serveHere.mjs are in Node."""

import hashlib
import hmac
import os
import secrets
import signal
import socket
import stat
import sys
import webbrowser

from .server import PACKAGE, RULES, PageServer

HELP = """rollout-playground                  serves the page on this machine and opens it
rollout-playground FILE|FOLDER…     opens rollouts, a log, a model, an environment or a saved run in the page
rollout-playground watch FOLDER     follows a folder that a job writes rollouts into
PORT=8080 rollout-playground        uses another port"""


def refuse(message, status=1):
    print(message, file=sys.stderr)
    sys.exit(status)


def wanted_port():
    text = os.environ.get("PORT", "")
    if text == "":
        return RULES["defaultPort"]
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 65535:
        return int(text)
    refuse(f"PORT can’t be {text}. Use a whole number from 1 to 65535. Try: PORT=8080 rollout-playground")


def files_of(place, places):
    """The files of a file or a folder, with their paths as a browser gives them for what is dropped. Links are left out."""
    is_twice = any(other != place and os.path.basename(other) == os.path.basename(place) for other in places)
    name = "/".join(filter(None, place.split(os.sep))) if is_twice else os.path.basename(place)
    if not os.path.isdir(place):
        return [{"path": name, "place": os.path.realpath(place)}]
    found = []
    for folder, _, names in os.walk(place):
        for each in sorted(names):
            file = os.path.join(folder, each)
            if os.path.isfile(file) and not os.path.islink(file):
                found.append({"path": "/".join([name, *os.path.relpath(file, place).split(os.sep)]), "place": file})
    return found


def token_of(folder, settings=None):
    """The token of a folder, the same each time: the command in Node makes it of the same key (scripts/watchedFolder.mjs)."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA") or os.path.expanduser("~/.config")
    key = own_key(os.path.join(settings or home, "rollout-playground"))
    return hmac.new(key, folder.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()[:32]


def own_key(home):
    """A key that only this user can read; if none can be kept, one for this time."""
    place, fresh = os.path.join(home, "watch-key"), secrets.token_bytes(32)
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        if os.path.lexists(place):
            found = os.lstat(place)
            is_others = sys.platform != "win32" and (found.st_mode & 0o077 or found.st_uid != os.getuid())
            if stat.S_ISREG(found.st_mode) and found.st_size == len(fresh) and not is_others:
                with open(place, "rb") as file:
                    return file.read()
            os.remove(place)
        with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(fresh)
    except OSError:
        pass  # the folder may not be written
    return fresh


def serve(watched=None):
    port = wanted_port()
    try:
        server = PageServer(PACKAGE / "page", port, watched)
    except OSError as error:
        other = RULES["defaultPort"] if port == 65535 else port + 1
        refuse(f"Port {port} can’t be opened: {error.strerror}. Choose another: PORT={other} rollout-playground")
    query = f"?{'open' if 'files' in watched else 'watch'}={watched['token']}" if watched else ""
    url = f"http://127.0.0.1:{port}/{query}"
    print(f"Rollout Playground: {url}  (Ctrl-C stops it)", flush=True)
    if watched and "folder" in watched:
        print(f"It follows {watched['folder']} and only reads there. To see it from another machine, run this there, then open the address:")
        print(f"  ssh -L {port}:127.0.0.1:{port} {socket.gethostname()}", flush=True)
    has_screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_screen and not os.environ.get("CI"):
        webbrowser.open(url)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


def main():
    args = sys.argv[1:]
    if args[:1] in (["--help"], ["-h"]):
        return print(HELP)
    if args[:1] == ["watch"]:
        if len(args) != 2:
            refuse(f"Name one folder.\n{HELP}", 2)
        folder = os.path.abspath(args[1])  # it may not exist yet
        return serve({"token": token_of(folder), "folder": folder})
    if args[:1] and args[0] in RULES["commands"]:
        refuse(f"{args[0]} is in the npm package: npx rollout-playground {' '.join(args)}", 2)
    missing = next((place for place in args if not os.path.exists(place)), None)
    if missing is not None:
        refuse(f"There is no command and no file {missing}.\n{HELP}", 2)
    places = [os.path.abspath(place) for place in args]
    files = [file for place in places for file in files_of(place, places)]
    if len(files) > RULES["maxFiles"]:
        refuse(f"These are {len(files)} files, and the page opens {RULES['maxFiles']} at most. Name a smaller folder.", 2)
    return serve({"token": secrets.token_hex(16), "files": files} if files else None)
