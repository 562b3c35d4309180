"""Cells that only IPython can run: magics, shell lines, await, pasted prompts.

This runs inside the sandbox, where the network is off. It is imported only when a notebook needs
it, since IPython costs a third of a second.
"""

import contextlib
import re
import types

import IPython
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

INSTALLS = re.compile(
    r"^(?P<indent>\s*)(?:[%!]{1,2}\s*(?:python3? -m )?(?:pip3?|conda|mamba|uv|apt(?:-get)?)\b"
    r"|!\s*(?:sudo|wget|curl|git)\b)(?:.*\\\n)*.*$",
    re.MULTILINE,
)
"""What would wait for a network that is off, or ask for a password."""


class QuietShell(InteractiveShell):
    """The shell without windows to draw in, and without a screen to complain on."""

    def enable_gui(self, gui: str | None = None) -> None:
        """There is no event loop to join."""

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str, str]:
        """Figures are drawn by the backend that is set already, which shows nothing."""
        return gui or "inline", "agg"

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> object:
        """A magic of a package that is missing here, or of a browser, does nothing."""
        if self.find_line_magic(magic_name) is None:
            return None
        with contextlib.suppress(ModuleNotFoundError if magic_name == "load_ext" else ()):
            return super().run_line_magic(magic_name, line, _stack_depth + 1)

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> object:
        """Below a magic of a package that is missing here, the cell runs as it is."""
        if self.find_cell_magic(magic_name) is None:
            return self.run_cell(cell).raise_error()
        return super().run_cell_magic(magic_name, line, cell)

    def showtraceback(self, *_: object, **__: object) -> None:
        """Errors are reported by the worker."""

    def showsyntaxerror(self, *_: object, **__: object) -> None:
        """Errors are reported by the worker."""


class Shell:
    """IPython's shell on the names of a notebook; errors come back instead of being printed."""

    def __init__(self, main: types.ModuleType) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        self.space = main.__dict__
        own = {name: self.space[name] for name in ("display", "exit", "quit")}
        self.shell = QuietShell.instance(
            config=config, user_module=main, user_ns=self.space, ipython_dir="/tmp/ipython"
        )
        self.space.update(own)  # exit() in a cell must not end the run
        self.space["get_ipython"] = IPython.get_ipython

    def run(self, source: str, name: str, flags: int = 0) -> tuple[BaseException | None, int]:
        """Run a cell whose lines are known to `linecache` as `name`.

        Returns:
            Its error, if there is one, and the compiler's flags, which later cells inherit.
        """
        source = INSTALLS.sub(lambda line: line["indent"] + "pass", source)
        self.shell.compile.get_code_name = lambda *_: name
        self.shell.compile.flags |= flags
        result = self.shell.run_cell(source, store_history=True)
        return result.error_before_exec or result.error_in_exec, self.shell.compile.flags
