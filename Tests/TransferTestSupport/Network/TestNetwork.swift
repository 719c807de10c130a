internal import Foundation
internal import Synchronization

/// Two machines as network namespaces: a client without any link at first, and a peer whose servers the client reaches
/// over its default routes.
///
/// The peer has the addresses of its servers on its own loopback link, so the client reaches them over any outgoing
/// link. Link number N is the net 10.0.N.0/24 (and 2001:db8:N::/64): the client is .2 (::2), the peer .1 (::1).
public final class TestNetwork: Sendable {
    /// The address of the peer's web server.
    public static let server = "198.51.100.1"
    public static let serverVersion6 = "2001:db8:ffff::1"
    /// Another address of the same server.
    public static let otherServer = "198.51.100.2"
    public static let nameServer = "198.51.100.53"
    public static let nameServerVersion6 = "2001:db8:ffff::53"

    public let client: TestNamespace
    public let peer: TestNamespace
    /// The process that makes the namespaces and waits. It removes them when its standard input ends, also with this
    /// process.
    private let keeper: ChildProcess
    private let closers = Mutex<[@Sendable () -> Void]>([])

    private static let script = """
        trap '' INT TERM HUP
        for name; do
            mkdir -p "/etc/netns/$name" && : >"/etc/netns/$name/resolv.conf" && ip netns add "$name" || exit 1
        done
        echo ready
        read -r line
        for name; do
            ip netns del "$name"
            rm -rf "/etc/netns/$name"
        done
        """

    private init(client: TestNamespace, peer: TestNamespace, keeper: ChildProcess) {
        self.client = client
        self.peer = peer
        self.keeper = keeper
    }

    static func start() async throws -> TestNetwork {
        guard NetworkNamespaces.areAllowed else {
            throw TestSupportError("network namespaces cannot be made here: they need root and the ip command")
        }
        _ = NetworkNamespaces.swept
        let client = TestNamespace(name: NetworkNamespaces.newName("client"))
        let peer = TestNamespace(name: NetworkNamespaces.newName("peer"))
        var command = ChildProcess.Command(
            "/bin/sh", ["-c", script, "sh", client.name, peer.name],
            environment: ["PATH": NetworkNamespaces.searchPath], timeout: .seconds(3600))
        command.standardInput = .open
        let network = TestNetwork(client: client, peer: peer, keeper: try ChildProcess.start(command))
        try await network.keeper.line(.standardOutput) { $0 == "ready" }
        do {
            try await network.prepare()
        } catch {
            await network.end()
            throw error
        }
        return network
    }

    private func prepare() async throws {
        // The buffers are small, so the bytes that a server's log counts as sent have nearly all arrived.
        let settings = """
            echo 4096 16384 131072 >/proc/sys/net/ipv4/tcp_wmem
            echo 4096 65536 262144 >/proc/sys/net/ipv4/tcp_rmem
            echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
            echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
            """
        try await client.run(settings)
        try await peer.run(settings)
        try await client.ip("link set lo up")
        try await peer.ip(
            ["link set lo up"]
                + [Self.server, Self.otherServer, Self.nameServer].map { "address add \($0)/32 dev lo" }
                + [Self.serverVersion6, Self.nameServerVersion6].map { "address add \($0)/128 dev lo nodad" })
    }

    /// Ends servers and tunnels, and removes the namespaces. A second call has no effect.
    func end() async {
        let closers = closers.withLock { closers in
            defer { closers = [] }
            return closers
        }
        for close in closers { close() }
        keeper.closeStandardInput()
        _ = try? await keeper.result()
    }

    /// Registers a clean-up for the end.
    func atEnd(_ close: @escaping @Sendable () -> Void) { closers.withLock { $0.append(close) } }

    /// The properties of a new link at the client's end.
    public struct LinkOptions: Sendable, OptionSet {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// An address and a default route.
        public static let version4 = LinkOptions(rawValue: 1)
        public static let version6 = LinkOptions(rawValue: 2)
    }

    /// Connects the two by a cable, whose ends have the same name. The peer's end has its addresses, and both ends are
    /// up. Neither end configures an address automatically or sends unsolicited packets.
    ///
    /// - Parameter metric: The metric of the default routes; the lowest is used.
    public func connect(
        _ link: String, _ number: Int, _ options: LinkOptions = .version4, metric: Int = 100
    ) async throws {
        try await client.ip("link add dev \(link) type veth peer name \(link) netns \(peer.name)")
        try await peer.ip(
            "link set \(link) addrgenmode none", "link set \(link) up", "address add 10.0.\(number).1/24 dev \(link)",
            "address add 2001:db8:\(number)::1/64 dev \(link) nodad")
        var lines = ["link set \(link) addrgenmode none", "link set \(link) up"]
        if options.contains(.version4) { lines += Self.version4(link, number, metric: metric) }
        if options.contains(.version6) { lines += Self.version6(link, number, metric: metric) }
        try await client.ip(lines)
        // A cable carries packets a moment after both ends are up. Earlier packets are lost.
        for end in [client, peer] { try await end.carries(link) }
    }

    /// Returns lines for `TestNamespace.ip`: the client's address on a link, and the default route over it.
    public static func version4(_ link: String, _ number: Int, metric: Int = 100) -> [String] {
        [
            "address add 10.0.\(number).2/24 dev \(link)",
            "route add default via 10.0.\(number).1 dev \(link) metric \(metric)",
        ]
    }

    public static func version6(_ link: String, _ number: Int, metric: Int = 100) -> [String] {
        [
            "address add 2001:db8:\(number)::2/64 dev \(link) nodad",
            "route add default via 2001:db8:\(number)::1 dev \(link) metric \(metric)",
        ]
    }
}

/// Runs the body with a network, which is removed at the end in every case.
public func withTestNetwork<Value: Sendable>(_ body: (TestNetwork) async throws -> Value) async throws -> Value {
    let network = try await TestNetwork.start()
    do {
        let value = try await body(network)
        await network.end()
        return value
    } catch {
        await network.end()
        throw error
    }
}
