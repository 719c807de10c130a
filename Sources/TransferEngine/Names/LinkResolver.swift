import Glibc
public import TransferCore
import TransferEventLoop

/// Looks names up over one link: the file of hosts first, then name servers, asked by sockets that are bound to the link.
///
/// getaddrinfo(3) can't be bound. A name with a dot is absolute; one without is tried in the search domains first, as
/// with `ndots:1` (resolv.conf(5)). Addresses come in the order of RFC 6724, by what can be reached over the link.
public struct LinkResolver: Sendable {
    /// Files that name the name servers (resolv.conf(5)).
    public struct Paths: Sendable, Hashable {
        public var system = "/etc/resolv.conf"
        /// Read when all of the system's are on this machine, where a bound socket can't get.
        public var upstream = "/run/systemd/resolve/resolv.conf"

        public init() {}
    }

    public var paths = Paths()
    /// The longest that a look-up may take.
    public var timeLimit = Duration.seconds(20)
    /// For the first answer of one server, where the file says nothing; each round doubles it.
    public var timeout = Duration.seconds(2)
    /// Rounds, where the file says nothing.
    public var attempts = 3
    /// The name servers' port.
    var port = 53

    public init() {}

    /// Blocks for at most `timeLimit`.
    ///
    /// - Parameters:
    ///   - host: In ASCII.
    ///   - link: The link's name (`wg0`).
    ///   - interrupt: Ends the look-up early, as a failure.
    public func addresses(
        of host: String, link: String, interrupt: Interrupt? = nil
    ) -> Result<[String], TransferError> {
        if let known = SpecialName.addresses(host) { return .success(known) }
        do throws(TransferError) {
            // First, as what is wrong with the link would explain all the rest.
            if case .failure(.link(let code)) = LinkSocket.check(link) {
                throw .linkUnavailable(link, errno: code)
            }
            let servers = try NameServers.choose(over: link, paths: paths, read: Self.read)
            let lookUp = try LinkLookUp(host: host, link: link, servers: servers, rules: self)
            return .success(try lookUp.run(until: .now + timeLimit, interrupt: interrupt))
        } catch {
            return .failure(error)
        }
    }

    /// The name servers on other machines that are asked in the end, with their zones: the system's, and behind a
    /// resolver on this machine those that it asks.
    public func nameServers() -> [String] {
        for path in [paths.system, paths.upstream] {
            let elsewhere = NameServers(resolvConf: Self.read(path) ?? "").elsewhere
            if !elsewhere.isEmpty { return elsewhere }
        }
        return []
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        // More than any resolver reads.
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
