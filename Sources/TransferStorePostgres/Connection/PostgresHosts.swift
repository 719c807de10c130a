import TransferCore

/// The servers that a queue's address names, in the order in which they are asked (PostgreSQL's manual, "Specifying Multiple
/// Hosts").
package struct PostgresHosts: Sendable, Hashable {
    package struct Host: Sendable, Hashable {
        /// A name, an address or the folder of a Unix socket; empty for libpq's usual socket. Certificates are compared with
        /// it, and passwords are found by it.
        package var host: String?
        /// libpq's `hostaddr`, where the address of the queue has one.
        package var address: String?
        /// `nil` for libpq's usual one.
        package var port: String?

        /// The name to be looked up; `nil` for a server whose place is known.
        package var name: String? {
            guard address == nil, let host, !host.isEmpty, !isSocket else { return nil }
            return host
        }

        private var isSocket: Bool {
            address == nil && (host?.hasPrefix("/") ?? false || host?.hasPrefix("@") ?? false)
        }

        /// Whether nothing leaves the machine on the way there.
        var isLocal: Bool {
            if let address { return IPAddress(address)?.isLoopback ?? false }
            guard let host, !host.isEmpty, !isSocket else { return true }
            return host == "localhost" || IPAddress(host)?.isLoopback ?? false
        }
    }

    package let all: [Host]

    /// - Parameters:
    ///   - keywords: libpq's, of the queue's address and of a service file.
    ///   - environment: The value of a variable, which stands in for a keyword (PostgreSQL's manual, "Environment Variables").
    /// - Returns: `nil` where libpq alone finds the servers: its usual one, or where the lists don't fit together, which it
    ///   says.
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

    /// An empty text names nothing; between commas it names what is usual.
    private static func list(_ text: String?) -> [String] {
        guard let text, !text.isEmpty else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Whether nothing leaves the machine on the way to any of them.
    var areLocal: Bool { all.allSatisfy(\.isLocal) }

    /// The hosts as an address shows them; a socket isn't shown.
    var shown: String {
        all.map { host in
            let name = host.host ?? host.address ?? ""
            let port = (host.port ?? "").isEmpty ? "" : ":\(host.port ?? "")"
            return (name.hasPrefix("/") ? "" : name) + port
        }.joined(separator: ",")
    }
}
