"""The fork server: imports NumPy or torch once, and forks a worker into each sandbox.

It runs outside the sandboxes, as the grader does, and nothing of a student's ever runs in it. What
it forks serves one submission and ends: it enters all namespaces of a sandbox, gives up its
capabilities and all files but those of the submission, and only then runs the worker's program.
Linux only.
"""

import ctypes
import gc
import os
import signal
import socket
import sys

# In the order of the kernel: mounts, cgroup, host name, IPC, processes, network; and the users.
NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
USERS = 0x10000000
TO_BECOME_ANOTHER = 1 << 6 | 1 << 7  # CAP_SETGID and CAP_SETUID
CHANNEL = 3  # the open file to which a forked worker writes
libc = ctypes.CDLL(None, use_errno=True)


def require_done(result: int) -> None:
    """Raise the error of a system call that failed."""
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def give_up_capabilities(kept: int) -> None:
    """Keep only these capabilities, and none for another program."""
    for number in range(64):
        if not kept >> number & 1:
            libc.prctl(24, number, 0, 0, 0)  # PR_CAPBSET_DROP; fails for numbers without meaning
    require_done(libc.prctl(47, 4, 0, 0, 0))  # PR_CAP_AMBIENT, CLEAR_ALL
    version = (ctypes.c_uint32 * 2)(0x20080522, 0)
    require_done(libc.capset(version, (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)))
    require_done(libc.prctl(38, 1, 0, 0, 0))  # PR_SET_NO_NEW_PRIVS


def work(program: object, home: str, job: int, channel: int, printed: int) -> None:
    """Become the worker, inside the sandbox."""
    os.setsid()
    for number, file in enumerate((job, printed, printed, channel)):
        os.dup2(file, number)
    os.closerange(CHANNEL + 1, 1 << 20)
    root = os.geteuid() == 0
    give_up_capabilities(TO_BECOME_ANOTHER if root else 0)
    if not root:
        libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: it may read its own /proc/self
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: process 1 of the sandbox only sleeps
    os.chdir(home)
    os.environ["PWD"] = home
    sys.argv[:] = [program.co_filename]
    exec(program, {"__name__": "__main__", "__file__": program.co_filename})


def guard(program: object, home: str, files: list[int]) -> None:
    """Enter a sandbox, fork the worker there, and tell how it ended."""
    sandbox, job, channel, printed, status = files
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    require_done(libc.setns(sandbox, NAMESPACES | (USERS if os.geteuid() else 0)))
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG: end when the server ends
    child = os.fork()  # into the sandbox's process space, which its parent stays out of
    if child == 0:
        work(program, home, job, channel, printed)
    for file in (sandbox, job, channel, printed):
        os.close(file)
    os.write(status, str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def main() -> None:
    """Serve until the grader ends: sandbox and files come in, the number of a process goes out."""
    path, inside, home, libraries, *packages = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        program = compile(file.read(), inside, "exec")
    before = list(sys.path)
    sys.path += packages
    import numpy.random  # noqa: F401, NumPy alone would import it in each worker

    if libraries == "torch":
        import torch

        torch.set_num_threads(1)
    sys.path[:] = before
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the guards
    server = socket.socket(fileno=0)
    while True:
        message, files, _, _ = socket.recv_fds(server, 1, 5)
        if not message:
            return
        child = os.fork()
        if child == 0:
            try:
                server.detach()
                guard(program, home, files)
            finally:
                os._exit(1)
        for file in files:
            os.close(file)
        server.send(str(child).encode())


if __name__ == "__main__":
    gc.disable()
    main()
