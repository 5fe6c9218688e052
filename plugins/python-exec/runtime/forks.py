"""The zygote's loop: forks on command, tells who ended and how.

A fork leaves all memory shared, and each page that is written after it is copied;
the large page that it lay in is one no longer, for the rest of the zygote's life.
So what runs between two forks writes little: packed words in place of JSON, the
system's own calls, a buffer that is made once. The messages are told in zygote.go.
"""

import ctypes
import errno
import os
import select
import signal
import socket
import struct

from _runtime import walls

ASK = struct.Struct("=QIB")  # the fork's number, its uid, whether it is for a session
REPLY = struct.Struct("=QIi")  # the fork's number; what happened; its process, how it ended or why there is none
FORKED, REFUSED, ENDED = b"FRE"
TELL = struct.Struct("=QI")
USAGE_BYTES = 144  # of struct rusage, which follows where a process has ended
DESCRIPTORS = 4  # with an ASK: control, stdin, stdout, stderr
FD = struct.Struct("=i")  # one of those, or that of a REPLY that it is forked: a pidfd


class Forks:
    """What runs in the zygote once it is warm. ``become`` is the child's side."""

    def __init__(self, sock, apart, become):
        self.sock, self.own, self.apart, self.become = sock, sock.fileno(), apart, become
        self.room = socket.CMSG_SPACE(DESCRIPTORS * FD.size)
        self.ears = select.epoll()
        self.ears.register(self.own, select.EPOLLIN)
        self.children = {}  # pid: (number, pidfd, mark of `apart`)
        self.reply = ctypes.create_string_buffer(REPLY.size + USAGE_BYTES)
        self.status = ctypes.byref(self.reply, TELL.size)
        self.usage = ctypes.byref(self.reply, REPLY.size)

    def run(self):
        while True:
            ready = self.ears.poll(-1, 16)
            self.reap()  # first: somebody may wait to hear of an end, and a fork takes its time
            for fd, _ in ready:
                if fd == self.own:
                    self.fork()

    def fork(self):
        message, beside, _, _ = self.sock.recvmsg(ASK.size, self.room)
        if not message:
            os._exit(0)
        number, uid, session = ASK.unpack(message)
        fds = [fd for _, _, data in beside for fd, in FD.iter_unpack(data[:len(data) // FD.size * FD.size])]
        try:
            if len(fds) != DESCRIPTORS:
                raise OSError(errno.EMFILE, "")  # the kernel hands over as many as there is room for
            pid, pidfd, mark = self.child(uid, fds, session)
        except OSError as error:
            os.write(self.own, REPLY.pack(number, REFUSED, error.errno))
            return
        finally:
            for fd in fds:
                os.close(fd)
        self.children[pid] = number, pidfd, mark
        self.ears.register(pidfd, select.EPOLLIN)
        self.sock.sendmsg((REPLY.pack(number, FORKED, pid),), ((socket.SOL_SOCKET, socket.SCM_RIGHTS, FD.pack(pidfd)),))

    def child(self, uid, fds, session):
        pid, mark, parent = self.apart.fork(uid)
        if pid == 0:
            self.become(uid, parent, fds, session)
        try:
            return pid, os.pidfd_open(pid), mark
        except OSError:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            self.apart.sweep(pid, mark, self.children)
            raise

    def reap(self):
        """All that have ended: what others left behind may have come here too."""
        while (pid := walls.wait4(-1, self.status, os.WNOHANG, self.usage)) > 0:
            if pid in self.children:
                self.ended(pid)

    def ended(self, pid):
        number, pidfd, mark = self.children.pop(pid)
        self.ears.unregister(pidfd)
        os.close(pidfd)
        self.apart.sweep(pid, mark, self.children)
        TELL.pack_into(self.reply, 0, number, ENDED)
        os.write(self.own, self.reply)
