"""Shell text made at random from Bash's grammar: valid, damaged, or a soup of tokens. One seed, one text."""

import random

__all__ = ["damaged", "program", "soup", "wrapped"]

WORDS = [
    "x", "-n", "a.txt", '"q w"', "'s t'", "\\;", "\\x", "é", "$'\\x41'", "$'a\\tb'", '"$v"', "$v", "${v}", "${v:-d}",
    '"${v:-d e}"', "*.txt", "{p,q}", "$((1+2))", "#h", "a#b", "\"a'b\"", "'a\"b'", "~", "$HOME", "a=b", "--o=v", '""',
    "''", '"\\$v"', '"\\`"', "$?", "$#", '"$@"', "[a]", "!", "\\\nz", "${v#a}", "${#v}", '"a\\\nb"', "=", "%", "@", "^",
    "{}", "w1", "w2", "w3",
]  # fmt: skip
PREFIXES = [
    "env", "timeout 5", "nice -n 1", "nohup", "command", "time", "builtin", "exec", "env A=1", "xargs -n1", "xargs",
    "eval", "nice", "stdbuf -o0", "command -p", "env -i", "!", "time -p", "env -u A", "timeout -s KILL 5", "time v+=x",
    "env =1", "xargs -I%",
]  # fmt: skip
NAMES = ["'ma'", '"mb"', "\\mc", "m\\d", "m''a", "$'mb'", "./src/../../bin/ma"]
BUILTINS = [
    "cd src", "cd", "cd ..", "pushd src", "set -e", "set -u", "shift", "read v", "export LANG=C", "export v",
    "declare v=1", "unset v", "true", "false", "let v=1", "printf -v v x", "test -f a.txt", "[ -f a.txt ]",
    '[ "$v" = x ]', "[ a = a -a b = b ]", "[ -n $v ]", 'trap "ma tr" EXIT', 'eval "ma ev"', "eval 'mb e; mc f'",
    "source a.txt", ". /dev/null", "alias ma=mb", "exec 3>&1", "mapfile -t v", "readonly v", "hash -r", "wait",
    "type ma", "command -v ma", "echo hi", ":", 'bash -c "ma bc"', "eval ma evv", "declare -a v=(a b)",
]  # fmt: skip
COMPUTED = ["$v", "$(echo ma)", '"$(echo mb)"', "${v:-mc}", "{ma,x}", "m?", "$v ma"]
TESTS = [
    "-f a.txt", "$v == w*", "$v =~ ^(a|b)$", "a < b", "! -e x", "-n $v && ( -z $v )", "$(ma cc) == x", "1 -lt 2",
    "$v -eq 1", 'x = "$(mb dd)"',
]  # fmt: skip
BODIES = [
    "text\n", "$(ma hd)\n", "`mb hd`\n", "a $v \\$(mc no)\n", "EE\nE \n", "(\n", "'\n", '"\n', "\\\n", "E\\\n", "",
]  # fmt: skip
OPERATORS = [
    "; ", " && ", " || ", " | ", "\n", " & ", " |& ", ";", "&&", "|", "\n\n", " # c\n", " \\\n&& ", " &&\n", " |\n",
    "; # x y\n",
]  # fmt: skip
CHARACTERS = [
    '"', "'", "`", "\\", "$", " ", "\n", ";", "&", "|", "(", ")", "{", "}", "<", ">", "#", "!", "\t", "=", "*", "~",
    "-", "[", "]", "\\\n", "$(", "<<E\n", "é",
]  # fmt: skip
TOKENS = [
    *CHARACTERS, "ma", "mb x", "mc", " ", " ", "&&", "||", "${", "<<", "\nE\n", "$((", "))", "[[", "]]", "if", "then",
    "fi", "do", "done", "case", "in", "esac", "v=", "time ", "{a,b}", "$'", "w", "1", "2>", "&>", ">&", "<<<", "<(",
    "o1", "cd src", "eval ", "env ", "f()", "for v in a", "'x y'", '"x y"',
]  # fmt: skip


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.pick = self.random.choice
        self.documents: list[str] = []

    def chance(self, of: float) -> bool:
        return self.random.random() < of

    def word(self, depth: int) -> str:
        if depth > 3 or self.chance(0.85):
            return self.pick(WORDS)
        kind = self.random.randrange(6)
        if kind == 5:
            return self.word(depth + 1) + self.word(depth + 1)
        inner = self.simple(depth + 1) if kind > 2 else self.program(depth + 1)
        return [f"$({inner})", f'"$({inner})"', f"<({inner})", f"`{inner}`", f"${{v:-$({inner})}}"][kind]

    def redirection(self, depth: int) -> str:
        target = self.pick(["o1", "o2", "/dev/null", "src/o3", '"o 4"'])
        if self.chance(0.6):
            return self.pick(["> ", ">", ">> ", "2> ", "&> ", ">| ", "<> ", "2>>"]) + target
        return self.pick(["2>&1", ">&2", "< a.txt", "<<< " + self.word(depth + 1), "3>&1", ">&-", "< /dev/null"])

    def document(self) -> str:
        dash = self.pick(["", "-"])
        self.documents.append(self.pick(BODIES) + (self.pick(["", "\t"]) if dash else "") + "E")
        return f"<<{dash}" + self.pick(["", " "]) + self.pick(["E", '"E"', "'E'", "\\E"])

    def flushed(self, text: str) -> str:
        """The bodies of here-documents follow the line that names them."""
        bodies, self.documents = self.documents, []
        return "\n".join([text, *bodies])

    def simple(self, depth: int) -> str:
        parts: list[str] = []
        if self.chance(0.08):
            values = ["v=", "v=1", 'v="a b"', "v=$(ma as)", "v+=x", "LANG=C", "v=(a $(mb ar))", "v[0]=1", "v=a\\ b"]
            parts.append(self.pick(values))
        if self.chance(0.05):
            parts.append(self.redirection(depth))
        if self.chance(0.1):
            parts.append(self.pick(PREFIXES))
        kind = self.random.random()
        find = "find . -maxdepth 0 -exec mc {} " + self.pick(["\\;", "+", "';'"])
        plain = ["ma", "mb", "mc", "md"]
        names = plain if kind < 0.75 else NAMES if kind < 0.8 else BUILTINS if kind < 0.92 else COMPUTED
        parts.append(find if kind > 0.97 else self.pick(names))
        parts += [self.word(depth) for _ in range(self.pick([0, 0, 1, 1, 2, 3]))]
        if self.chance(0.15):
            parts.append(self.redirection(depth))
        if self.chance(0.05):
            parts.append(self.document())
        if self.chance(0.1):
            parts.append(self.word(depth))
        return " ".join(parts)

    def statement(self, depth: int) -> str:
        if depth > 2 or self.chance(0.62):
            return self.simple(depth)
        inner = self.program(depth + 1)
        return self.pick([self.grouped, self.conditional, self.looped, self.matched, self.tested, self.prefixed])(
            inner, depth
        )

    def grouped(self, inner: str, depth: int) -> str:
        return self.pick([f"( {inner} )", f"{{ {inner}; }}", f"{{ {inner}\n}} 2>&1", f"{{ {inner}; }} > o5"])

    def conditional(self, inner: str, depth: int) -> str:
        end = self.pick(["; fi", "\nfi", f"; else {self.program(depth + 1)}; fi"])
        return f"if {self.statement(depth + 1)}; then {inner}{end}"

    def looped(self, inner: str, depth: int) -> str:
        words = " ".join(self.word(depth + 1) for _ in range(self.random.randint(0, 3)))
        head = self.pick(
            [f"for v in {words}", "for ((i=0;i<2;i++))", f"while {self.pick(['ma', 'false', '[ -n x ]'])}"]
        )
        return f"{head}; do {inner}; break; done"

    def matched(self, inner: str, depth: int) -> str:
        pattern = self.pick(["w*", "x", "*", "(a|b", '"q"', "a|w"])
        other = self.simple(depth + 1)
        return f"case {self.word(depth + 1)} in {pattern}) {inner}{self.pick([';;', ';&'])} *) {other} ;; esac"

    def tested(self, inner: str, depth: int) -> str:
        arithmetic = ["((v=1))", "((v++))", "(( 1 < 2 ))", "(( $(mc) + 1 ))"]
        test = self.pick([f"[[ {self.pick(TESTS)} ]]", self.pick(arithmetic)])
        return self.pick([f"{test} && {inner}", f"{test} || {inner}", f"f() {{ {inner}; }}; f"])

    def prefixed(self, inner: str, depth: int) -> str:
        return self.pick(["! ", "time ", "! ! ", "time -p "]) + inner

    def program(self, depth: int) -> str:
        text = self.statement(depth)
        for _ in range(self.pick([0, 0, 0, 1, 1, 2] if depth else [0, 1, 1, 2, 3])):
            operator = self.pick(OPERATORS)
            if operator[:1] == "\n":
                text = self.flushed(text)
            text += operator + self.statement(depth)
            if not depth:
                text = self.flushed(text)
        return text


def program(seed: int) -> str:
    """A program, mostly valid."""
    writer = _Writer(seed)
    return writer.flushed(writer.program(0))


def wrapped(seed: int) -> str:
    """A program inside a substitution, which Bash reads and prints anew before it runs it."""
    forms = ['mb "$({}\n)"', "mb $({})", "v=$({}); mc", "cat <({})", 'mb "${{v:-$({})}}"', 'mb "$(mc "$({})")"']
    return random.Random(seed).choice(forms).format(program(seed))


def damaged(seed: int) -> str:
    """A program with a character or two taken out, put in or replaced."""
    text = list(program(seed))
    chance = random.Random(seed + 1)
    for _ in range(chance.choice([1, 1, 2])):
        at = chance.randrange(len(text))
        text[at : at + chance.choice([0, 0, 1])] = chance.choice([[], *([[mark] for mark in CHARACTERS])])
        text = text or ["ma"]
    return "".join(text)


def soup(seed: int) -> str:
    """Tokens in any order."""
    chance = random.Random(seed)
    return "".join(chance.choice(TOKENS) + chance.choice(["", " "]) for _ in range(chance.randint(2, 14)))
