"""What goes wrong: one exception for each status of the C library (mc_status.h), all of them Error."""


class Error(Exception):
    """A call of the C library failed. `status` is its number, the message its diagnostics, a line each."""

    status = 0


class UsageError(Error, ValueError):
    """Wrong usage, or a spec with errors: the message says where."""


class NoMemoryError(Error, MemoryError):
    """Out of memory, on the host or on the device."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class FormatError(Error, ValueError):
    """A file or a matrix is malformed."""


class CannotError(Error):
    """This cannot be done: no kernel for the problem, no such device, an address that is not aligned."""


class DeviceError(Error, RuntimeError):
    """The device reports an error; on the simulator, what a kernel did wrong."""


class MismatchError(Error):
    """A result is wrong."""


_BY_STATUS = (None, UsageError, NoMemoryError, FileError, FormatError, CannotError, DeviceError, MismatchError)


def error_of(status: int, message: str) -> Error:
    """The exception for a status."""
    kind = _BY_STATUS[status] if 0 < status < len(_BY_STATUS) else Error
    error = kind(message or "failed without a message")
    error.status = status
    return error
