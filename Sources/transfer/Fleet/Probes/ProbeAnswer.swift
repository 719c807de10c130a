import TransferCore
import TransferQueue

/// The answer to a probe: the status line, a few fields, and a text.
struct ProbeAnswer: Hashable {
    var status: String
    var fields: [String] = []
    var text = ""
    /// Whether the text is left out, because the request was a HEAD.
    var isHeadOnly = false

    var bytes: [UInt8] {
        var head = "HTTP/1.1 \(status)\r\nConnection: close\r\nCache-Control: no-store\r\n"
        for field in fields { head += field + "\r\n" }
        // RFC 9110, section 8.6: a 204 has no Content-Length.
        if !status.hasPrefix("204") { head += "Content-Length: \(text.utf8.count)\r\n" }
        return Array((head + "\r\n" + (isHeadOnly ? "" : text)).utf8)
    }

    static func plain(_ status: String, _ text: String, _ fields: String...) -> ProbeAnswer {
        ProbeAnswer(status: status, fields: ["Content-Type: text/plain; charset=utf-8"] + fields, text: text + "\n")
    }

    /// - Parameter text: Metrics in Prometheus' form.
    static func metrics(_ text: String) -> ProbeAnswer {
        ProbeAnswer(
            status: "200 OK", fields: ["Content-Type: text/plain; version=0.0.4; charset=utf-8"], text: text)
    }

    /// - Parameter trouble: Why the worker cannot work; `nil` where it can.
    static func health(_ trouble: String?) -> ProbeAnswer {
        guard let trouble else { return ProbeAnswer(status: "204 No Content") }
        return .plain("503 Service Unavailable", trouble, "Retry-After: 5")
    }
}

/// The decision about a request to a worker's probes.
enum ProbeRoute: Hashable {
    case health
    case metrics
    case refused(ProbeAnswer)

    /// - Parameter isOnNetwork: Whether the request came over TCP, so that a page of another site may have caused it.
    init(_ head: ProbeRequest.Head, isOnNetwork: Bool) {
        if isOnNetwork, let host = head.host, !Self.isOfThisMachine(host) {
            self = .refused(.plain("421 Misdirected Request", "\(host) is not a name of this machine"))
        } else if !["/healthz", "/metrics"].contains(head.path) {
            self = .refused(.plain("404 Not Found", "a worker answers /healthz and /metrics"))
        } else if !["GET", "HEAD"].contains(head.method) {
            self = .refused(.plain("405 Method Not Allowed", "this is only read", "Allow: GET, HEAD"))
        } else {
            self = head.path == "/healthz" ? .health : .metrics
        }
    }

    /// A page of another site may have its name point to this machine, but cannot set the field Host.
    private static func isOfThisMachine(_ host: String) -> Bool {
        let name: Substring
        if host.hasPrefix("[") {
            name = host.dropFirst().prefix { $0 != "]" }
        } else {
            name = host.prefix { $0 != ":" }
        }
        return name.lowercased() == "localhost" || IPAddress(String(name))?.isLoopback == true
    }
}
