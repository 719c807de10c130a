import TransferCore

/// The servers that a queue's address names, in the order in which they are asked (PostgreSQL's manual, "Specifying
/// Multiple Hosts").
package struct PostgresHosts: Sendable, Hashable {
    package struct Host: Sendable, Hashable {
        /// A name, an address or the folder of a Unix socket; empty for libpq's default socket. Certificates are
        /// compared with it, and passwords are found by it.
        package var host: String?
        /// The `hostaddr` of libpq, where the address of the queue has one.
        package var address: String?
        /// The port; `nil` for libpq's default.
        package var port: String?

        /// The name to be looked up; `nil` for a server whose place is known.
        package var name: String? {
            guard address == nil, let host, !host.isEmpty, !isSocket else { return nil }
            return host
        }

        private var isSocket: Bool {
            address == nil && (host?.hasPrefix("/") ?? false || host?.hasPrefix("@") ?? false)
        }

        /// Whether the way to the server stays within this machine.
        var isLocal: Bool {
            if let address { return IPAddress(address)?.isLoopback ?? false }
            guard let host, !host.isEmpty, !isSocket else { return true }
            return host == "localhost" || IPAddress(host)?.isLoopback ?? false
        }
    }

    package let all: [Host]

    /// - Parameters:
    ///   - keywords: The libpq keywords of the queue's address and of a service file.
    ///   - environment: The lookup of environment variables, which stand in for keywords (PostgreSQL's manual,
    ///     "Environment Variables").
    /// - Returns: `nil` where libpq alone finds the servers. That is its default server, or lists of different lengths,
    ///   which libpq reports.
    package init?(_ keywords: [String: String], environment: (String) -> String?) {
        let hosts = Self.list(keywords["host"] ?? environment("PGHOST"))
        let addresses = Self.list(keywords["hostaddr"] ?? environment("PGHOSTADDR"))
        let ports = Self.list(keywords["port"] ?? environment("PGPORT"))
        let count = max(hosts.count, addresses.count)
        guard count > 0, [0, count].contains(hosts.count), [0, count].contains(addresses.count),
            [0, 1, count].contains(ports.count)
        else { return nil }
        all = (0..<count).map { index in
            let address = addresses.isEmpty ? "" : addresses[index]
            return Host(
                host: hosts.isEmpty ? nil : hosts[index], address: address.isEmpty ? nil : address,
                port: ports.isEmpty ? nil : ports[ports.count == 1 ? 0 : index])
        }
    }

    /// Splits a list at its commas. An empty text names nothing; an empty item stands for the default.
    private static func list(_ text: String?) -> [String] {
        guard let text, !text.isEmpty else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Whether the way to each of the servers stays within this machine.
    var areLocal: Bool { all.allSatisfy(\.isLocal) }

    /// The hosts as an address shows them, without the folders of sockets.
    var shown: String {
        all.map { host in
            let name = host.host ?? host.address ?? ""
            let port = (host.port ?? "").isEmpty ? "" : ":\(host.port ?? "")"
            return (name.hasPrefix("/") ? "" : name) + port
        }.joined(separator: ",")
    }
}
