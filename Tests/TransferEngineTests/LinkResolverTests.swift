import Glibc
import Testing
import TransferCore
import TransferEventLoop
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// The choice of name servers (resolv.conf(5)).
struct NameServersTests {
    @Test func readsWhatTheManualPageDescribes() {
        let servers = NameServers(
            resolvConf: """
                # a comment
                domain old.example
                search a.example\tb.example ; the last of them holds
                nameserver 192.0.2.1
                nameserver fe80::1%eth0
                nameserver not-an-address
                nameserver 2001:db8::1
                nameserver 192.0.2.4
                options timeout:3 attempts:4 rotate use-vc ndots:5 unknown
                """)
        #expect(servers.servers == ["192.0.2.1", "fe80::1%eth0", "2001:db8::1"], "three at most")
        #expect(servers.search == ["a.example", "b.example"])
        #expect(servers.timeout == .seconds(3) && servers.attempts == 4)
        #expect(servers.rotates && servers.usesTCP)
    }

    @Test func keepsToTheBoundsOfTheManualPage() {
        let servers = NameServers(
            resolvConf: "options timeout:100 attempts:100\noptions timeout:0 attempts:-1\nsearch\n")
        #expect(servers.timeout == .seconds(30) && servers.attempts == 5)
        #expect(!servers.usesTCP && !servers.rotates && servers.search.isEmpty && servers.servers.isEmpty)
    }

    @Test func localServersAndServersOfOtherLinksCannotBeAsked() {
        var servers = NameServers(resolvConf: "")
        servers.servers = ["127.0.0.53", "::1", "0.0.0.0", "fe80::1%eth0", "fe80::2%wg0", "192.0.2.1"]
        #expect(servers.reachable(over: "wg0") == ["fe80::2", "192.0.2.1"])
    }

    private static func choose(_ system: String?, _ upstream: String?) throws(TransferError) -> NameServers {
        try NameServers.choose(over: "wg0", paths: LinkResolver.Paths()) {
            $0 == "/etc/resolv.conf" ? system : $0 == "/run/systemd/resolve/resolv.conf" ? upstream : nil
        }
    }

    @Test func theSystemsNameServersAreAskedIfOneIsRemote() throws {
        let chosen = try Self.choose("nameserver 127.0.0.1\nnameserver 192.0.2.1", "nameserver 192.0.2.2")
        #expect(chosen.servers == ["192.0.2.1"])
    }

    @Test func aLocalResolversUpstreamServersAreAsked() throws {
        let chosen = try Self.choose(
            "nameserver 127.0.0.53\noptions timeout:1\n", "nameserver 192.0.2.2\nsearch a.example")
        #expect(chosen.servers == ["192.0.2.2"] && chosen.search == ["a.example"] && chosen.timeout == .seconds(1))
    }

    @Test(arguments: [
        ("nameserver 127.0.0.53\n", "only 127.0.0.53"), ("nameserver 127.0.0.1\nnameserver ::1", "only 127.0.0.1, ::1"),
        ("", "no name server"), (nil, "no name server"),
    ])
    func withoutAnyTheErrorSaysWhatToWrite(_ system: String?, _ found: String) throws {
        let error = try #require(throws: TransferError.self) { try Self.choose(system, nil) }
        #expect(error.code == .cannotResolveHost && error.isTransient)
        #expect(error.message.contains("/etc/resolv.conf names \(found),") && error.message.contains("wg0"))
        #expect(error.message.hasSuffix("into /etc/resolv.conf, as in `nameserver 192.0.2.53`"))
    }
}

/// Look-ups over `lo`, at an address that no server listens on: a name server that never answers.
@Suite("Look-ups over a link", .timeLimit(.minutes(1)))
struct LinkResolverTests {
    private let folder: TemporaryFolder
    private var resolver = LinkResolver()

    init() throws {
        folder = try TemporaryFolder("names")
        resolver.paths.system = try folder.write("nameserver 192.0.2.53\n", to: "resolv.conf")
        resolver.paths.upstream = folder.path("none")
    }

    @Test func aLinkThatIsNotThereIsNamed() throws {
        for link in ["nosuch0", "", "lo-and-much-too-long-a-name"] {
            let error = try #require(throws: TransferError.self) {
                try resolver.addresses(of: "a.example", link: link).get()
            }
            #expect(error.code == .linkUnavailable && error.errno == ENODEV && error.isTransient)
            #expect(error.message.hasPrefix("there is no link \(link), and nothing may go over another"))
        }
    }

    /// The kernel would truncate the name and might find `lo`, and 15 letters of it could name an existing link.
    @Test func noSocketIsMadeForANameThatTheKernelWouldCutOff() {
        #expect(LinkSocket.open(AF_INET, 2, 0, link: "0123456789abcdef") == .failure(.link(ENODEV)))
        #expect(LinkSocket.open(AF_INET, 2, 0, link: "") == .failure(.link(ENODEV)))
        #expect(LinkSocket.open(AF_INET, 2, 0, link: "lo\0x") == .failure(.link(ENODEV)))
    }

    @Test func theCallersBoundHolds() throws {
        var resolver = resolver
        resolver.timeLimit = .milliseconds(150)
        let start = ContinuousClock.now
        let error = try #require(throws: TransferError.self) {
            try resolver.addresses(of: "a.example", link: "lo").get()
        }
        let time = ContinuousClock.now - start
        #expect(error.message == "cannot find the host a.example: no name server answered over lo (192.0.2.53)")
        #expect(error.code == .cannotResolveHost && error.isTransient && error.scope == .origin)
        #expect(time >= .milliseconds(150) && time < .seconds(10))
    }

    @Test func anInterruptEndsALookUp() async throws {
        let (interrupt, workers, resolver) = (Interrupt(), WorkerPool(name: "test", threads: 1), resolver)
        let start = ContinuousClock.now
        async let answer = workers.run { resolver.addresses(of: "a.example", link: "lo", interrupt: interrupt) }
        interrupt.signal()
        let failure = try await answer
        let error = try #require(throws: TransferError.self) { try failure.get() }
        #expect(error.code == .cannotResolveHost)
        #expect(ContinuousClock.now - start < resolver.timeLimit / 2)
        workers.stop()
    }

    @Test func anInvalidNameFailsAtOnce() throws {
        let long = String(repeating: "a", count: 64) + ".example"
        let error = try #require(throws: TransferError.self) { try resolver.addresses(of: long, link: "lo").get() }
        #expect(!error.isTransient && error.message.contains("cannot be a name"))
    }
}

/// Exchanges that require a link, on this machine.
@Suite("Exchanges over a required link", .timeLimit(.minutes(1)))
struct LinkedExchangeTests {
    @Test func loopbackTrafficIsNotBoundToTheLink() async throws {
        try await Bench.with { bench in
            bench.server.serve("/x", .text("hello"))
            let hosts = ["127.0.0.1", "localhost", "127.1", "a.localhost"]
            for host in hosts {
                let attempt = bench.send("GET", "http://\(host):\(bench.server.port)/x") { $0.link = "nosuch0" }
                let outcome = try await attempt.end()
                #expect(outcome.answer == Array("hello".utf8), "\(host): \(outcome.result)")
            }
        }
    }

    @Test func withoutTheLinkTheErrorSaysWhatToDo() async throws {
        try await Bench.with { bench in
            for url in ["http://192.0.2.1/", "http://a.example/"] {
                let outcome = try await bench.send("GET", url) { $0.link = "nosuch0" }.end()
                let error = try #require(outcome.error)
                #expect(error.code == .linkUnavailable && error.errno == ENODEV)
                #expect(
                    error.message.hasPrefix("there is no link nosuch0, and nothing may go over another; bring it up"))
            }
            let proxied = try await bench.send("GET", "http://a.example/") {
                $0.link = "nosuch0"
                $0.proxy = "http://192.0.2.1:3128"
            }.end()
            #expect(proxied.error?.code == .linkUnavailable)
        }
    }

    /// One spelling is looked up and connected to. A host without such a spelling is refused.
    @Test(arguments: [
        ("http://a%2eexample/", false), ("http://bücher.example/", false), ("http://b%00.example/", true),
    ])
    func hostsThatLibcurlWouldSpellOtherwiseAreSpelledBefore(_ url: String, _ isRefused: Bool) async throws {
        try await Bench.with { bench in
            let outcome = try await bench.send("GET", url) { $0.link = "lo" }.end()
            let error = try #require(outcome.error)
            #expect((error.code == .badURL) == isRefused, "\(error)")
        }
    }

    @Test func poolsAreOfOneLinkEach() throws {
        let loop = try EventLoop(name: "test")
        defer { loop.execute { loop.stop() } }
        let resolver = HostResolver()
        let set = PoolSet(loop: loop) { () throws(TransferError) in
            try CurlPool(
                loop: loop, resolver: resolver, bodyThreads: WorkerPool(name: "body", threads: 1),
                trustThreads: WorkerPool(name: "trust", threads: 1))
        }
        let keys = [nil, "a", "b"].map { PoolKey(rules: .system, link: $0) }
        let pools = try keys.map { try set.pool(for: $0) }
        #expect(Set(pools.map { ObjectIdentifier($0) }).count == 3)
        for (key, pool) in zip(keys, pools) {
            let again = try set.pool(for: key)
            #expect(again === pool)
        }
    }

    @Test func addressesOverALinkNeverAge() throws {
        let target = try #require(LookUpTarget(host: "a.example", port: 80))
        #expect(target.entry(["192.0.2.1", "::2"]) == "a.example:80:192.0.2.1,[::2]")
    }
}
