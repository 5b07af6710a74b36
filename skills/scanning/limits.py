"""How much the scanner reads. Above a limit a skill is refused with the reason, never half read."""

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings of one scan: bytes unless the name says otherwise.

    `text` and `code` bound what is read word by word and parsed, unpacked text included;
    `unpacked` bounds everything that archives and encodings may grow to.
    """

    files: int = 2_000
    total: int = 64 * MIB
    text: int = 6 * MIB
    code: int = 2 * MIB
    path: int = 255
    path_depth: int = 16
    front_matter: int = 64 * KIB
    yaml_depth: int = 16
    unpacked: int = 64 * MIB
    unpacked_files: int = 5_000
    unpacked_ratio: int = 200
    nesting: int = 6
    findings: int = 400
    findings_per_rule: int = 8


LIMITS = Limits()
