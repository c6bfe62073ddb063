"""What an object store refuses, as an OSError of one line: what it says, and what to do about it.

    FileNotFoundError   there is no such object
    Refused             it wasn't done, for certain
    Changed             nor this: the object isn't what it was, or there is one already
    Unanswered          whether it was done isn't known

The store's own answers are XML, and may name keys of the account: only their code and message are repeated.
Of what HDFS answers it is the first line, without the server's stack.
"""

from __future__ import annotations

import errno
import os
import re

_CODE = re.compile(r"<Code>([^<]*)</Code>")
_MESSAGE = re.compile(r"<Message>([^<]*)</Message>")
_STATUS = re.compile(r"status code: (\d{3})")
# where a client looks for the role of the machine that it runs on, when nobody gave it keys
_NO_KEYS = (
    "169.254.169.254",
    "metadata.google",
    "MissingCredentials",
    "Missing credentials",
    "NoCredentials",
)


class Refused(OSError):
    """It wasn't done."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.strerror = reason

    def __str__(self) -> str:
        return str(self.strerror)


class Changed(Refused):
    """A condition of the request isn't met: somebody else has written the object."""


class Unanswered(Refused):
    """Whether it was done isn't known."""


def refusal(error: Exception, bucket: str, name: str) -> OSError:
    """Of what obstore raised. bucket: with its scheme. name: of the object."""
    text, kind = str(error), type(error).__name__
    code, status = _found(_CODE, text), _found(_STATUS, text)
    if "NoSuchBucket" in code or "ContainerNotFound" in code:
        return Refused(f"there is no bucket {bucket}; make it, or name another one")
    if any(sign in text for sign in _NO_KEYS):
        return Refused(
            f"no credentials for {bucket}: set them in the environment (of S3 AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY), or run where a role gives them"
        )
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), f"{bucket}/{name}")
    if kind in ("AlreadyExistsError", "PreconditionError"):
        return Changed("another writer has written it")
    if kind in ("PermissionDeniedError", "UnauthenticatedError") or status in ("401", "403"):
        return Refused(f"denied{_said(code, text)}; give these credentials the right to read and write there")
    if status.startswith("4") and status not in ("408", "409", "429"):
        return Refused(f"refused (status {status}){_said(code, text)}")
    if status:
        return Unanswered(f"the store fails (status {status}){_said(code, text)}; try again later")
    return Unanswered(f"the store can't be reached ({_cause(text)}); are its endpoint and the network right?")


def hdfs_refusal(exception: str | None, text: str, cluster: str, name: str) -> OSError:
    """Of what WebHDFS answered. exception: its class; None where it isn't one of its own, "" of no answer."""
    line = text.strip().splitlines()[0].rstrip(".") if text.strip() else "no reason given"
    if exception == "FileNotFoundException":
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), f"{cluster}/{name}")
    if exception == "FileAlreadyExistsException":
        return Changed("another writer has written it")
    if exception in ("AccessControlException", "SecurityException"):
        return Refused(f"denied ({line}); give this user the right to read and write there")
    if exception in ("DSQuotaExceededException", "NSQuotaExceededException"):
        return Refused(f"full ({line})")
    if exception is None and "Authentication" in line:
        return Refused(
            "asks who this is: Kerberos is not supported; name a server that trusts this host in DBSP_WEBHDFS"
        )
    if exception == "":
        return Unanswered(f"the cluster can't be reached ({_cause(line)}); is DBSP_WEBHDFS its HTTP address?")
    return Unanswered(f"the cluster fails ({': '.join(filter(None, [exception, line]))}); try again later")


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""


def _said(code: str, text: str) -> str:
    words = ": ".join(filter(None, [code, _found(_MESSAGE, text).rstrip(".")]))
    return f" ({words})" if words else ""


def _cause(text: str) -> str:
    """The innermost cause, without what it is wrapped in."""
    line = text.split("\n\nDebug source", maxsplit=1)[0].strip().splitlines()[0]
    return line.rsplit(": ", 1)[-1][:120].rstrip("\"')") or "no reason given"
