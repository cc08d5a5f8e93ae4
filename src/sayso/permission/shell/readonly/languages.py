"""Rows for compilers, interpreters and package managers: versions and listings, nothing that loads a project.

Manuals: each tool's `--help` and reference; the version stands in each row.

Not here, and so asked for, because they run code that the project brings:
* `pytest`, also with --collect-only or --version: it imports conftest.py, the test modules and the plugins that the
  configuration names (pytest 8.3, "Initialization: determining rootdir and configfile"; --version loads plugins
  before pytest 9).
* `ruff check` as it stands: `fix = true` in the project's configuration makes it rewrite files, `cache-dir` places its
  cache (ruff 0.12, settings). With --no-cache and one of --no-fix, --diff, --isolated it only reads, and is here.
* `mypy` as it stands: `plugins` in the project's configuration is Python that it imports, and it writes a cache
  (mypy 1.18, "The mypy configuration file"). With --config-file= and --cache-dir=/dev/null it only reads, and is here.
* eslint, npm scripts, cargo, make, `python -m`, `go list` (fetches), `uv pip list` (runs the project's interpreter).
"""

import os
import re
from collections.abc import Callable, Sequence

from sayso.permission.shell.readonly.table import HERE, Parsed, Program, Reads, Table, searching
from sayso.permission.unit import Word

__all__ = ["ROWS"]

GO_LINE = re.compile(rb"^\s*(?:toolchain\b|go\s+(\d+)\.(\d+))", re.M)


def above(cwd: str | None) -> list[str] | None:
    """The directory and those above it up to the home directory, which is the user's own; None where not known."""
    if cwd is None:
        return None
    here, home = os.path.realpath(cwd), os.path.realpath(os.path.expanduser("~"))
    found = [here]
    while (parent := os.path.dirname(here)) not in (here, home):
        found.append(parent)
        here = parent
    return found


def absent(*names: str) -> Callable[[str | None], bool]:
    """A guard: no such file in the directory or above it."""

    def guard(cwd: str | None) -> bool:
        places = above(cwd)
        return places is not None and not any(os.path.lexists(os.path.join(p, n)) for p in places for n in names)

    return guard


def own_go(cwd: str | None) -> bool:
    """Since 1.21 go fetches and runs the toolchain that go.mod or go.work asks for, unless it asks for an older one."""
    places = above(cwd)
    if places is None:
        return False
    for place in places:
        for name in ("go.mod", "go.work"):
            try:
                with open(os.path.join(place, name), "rb") as stream:
                    text = stream.read(1 << 20)
            except FileNotFoundError:
                continue
            except OSError:
                return False
            for major, minor in GO_LINE.findall(text):
                if not major or (int(major), int(minor)) > (1, 21):
                    return False
    return True


def own_package_manager(cwd: str | None) -> bool:
    """yarn, pnpm and corepack run the version, or the file, that the project names."""
    places = above(cwd)
    if places is None:
        return False
    for place in places:
        for name in (".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pnpm-workspace.yaml", ".npmrc"):
            if os.path.lexists(os.path.join(place, name)):
                return False
        try:
            with open(os.path.join(place, "package.json"), "rb") as stream:
                text = stream.read(1 << 20)
        except FileNotFoundError:
            continue
        except OSError:
            return False
        if b"packageManager" in text or b"devEngines" in text or b"\\u" in text:
            return False
    return True


def spelled(manual: str, *spellings: str, guard: Callable[[str | None], bool] | None = None) -> Table:
    """A row for exactly these arguments, each a spelling of its own, and for --version."""
    allowed = {("--version",), *(tuple(spelling.split()) for spelling in spellings)}

    def grammar(words: Sequence[Word], cwd: str | None) -> Reads | None:
        return () if tuple(word.text for word in words) in allowed else None

    return Table(manual=manual, grammar=grammar, guard=guard, exact=True)


def ruff_check(parsed: Parsed) -> bool:
    parsed.reads += [searching(word, parsed.cwd) for word in parsed.operands or [HERE]]
    return parsed.has("no-cache", "n") and parsed.has("no-fix", "diff", "isolated")


def ruff_format(parsed: Parsed) -> bool:
    parsed.reads += [searching(word, parsed.cwd) for word in parsed.operands or [HERE]]
    return parsed.has("no-cache", "n") and parsed.has("check", "diff")


def mypy_alone(parsed: Parsed) -> bool:
    given = {name: value.text for name, value in parsed.options if value is not None}
    parsed.reads += [searching(word, parsed.cwd) for word in parsed.operands]
    return given.get("config-file") == "" and given.get("cache-dir") == "/dev/null"


def go_names(parsed: Parsed) -> bool:
    return all(word.text is not None and "=" not in word.text for word in parsed.operands)


RUFF_LONG = (
    "no-cache isolated exclude= force-exclude no-respect-gitignore respect-gitignore preview no-preview "
    "quiet silent verbose "
    "stdin-filename= target-version= line-length= color= extension= "
)
PIP = "pip 23.2, pip {} --help"
PIP_LONG = "disable-pip-version-check no-color no-input verbose quiet isolated no-cache-dir "
NPM = "npm 11, npm {} --help"
NPM_LS = Table(
    manual=NPM.format("ls"),
    short="alpgw:",
    long="all json long parseable global depth= omit= include= link package-lock-only no-unicode workspace= workspaces "
    "include-workspace-root prod production dev silent",
    operands="text",
)
NPM_GET = Table(manual=NPM.format("config"), short="gl", long="json long global", operands="text")
PIP_ROW = Program(
    manual=PIP.format(""),
    short="V",
    long=PIP_LONG,
    commands={
        "list": Table(
            manual=PIP.format("list"),
            short="elvq",
            long=PIP_LONG + "editable include-editable exclude-editable local user path= format= not-required exclude=",
            operands="none",
        ),
        "show": Table(manual=PIP.format("show"), short="fvq", long=PIP_LONG + "files", operands="text"),
        "freeze": Table(
            manual=PIP.format("freeze"),
            short="lr<vq",
            long=PIP_LONG + "requirement< local user all exclude-editable path= exclude=",
            operands="none",
        ),
        "check": Table(manual=PIP.format("check"), short="vq", long=PIP_LONG, operands="none"),
        "config list": Table(
            manual=PIP.format("config"), short="vq", long=PIP_LONG + "global user site", operands="none"
        ),
        "config get": Table(
            manual=PIP.format("config"), short="vq", long=PIP_LONG + "global user site", operands="text"
        ),
        "cache dir": Table(manual=PIP.format("cache"), long=PIP_LONG, operands="none"),
        "cache info": Table(manual=PIP.format("cache"), long=PIP_LONG, operands="none"),
    },
)
CONDA = Table(
    manual="conda 23, conda list --help",
    short="n:p:cfe",
    long="name= prefix= json verbose quiet show-channel-urls canonical full-name explicit no-pip revisions",
    operands="text",
)
CONDA_ROW = Program(
    manual="conda 23, conda --help",
    short="V",
    commands={
        "list": CONDA,
        "info": Table(
            manual="conda 23, conda info --help", short="aes", long="all base envs json system", operands="none"
        ),
        "env list": Table(manual="conda 23, conda env list --help", long="json verbose quiet", operands="none"),
    },
)
NODE_TOOL = "yarn 1.22 and 4, pnpm 9, --help; corepack's README"

ROWS: dict[str, Table | Program] = {
    "pip": PIP_ROW,
    "conda": CONDA_ROW,
    "mamba": CONDA_ROW,
    "pipx": spelled("pipx 1.7, pipx --help", "list", "list --short"),
    "pyenv": spelled("pyenv 2.3, pyenv(1)", "versions", "version", "root", "versions --bare", "version-name"),
    "poetry": spelled("poetry 1.8 and 2.1, --help", "-V", guard=absent(".poetry")),
    "uv": spelled("uv 0.8, uv --help", "-V"),
    "ruff": Program(
        manual="ruff 0.12, ruff --help",
        short="V",
        commands={
            "check": Table(
                manual="ruff 0.12, ruff check --help",
                short="neqsv",
                long=RUFF_LONG + "no-fix diff exit-zero exit-non-zero-on-fix select= ignore= extend-select= "
                "extend-ignore= "
                "per-file-ignores= output-format= statistics show-files show-settings no-unsafe-fixes ignore-noqa",
                operands=ruff_check,
            ),
            "format": Table(
                manual="ruff 0.12, ruff format --help",
                short="nqsv",
                long=RUFF_LONG + "check diff range=",
                operands=ruff_format,
            ),
            "version": Table(manual="ruff 0.12, ruff version --help", operands="none"),
            "linter": Table(manual="ruff 0.12, ruff linter --help", operands="none"),
            "rule": Table(manual="ruff 0.12, ruff rule --help", long="all output-format=", operands="text"),
        },
    ),
    "mypy": Table(
        manual="mypy 1.18, mypy --help",
        short="Vvp:m:c:",
        long="config-file= cache-dir= strict no-incremental ignore-missing-imports show-error-codes pretty "
        "no-error-summary show-column-numbers python-version= platform= follow-imports= explicit-package-bases "
        "namespace-packages check-untyped-defs disallow-untyped-defs warn-unused-ignores warn-unreachable exclude=",
        operands=mypy_alone,
    ),
    "node": spelled("node 20, node(1)", "-v"),
    "npm": Program(
        manual=NPM.format(""),
        short="v",
        commands={
            "ls": NPM_LS,
            "list": NPM_LS,
            "ll": NPM_LS,
            "la": NPM_LS,
            "explain": Table(manual=NPM.format("explain"), short="w:", long="json workspace=", operands="text"),
            "why": Table(manual=NPM.format("explain"), short="w:", long="json workspace=", operands="text"),
            "root": Table(manual=NPM.format("root"), short="g", long="global", operands="none"),
            "prefix": Table(manual=NPM.format("prefix"), short="g", long="global", operands="none"),
            "config list": NPM_GET,
            "config ls": NPM_GET,
            "config get": NPM_GET,
            "pkg get": Table(manual=NPM.format("pkg"), long="json", operands="text"),
            # Without a name it lists the scripts.
            "run": Table(manual=NPM.format("run"), operands="none"),
        },
    ),
    "yarn": spelled(NODE_TOOL, "-v", guard=own_package_manager),
    "pnpm": Program(
        manual=NODE_TOOL,
        short="v",
        guard=own_package_manager,
        commands=dict.fromkeys(
            ("ls", "list"),
            Table(
                manual="pnpm 9, pnpm list --help",
                short="gDPr",
                long="depth= json long parseable global dev prod recursive",
                operands="text",
            ),
        ),
    ),
    "go": Program(
        manual="go 1.22, go help",
        guard=own_go,
        commands={
            "version": Table(manual="go 1.22, go help version", words="-m -v"),
            "env": Table(manual="go 1.22, go help env", words="-json -changed", operands=go_names),
            "help": Table(manual="go 1.22, go help", operands="text"),
        },
    ),
    "rustup": spelled(
        "rustup 1.27, rustup --help", "-V", "show", "toolchain list", "target list", "component list",
        guard=absent("rust-toolchain", "rust-toolchain.toml"),
    ),
    "gem": Program(
        manual="RubyGems 3.3, gem help",
        short="v",
        commands={
            "list": Table(
                manual="RubyGems 3.3, gem help list",
                short="adliq",
                long="all details local installed no-versions quiet exact",
                operands="text",
            ),
            "env": Table(manual="RubyGems 3.3, gem help environment", operands="text"),
            "which": Table(manual="RubyGems 3.3, gem help which", operands="text"),
        },
    ),
    "openssl": spelled("OpenSSL 3.0, openssl-version(1)", "version", "version -a", "version -v", "version -d"),
}  # fmt: skip
RUST = absent("rust-toolchain", "rust-toolchain.toml")
for name, spellings in {
    "cargo": ("-V", "version", "--list", "-vV"),
    "rustc": ("-V", "-vV", "--print sysroot", "--print cfg"),
}.items():
    ROWS[name] = spelled("Rust 1.80 through rustup 1.27: cargo(1), rustc(1)", *spellings, guard=RUST)
ROWS["mvn"] = spelled("Maven 3.9, mvn --help; .mvn/jvm.config adds JVM options", "-v", guard=absent(".mvn"))
ROWS["dotnet"] = spelled(
    "dotnet 8, dotnet --help; global.json chooses the SDK",
    "--list-sdks",
    "--list-runtimes",
    "--info",
    guard=absent("global.json"),
)
ROWS["pip3"] = PIP_ROW

# Programs of which only the version is asked, by each one's own spellings besides --version and --help.
VERSIONED = {
    "-V": "python python2 python3 ssh curl psql pg_dump mysql wget uvicorn gunicorn rsync virtualenv pipenv",
    "-v": "ruby perl php lua node bun make nginx redis-cli redis-server tsc eslint prettier gdb docker-compose "
    "valgrind",
    "-version": "java javac ffmpeg ffprobe sqlite3 ocaml kotlinc convert ant clang gcc",
    "-dumpversion": "gcc g++ cc clang",
    "-dumpmachine": "gcc g++ cc clang",
    "version": "minikube kind hugo gh docker-compose",
    "--help": "python python2 python3 node java javac ruby perl php make gcc g++ clang cmake ninja ssh curl wget rsync "
    "tsc eslint prettier black isort gh bash zsh psql sqlite3 ffmpeg deno bun shfmt protoc",
    "": "bash zsh sh dash fish vim nvim nano emacs code cmake ninja meson gfortran clang++ c++ ld as swift ghc "
    "elixir R "
    "Rscript julia deno black isort aws gcloud protoc cpack ctest autoconf automake pkg-config clang-format clang-tidy "
    "shfmt hadolint yamllint pre-commit git-lfs gpg mongod mongosh sbcl nasm",
}
VERSION_MANUAL = "the program's own --help: a version is printed before anything is loaded"


def version_rows() -> dict[str, Table]:
    spellings: dict[str, list[str]] = {}
    for spelling, programs in VERSIONED.items():
        for program in programs.split():
            spellings.setdefault(program, []).extend([spelling] if spelling else [])
    for minor in range(6, 16):
        spellings[f"python3.{minor}"] = ["-V"]
    return {program: spelled(VERSION_MANUAL, *words) for program, words in spellings.items()}


ROWS.update({program: row for program, row in version_rows().items() if program not in ROWS})
