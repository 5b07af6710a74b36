"""What one more concurrent run holds in a worker: fifty at work at once, beside none.

python bench/memory.py
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import harness  # noqa: E402 - after the path

if __name__ == "__main__":
    sys.argv[1:] = ["--concurrent", "50", "--turns", "20"]
    harness.main()
