"""Rows for tools that tell the state of the machine: processes, network, services, packages, hardware.

Manuals: Debian 12's pages; the version stands in each row. What a query asks of its own local daemon (systemd, the
package database, the kernel) is part of the query.
"""

import re
from collections.abc import Callable, Sequence

from sayso.permission.shell.readonly.table import Parsed, Program, Reads, Table, files
from sayso.permission.shell.readonly.word import word_set
from sayso.permission.unit import Word

__all__ = ["ROWS"]


def verbs(allowed: str, *, bare: bool = True) -> Callable[[Parsed], bool]:
    """The first operand is one of these commands; `bare` says whether none at all only prints."""
    known = frozenset(allowed.split())

    def rule(parsed: Parsed) -> bool:
        return parsed.operands[0].text in known if parsed.operands else bare

    return rule


def no_assignment(parsed: Parsed) -> bool:
    """`sysctl name=value` sets."""
    return all(word.text is not None and "=" not in word.text for word in parsed.operands)


def interface(parsed: Parsed) -> bool:
    """`ifconfig eth0 down` changes: one name at most."""
    return len(parsed.operands) <= 1


def listed(parsed: Parsed) -> bool:
    """crontab without -l installs, edits or removes."""
    return parsed.has("l") and not parsed.operands


def batch(parsed: Parsed) -> bool:
    """Without -b top waits for keys, some of which kill."""
    return parsed.has("b") and not parsed.operands


IP_OPTION = re.compile(
    r"-(?:4|6|0|br|brief|c|color|d|details|s|stats|statistics|h|human|j|json|o|oneline|p|pretty|r|resolve)"
)
IP_OBJECT = word_set("a addr address l link r route n neigh neighbour neighbor ru rule maddress maddr mroute netns")
IP_VERB = frozenset(["show", "sh", "list", "ls", "lst", "get"])


def ip(words: Sequence[Word], cwd: str | None) -> Reads | None:
    """Options, an object, and a verb that shows; names after it."""
    texts = [word.text for word in words]
    if None in texts:
        return None
    rest = [text for text in texts if text is not None]
    while rest and IP_OPTION.fullmatch(rest[0]):
        rest.pop(0)
    shown = len(rest) in (0, 1) or rest[1] in IP_VERB
    return () if shown and (not rest or rest[0] in IP_OBJECT) else None


def first_word(*allowed: str) -> Callable[[Sequence[Word], str | None], Reads | None]:
    """A query named by its first argument, then names only."""

    def grammar(words: Sequence[Word], cwd: str | None) -> Reads | None:
        if not words or words[0].text not in allowed:
            return None
        return () if all(word.text is not None and not word.text.startswith("-") for word in words[1:]) else None

    return grammar


def first_match(pattern: str) -> Callable[[Sequence[Word], str | None], Reads | None]:
    """As `first_word`, for a cluster of query letters."""
    form = re.compile(pattern)

    def grammar(words: Sequence[Word], cwd: str | None) -> Reads | None:
        if not words or words[0].text is None or not form.fullmatch(words[0].text):
            return None
        return () if all(word.text is not None and not word.text.startswith("-") for word in words[1:]) else None

    return grammar


PROCPS = "procps-ng 4.0.2, {}(1)"
UTIL = "util-linux 2.38.1, {}"
SYSTEMD = "systemd 252, {}(1)"
DPKG = Table(
    manual="dpkg 1.21.22, dpkg(1) and dpkg-query(1)",
    grammar=first_word(
        "-l", "--list", "-L", "--listfiles", "-s", "--status", "-S", "--search", "-p", "--print-avail",
        "--get-selections", "-W", "--show", "--print-architecture", "--print-foreign-architectures",
    ),
)  # fmt: skip
APT = Table(
    manual="apt 2.6.1, apt(8)", short="an", long="all-versions installed upgradable names-only full", operands="text"
)
NAMED = Table(manual="apt 2.6.1, apt-cache(8)", short="fn", long="names-only full installed", operands="text")

ROWS: dict[str, Table | Program] = {
    "ps": Table(
        manual=PROCPS.format("ps"),
        short="AaC:cdeFfG:g:HjLlMmNnO:o:Pp:q:rSs:Tt:U:u:VvwXxyZ",
        long="cols= columns= context cumulative deselect forest format= Group= group= headers info lines= no-headers "
        "pid= ppid= quick-pid= rows= sid= sort= tty= User= user= width=",
        operands="text",
        open=True,
    ),
    "pgrep": Table(
        manual=PROCPS.format("pgrep"),
        short="acd:fF<g:G:ilLnoP:r:s:t:u:U:vwxV",
        long="count delimiter= full group= ignore-case list-name list-full newest oldest parent= session= terminal= "
        "euid= uid= inverse exact lightweight",
        operands="text",
    ),
    "pidof": Table(manual="sysvinit-utils 3.06, pidof(8)", short="cnqsxzo:", operands="text"),
    "pstree": Table(
        manual="psmisc 23.6, pstree(1)",
        short="aAcghlnpsStTuUZH:C:",
        long="arguments ascii compact-not hide-threads long numeric-sort show-parents show-pgids show-pids "
        "thread-names "
        "uid-changes unicode",
        operands="text",
    ),
    "top": Table(manual=PROCPS.format("top"), short="bcHiSn:d:p:o:u:w?", operands=batch),
    "free": Table(
        manual=PROCPS.format("free"),
        short="bc:ghklms:tvw",
        long="bytes count= gibi giga human kibi kilo lohi mebi mega seconds= si tebi tera total wide",
        operands="none",
    ),
    "uptime": Table(manual=PROCPS.format("uptime"), short="pshV", long="pretty since", operands="none"),
    "vmstat": Table(manual=PROCPS.format("vmstat"), short="adDfmnp:sS:tw", operands="text"),
    "iostat": Table(manual="sysstat 12.6.1, iostat(1)", short="cdhkmNpstxyz", operands="text"),
    "mpstat": Table(manual="sysstat 12.6.1, mpstat(1)", short="AnuI:P:", operands="text"),
    "w": Table(manual=PROCPS.format("w"), short="fhiosu", operands="text"),
    "last": Table(manual=UTIL.format("last(1)"), short="adFf<in:p:Rs:t:wx", digits=True, operands="text"),
    "sysctl": Table(
        manual=PROCPS.format("sysctl"),
        short="aAbeNnr:",
        long="all ignore names values pattern=",
        operands=no_assignment,
    ),
    "dmesg": Table(
        manual=UTIL.format("dmesg(1)"),
        short="def:F<JkLl:PrSs:TtuwWx",
        long="decode facility= file< follow json kernel level= nopager notime raw since= until= time-format= ctime "
        "reltime userspace",
        operands="none",
    ),
    "lscpu": Table(
        manual=UTIL.format("lscpu(1)"),
        short="aBbC?ce?Jp?xy",
        long="all bytes caches? extended? hex json offline online output-all parse? physical",
        operands="none",
    ),
    "lsblk": Table(
        manual=UTIL.format("lsblk(8)"),
        short="AabDde:E:fI:iJlMmnOo:PpSstT?w:x:z",
        long="all ascii bytes dedup= discard exclude= fs include= inverse json list merge nodeps noempty noheadings "
        "output-all output= pairs paths perms raw scsi sort= topology tree? zoned",
        operands="text",
    ),
    "lsmod": Table(manual="kmod 30, lsmod(8)", operands="none"),
    "modinfo": Table(manual="kmod 30, modinfo(8)", short="adlpn0F:k:", operands="text"),
    "lspci": Table(manual="pciutils 3.9.0, lspci(8)", short="vknmDtxbs:d:", operands="none"),
    "lsusb": Table(manual="usbutils 014, lsusb(8)", short="vts:d:D:V", long="verbose tree", operands="none"),
    "lshw": Table(
        manual="lshw 02.19, lshw(1)",
        short="C:c:",
        words="-short -json -xml -html -businfo -sanitize -numeric -quiet -version",
        detached=True,
        operands="none",
    ),
    "nvidia-smi": Table(
        manual="nvidia-smi 525, nvidia-smi(1)",
        short="Lqxi:l:d:",
        long="list-gpus query id= loop= display= query-gpu= query-compute-apps= format= help-query-gpu",
        operands="none",
    ),
    "sensors": Table(manual="lm-sensors 3.6.0, sensors(1)", short="Afju", operands="text"),
    "lsb_release": Table(
        manual="lsb-release 12.0, lsb_release(1)",
        short="acdirsv",
        operands="none",
        long="all codename description id release short version",
    ),
    "sw_vers": Table(manual="macOS sw_vers(1)", words="-productVersion -productName -buildVersion", operands="none"),
    "mount": Table(manual=UTIL.format("mount(8)"), short="lt:", operands="none"),
    "swapon": Table(
        manual=UTIL.format("swapon(8)"),
        short="s",
        long="show? summary bytes noheadings raw",
        operands=lambda p: bool(p.options) and not p.operands,
    ),
    "lslocks": Table(manual=UTIL.format("lslocks(8)"), short="bJno:p:ru", operands="none"),
    "hostname": Table(
        manual="hostname 3.23, hostname(1)",
        short="aAdfiIsy",
        long="alias all-fqdns all-ip-addresses domain fqdn ip-address long short",
        operands="none",
    ),
    "getconf": Table(manual="glibc 2.36, getconf(1)", short="a", operands="text"),
    "getent": Table(
        manual="glibc 2.36, getent(1)", operands=verbs("passwd group services protocols shells", bare=False)
    ),
    "locale": Table(
        manual="glibc 2.36, locale(1)",
        short="amckv",
        long="all-locales charmaps category-name keyword-name verbose",
        operands="text",
    ),
    "tput": Table(
        manual="ncurses 6.4, tput(1)",
        operands=verbs(
            "cols lines colors bold sgr0 smul rmul smso rmso rev setaf setab el ed clear civis cnorm", bare=False
        ),
    ),
    "clear": Table(manual="ncurses 6.4, clear(1)", short="x", operands="none"),
    "cal": Table(manual="bsdmainutils ncal 12.1.8, cal(1)", short="13hjyA:B:m:", operands="text"),
    "ncal": Table(manual="bsdmainutils ncal 12.1.8, ncal(1)", short="13bChjJowyA:B:m:MS", operands="text"),
    "crontab": Table(manual="cron 3.0pl1, crontab(1)", short="lu:", operands=listed),
    "atq": Table(manual="at 3.2.5, atq(1)", short="Vq:", operands="none"),
    # -- network state; ss -K closes sockets and -D writes a file, lsof -D writes a cache
    "ip": Table(manual="iproute2 6.1.0, ip(8)", grammar=ip),
    "ss": Table(
        manual="iproute2 6.1.0, ss(8)",
        short="0A:bef:HhilMmnOoprsStTuVwxZz46ad",
        long="all bpf cgroup context contexts dccp extended family= info inet-sockopt ipv4 ipv6 listening memory mptcp "
        "no-header numeric oneline options packet processes query= raw resolve sctp socket= summary tcp threads tipc "
        "tipcinfo tos udp unix vsock xdp",
        operands="text",
    ),
    "netstat": Table(
        manual="net-tools 2.10, netstat(8)",
        short="46aceFCgilMNnoprstuvWwx",
        long="all continuous extend groups interfaces listening numeric numeric-hosts numeric-ports "
        "numeric-users program "
        "route statistics tcp timers udp unix verbose wide",
        operands="none",
    ),
    "ifconfig": Table(manual="net-tools 2.10, ifconfig(8)", short="asv", operands=interface),
    "route": Table(manual="net-tools 2.10, route(8)", short="46Feenv", operands="none"),
    "arp": Table(manual="net-tools 2.10, arp(8)", short="aenv", operands="none"),
    "lsof": Table(
        manual="lsof 4.95.0, lsof(8)",
        short="abCc:d:F?g?hi?K?lNnOo?p:PQRs?tT?Uu:vVwXx?",
        operands="text",
    ),
    # -- systemd; -H and -M reach other machines, verbs that change are not listed
    "systemctl": Table(
        manual=SYSTEMD.format("systemctl"),
        short="alqrt:p:o:n:P:",
        long="all full no-pager quiet recursive type= state= property= value output= lines= plain legend= "
        "no-legend user "
        "system failed global reverse after before with-dependencies show-types timestamp= no-ask-password",
        operands=verbs(
            "status show cat is-active is-enabled is-failed is-system-running list-units list-unit-files list-sockets "
            "list-timers list-jobs list-dependencies get-default show-environment"
        ),
    ),
    "journalctl": Table(
        manual=SYSTEMD.format("journalctl"),
        short="aeb?c:fg:hkmn?o:p:qrS:t:u:U:x",
        long="all after-cursor= boot? case-sensitive? catalog cursor= disk-usage dmesg facility= field= fields follow "
        "full grep= header identifier= lines? list-boots list-catalog merge no-full no-hostname no-pager no-tail "
        "output-fields= output= pager-end priority= quiet reverse show-cursor since= system unit= until= "
        "user user-unit= "
        "utc verify",
        operands="text",
    ),
    "timedatectl": Table(
        manual=SYSTEMD.format("timedatectl"),
        short="ap:",
        long="all no-pager property= value",
        operands=verbs("status show list-timezones timesync-status show-timesync"),
    ),
    "hostnamectl": Table(
        manual=SYSTEMD.format("hostnamectl"), long="json= static transient pretty", operands=verbs("status")
    ),
    "localectl": Table(
        manual=SYSTEMD.format("localectl"), long="no-pager", operands=verbs("status list-locales list-keymaps")
    ),
    "loginctl": Table(
        manual=SYSTEMD.format("loginctl"),
        short="alp:n:o:",
        long="all full no-pager property= value lines= output=",
        operands=verbs("list-sessions session-status show-session list-users user-status show-user list-seats"),
    ),
    # -- packages
    "dpkg": DPKG,
    "dpkg-query": DPKG,
    "apt": Program(manual="apt 2.6.1, apt(8)", commands={"list": APT, "show": APT, "search": APT, "policy": APT}),
    "apt-cache": Program(
        manual=NAMED.manual,
        commands=dict.fromkeys(
            ["show", "search", "policy", "depends", "rdepends", "madison", "pkgnames", "showpkg", "stats"], NAMED
        ),
    ),
    # Left out: -p, which takes a URL.
    "rpm": Table(manual="rpm 4.18.0, rpm(8)", grammar=first_match(r"-q[ailfcdRs]*")),
    "pacman": Table(manual="pacman 6.0, pacman(8)", grammar=first_match(r"-Q[iklsqedtmnuo]*")),
    "brew": Table(manual="Homebrew 4, brew(1)", grammar=first_word("list", "ls", "leaves", "--prefix", "--cellar")),
    "snap": Table(manual="snapd 2.57, snap(8)", grammar=first_word("list", "version")),
    "flatpak": Table(manual="flatpak 1.14, flatpak(1)", grammar=first_word("list")),
    # -- sessions and keys
    "tmux": Table(
        manual="tmux 3.3a, tmux(1)", grammar=first_word("-V", "ls", "list-sessions", "list-windows", "list-panes")
    ),
    "screen": Table(manual="screen 4.9.0, screen(1)", grammar=first_word("-ls", "-list")),
    "ssh-add": Table(manual="OpenSSH 9.2, ssh-add(1)", grammar=first_word("-l", "-L")),
    "ssh-keygen": Table(
        manual="OpenSSH 9.2, ssh-keygen(1)", short="lvf<E:", operands=lambda p: p.has("l") and files(p)
    ),
}
