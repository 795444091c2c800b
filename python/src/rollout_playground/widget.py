"""The notebook widget: the page's own viewer in a frame, which is sent the rollouts by the kernel, a chunk at a time."""

import json
import os
import re
import warnings

import anywidget
import traitlets

from .server import PACKAGE, RULES, folder_list

ROLLOUT_FILE = re.compile(r"\.(?:jsonl|ndjson|parquet)\b", re.IGNORECASE)  # logs and summaries stand beside them
CHUNK = 4 * 2**20  # bytes; a Jupyter server passes on larger messages slowly, others refuse them


def view(rollouts, height=640):
    """Shows rollouts in the output of a notebook's cell.

    `rollouts`: the path of a file, or of a folder with .jsonl, .ndjson or .parquet files; or rows, each a dictionary with what one line of
    such a file has; or a data frame. `height`: of the output, in pixels. Files are read as they are now: run the cell again for newer ones.
    """
    if isinstance(rollouts, (str, os.PathLike)):
        return RolloutView(_files_at(os.path.abspath(rollouts)), height)
    return RolloutView([("rows.jsonl", _json_lines(rollouts))], height)


class RolloutView(anywidget.AnyWidget):
    """What `view` returns. `sources`: names, each with the place of a file or with bytes."""

    _esm = PACKAGE / "widget.js"
    page = traitlets.Unicode().tag(sync=True)
    files = traitlets.List().tag(sync=True)
    height = traitlets.Int().tag(sync=True)

    def __init__(self, sources, height):
        self._sources = [source for _, source in sources]
        sizes = [len(each) if isinstance(each, bytes) else os.path.getsize(each) for each in self._sources]
        files = [{"path": path, "size": size} for (path, _), size in zip(sources, sizes)]
        super().__init__(page=(PACKAGE / "viewer.html").read_text("utf-8"), files=files, height=height)
        self.on_msg(self._answer)

    def _answer(self, _widget, asked, _buffers):
        """Sends bytes of a file of the list. Nothing else can be asked for."""
        number, start = asked["file"], asked["from"]
        try:
            data = self._read(self._sources[number], start, min(CHUNK, self.files[number]["size"] - start))
        except OSError as error:
            return self.send({**asked, "problem": f"{self.files[number]['path']} can’t be read now: {error.strerror}."})
        self.send({**asked}, [data])

    @staticmethod
    def _read(source, start, size):
        if isinstance(source, bytes):
            return source[start : start + size]
        with open(source, "rb") as file:
            file.seek(start)
            return file.read(size)


def _files_at(place):
    if not os.path.exists(place):
        raise FileNotFoundError(f"There is no file or folder {place}.")
    if not os.path.isdir(place):
        if os.path.getsize(place) > RULES["maxBytes"]:
            raise ValueError(f"{place} is {RULES['tooLarge']}. Split it, or open it with: rollout-playground {place}")
        return [(os.path.basename(place), place)]
    listed = folder_list(place)
    found = [file for file in listed["files"] if ROLLOUT_FILE.search(os.path.basename(file["path"]))]
    for file in found:
        if "refused" in file:
            warnings.warn(f"{file['path']} is left out: {file['refused']}.", stacklevel=3)
    if listed["leftOut"]:
        warnings.warn(f"Only {len(listed['files'])} files are shown: that is the limit.", stacklevel=3)
    files = [file["path"] for file in found if "refused" not in file]
    if not files:
        raise FileNotFoundError(f"{place} has no .jsonl, .ndjson or .parquet file.")
    return [(path, os.path.join(place, *path.split("/"))) for path in files]


def _json_lines(rollouts):
    rows = rollouts.to_dict("records") if hasattr(rollouts, "iterrows") else rollouts
    lines = []
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise TypeError(f"Row {number} is of type {type(row).__name__}. Each row is a dictionary, as one line of a file of rollouts.")
        try:
            lines.append(json.dumps(row, ensure_ascii=False, default=_plain))
        except TypeError as error:
            raise TypeError(f"Row {number} can’t be written as JSON: {error}.") from None
    if not lines:
        raise ValueError("There are no rows.")
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _plain(value):
    """Numbers and lists of NumPy and PyTorch as Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value is of type {type(value).__name__}")
