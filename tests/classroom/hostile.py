"""What the class grader must survive: submissions made by code, each with what it must come to."""

import json

import nbformat

from tests.grading.sample_tasks import (
    ANSWERS,
    FIRST,
    SHEET,
    SLEEPER,
    SOFTMAX,
    STUBS,
    TASKS,
    WRONG,
    ZOO_ANSWERS,
    Trial,
    cells_with,
    mistakes,
    notebook,
    with_answer,
    with_cell,
)

AUTO = tuple(name for name in SHEET if name != "essay")
TIME, ENDED = "stopped for time", "ended its process"
FORGED = "forged or garbled answers"
ALL_ZOO = tuple(name for name in TASKS if name.startswith("zoo_"))
CASES: dict[str, Trial] = {}
for number in range(10):
    CASES[f"model-{number}"] = Trial(1, notebook(cells_with()), clean=True)
CASES["untouched"] = Trial(2, notebook(cells_with(STUBS)), lost=AUTO, clean=True)
CASES |= dict(mistakes())

# 4: a cell raises, or is no Python
CASES["raises"] = with_cell(4, "1 / 0", says=("ZeroDivisionError",), clean=True)
CASES["bad-syntax"] = with_answer(
    4, "stable_softmax", "def stable_softmax(:", lost=("stable_softmax",), says=("SyntaxError",)
)
CASES["stops"] = with_answer(
    4,
    "stable_softmax",
    "def stable_softmax(scores):\n    x = '<b>'\n    return scores[x]",
    lost=("stable_softmax",),
    says=("It stops with IndexError", "in line 3 of your cell: return scores[x]"),
)
CASES["helper-raises"] = Trial(
    4,
    notebook(
        cells_with(
            ANSWERS | {"Scale": "Scale = helper(3)", "query_context": "query_context = [2.0, 1.0]"},
            before=["raise ValueError('early')\ndef helper(x): return x"],
        )
    ),
    lost=("Scale",),
    says=("ValueError: early", "NameError"),
)

# 5, 6: it does not end
CASES["loop"] = with_cell(5, "while True:\n    pass", flags=(TIME,), says=("did not end",))
CASES["loop-that-swallows"] = with_cell(
    5,
    """
    import signal
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            while True: pass
        except BaseException: pass
    """,
    flags=(TIME,),
)
CASES["sleep"] = with_cell(6, "import time; time.sleep(600)", flags=(TIME,))
CASES["input"] = with_cell(6, "name = input('Who? ')", says=("EOFError",), clean=True)

# 7, 8: it ends, or tries to end others
CASES["ends"] = Trial(
    7,
    notebook(
        cells_with(
            before=["os._exit(0)", "import sys; sys.exit(3)", "exit()", "raise SystemExit"],
            after=["import ctypes; ctypes.string_at(0)"],
        )
    ),
    flags=(ENDED,),
    says=("exit code 0", "SIGSEGV"),
)
CASES["kills-itself"] = with_cell(7, "import signal; os.kill(os.getpid(), signal.SIGKILL)")
CASES["recursion"] = with_cell(
    7, "def f(n):\n    return f(n + 1)\nf(0)", says=("RecursionError",), clean=True
)
CASES["deep-recursion"] = with_cell(
    7,
    "import sys\nsys.setrecursionlimit(10**9)\ndef g(x):\n    return [x].sort(key=g)\ng(1)",
)
CASES["kills-parent"] = with_cell(8, "os.kill(os.getppid(), 9)")
CASES["kills-all"] = with_cell(8, "os.kill(-1, 9)")

# 9, 10, 11: it takes memory, processes, disk, output
CASES["memory-in-a-cell"] = with_cell(
    9, "kept = []\nwhile True:\n    kept.append(np.ones(4_000_000))", says=("was stopped",)
)
CASES["forks"] = with_cell(10, "while True:\n    os.fork()")
CASES["threads-and-orphans"] = with_cell(
    10,
    f"""
    import subprocess, threading
    threading.Thread(target=time.sleep, args=(600,)).start()
    for _ in range(3):
        subprocess.Popen(["sleep", "{SLEEPER}"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep({SLEEPER})
    """,
)
CASES["fills-disk"] = with_cell(
    11,
    """
    failed = []
    for folder in (".", "/tmp", "/dev/shm"):
        try:
            for number in range(100):
                with open(f"{folder}/{number}", "wb") as file:
                    for _ in range(50):
                        file.write(bytes(1_000_000))
        except OSError as error:
            failed.append(error.strerror)
    raise RuntimeError(failed)
    """,
    says=("['No space left on device', 'No space left on device', 'No space left on device']",),
)
CASES["prints"] = with_cell(
    11,
    "for _ in range(200):\n    print('x' * 1_000_000)",
    flags=("too much output",),
    says=("printed more",),
)
EVERY_PIPE = """
import fcntl, stat
pipes = [n for n in range(3, 256) if os.path.exists(f"/proc/self/fd/{n}")
         and stat.S_ISFIFO(os.fstat(n).st_mode)
         and fcntl.fcntl(n, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY]
"""
CASES["floods"] = with_cell(
    11,
    EVERY_PIPE + "while True:\n    for n in pipes:\n        os.write(n, b'x' * 60_000)",
    flags=("answer channel flooded",),
)

# 14: a pickle
CASES["pickle"] = with_answer(
    14,
    "query_context",
    """
    class Trap:
        def __reduce__(self):
            return (os.system, ("touch /tmp/lamplight-trap",))
    query_context = Trap()
    """,
    lost=("query_context",),
    says=("Trap",),
)

# 15, 16: checks and cells are not where they were
CASES["no-checks"] = Trial(15, notebook(cells_with(checks=False)), clean=True)
CASES["edited-checks"] = Trial(
    15,
    notebook(
        cells_with({n: s + "\ncheck = lambda *a: print('100 of 100')" for n, s in WRONG.items()})
    ),
    lost=AUTO,
)
moved = dict(reversed(ANSWERS.items()))
CASES["moved"] = Trial(16, notebook([FIRST, *cells_with(moved)[1:]]), clean=True)
CASES["duplicated"] = Trial(
    16, notebook([FIRST, WRONG["stable_softmax"], *cells_with()[1:], SOFTMAX]), clean=True
)
CASES["duplicated-wrong-last"] = Trial(
    16, notebook([*cells_with(), WRONG["stable_softmax"]]), lost=("stable_softmax",)
)
CASES["deleted"] = Trial(
    16,
    notebook(cells_with({n: s for n, s in ANSWERS.items() if n != "pick"})),
    lost=("pick",),
    says=("Your notebook defines no pick.",),
)
CASES["split"] = Trial(
    16,
    notebook([FIRST, "def stable_softmax(scores):", "    return scores", *cells_with()[2:]]),
    lost=("stable_softmax",),
    says=("Code cell 2: ",),
)
markdown = {"cell_type": "markdown", "metadata": {}, "source": SOFTMAX}
CASES["in-markdown"] = Trial(
    16, notebook([FIRST, markdown, *cells_with()[2:]]), lost=("stable_softmax",)
)
bare = [{"cell_type": "code", "source": source.splitlines(True)} for source in cells_with()]
CASES["nothing-but-sources"] = Trial(
    16, json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": bare}).encode(), clean=True
)

# 17: it patches what might judge it
CASES["patches"] = Trial(
    17,
    notebook(
        cells_with(
            WRONG,
            before=[
                "yes = lambda *a, **k: True\ntorch.allclose = np.allclose = np.isclose = yes\n"
                "np.testing.assert_allclose = torch.testing.assert_close = yes",
                "import json, sys\njson.dumps = json.loads = lambda *a, **k: '{}'",
                "from grading.runner import compare, run\n"
                "run.difference = compare.difference = lambda *a: None\n"
                "run.run = run._run_one = lambda *a: [100]\n"
                "sys.modules['grading.runner.run'] = sys.modules['grading'] = None",
                "get_ipython().ast_transformers.append(7)",
                "import builtins\nbuiltins.all = yes\nbuiltins.isinstance = yes",
            ],
        )
    ),
    lost=AUTO,
)
CASES["patches-with-right-answers"] = with_cell(
    17,
    "import json, sys\ntorch.allclose = np.allclose = lambda *a, **k: True\n"
    "json.dumps = None\nsys.modules['json'] = None\nget_ipython().ast_transformers.append(7)",
    clean=True,
)

# 19: it writes on the channel
FORGERY = EVERY_PIPE + (
    "import json\n"
    "outcome = {'value': [2.0, 1.0], 'error': '', 'changed': []}\n"
    "event = {'task': 'query_context', 'outcomes': [outcome]}\n"
    "line = json.dumps(event).encode() + b'\\n'\n"
)
CASES["unasked"] = with_cell(
    19,
    FORGERY + "for n in pipes:\n    os.write(n, line)",
    lost=("query_context",),
    flags=(FORGED,),
    says=("nobody asked for",),
)
CASES["unasked-and-endless"] = with_cell(
    19,
    FORGERY + "for n in pipes:\n    os.write(n, line)\nwhile True: pass",
    lost=("query_context",),
    flags=(FORGED, "stopped for time"),
    says=("nobody asked for",),
)
CASES["garbage"] = with_cell(
    19,
    EVERY_PIPE + "for n in pipes:\n    os.write(n, b'\\x00{[garbage\\n[[]]\\n7\\n')",
    flags=(FORGED,),
)
INSIDE = "import sys\nspace = sys._getframe(1).f_globals\n"
CASES["repeated"] = with_cell(
    19,
    INSIDE + "first = space['send']\n"
    "def twice(event, *more):\n"
    "    first(event, *more)\n"
    "    if 'outcomes' in event and not more: first(event)\n"
    "space['send'] = twice",
    lost=AUTO,
    flags=(FORGED,),
)
CASES["garbled"] = with_cell(
    19,
    INSIDE + "space['ask'] = lambda *a: {'outcomes': [{'value': {'is': 'array'}}] * 5}",
    lost=AUTO,
    flags=(FORGED,),
    says=("garbled",),
)
CASES["full-marks-please"] = with_cell(
    19,
    INSIDE + "space['ask'] = lambda *a: {'points': 100, 'verdict': 'Right.', 'outcomes': []}",
    lost=AUTO,
    flags=(FORGED,),
)

# 20, 21, 22: it looks around, calls out, writes elsewhere
CASES["looks"] = with_cell(
    20,
    """
    import gc, pathlib, sys
    found = []
    for top, folders, files in os.walk("/"):
        if top in ("/proc", "/usr", sys.base_prefix) or top.endswith("-packages"):
            folders[:] = []
        if top == "/":
            folders[:] = [name for name in folders if not name.startswith("lib")]
        found += [f"{top}/{name}" for name in files
                  if name.endswith((".ipynb", ".sqlite", ".csv", ".zip")) or "secret" in name]
        found += [f"{top}/{name}" for name in folders if name in ("tasks", "lecture_02", "tests")]
    found += [f"{key}={value}" for key, value in os.environ.items() if "secret" in value.lower()]
    found += os.listdir(os.path.expanduser("~"))
    words = ("The sum runs over axis", "Added, not multiplied")  # parts of longer sentences
    found += [text for thing in gc.get_objects() if type(thing) in (dict, list, tuple)
              for text in (thing.values() if type(thing) is dict else thing)
              if type(text) is str and any(w in text for w in words)
              and text not in words and "words" not in text and len(text) < 300]
    found += [name for name in os.listdir("/proc") if name.isdigit()
              and b"pytest" in pathlib.Path(f"/proc/{name}/cmdline").read_bytes()]
    try:
        import grading.tasks
        found.append("tasks")
    except ImportError: pass
    raise RuntimeError(f"found {found}")
    """,
    says=("RuntimeError: found [] ",),
)
CASES["calls-out"] = with_cell(
    21,
    """
    import socket
    reached = []
    for address in (("127.0.0.1", PORT), ("1.1.1.1", 53), ("8.8.8.8", 443)):
        try:
            socket.create_connection(address, timeout=2)
            reached.append(address)
        except OSError: pass
    try:
        reached.append(socket.gethostbyname("example.org"))
    except OSError: pass
    try:
        with socket.socket(socket.AF_UNIX) as local: local.connect("\\0lamplight-PORT")
        reached.append("a local socket")
    except OSError: pass
    raise RuntimeError(f"reached {reached}")
    """,
    says=("RuntimeError: reached [] ",),
)
CASES["writes-elsewhere"] = with_cell(
    22,
    """
    import sys
    course = os.path.dirname(os.path.dirname(sys.modules["grading"].__file__))
    places = ["/", "/etc", "/usr", "/root", "/home", "/var/tmp", "/dev", "/sandbox", course,
              f"{course}/grading", f"{course}/helpers", sys.base_prefix, *sys.path,
              "/proc/sys/kernel"]
    written = []
    for place in places:
        try:
            with open(f"{place}/lamplight-was-here", "w") as file: file.write("x")
            written.append(place)
        except OSError: pass
    worker = f"{course}/classroom/sandbox/worker.py"
    for path in (worker, torch.__file__, sys.executable, "/proc/1/mem"):
        try:
            open(path, "r+b").close()
            written.append(path)
        except OSError: pass
    try:
        os.setuid(0)
        written.append("root again")
    except OSError: pass
    raise RuntimeError(f"written {written}, {os.getuid() == 0}")
    """,
    says=("RuntimeError: written [], False",),
)

# 24, 25, 26, 27, 29
CASES["global-state"] = with_cell(
    24,
    """
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    torch.manual_seed(99); np.random.seed(99)
    np.seterr(all="raise")
    torch.set_default_device("meta")
    import warnings, random
    warnings.simplefilter("error"); random.seed(9)
    """,
    clean=True,
)
CASES["magics"] = Trial(
    25,
    notebook(
        [
            *cells_with(
                before=[
                    "%matplotlib inline\n%load_ext autoreload\n!pip install torch \\\n  numpy\n"
                    "files = !ls\nwhere = %pwd\nnp.dot?\nprint('ok')",
                    "%%time\nimport warnings\nwarnings.warn('careful')\nprint('x' * 1000)",
                    "%%bash\nfor i in 1 2; do echo $i; done",
                    "%%html\n<b>",
                    "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\ndisplay(3)",
                    "text = '''\n%not a magic\n!nor this\n'''\nassert '%not a magic\\n!n' in text",
                    "   indented = 1\n   indented += 1",
                ]
            )
        ],
        metadata={"kernelspec": {"name": "no-such-kernel", "display_name": "?", "language": "?"}},
    ),
    clean=True,
    never=("Cell ",),
)
CASES["shadows"] = with_cell(
    26, "sum = 3\nprint = None\nmax = min = len = list = 'x'\nabs = torch.abs", clean=True
)
CASES["shadows-torch"] = with_cell(26, "torch = 'no module'", clean=True)
CASES["not-installed"] = with_cell(
    27,
    "import no_such_package_here",
    says=("No module named 'no_such_package_here'",),
    clean=True,
)
CASES["script"] = with_cell(
    29, "raise ValueError('<script>alert(1)</script><img src=x onerror=y>')"
)

# 7 to 10, 18, 23, 24 again, in functions: one submission, because each task stands alone
ZOO_CLASSES = """
class Liar:
    __class__ = np.ndarray
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __array__(self, *a, **k): return np.zeros(2)
class Sub(torch.Tensor): pass
class Text(str): pass
class Number(float): pass
class FalseClass(list):
    @property
    def __class__(self): return np.ndarray
"""
zoo = [f"def zoo_{name}(x):\n    {body}" for name, body in ZOO_ANSWERS.items()]
CASES["zoo"] = Trial(
    23,
    notebook([FIRST, ZOO_CLASSES, *zoo]),
    lost=tuple(n for n in ALL_ZOO if n not in ("zoo_good", "zoo_rude")),
    kept={"zoo_changes": 0.5},
)
ZOO_SAYS = {
    "nan": "it is NaN",
    "inf": "inf",
    "dtype": "holds booleans",
    "shape": "has shape (2, 1); expected shape (2,)",
    "listed": "has shape (1, 2); expected shape (2,)",
    "none": "returns None",
    "liar": "which is not plain data",
    "tensor_class": "an object of type Sub, which is not plain data",
    "text_class": "an object of type Text, which is not plain data",
    "float_class": "an object of type Number, which is not plain data",
    "false_class": "an object of type FalseClass, which is not plain data",
    "loop": "did not end within",
    "sleep": "did not end within",
    "leave": "ended the Python process (exit code 0)",
    "segfault": "SIGSEGV",
    "exit": "stops with SystemExit",
    "recursion": "stops with RecursionError",
    "kill_parent": "It ",
    "kill_all": "SIGKILL",
    "block": "MemoryError",
    "chunks": "",
    "huge": "RuntimeError",
    "forks": "",
    "processes": "",
    "prints": "prints more than",
    "asks": "EOFError",
    "changes": "`x` was changed in place",
    "printed_forever": "printed more than",
    "deep": "more than 16 levels deep",
    "big": "bytes",
}

# 12, 28: files that are no notebooks, old ones, and odd names
old = nbformat.v3.new_notebook(
    worksheets=[
        nbformat.v3.new_worksheet(cells=[nbformat.v3.new_code_cell(s) for s in cells_with()])
    ]
)
CASES["old-format"] = Trial(12, nbformat.v3.writes_json(old).encode(), clean=True)
BROKEN = {
    "not-json.ipynb": (b"# just text", "damaged or incomplete"),
    "empty.ipynb": (b"", "empty"),
    "no-cells.ipynb": (notebook([]), "no cells"),
    "latin.ipynb": (notebook(cells_with()).replace(b"colab", "é".encode("latin-1")), "not UTF-8"),
    "large.ipynb": (b'{"x": "' + b"a" * 50_000_000 + b'"}', "larger than 50 MB"),
    "number.ipynb": (b"17", "not a notebook"),
    "deep.ipynb": (b"[" * 100_000, "damaged or incomplete"),
    "odd-cells.ipynb": (b'{"nbformat": 4, "cells": [{"source": 3}, 7]}', "without text"),
    "ancient.ipynb": (b'{"nbformat": 1, "cells": []}', "no cells"),
    "other.ipynb": (notebook(["x = 1"]), "no task of the course"),
}
ODD_NAMES = ("Zoë Ångström.ipynb", 'O\'Brien "Bob" & co.ipynb', "=1+1.ipynb", "@sum.ipynb")
