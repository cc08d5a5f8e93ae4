"""Languages, the machine, containers, and the shell's own commands."""

from pathlib import Path

import pytest

from commanding import command
from sayso.permission.shell.readonly import prove

PROVEN = """
python --version
python3 -V
python3.11 --version
node -v
npm --version
npm ls --depth=0
npm list -g --depth 0
npm config get registry
npm run
pip list
pip list --format=freeze
pip show requests
pip freeze
pip3 --version
conda env list
cargo --version
rustc -V
go version
go env GOPATH
java -version
gcc --version
make --version
ruby -v
gem list
gh --version
ruff --version
ruff check --no-cache --no-fix src
ruff check --no-cache --diff
ruff check --isolated -n x.py
ruff format --check --no-cache
mypy --version
mypy --config-file= --cache-dir=/dev/null src
ps aux
ps -ef
ps -eo pid,cmd --sort=-rss
top -bn1
free -h
uptime
hostname
hostname -I
date
cal
lscpu
lsblk -f
lsof -i :8080
lsof -nP -iTCP -sTCP:LISTEN
ss -tlnp
netstat -tulpn
ifconfig
ifconfig eth0
ip a
ip addr show eth0
ip -br link
ip route
systemctl status nginx
systemctl --user status x --no-pager
systemctl list-units --type=service
systemctl is-active x
journalctl -u nginx -n 50 --no-pager
journalctl --since "1 hour ago"
crontab -l
sysctl -a
sysctl vm.swappiness
dmesg -T
mount
dpkg -l
dpkg -S /bin/ls
apt list --installed
rpm -qa
docker ps
docker ps -a --format '{{.Names}}'
docker images
docker logs -f --tail 100 web
docker inspect web
docker container ls
docker network ls
docker stats --no-stream
docker version
docker compose version
docker ps --help
kubectl get pods
kubectl -n prod get pods -o wide
kubectl get pods -n prod -o json
kubectl get secrets
kubectl describe pod x
kubectl logs -f x -c y --tail=10
kubectl config current-context
kubectl rollout status deployment/x
kubectl version --client
helm list -A
test -f README.md
[ -f README.md ]
[ -n "$x" ]
[ "$a" = b ]
[ "$x" -gt 3 ]
[[ -f README.md && -n $x ]]
[[ $x == *.py ]]
printf '%s\\n' $x
cd src
cd $x
type ls
command -v git
read -r line
history 20
exit 1
:
"""

NOT_PROVEN = [
    ("python -c 'print(1)'", "code"),
    ("python x.py", "code"),
    ("python -m pip list", "pip may come from the directory"),
    ("python --version x", "not the exact spelling"),
    ("node -e 1", "code"),
    ("npm run build", "runs a script"),
    ("npm test", "runs a script"),
    ("npm config set x y", "writes"),
    ("npm install", "writes"),
    ("npx x", "downloads and runs"),
    ("npm view x", "asks the registry"),
    ("pip install x", "writes"),
    ("pip list --outdated", "asks the index"),
    ("pip list --log x", "writes a log"),
    ("pip download x", "network"),
    ("pytest --collect-only", "imports conftest.py and the tests"),
    ("pytest --version", "loads the configured plugins before pytest 9"),
    ("ruff check", "fix = true in the configuration rewrites files"),
    ("ruff check --no-fix", "writes a cache where the configuration says"),
    ("ruff check --no-cache", "fix = true in the configuration rewrites files"),
    ("ruff check --no-cache --no-fix --fix", "fixes"),
    ("ruff check --no-cache --no-fix --output-file x", "writes"),
    ("ruff format --no-cache", "rewrites files"),
    ("mypy src", "plugins in the configuration are imported; writes a cache"),
    ("mypy --config-file=x --cache-dir=/dev/null src", "another configuration"),
    ("eslint .", "its configuration is code"),
    ("cargo build", "runs build scripts"),
    ("go list ./...", "may fetch"),
    ("go env -w X=y", "writes"),
    ("make", "runs the Makefile"),
    ("make -n", "runs $(shell ...)"),
    ("uv pip list", "runs the project's interpreter"),
    ("top", "waits for keys"),
    ("hostname evil", "sets the name"),
    ("hostname -F x", "sets the name"),
    ("ifconfig eth0 down", "changes the interface"),
    ("ip link set eth0 down", "changes the interface"),
    ("ip netns exec x ls", "runs a command"),
    ("ss -K", "closes sockets"),
    ("ss -D out", "writes"),
    ("lsof -D b/x", "writes a cache"),
    ("systemctl restart x", "restarts"),
    ("systemctl -H host status", "reaches another machine"),
    ("systemctl edit x", "starts an editor"),
    ("journalctl --vacuum-size=1M", "deletes"),
    ("journalctl --cursor-file=x", "writes"),
    ("crontab", "installs from the input"),
    ("crontab x", "installs"),
    ("crontab -r", "removes"),
    ("sysctl -w x=1", "sets"),
    ("sysctl x=1", "sets"),
    ("dmesg -C", "clears"),
    ("mount /dev/x /y", "mounts"),
    ("dpkg -i x.deb", "installs"),
    ("apt install x", "installs"),
    ("rpm -qp http://x/y.rpm", "network"),
    ("docker run x", "runs"),
    ("docker exec x ls", "runs"),
    ("docker -H tcp://x ps", "another daemon"),
    ("docker --config x ps", "another configuration"),
    ("docker compose ps", "loads the project, whose includes are fetched"),
    ("kubectl delete pod x", "deletes"),
    ("kubectl --kubeconfig x get pods", "a configuration that names programs"),
    ("kubectl get pods --server=x", "another server"),
    ("kubectl get secret x -o yaml", "prints the secret"),
    ("kubectl get -f http://x", "fetches"),
    ("kubectl get pods -o jsonpath-file=x", "reads a template"),
    ("kubectl cluster-info dump --output-directory=x", "writes"),
    ("kubectl exec x -- ls", "runs"),
    ("kubectl config view --raw", "prints keys"),
    ("gh pr list", "asks the network"),
    ("curl http://x", "network"),
    ("[ -v 'a[$(id)]' ]", "evaluates the subscript"),
    ("[ $x = y ]", "may be several words, or operators"),
    ("[[ -v x ]]", "evaluates a subscript"),
    ("[[ x -eq y ]]", "evaluates arithmetic"),
    ("printf -v PATH x", "sets a variable"),
    ("printf '%n' PATH", "sets a variable"),
    ("printf $x", "may be -v"),
    ("read PATH", "sets a variable that matters"),
    ("read 'a[$(id)]'", "evaluates a subscript"),
    ("read http_proxy", "a variable that programs read"),
    ("history -w", "writes"),
    ("command ls", "runs it; the inside is judged by itself"),
    ("ulimit -n 5", "sets"),
    ("kill 1", "kills"),
]


@pytest.mark.parametrize("text", PROVEN.strip().splitlines())
def test_a_query_is_proven(text: str) -> None:
    assert prove(command(text, cwd="/")) is not None


@pytest.mark.parametrize(("text", "why"), NOT_PROVEN)
def test_what_may_change_or_start_something_is_not_proven(text: str, why: str) -> None:
    assert prove(command(text, cwd="/")) is None, why


@pytest.mark.parametrize(
    ("text", "name", "content"),
    [
        ("cargo --version", "rust-toolchain.toml", "[toolchain]\npath = './evil'\n"),
        ("rustc -V", "rust-toolchain", "nightly"),
        ("yarn --version", ".yarnrc.yml", "yarnPath: ./evil.cjs\n"),
        ("pnpm --version", "package.json", '{"packageManager": "pnpm@1"}'),
        ("go version", "go.mod", "module x\ngo 1.99\n"),
        ("go version", "go.mod", "module x\ngo 1.20\ntoolchain go1.99\n"),
        ("mvn -v", ".mvn", "-javaagent:evil.jar"),
        ("dotnet --info", "global.json", "{}"),
    ],
)
def test_a_project_that_chooses_the_program_makes_even_its_version_unproven(
    tmp_path: Path, text: str, name: str, content: str
) -> None:
    below = tmp_path / "src"
    below.mkdir()
    assert prove(command(text, cwd=str(below))) is not None
    (tmp_path / name).write_text(content)
    assert prove(command(text, cwd=str(below))) is None
    assert prove(command(text, cwd=None)) is None


def test_a_go_module_that_asks_for_no_newer_toolchain_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module x\n\ngo 1.21\n")
    assert prove(command("go version", cwd=str(tmp_path))) is not None
