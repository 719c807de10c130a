import TransferCore

/// The content of a resolv.conf(5): whom to ask, and how.
struct NameServers: Sendable, Hashable {
    /// Addresses as written, a zone included; the first three (MAXNS).
    var servers: [String] = []
    /// Domains for names without a dot.
    var search: [String] = []
    /// For the first try with one server.
    var timeout: Duration?
    /// Times that the list of servers is gone through.
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
            // The last of them holds.
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

    /// The servers that aren't on this machine.
    var elsewhere: [String] {
        servers.filter { server in
            guard let address = IPAddress(server) else { return false }
            return !address.isLoopback && address.bytes.contains { $0 != 0 }
        }
    }

    /// The servers that can be asked by a socket that is bound to `link`: not those on this machine, and not those on
    /// another link (`fe80::1%eth0`). Without their zones.
    func reachable(over link: String) -> [String] {
        elsewhere.compactMap { server in
            let parts = server.split(separator: "%", maxSplits: 1)
            if parts.count == 2, parts[1] != link { return nil }
            return String(parts[0])
        }
    }
}

extension NameServers {
    /// The servers to ask over `link`: of the system's file, or, where that names only a resolver on this machine (as
    /// systemd-resolved's 127.0.0.53), those which that resolver asks.
    ///
    /// - Parameter read: A file's text; `nil` when it can't be read.
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
