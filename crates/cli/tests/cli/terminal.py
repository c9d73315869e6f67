"""Types into `demure shell` on a terminal of its own, and prints what that showed.

    terminal.py BINARY POLICY STATE < KEYS

STATE is the folder for the history. Each line of KEYS is a JSON text; it is typed when a prompt is there, and the next
one waits for the next prompt.
"""

import json
import os
import pty
import select
import sys
import time

PROMPTS = (b"demure> ", b"   ...> ")


def main():
    binary, policy, state = sys.argv[1:4]
    keys = [json.loads(line) for line in sys.stdin]
    child, terminal = pty.fork()
    if child == 0:
        environment = {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": state, "EDITOR": os.environ["TEST_EDITOR"]}
        os.execve(binary, [binary, "shell", policy, "--as", "ana"], environment)
    shown = bytearray()
    # Where the part begins that a prompt is looked for in: after the last keys.
    since = 0
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.4)
        if ready:
            try:
                new = os.read(terminal, 1 << 16)
            except OSError:
                break
            if not new:
                break
            shown += new
        elif keys and any(prompt in shown[since:] for prompt in PROMPTS):
            since = len(shown)
            os.write(terminal, keys.pop(0).encode())
    else:
        os.kill(child, 9)
    _, status = os.waitpid(child, 0)
    sys.stdout.write(shown.decode(errors="replace"))
    sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)


main()
