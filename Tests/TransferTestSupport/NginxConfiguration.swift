internal import Foundation
internal import Glibc

/// The text of one server's configuration.
struct NginxConfiguration {
    let folder: String
    let root: String
    let port: UInt16
    let options: NginxServer.Options

    func text() throws -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { name in
            "    \(name)_temp_path \"\(folder)/\(name)\";"
        }
        let writing = "dav_methods PUT DELETE MKCOL COPY MOVE; create_full_put_path on; client_max_body_size 0;"
        return """
            \(try modules())
            \(options.main)
            daemon off;
            \(geteuid() == 0 ? "user root;" : "")
            worker_processes 1;
            pid "\(folder)/nginx.pid";
            error_log "\(folder)/error.log" notice;
            events { worker_connections 4096; }
            http {
                types { }
                default_type application/octet-stream;
                sendfile on;
                keepalive_requests 1000000;
                log_format entry "\(AccessLogEntry.format)";
                access_log "\(folder)/access.log" entry;
            \(temporary.joined(separator: "\n"))
                \(options.http)
                server { listen "unix:\(NginxLogBarrier.socket(in: folder))"; access_log off; return 204; }
                server {
                    \(listening())
                    \(options.certificate.map { "ssl_certificate \"\($0.path)\"; ssl_certificate_key \"\($0.key)\";" } ?? "")
                    http2_max_requests 1000000;
                    server_name localhost;
                    root "\(root)";
                    \(options.limitRate.map { "limit_rate \($0);" } ?? "")
                    location / {
                        \(options.allowsWriting ? writing : "")
                        \(options.location)
                    }
                    \(options.server)
                }
            }

            """
    }

    private func listening() -> String {
        let addresses = options.namespace == nil ? ["127.0.0.1:"] : ["", "[::]:"]
        let tls = options.certificate == nil ? "" : options.speaksHTTP2 ? " ssl http2" : " ssl"
        return addresses.map { "listen \($0)\(port) backlog=4096\(tls);" }.joined(separator: " ")
    }

    private func modules() throws -> String {
        guard options.usesLua else { return "" }
        let paths = ["ndk_http_module.so", "ngx_http_lua_module.so"].map { "/usr/lib/nginx/modules/" + $0 }
        for path in paths where !FileManager.default.fileExists(atPath: path) {
            throw TestSupportError("nginx's Lua is not installed (\(path)); `make setup` installs it")
        }
        return paths.map { "load_module \($0);" }.joined(separator: "\n")
    }
}
