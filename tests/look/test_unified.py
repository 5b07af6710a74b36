"""A unified diff becomes files and numbered lines, whatever it tries."""

from hypothesis import given
from hypothesis import strategies as st

from controlcenter.reading import unified

CHANGE = """\
diff --git a/app/x.py b/app/x.py
index 1..2 100644
--- a/app/x.py
+++ b/app/x.py
@@ -10,3 +10,4 @@ def f():
 keep
-old = one(1)
+old = one(2)
+more
 end
"""


def test_lines_carry_both_numbers_and_a_sign() -> None:
    (file,) = unified.read(CHANGE).files
    assert (file.folder, file.name, file.added, file.removed) == ("app/", "x.py", 2, 1)
    assert [(line.kind, line.old, line.new, line.sign) for line in file.lines] == [
        ("hunk", None, None, " "),
        ("same", 10, 10, " "),
        ("del", 11, None, "−"),
        ("add", None, 11, "+"),
        ("add", None, 12, "+"),
        ("same", 12, 13, " "),
    ]


def test_the_changed_word_is_marked_where_lines_pair_up() -> None:
    paired = CHANGE.replace("+more\n", "").replace("+10,4", "+10,3")
    (file,) = unified.read(paired).files
    assert [line.html for line in file.lines if line.kind in ("del", "add")] == [
        "old = one(<mark>1</mark>)",
        "old = one(<mark>2</mark>)",
    ]


def test_before_and_after_stand_beside_one_another() -> None:
    (file,) = unified.read(CHANGE).files
    assert [
        (row.before and row.before.text, row.after and row.after.text) for row in file.sides[1:]
    ] == [
        ("keep", "keep"),
        ("old = one(1)", "old = one(2)"),
        (None, "more"),
        ("end", "end"),
    ]
    assert file.sides[0].is_head


def test_a_line_of_the_file_cannot_pretend_to_be_another_file() -> None:
    text = (
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n--- a/harmless\n+++ b/harmless\n"
        "-diff --git a/y b/y\n+@@ -1 +1 @@\n same\n"
    )
    (file,) = unified.read(text).files
    assert file.path == "x"
    assert [line.kind for line in file.lines] == ["hunk", "del", "add", "del", "add", "same"]


def test_new_deleted_renamed_and_binary_files_say_so() -> None:
    text = (
        "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
        "diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/old name b/new name\nsimilarity index 100%\n"
        "rename from old name\nrename to new name\n"
        "diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n"
    )
    files = unified.read(text).files
    assert [(file.path, file.status, file.binary) for file in files] == [
        ("n", "new", False),
        ("d", "deleted", False),
        ("new name", "renamed", False),
        ("p.png", "changed", True),
    ]
    assert files[0].mode == "100755"


def test_a_quoted_path_is_read() -> None:
    text = '--- /dev/null\n+++ "b/caf\\303\\251.txt"\n@@ -0,0 +1 @@\n+x\n'
    assert unified.read(text).files[0].path == "café.txt"


def test_what_is_left_out_is_counted() -> None:
    body = "".join(f"+line {n}\n" for n in range(50))
    one = f"--- /dev/null\n+++ b/f\n@@ -0,0 +1,50 @@\n{body}"
    change = unified.read(one * 3, line_limit=10, file_limit=2)
    assert [(len(file.lines), file.hidden, file.added) for file in change.files] == [
        (10, 41, 50),
        (10, 41, 50),
    ]
    assert (change.hidden_files, change.hidden_lines, change.complete) == (1, 82, False)


def test_added_characters_that_nobody_sees_are_counted() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\u200b\n+a\u202e\u200b\n"
    assert unified.read(text).unseen == 2


def test_a_very_long_line_is_cut_and_says_so() -> None:
    text = f"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+{'x' * 10_000_000}\n"
    (_hunk, line) = unified.read(text).files[0].lines
    assert len(line.html) < 2100
    assert line.html.endswith("+9998000")


@given(st.text(alphabet="-+ @\\d\n\t<a&\u202e0123456789,", max_size=300))
def test_nothing_breaks_it(text: str) -> None:
    for file in unified.read(text).files:
        for line in file.lines:
            assert "<a" not in line.html
