import TransferCore

/// The content of a resolv.conf(5): the servers to ask, and the options.
struct NameServers: Sendable, Hashable {
    /// The addresses as written, with their zones; the first three (MAXNS).
    var servers: [String] = []
    /// The domains for names without a dot.
    var search: [String] = []
    /// The time for the first try with one server.
    var timeout: Duration?
    /// The number of passes through the list of servers.
    var attempts: Int?
    var usesTCP = false
    var rotates = false

    init(resolvConf text: String) {
        for line in text.split(separator: "\n") {
            let code = line.prefix { $0 != "#" && $0 != ";" }
            let words = code.split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init)
            guard let keyword = words.first, words.count > 1 else { continue }
            switch keyword {
            case "nameserver": if servers.count < 3, IPAddress(words[1]) != nil { servers.append(words[1]) }
            // The last line counts.
            case "search": search = Array(words.dropFirst())
            case "domain": search = [words[1]]
            case "options": for option in words.dropFirst() { apply(option) }
            default: break
            }
        }
    }

    private mutating func apply(_ option: String) {
        let parts = option.split(separator: ":", maxSplits: 1)
        let number = parts.count == 2 ? Int(parts[1]) : nil
        switch (parts.first, number) {
        // The bounds are those of the manual page.
        case ("timeout", let seconds?) where seconds > 0: timeout = .seconds(min(30, seconds))
        case ("attempts", let count?) where count > 0: attempts = min(5, count)
        case ("use-vc", nil): usesTCP = true
        case ("rotate", nil): rotates = true
        default: break
        }
    }

    /// The servers that are not on this machine.
    var elsewhere: [String] {
        servers.filter { server in
            guard let address = IPAddress(server) else { return false }
            return !address.isLoopback && address.bytes.contains { $0 != 0 }
        }
    }

    /// Returns the servers that a socket bound to `link` can ask, without their zones.
    ///
    /// Servers on this machine and on another link (`fe80::1%eth0`) are left out.
    func reachable(over link: String) -> [String] {
        elsewhere.compactMap { server in
            let parts = server.split(separator: "%", maxSplits: 1)
            if parts.count == 2, parts[1] != link { return nil }
            return String(parts[0])
        }
    }
}

extension NameServers {
    /// Returns the servers to ask over `link`: those of the system's file, or those behind a resolver on this machine.
    ///
    /// systemd-resolved's 127.0.0.53 is a resolver on this machine, for example.
    ///
    /// - Parameter read: A closure that returns a file's text, or `nil` when it cannot be read.
    static func choose(
        over link: String, paths: LinkResolver.Paths, read: (String) -> String?
    ) throws(TransferError) -> NameServers {
        var chosen = NameServers(resolvConf: read(paths.system) ?? "")
        let named = chosen.servers
        chosen.servers = chosen.reachable(over: link)
        if chosen.servers.isEmpty {
            let upstream = NameServers(resolvConf: read(paths.upstream) ?? "")
            chosen.servers = upstream.reachable(over: link)
            if chosen.search.isEmpty { chosen.search = upstream.search }
        }
        guard chosen.servers.isEmpty else { return chosen }
        let found = named.isEmpty ? "no name server" : "only \(named.joined(separator: ", "))"
        throw TransferError(
            .cannotResolveHost,
            "no name server can be asked over the link \(link): \(paths.system) names \(found), and \(paths.upstream) "
                + "none either; write the network's own into \(paths.system), as in `nameserver 192.0.2.53`",
            isTransient: true)
    }
}
