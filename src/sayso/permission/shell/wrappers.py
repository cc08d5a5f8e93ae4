"""The rows of programs that run another program, each from the manual it names.

Owns which programs these are and what kind of wrapper each is; how a row is read is `wrapper`'s.
"""

from sayso.permission.shell.readonly.word import word_set
from sayso.permission.shell.wrapper import Kind, Wrapper

__all__ = ["SHELLS", "WRAPPERS"]

T, R = Kind.TRANSPARENT, Kind.RUNNER
DOCKER = Wrapper(
    short="DH:c:l:", long="config= context= debug host= log-level= tls tlscacert= tlscert= tlskey= tlsverify"
)
EXEC = "detach detach-keys= env= env-file= interactive privileged tty user= workdir= latest"
RUN_SHORT = "ac:de:h:itl:m:p:Pqu:v:w:"
RUN = (
    "add-host= attach= cap-add= cap-drop= cpus= cpu-shares= detach device= dns= entrypoint= env= env-file= expose= "
    "gpus= health-cmd= hostname= init interactive ipc= label= link= log-driver= log-opt= memory= mount= name= net= "
    "network= no-healthcheck pid= platform= privileged publish= publish-all pull= quiet read-only restart= rm runtime= "
    "security-opt= shm-size= stop-signal= sysctl= tmpfs= tty ulimit= user= userns= volume= volumes-from= workdir="
)
GIT = Wrapper(
    short="C:c:pPhv",
    long="git-dir= work-tree= namespace= super-prefix= config-env= exec-path? paginate no-pager no-replace-objects "
    "bare literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks list-cmds= attr-source= "
    "version help html-path man-path info-path",
)
COMPOSE = Wrapper(
    short="f:p:", long="ansi= env-file= file= parallel= profile= progress= project-directory= project-name= dry-run"
)

WRAPPERS: dict[str, tuple[Wrapper, ...]] = {
    # coreutils 9.1: timeout(1), nice(1), nohup(1), stdbuf(1), env(1)
    "timeout": (
        Wrapper(kind=T, short="k:s:v", long="foreground kill-after= preserve-status signal= verbose", operands=1),
    ),
    "nice": (Wrapper(kind=T, short="n:", long="adjustment=", digits=True),),
    "nohup": (Wrapper(kind=T),),
    "stdbuf": (Wrapper(kind=T, short="i:o:e:", long="input= output= error="),),
    "env": (
        Wrapper(
            kind=T,
            short="iu:C:v0",
            long="ignore-environment unset= chdir= null debug",
            variables=True,
            chdir=("C", "chdir"),
        ),
    ),
    # bash(1), "Pipelines" and "SHELL BUILTIN COMMANDS"; GNU time(1)
    "time": (Wrapper(kind=T, short="pvqf:", long="portability verbose quiet format="),),
    "command": (Wrapper(kind=T, short="p"),),
    "builtin": (Wrapper(kind=T),),
    "exec": (Wrapper(kind=T, short="cla:"),),
    # findutils 4.9.0, xargs(1)
    "xargs": (
        Wrapper(
            kind=T,
            short="0a:d:E:e?I:i?L:l?n:P:prs:tx",
            long="null arg-file= delimiter= eof? replace? max-lines? max-args= max-procs= interactive no-run-if-empty "
            "max-chars= verbose exit show-limits open-tty process-slot-var=",
            reads=("a", "arg-file"),
            replace=("I", "i", "replace"),
            open=True,
        ),
    ),
    # sudo(8) 1.9, doas(1), su(1) and runuser(1) of util-linux 2.38, pkexec(1), setpriv(1)
    "sudo": (
        Wrapper(
            short="ABbEeHiKklnPSsVvND:C:g:h:p:R:r:T:t:U:u:",
            long="askpass bell background close-from= chdir= preserve-env? edit group= set-home host= login "
            "remove-timestamp reset-timestamp list non-interactive preserve-groups prompt= chroot= role= stdin shell "
            "type= command-timeout= other-user= user= validate no-update",
            variables=True,
        ),
    ),
    "doas": (Wrapper(short="La:C:nsu:"),),
    "su": (
        Wrapper(
            short="c:flmpPs:g:G:w:",
            long="command= session-command= fast login preserve-environment pty shell= group= supp-group= "
            "whitelist-environment=",
            script=("c", "command", "session-command"),
            permuted=True,
        ),
    ),
    "runuser": (Wrapper(short="c:flmpPs:g:G:u:", long="command= user= login shell=", script=("c", "command")),),
    "pkexec": (Wrapper(long="user= disable-internal-agent keep-cwd"),),
    "gosu": (Wrapper(operands=1),),
    "run0": (Wrapper(short="u:g:D:", long="user= group= chdir= nice= unit= setenv= background="),),
    "setpriv": (Wrapper(long="no-new-privs reuid= regid= clear-groups keep-groups init-groups groups= reset-env"),),
    # ssh(1) of OpenSSH 9
    "ssh": (
        Wrapper(
            short="46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:",
            operands=1,
            joined=True,
            remote=True,
        ),
    ),
    # procps 4, watch(1); util-linux 2.38: setsid, flock, ionice, taskset, chrt, script, nsenter, unshare
    "watch": (
        Wrapper(
            short="bcd?eghn:pq:rtwx",
            long="beep color differences? errexit chgexit equexit= interval= precise no-rerun no-title no-wrap exec",
            joined=True,
        ),
    ),
    "setsid": (Wrapper(short="cfw", long="ctty fork wait"),),
    "flock": (
        Wrapper(
            late=("-c", "--command"),
            short="sxenuoFw:E:",
            long="shared exclusive nonblock unlock close no-fork timeout= wait= conflict-exit-code= verbose",
            operands=1,
        ),
    ),
    "ionice": (Wrapper(short="c:n:t", long="class= classdata= ignore"),),
    "taskset": (Wrapper(short="ac", long="all-tasks cpu-list", operands=1),),
    "chrt": (Wrapper(short="abdfiormvT:P:D:R", operands=1),),
    "script": (
        Wrapper(
            permuted=True,
            short="aec:fqI:O:B:E:o:T:m:",
            long="append return command= flush quiet",
            script=("c", "command"),
        ),
    ),
    "nsenter": (
        Wrapper(short="at:muipnUCTS:G:rwF", long="all target= mount uts ipc net pid user cgroup", remote=True),
    ),
    "unshare": (Wrapper(short="muipnUCTrf", long="mount uts ipc net pid user map-root-user fork"),),
    "chroot": (Wrapper(long="groups= userspec= skip-chdir", operands=1, remote=True),),
    "strace": (Wrapper(short="fFvxyztTqce:o:s:p:u:a:b:I:O:S:E:P:CdDhiknrVwZ"),),
    "ltrace": (Wrapper(short="fce:o:s:p:u:n:a:SCtrT"),),
    "systemd-run": (
        Wrapper(
            short="tPGqdSu:p:E:H:M:",
            long="user system scope unit= property= description= slice= remain-after-exit uid= gid= nice= setenv= pty "
            "pipe quiet collect wait same-dir working-directory= no-block shell",
        ),
    ),
    "fakeroot": (Wrapper(short="l:s:i:ub:", long="lib= faked= unknown-is-real"),),
    "unbuffer": (Wrapper(short="p"),),
    "caffeinate": (Wrapper(short="disumt:w:"),),
    "busybox": (Wrapper(),),
    "toybox": (Wrapper(),),
    # GNU parallel(1)
    "parallel": (
        Wrapper(
            short="0j:P:kn:N:vtIX:a:d:L:mq",
            long="null jobs= keep-order max-args= verbose dry-run bar progress eta halt= tag joblog= pipe will-cite "
            "delay= timeout= retries= colsep= arg-file= quote no-notice line-buffer ungroup",
            joined=True,
            open=True,
        ),
    ),
    # docker(1) 24, podman(1), kubectl 1.28
    "docker": (
        Wrapper(globals=DOCKER, subcommand=("exec",), short="de:itu:w:", long=EXEC, operands=1, remote=True),
        Wrapper(
            globals=DOCKER, subcommand=("container", "exec"), short="de:itu:w:", long=EXEC, operands=1, remote=True
        ),
        Wrapper(
            globals=DOCKER,
            subcommand=("compose", "exec"),
            between=COMPOSE,
            short="dTe:u:w:",
            long=EXEC + " no-TTY index=",
            operands=1,
            remote=True,
        ),
        Wrapper(kind=R, globals=DOCKER, subcommand=("run",), short=RUN_SHORT, long=RUN, operands=1, remote=True),
    ),
    "docker-compose": (
        Wrapper(
            globals=COMPOSE,
            subcommand=("exec",),
            short="dTe:u:w:",
            long=EXEC + " no-TTY index=",
            operands=1,
            remote=True,
        ),
    ),
    "kubectl": (Wrapper(subcommand=("exec",), dashes=True, remote=True),),
    "git": (
        Wrapper(kind=R, globals=GIT, subcommand=("bisect", "run")),
        Wrapper(
            kind=R, globals=GIT, subcommand=("submodule", "foreach"), long="recursive quiet", short="q", joined=True
        ),
    ),
    # npm-exec(1), pnpm, yarn, bun, uv, pipx
    "npx": (
        Wrapper(
            short="yqc:p:w:",
            long="yes no no-install quiet call= package= workspace= workspaces prefer-offline ignore-existing silent",
            script=("c", "call"),
        ),
    ),
    "bunx": (Wrapper(long="bun verbose silent"),),
    "pnpx": (Wrapper(short="c", long="package= shell-mode"),),
    "uvx": (
        Wrapper(
            short="p:qvn",
            long="from= with= with-editable= with-requirements= python= quiet verbose offline no-cache isolated "
            "refresh index= index-url= extra-index-url=",
        ),
    ),
    "npm": (
        Wrapper(kind=R, subcommand=("exec|x",), short="yc:p:w:", long="yes no call= package=", script=("c", "call")),
    ),
    "pnpm": (Wrapper(kind=R, subcommand=("exec|dlx",)),),
    "yarn": (Wrapper(kind=R, subcommand=("exec|dlx",)),),
    "uv": (
        Wrapper(kind=R, subcommand=("run",), short="p:qvn", long="with= python= extra= group= no-sync frozen locked"),
    ),
    "pipx": (Wrapper(kind=R, subcommand=("run",), long="spec= python= no-cache verbose quiet"),),
    "poetry": (Wrapper(kind=R, subcommand=("run",)),),
    "pipenv": (Wrapper(kind=R, subcommand=("run",)),),
    "pdm": (Wrapper(kind=R, subcommand=("run",)),),
    "hatch": (Wrapper(kind=R, subcommand=("run",)),),
    "bundle": (Wrapper(kind=R, subcommand=("exec",)),),
    "direnv": (Wrapper(kind=R, subcommand=("exec",), operands=1),),
}

WRAPPERS["podman"] = WRAPPERS["docker"]

# Programs that run shell text given by -c; for those that are not Bash, Bash's grammar is near enough to deny by.
SHELLS = word_set("bash sh dash zsh ksh mksh ash fish rbash yash")
