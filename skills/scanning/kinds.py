"""What a file is, by its first bytes; its name only says what it should be."""

import re

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "sealed"),
    (b"Rar!\x1a\x07", "sealed"),
    (b"MSCF", "sealed"),
    (b"\x28\xb5\x2f\xfd", "sealed"),
    (b"\x04\x22\x4d\x18", "sealed"),
    (b"!<arch>\n", "sealed"),
    (b"\xed\xab\xee\xdb", "sealed"),
    (b"xar!", "sealed"),
    (b"LZIP", "sealed"),
    (b"\x1f\x9d", "sealed"),
    (b"hsqs", "sealed"),
    (b"-----BEGIN PGP MESSAGE", "sealed"),
    (b"Salted__", "sealed"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"\x7fELF", "program"),
    (b"MZ", "program"),
    (b"\xca\xfe\xba\xbe", "program"),
    (b"\xfe\xed\xfa\xce", "program"),
    (b"\xfe\xed\xfa\xcf", "program"),
    (b"\xce\xfa\xed\xfe", "program"),
    (b"\xcf\xfa\xed\xfe", "program"),
    (b"\0asm", "program"),
    (b"dex\n", "program"),
    (b"\x1bLua", "program"),
    (b"BC\xc0\xde", "program"),
    (b"SQLite format 3\0", "data"),
    (b"\0\x01\0\0\0", "font"),
    (b"OTTO", "font"),
    (b"ttcf", "font"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
    (b"true\0", "font"),
    (b"OggS", "media"),
    (b"ID3", "media"),
    (b"\xff\xfb", "media"),
    (b"fLaC", "media"),
    (b"\0\0\x01\0", "icon"),
    (b"\0\0\x02\0", "icon"),
    (b"BM", "bitmap"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"PAR1", "data"),
    (b"\x93NUMPY", "numpy"),
    (b"\x89HDF\r\n\x1a\n", "data"),
    (b"\x00\x00\x00\x0cJXL ", "media"),
    (b"glTF", "media"),
    (b"icns", "icon"),
    (b"8BPS", "media"),
    (b"bplist00", "data"),
)
# Pickle's first protocol is text: a module and a name on two lines, then what they are called with.
_PICKLE = re.compile(
    rb"\x80[\x02-\x05].|c(os|posix|nt|builtins|__builtin__|subprocess|commands|sys|pty|socket|runpy|importlib|shutil"
    rb"|operator|webbrowser|timeit|code)\n\w+\n",
    re.DOTALL,
)
_STARTS = tuple(magic for magic, _ in _MAGIC)
IMAGES = {"png", "jpeg", "gif", "icon", "bitmap", "tiff", "webp"}
_NAMES = {
    "png": {"png"}, "jpg": {"jpeg"}, "jpeg": {"jpeg"}, "gif": {"gif"}, "pdf": {"pdf"},
    "ico": {"icon", "png"}, "bmp": {"bitmap"}, "webp": {"webp"}, "tif": {"tiff"}, "tiff": {"tiff"},
    "zip": {"zip"}, "docx": {"zip"}, "xlsx": {"zip"}, "pptx": {"zip"}, "odt": {"zip"},
    "epub": {"zip"}, "jar": {"zip"}, "whl": {"zip"}, "gz": {"gzip"}, "tgz": {"gzip"},
    "ttf": {"font"}, "otf": {"font"}, "woff": {"font"}, "woff2": {"font"},
    "mp3": {"media"}, "mp4": {"media"}, "wav": {"media"}, "ogg": {"media"}, "mov": {"media"},
}  # fmt: skip


def kind(data: bytes) -> str:
    """One word for the form of the bytes: `text` when no known form claims them."""
    if data[:4] == b"RIFF":
        return "webp" if data[8:12] == b"WEBP" else "media"
    if data[4:8] == b"ftyp":
        return "media"
    if len(data) > 262 and data[257:262] == b"ustar":
        return "tar"
    if _is_bytecode(data):
        return "bytecode"
    if _PICKLE.match(data):
        return "pickle"
    for magic, name in _MAGIC if data.startswith(_STARTS) else ():
        if data.startswith(magic):
            if name == "bitmap" and b"\0" not in data[:32]:
                continue
            if name == "program" and magic == b"MZ" and b"\0" not in data[:64]:
                continue
            return name
    return "text"


def is_disguised(suffix: str, found: str) -> bool:
    """Whether a file's suffix promises one form and the bytes are another."""
    return suffix in _NAMES and found not in _NAMES[suffix]


def _is_bytecode(data: bytes) -> bool:
    """Python's compiled form: two bytes of version, then `\\r\\n`."""
    return (
        len(data) >= 16 and data[2:4] == b"\r\n" and data[1] in (0x0C, 0x0D, 0x0E) and data[0] > 0
    )
