"""Ways to change a repository, a tracker or a registry without `git push`, as a shell spells them.

Add a row for each spelling that got by.
"""

import pytest

from guardrails import commands, rules
from guardrails.classes import ActionClass
from guardrails.decisions import Decision
from tests.cast import Cast

PUSH, NET, SECRET = "git_push", "network_egress", "secret_access"
OPEN, PUBLISH, TRACK, COMMIT = "pr_create", "pr_publish", "tracker_write", "git_commit"
EVERYTHING = {PUSH, OPEN, PUBLISH, TRACK}
API = "https://api.github.com/repos/a/b"

PUSHES = [
    f"curl -X PUT {API}/contents/x -d @b.json",
    f"curl -XPUT {API}/contents/x",
    f"curl -sXPUT {API}/contents/x",
    f"curl -sSXput {API}/contents/x",
    f"curl -X put {API}/contents/x",
    f"curl --request=PUT {API}/contents/x",
    f"curl --request PUT --url {API}/contents/x",
    f"curl --url={API}/git/refs -d x",
    f"curl -sSd '{{}}' {API}/git/refs",
    f"curl -d@b.json {API}/git/refs",
    f"curl {API}/git/refs -sd '{{}}'",
    f"curl --data-binary=@x {API}/git/refs",
    f"curl --data-urlencode a=b {API}/merges",
    f"curl --json '{{}}' {API}/merges",
    f"curl -F a=b {API}/git/refs",
    f"curl -X DELETE {API}/git/refs/heads/x",
    f'curl -X "$M" {API}/contents/x',
    f"curl -H 'X: y' -T a.zip {API.replace('api', 'uploads')}/releases/1/assets",
    "curl -X PUT HTTPS://API.GitHub.com/repos/a/b/contents/x",
    "curl -X PUT api.github.com/repos/a/b/contents/x",
    "curl -X PUT https://api.github.com./repos/a/b/contents/x",
    "curl -X PUT https://ghe.corp/api/v3/repos/a/b/contents/x",
    "curl -X POST https://git.corp/api/v4/projects/1/repository/commits",
    "curl -X POST https://gitea.corp/api/v1/repos/a/b/contents/x",
    "curl -X POST https://codeberg.org/api/v1/repos/a/b/contents/x",
    "curl -X POST https://api.bitbucket.org/2.0/repositories/a/b/src -F x=y",
    "curl -X POST 'https://dev.azure.com/o/p/_apis/git/repositories/r/pushes?api-version=7'",
    "curl --data-binary @p https://github.com/a/b.git/git-receive-pack",
    "curl --data-binary @p https://git.corp/a/b.git/git-receive-pack",
    "curl -d x https://github.com/a/b.git/info/lfs/objects/batch",
    f"wget --method=PUT --body-data=x {API}/contents/x",
    f"wget --method PUT {API}/contents/x",
    f"wget --post-file=x {API}/git/refs",
    f"wget -qO- --post-data x {API}/git/refs",
    f"http PUT {API}/contents/x a=b",
    "http api.github.com/repos/a/b/git/refs ref=x",
    "http --json api.github.com/repos/a/b/git/refs ref:=1",
    f"xh put {API}/contents/x",
    "xhs POST api.github.com/repos/a/b/git/refs",
    "https POST api.github.com/repos/a/b/git/refs",
    "curlie POST api.github.com/repos/a/b/git/refs",
    "gh api repos/a/b/git/refs -f ref=x",
    "gh api repos/a/b/git/refs -fref=x",
    "gh api repos/a/b/git/refs --raw-field=ref=x",
    "gh api --input b.json repos/a/b/git/refs",
    "gh api -iXPUT repos/a/b/contents/x",
    "gh api -X=PUT repos/a/b/contents/x",
    "gh api -X GET repos/a/b/contents/x -X PUT",
    "gh repo sync a/b",
    "gh gist create x",
    "gh release upload v1 x",
    "glab api projects/1/repository/commits -f a=b",
    "hub push origin main",
    "hub sync",
    "git-push origin main",
    "/usr/lib/git-core/git-push origin main",
    "git-lfs push origin main",
    "dulwich push https://x/y",
    "jj git push",
    "hg push",
    "sl push",
    f"python -c \"import requests; requests.put('{API}/contents/x')\"",
    f"python3 - <<'X'\nimport urllib.request as u\nu.Request('{API}/git/refs', method='POST')\nX",
    f"node -e \"fetch('{API}/git/refs', {{method: 'POST'}})\"",
    f'ruby -e \'Net::HTTP.post(URI("{API}/git/refs"), "{{}}")\'',
    f"node <<< \"fetch('{API}/git/refs', {{method: 'PATCH'}})\"",
]


@pytest.mark.req("CC-52")
@pytest.mark.parametrize("line", PUSHES)
def test_it_is_asked_about_as_a_push(line: str) -> None:
    found = commands.classes_of(line)
    assert {PUSH, NET} <= found, found
    pushes = [each for each in commands.actions(line) if PUSH in each.classes]
    assert all(each.refs or each.rewrites is None for each in pushes), "nobody knows what is lost"


OTHERS: list[tuple[str, set[str]]] = [
    (f"curl -d '{{}}' {API}/pulls", {OPEN, NET}),
    (f"curl -X PUT {API}/pulls/3/merge", {PUBLISH, NET}),
    (f"curl -sd '{{}}' {API}/issues", {TRACK, NET}),
    ("curl -d x https://acme.atlassian.net/rest/api/3/issue", {TRACK, NET}),
    ("curl -d x https://api.linear.app/graphql", {TRACK, NET}),
    ("curl -F x=@a https://upload.pypi.org/legacy/", {PUBLISH, NET}),
    ("curl -T a.tgz https://registry.npmjs.org/a", {PUBLISH, NET}),
    ("curl -d '{}' https://api.github.com/graphql", EVERYTHING | {NET}),
    ("gh api graphql -f query='mutation{createCommitOnBranch}'", EVERYTHING | {NET}),
    ("gh api graphql -F query=@change.graphql", EVERYTHING | {NET}),
    ("gh api graphql --input q.json", EVERYTHING | {NET}),
    ("gh extension exec foo", {PUBLISH, NET}),
    ("gh auth status -t", {SECRET, NET}),
    ("gh auth status --show-token", {SECRET, NET}),
    ("cat ~/.config/gh/hosts.yml", {SECRET}),
    ("export -p", {SECRET}),
    ("openssl s_client -connect api.github.com:443", {NET}),
    ("echo x > /dev/tcp/api.github.com/443", {NET}),
    ("svn commit -m x", {PUSH, NET}),
]


@pytest.mark.parametrize(("line", "wanted"), OTHERS)
def test_other_doors_have_their_own_class(line: str, wanted: set[str]) -> None:
    found = {each.value for each in commands.classes_of(line)}
    assert found - {"process_spawn"} == wanted


READS = [
    f"curl {API}/contents/x",
    f"curl -sSL -H 'Accept: application/json' -o out.json {API}/git/refs",
    f"curl -X GET {API}/pulls",
    f"curl -sG -d per_page=100 {API}/pulls",
    f"curl -I {API}",
    f"wget -qO- {API}/pulls",
    "wget -d https://api.github.com/repos/a/b",
    f"http {API}/pulls",
    f"http GET {API}/pulls page==2 Accept:x",
    "gh api repos/a/b/pulls --jq '.[].title'",
    "gh api -X GET search/code -f q=x",
    "gh api graphql -f query='query{viewer{login}}'",
    "gh auth status",
    "curl -X POST -d x http://localhost:8000/api/items",
    "curl -d x https://hooks.example.org/build",
    "git remote -v",
    "hg status",
    f"python -c \"print('{API}')\"",
    "python -c 'print(1)'",
]


@pytest.mark.parametrize("line", READS)
def test_what_only_reads_asks_nobody(line: str) -> None:
    found = {each.value for each in commands.classes_of(line)}
    assert found <= {NET, "process_spawn"}
    assert not any(command.opaque for command in commands.classify(line))


UNKNOWN = [
    "curl -K secret.conf",
    "curl --config conf https://x.org",
    "curl --config=conf https://x.org",
    'curl -X PUT "$URL"',
    'curl -d x "$HOST/repos"',
    'http POST "$URL"',
    "wget -e method=PUT https://x.org",
    'wget --post-data x "$URL"',
    "xargs curl -X PUT",
]


@pytest.mark.parametrize("line", UNKNOWN)
def test_a_call_that_writes_nobody_knows_where_is_not_read_as_harmless(line: str) -> None:
    assert any(command.opaque for command in commands.classify(line))


@pytest.mark.req("CC-52", "CC-56")
def test_by_default_each_of_them_is_asked_about(cast: Cast) -> None:
    with cast.bound():
        for line in (*PUSHES, *UNKNOWN):
            answer = rules.judge(
                commands.actions(line), agent_id=cast.engineer.pk, space_id=cast.space.pk
            )
            assert answer.decision is Decision.ASK, line
    assert ActionClass.GIT_PUSH.value == PUSH
