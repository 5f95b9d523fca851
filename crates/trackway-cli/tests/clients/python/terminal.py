"""A command in a terminal of its own: what comes on stdin is typed, what the terminal shows goes to stdout.

    terminal.py COLUMNS COMMAND ARG...

The terminal is that wide; 0: it does not say. Ends as the command does. End of input hangs up.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

BYTES_MAX = 65_536

command, terminal = pty.fork()
if command == 0:
    size = struct.pack("HHHH", 0, int(sys.argv[1]), 0, 0)
    fcntl.ioctl(sys.stdin.fileno(), termios.TIOCSWINSZ, size)
    os.execv(sys.argv[2], sys.argv[2:])


def shown():
    try:
        return os.read(terminal, BYTES_MAX)
    except OSError:  # on Linux, what the end of a terminal looks like
        return b""


while True:
    ready, _, _ = select.select([terminal, sys.stdin.fileno()], [], [])
    if terminal in ready:
        if not (piece := shown()):
            break
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    elif typed := os.read(sys.stdin.fileno(), BYTES_MAX):
        os.write(terminal, typed)
    else:
        break
os.close(terminal)
_, status = os.waitpid(command, 0)
sys.exit(os.waitstatus_to_exitcode(status))
