"""Look at the rollouts of an RL run in a notebook: `view(path_or_rows)`."""

__all__ = ["view"]


def __getattr__(name):
    # anywidget takes a second to import, and the command doesn't need it
    if name == "view":
        from .widget import view

        return view
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
