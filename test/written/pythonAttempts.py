"""A hostile environment: it tries to get out of its interpreter in every way that its writer could think of, and says what came of each."""

import ctypes
import importlib
import sys

ADDRESS = "http://127.0.0.1:PORT/attempt-"


def module(name):
    """A module that was put away."""
    for other in [one for one, value in sys.modules.items() if value is None]:
        del sys.modules[other]
    return importlib.import_module(name)


def api():
    return module("pyodide_js")


def function():
    return api().runPython.constructor


def made(code):
    return function()(code)()


def read(path):
    with open(path) as file:
        return file.read()


def fetched():
    import asyncio

    http = module("pyodide.http")
    return asyncio.get_event_loop().run_until_complete(http.pyfetch(ADDRESS + "pyfetch"))


def written():
    fs = api().FS
    fs.mkdir("/disk")
    fs.mount(fs.filesystems.NODEFS, {"root": "/"}, "/disk")
    return fs.readdir("/disk")


def database():
    fs = api().FS
    fs.mkdir("/kept")
    fs.mount(fs.filesystems.IDBFS, {}, "/kept")
    failed = []
    fs.syncfs(False, lambda error: failed.append(error))
    if failed:
        raise OSError(str(failed))
    return "synced"


def socket():
    import socket as sockets

    with sockets.create_connection(("127.0.0.1", int(ADDRESS.split(":")[2].split("/")[0])), 1) as one:
        one.sendall(b"GET /socket HTTP/1.0\r\n\r\n")
        return one.recv(10)


def request():
    import urllib.request

    return urllib.request.urlopen(ADDRESS + "urllib", timeout=1).read()


def frames():
    """The host's own function, in the frame that serves requests."""
    frame = sys._getframe()
    while "begin" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["begin"].constructor("return globalThis")()


def proxies():
    import gc

    found = [each for each in gc.get_objects() if "Js" in type(each).__name__]
    return found[0].constructor.constructor("return globalThis")()


def thread():
    import threading

    one = threading.Thread(target=print)
    one.start()
    return "started"


ATTEMPTS = {
    "js": lambda: module("js").fetch(ADDRESS + "js"),
    "js storage": lambda: module("js").indexedDB.open("mine"),
    "js local storage": lambda: module("js").localStorage.setItem("mine", "1"),
    "js worker": lambda: module("js").Worker.new(ADDRESS + "worker.js"),
    "js post": lambda: module("js").postMessage("mine"),
    "js import": lambda: module("js").importScripts(ADDRESS + "scripts.js"),
    "run_js": lambda: module("pyodide.code").run_js(f"fetch('{ADDRESS}run_js')"),
    "run_js global": lambda: module("pyodide.code").run_js("globalThis"),
    "Function": lambda: made(f"return fetch('{ADDRESS}function')"),
    "Function import": lambda: made(f"return import('{ADDRESS}import')"),
    "pyfetch": fetched,
    "open_url": lambda: module("pyodide.http").open_url(ADDRESS + "open_url").read(),
    "micropip": lambda: module("micropip"),
    "nodefs": written,
    "mountNodeFS": lambda: api().mountNodeFS("/node", "/"),
    "idbfs": database,
    "socket": socket,
    "urllib": request,
    "webbrowser": lambda: module("webbrowser").open(ADDRESS + "webbrowser") or failed(),
    "subprocess": lambda: module("subprocess").run(["ls"], check=True),
    "system": lambda: module("os").system("ls") and failed(),
    "fork": lambda: module("os").fork(),
    "thread": thread,
    "passwords": lambda: read("/etc/passwd"),
    "project": lambda: read("/package.json"),
    "process": lambda: read("/proc/self/environ"),
    "home": lambda: module("os").environ["PATH"] if "node" in module("os").environ.get("PATH", "") else failed(),
    "frames": frames,
    "proxies": proxies,
    "process binding": lambda: made("return process.binding('fs')"),
    "require": lambda: module("js").require("fs"),
    "package": lambda: type(api().loadPackage(ADDRESS + "package.whl")).__name__ and failed(),  # a promise: nothing waits for it
    "numpy": lambda: module("numpy"),
    "stack": lambda: setattr(api().runPython.constructor, "prepareStackTrace", 1) or failed(),
    # these end Python, so they come last
    "run_script": lambda: ctypes.CDLL(None).emscripten_run_script(f"fetch('{ADDRESS}run_script')".encode()) or failed(),
    "run_script_int": lambda: ctypes.CDLL(None).emscripten_run_script_int(b"1") or failed(),
}


def failed():
    raise OSError("nothing came of it")


class Attempts:
    """Each task is one attempt."""

    tasks = {"train": len(ATTEMPTS), "test": 1}
    max_turns = 1

    def reset(self, index):
        """What the attempt came to."""
        name, attempt = list(ATTEMPTS.items())[index]
        try:
            found = attempt()
        except BaseException as error:
            return f"{name}: {type(error).__name__} {error}"
        raise RuntimeError(f"REACHED by {name}: {found!r}")

    def look(self) -> str:
        """Looks."""
        return ""

    def get_reward(self):
        return 0.0
