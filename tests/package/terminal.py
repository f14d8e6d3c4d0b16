"""A shell on a terminal of its own, to press Tab in."""
import os
import pty
import select
import subprocess
import time


class Terminal:
    def __init__(self, *arguments, **environment):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(arguments, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        env=dict(os.environ, TERM='dumb', PS1='ready> ', **environment))
        os.close(slave)
        self.unread = ''  # what came behind the text that was waited for

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, text, seconds=20):
        """What was printed up to and with `text`; fails if it does not come."""
        printed, end = self.unread, time.monotonic() + seconds
        while text not in printed:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f'{text!r} did not come; the terminal shows {printed!r}')
            printed += os.read(self.master, 4096).decode(errors='replace')
        before, _, self.unread = printed.partition(text)
        return before + text

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
