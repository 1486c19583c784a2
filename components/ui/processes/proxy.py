"""The configuration of the proxy, nginx: which process a visitor gets, and what its log may say.

A visit lives in one process: its uploads, pictures and downloads are there and nowhere else. So a
cookie names the process that answered first, and requests go there while it is up. Each process has
a group of its own with all the others behind it (`backup`); whoever has no cookie yet is spread by
the group `new`, which leaves out what is about to restart. Who answered is written into the cookie,
so that a visitor who had to change stays where the visit is by then.

Addresses hold sentences, and the name of a corpus is all that it takes to read it. So the log says
which place of the app was asked for, never the address; nginx's own log of errors would quote it,
and is kept for what keeps nginx from running at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from re import escape

__all__ = ["COOKIE", "Proxy", "configuration"]

COOKIE = "contextlens_process"
_CONNECTIONS = 8192  # two for each open page
_FAILS = "max_fails=1 fail_timeout=5s"
_FIRST = ("static", "media", "export", "component", "oauth2callback", "healthz", "readyz")
_CORE = ("stream", "upload_file", "health", "host-config")


@dataclass(frozen=True)
class Proxy:
    """What the configuration is made of.

    Attributes:
        listen: where visitors come, each as nginx writes it: "127.0.0.1:8501", "[::1]:8501".
        processes: the app's, each a host and a port.
        folder: the proxy's own, for its files while it runs.
        max_upload_mb: the largest file that the app takes.
        pages: names of the app's pages, which the log may say.
        leaving: those of `processes`, by their place, that get no new visitors.
    """

    listen: tuple[str, ...]
    processes: tuple[str, ...]
    folder: str
    max_upload_mb: int = 100
    pages: tuple[str, ...] = ()
    leaving: frozenset[int] = frozenset()


def configuration(proxy: Proxy) -> str:
    """The text of nginx's configuration file, which needs none beside it."""
    n = len(proxy.processes)
    parts = {
        "FOLDER": proxy.folder,
        "CONNECTIONS": str(_CONNECTIONS),
        "BODY": f"{proxy.max_upload_mb + 1}m",
        "COOKIE": COOKIE,
        "LISTEN": _lines(f"listen {address};" for address in proxy.listen),
        "GROUPS": _lines(f"{i} process_{i};" for i in range(n)),
        "ANSWERED": _lines(_answered(proxy.processes)),
        "COOKIES": _lines(_cookies(n)),
        "PLACES": _lines(_places(proxy.pages)),
        "UPSTREAMS": "\n".join(_upstreams(proxy)),
    }
    text = _TEXT
    for name, value in parts.items():
        text = text.replace(f"@{name}@", value)
    return text


def _lines(lines: Iterable[str]) -> str:
    return "\n        ".join(lines)


def _answered(processes: tuple[str, ...]) -> Iterator[str]:
    """The last of those that nginx asked: it names all, with commas between them."""
    for i, address in enumerate(processes):
        yield f'"~(?:^|[ ,]){escape(address)}$" {i};'


def _cookies(n: int) -> Iterator[str]:
    """A cookie for each process that answered somebody whose cookie does not name it."""
    for i in range(n):
        own = f"{COOKIE}={i}; Path=/; HttpOnly; SameSite=Lax$secure"
        yield f'"~^{i}:(?!{i}$)" "{own}";'


def _places(pages: tuple[str, ...]) -> Iterator[str]:
    """What the log calls an address: its first part where that is one of the app's own."""
    yield '"/" "/";'
    yield f'"~^(?<core>/_stcore/(?:{"|".join(_CORE)}))(?:/|$)" "$core";'
    yield f'"~^(?<first>/(?:{"|".join((*_FIRST, *pages))}))(?:/|$)" "$first";'


def _upstreams(proxy: Proxy) -> Iterator[str]:
    everywhere = range(len(proxy.processes))
    leaving = proxy.leaving if len(proxy.leaving) < len(proxy.processes) else frozenset[int]()
    yield _upstream(proxy, "new", {i: "down" for i in everywhere if i in leaving})
    for i in everywhere:
        yield _upstream(proxy, f"process_{i}", {j: "backup" for j in everywhere if j != i})


def _upstream(proxy: Proxy, name: str, said: dict[int, str]) -> str:
    servers = (
        f"server {address} {_FAILS} {said.get(i, '')}".rstrip() + ";"
        for i, address in enumerate(proxy.processes)
    )
    return f"    upstream {name} {{\n        zone {name} 64k;\n        {_lines(servers)}\n    }}"


_TEXT = r"""# Made by components/ui/processes/proxy.py, which says why it is so.
daemon off;
pid @FOLDER@/nginx.pid;
error_log stderr emerg;  # anything less quotes addresses, which hold sentences
worker_processes 2;
worker_rlimit_nofile @CONNECTIONS@;

events {
    worker_connections @CONNECTIONS@;
}

http {
    client_body_temp_path @FOLDER@/body;
    proxy_temp_path @FOLDER@/proxy;
    fastcgi_temp_path @FOLDER@/fastcgi;
    uwsgi_temp_path @FOLDER@/uwsgi;
    scgi_temp_path @FOLDER@/scgi;
    proxy_cache_path @FOLDER@/static levels=1 keys_zone=static:1m max_size=200m inactive=1d
        use_temp_path=off;
    server_tokens off;
    map_hash_bucket_size 128;

    # Which process: the one that the cookie names, else the next in turn.
    map $cookie_@COOKIE@ $group {
        default new;
        @GROUPS@
    }
    map $upstream_addr $answered {
        default "";
        @ANSWERED@
    }
    map $http_x_forwarded_proto $proto {
        default $scheme;
        https https;  # of a proxy before this one
    }
    map $proto $secure {
        default "";
        https "; Secure";
    }
    map "$answered:$cookie_@COOKIE@" $changed_cookie {
        default "";
        @COOKIES@
    }
    map $http_upgrade $connection_wanted {
        default upgrade;
        "" "";
    }
@UPSTREAMS@

    # What the log says: no address, nor anything else that a visitor can write into a request.
    map $uri $place {
        default "other";
        @PLACES@
    }
    map $request_method $method {
        default "other";
        "~^(?<known>GET|HEAD|PUT|POST|DELETE|OPTIONS)$" "$known";
    }
    map $place $is_told {
        default 1;
        "/static" 0;
    }
    log_format place escape=json '{"time":"$time_iso8601","from":"$remote_addr",'
        '"method":"$method","place":"$place","status":"$status","bytes":"$body_bytes_sent",'
        '"seconds":"$request_time","process":"$answered"}';
    access_log /dev/stdout place if=$is_told;

    server {
        @LISTEN@
        server_name _;
        client_max_body_size @BODY@;
        large_client_header_buffers 8 32k;  # addresses of 8,000 characters, cookies of sign-in
        add_header Set-Cookie $changed_cookie always;

        proxy_http_version 1.1;
        proxy_set_header Host $http_host;  # frame/hosts.py looks at the visitor's own
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection $connection_wanted;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $proto;
        proxy_set_header X-Forwarded-Host $http_host;
        proxy_connect_timeout 5s;
        proxy_read_timeout 600s;  # an export is written before it is sent
        proxy_send_timeout 600s;
        proxy_request_buffering off;  # nothing that is uploaded is written down here
        proxy_max_temp_file_size 0;
        proxy_next_upstream error timeout;
        error_page 502 503 504 =503 @away;

        location / {
            proxy_pass http://$group;
        }
        location ~ /_stcore/stream$ {
            proxy_read_timeout 3600s;  # the app pings every half minute
            proxy_send_timeout 3600s;
            proxy_pass http://$group;
        }
        location /static/ {
            gzip on;
            gzip_vary on;
            gzip_proxied any;
            gzip_min_length 1k;
            gzip_types text/css text/javascript application/javascript application/json
                image/svg+xml;
            proxy_cache static;
            proxy_cache_key $uri;
            proxy_cache_lock on;
            proxy_pass http://$group;
        }
        location ~ /metrics/?$ {  # for whoever runs this, on the processes' own ports
            return 404;
        }
        location @away {
            internal;
            default_type text/plain;
            add_header Retry-After 5 always;
            return 503 "Contextlens is starting, or restarting. Reload this page in a moment.\n";
        }
    }
}
"""
