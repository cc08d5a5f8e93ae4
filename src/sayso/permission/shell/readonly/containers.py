"""Rows for container and cluster clients: what asks the local daemon, or the cluster that the user is logged in to.

Manuals: docker 28.2 and kubectl 1.3x `--help`; helm 3. Global options that choose another daemon, configuration,
identity or cache (-H, --context of docker, --config, --kubeconfig, --server, --token, --as, --cache-dir,
--profile-output) are left out. So is `docker compose` but for `ls` and `version`: the other commands load the
project's files, whose `include` fetches from the network.
"""

from sayso.permission.shell.readonly.table import Parsed, Program, Table

__all__ = ["ROWS"]

DOCKER = "docker 28.2, docker {} --help"


def docker(name: str, short: str = "", long: str = "", operands: str = "text") -> Table:
    return Table(manual=DOCKER.format(name), short=short, long=long, operands=operands)


PS = docker("ps", "af:n:lqs", "all filter= format= last= latest no-trunc quiet size")
IMAGES = docker("images", "af:q", "all digests filter= format= no-trunc quiet tree")
INSPECT = docker("inspect", "f:s", "format= size type= platform=")
LOGS = docker("logs", "fn:t", "details follow since= tail= timestamps until=")
HISTORY = docker("history", "Hq", "format= human no-trunc platform= quiet")
STATS = docker("stats", "a", "all format= no-stream no-trunc")
INFO = docker("info", "f:", "format=")
PORT = docker("port")
TOP = docker("top")
DIFF = docker("diff")
EVENTS = docker("events", "f:", "filter= format= since= until=")
NETWORKS = docker("network ls", "f:q", "filter= format= no-trunc quiet")
VOLUMES = docker("volume ls", "f:q", "filter= format= quiet cluster")
DISK = docker("system df", "v", "format= verbose")
CONTEXTS = docker("context ls", "q", "format= quiet")

# podman 4 takes the same spellings, but for the daemon: it reads its own store.
DOCKER_COMMANDS: dict[str, Table] = {
    "ps": PS,
    "container ls": PS,
    "container list": PS,
    "container ps": PS,
    "images": IMAGES,
    "image ls": IMAGES,
    "image list": IMAGES,
    "inspect": INSPECT,
    "container inspect": INSPECT,
    "image inspect": INSPECT,
    "network inspect": docker("network inspect", "f:v", "format= verbose"),
    "volume inspect": INSPECT,
    "logs": LOGS,
    "container logs": LOGS,
    "history": HISTORY,
    "image history": HISTORY,
    "stats": STATS,
    "container stats": STATS,
    "info": INFO,
    "system info": INFO,
    "version": INFO,
    "port": PORT,
    "container port": PORT,
    "top": TOP,
    "container top": TOP,
    "diff": DIFF,
    "container diff": DIFF,
    "events": EVENTS,
    "system events": EVENTS,
    "network ls": NETWORKS,
    "network list": NETWORKS,
    "volume ls": VOLUMES,
    "volume list": VOLUMES,
    "system df": DISK,
    "context ls": CONTEXTS,
    "context list": CONTEXTS,
    "context show": CONTEXTS,
    "compose ls": docker("compose ls", "aq", "all filter= format= quiet", "none"),
    "compose version": docker("compose version", "f:", "format= short", "none"),
    "buildx version": docker("buildx version", operands="none"),
    "buildx ls": docker("buildx ls", operands="none"),
}


def without_secrets(parsed: Parsed) -> bool:
    """Printed as an object, a secret is its content; as a table, its name. A template in a file is left out."""
    if any(value is None or value.text is None or "-file" in value.text for value in parsed.values("o", "output")):
        return False
    plain = all(value is not None and value.text in ("wide", "name") for value in parsed.values("o", "output"))
    templated = parsed.has("template")
    named = any(word.text is None or "secret" in word.text.lower() for word in parsed.operands)
    return (plain and not templated) or not named


def no_dump(parsed: Parsed) -> bool:
    """`kubectl cluster-info dump` reads every log and may write them to a directory."""
    return not parsed.operands


# Accepted before and after the command word. --context chooses among the user's own logins.
KUBE_SHORT = "n:v:"
KUBE_LONG = "namespace= context= cluster= user= request-timeout= v= insecure-skip-tls-verify? match-server-version? "
KUBECTL = "kubectl, kubectl {} --help and kubectl options"


def kubectl(name: str, short: str = "", long: str = "", operands: object = "text") -> Table:
    return Table(
        manual=KUBECTL.format(name),
        short=KUBE_SHORT + short,
        long=KUBE_LONG + long,
        operands=operands,  # type: ignore[arg-type]
    )


GET = kubectl(
    "get",
    "AL:o:l:w",
    "all-namespaces? allow-missing-template-keys? chunk-size= field-selector= ignore-not-found? "
    "label-columns= no-headers? "
    "output= output-watch-events? selector= server-print? show-kind? show-labels? show-managed-fields? sort-by= "
    "subresource= template= watch? watch-only?",
    without_secrets,
)
ROLLOUT = kubectl("rollout status", "l:wo:", "revision= selector= timeout= watch? output=")
KUBE_COMMANDS: dict[str, Table] = {
    "get": GET,
    "describe": kubectl("describe", "Al:", "all-namespaces? chunk-size= selector= show-events?"),
    "logs": kubectl(
        "logs",
        "c:fpl:",
        "all-containers? all-pods? container= follow? ignore-errors? limit-bytes= max-log-requests= "
        "pod-running-timeout= "
        "prefix? previous? selector= since= since-time= tail= timestamps?",
    ),
    "top": kubectl(
        "top",
        "Al:",
        "all-namespaces? containers? field-selector= no-headers? selector= sort-by= sum? use-protocol-buffers?",
    ),
    "explain": kubectl("explain", "o:", "api-version= output= recursive?"),
    "api-resources": kubectl(
        "api-resources", "o:", "api-group= cached? categories= namespaced? no-headers? output= sort-by= verbs="
    ),
    "api-versions": kubectl("api-versions"),
    "version": kubectl("version", "o:", "client? output= short?"),
    "cluster-info": kubectl("cluster-info", operands=no_dump),
    "events": kubectl(
        "events", "Ao:w", "all-namespaces? chunk-size= for= no-headers? output= types= watch? show-managed-fields?"
    ),
    "rollout status": ROLLOUT,
    "rollout history": ROLLOUT,
    "auth can-i": kubectl("auth can-i", "Aq", "all-namespaces? list? no-headers? quiet? subresource="),
    "auth whoami": kubectl("auth whoami", "o:", "output="),
    "config current-context": kubectl("config current-context"),
    "config get-contexts": kubectl("config get-contexts", "o:", "no-headers? output="),
    "config get-clusters": kubectl("config get-clusters"),
    "config get-users": kubectl("config get-users"),
    # Without --raw, which prints the keys.
    "config view": kubectl("config view", "o:", "merge? minify? output="),
}
HELM_SHORT, HELM_LONG = "n:", "namespace= kube-context= "
HELM = Table(
    manual="helm 3, helm list --help",
    short=HELM_SHORT + "aAdf:l:m:o:qr",
    long=HELM_LONG
    + "all all-namespaces date deployed failed filter= max= no-headers output= pending reverse selector= short",
    operands="text",
)

ROWS: dict[str, Table | Program] = {
    "docker": Program(
        manual=DOCKER.format("").replace("  ", " "), short="vD", long="version", commands=DOCKER_COMMANDS
    ),
    "podman": Program(manual="podman 4.3, podman(1)", short="v", long="version", commands=DOCKER_COMMANDS),
    "kubectl": Program(manual=KUBECTL.format("options"), short=KUBE_SHORT, long=KUBE_LONG, commands=KUBE_COMMANDS),
    "helm": Program(
        manual="helm 3, helm --help",
        short=HELM_SHORT,
        long=HELM_LONG,
        commands={
            "list": HELM,
            "ls": HELM,
            "version": Table(manual="helm 3, helm version --help", long="short template=", operands="none"),
            "history": Table(
                manual="helm 3, helm history --help",
                short=HELM_SHORT + "o:",
                long=HELM_LONG + "max= output=",
                operands="text",
            ),
            "status": Table(
                manual="helm 3, helm status --help",
                short=HELM_SHORT + "o:",
                long=HELM_LONG + "output= revision= show-desc show-resources",
                operands="text",
            ),
        },
    ),
}
