import Glibc
public import TransferCore
import TransferEventLoop

/// A resolver over one link: it reads the file of hosts first, then asks name servers by sockets that are bound to the
/// link.
///
/// getaddrinfo(3) cannot be bound. A name with a dot is absolute. A name without one is tried in the search domains
/// first, as with `ndots:1` (resolv.conf(5)). Addresses come in the order of RFC 6724, by their reachability over the
/// link.
public struct LinkResolver: Sendable {
    /// The files that name the name servers (resolv.conf(5)).
    public struct Paths: Sendable, Hashable {
        /// The system's file.
        public var system = "/etc/resolv.conf"
        /// The file that is used when all servers of the system's file are on this machine, which a bound socket cannot
        /// reach.
        public var upstream = "/run/systemd/resolve/resolv.conf"

        /// Creates the usual paths.
        public init() {}
    }

    /// The files that name the name servers.
    public var paths = Paths()
    /// The longest time of a look-up.
    public var timeLimit = Duration.seconds(20)
    /// The time for the first answer of one server, where the file sets none; each round doubles it.
    public var timeout = Duration.seconds(2)
    /// The number of rounds, where the file sets none.
    public var attempts = 3
    /// The port of the name servers.
    var port = 53

    /// Creates a resolver with the usual rules.
    public init() {}

    /// Looks up a host. The call blocks for at most `timeLimit`.
    ///
    /// - Parameters:
    ///   - host: The host in ASCII.
    ///   - link: The link's name (`wg0`).
    ///   - interrupt: A signal that ends the look-up early, as a failure.
    public func addresses(
        of host: String, link: String, interrupt: Interrupt? = nil
    ) -> Result<[String], TransferError> {
        if let known = SpecialName.addresses(host) { return .success(known) }
        do throws(TransferError) {
            // The link is checked first, as its fault would explain all other failures.
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

    /// Returns the name servers on other machines that are asked in the end, with their zones.
    ///
    /// The servers are those of the system, or those that a resolver on this machine asks.
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
        // The buffer is longer than the part that any resolver reads.
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
