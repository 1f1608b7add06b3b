"""The three calls into PDFium that are made for every character, without the cost of checked arguments.

Through the library's own bindings each takes two to four times as long: it converts typed pointers and gives
the interpreter's lock away and takes it back.
"""

from __future__ import annotations

import ctypes
from typing import Any

import pypdfium2.raw as raw


def _bound(function: Any, result: Any, *arguments: Any) -> Any:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


def handle_of(pointer: Any) -> int:
    """The address behind a typed pointer, which is what the calls below take."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


unicode_of = _bound(raw.FPDFText_GetUnicode, ctypes.c_uint, ctypes.c_void_p, ctypes.c_int)
"""``(text page, index)`` to the code of a character."""
object_of = _bound(raw.FPDFText_GetTextObject, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
"""``(text page, index)`` to the address of its text object, or None."""
loose_box_of = _bound(
    raw.FPDFText_GetLooseCharBox, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
)
"""``(text page, index, address of an FS_RECTF)``; 0 when there is no box."""
