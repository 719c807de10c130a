# shellcheck shell=bash
# Sourced by the benchmarks: start_nginx serves $work/root on loopback from one worker, with $directives for its server,
# sets $origin to its URL and $nginx to its process; stop_nginx ends it. $work/server holds what it writes. Where
# $certificate names a PEM file with a key and its certificate, TLS is spoken beside that, at $secure_origin; HTTP/2 too,
# where $http2 is `http2`.
nginx=
directives=
certificate=
http2=

start_nginx() {
    local port tls
    mkdir -p "$work/server"
    # A port that nothing listens on just now; nginx is asked again with another one when it was taken meanwhile.
    for _ in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 12000))
        ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue
        tls=
        if [[ -n $certificate ]]; then
            ! (exec 3<>"/dev/tcp/127.0.0.1/$((port + 1))") 2>/dev/null || continue
            tls="listen 127.0.0.1:$((port + 1)) ssl $http2 backlog=4096;
                ssl_certificate \"$certificate\"; ssl_certificate_key \"$certificate\";"
        fi
        cat >"$work/server/nginx.conf" <<CONF
daemon off;
$( ((EUID)) || echo 'user root;')
worker_processes 1;
pid "$work/server/pid";
error_log "$work/server/error.log";
events { worker_connections 4096; }
http {
    types { }
    default_type application/octet-stream;
    access_log off;
    sendfile on;
    keepalive_requests 1000000;
    client_body_temp_path "$work/server/body";
    proxy_temp_path "$work/server/proxy";
    fastcgi_temp_path "$work/server/fastcgi";
    uwsgi_temp_path "$work/server/uwsgi";
    scgi_temp_path "$work/server/scgi";
    server { listen 127.0.0.1:$port backlog=4096; $tls root "$work/root"; $directives }
}
CONF
        nginx -p "$work/server" -c "$work/server/nginx.conf" 2>"$work/server/stderr" &
        nginx=$!
        for _ in {1..200}; do
            if [[ -s $work/server/pid ]]; then
                # Its callers read these.
                # shellcheck disable=SC2034
                origin=http://127.0.0.1:$port secure_origin=https://127.0.0.1:$((port + 1))
                return
            fi
            kill -0 "$nginx" 2>/dev/null || break
            sleep 0.02
        done
        stop_nginx
    done
    cat "$work/server/stderr" >&2
    exit 1
}

stop_nginx() {
    [[ -z $nginx ]] || { kill "$nginx" 2>/dev/null && wait "$nginx" 2>/dev/null; } || true
    nginx=
}
