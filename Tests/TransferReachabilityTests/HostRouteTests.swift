import Dispatch
import Synchronization
import Testing
import TransferCore

@testable import TransferReachability

@Suite("The way to one host", .timeLimit(.minutes(1)))
struct HostRouteTests {
    private let eth0 = NetworkSnapshotTests.snapshot([NetworkSnapshotTests.link(2, "eth0")], routes: [2])

    private func route(_ message: RouteMessage, to address: IPAddress) -> RouteQuery.Answer {
        Route(to: address, message).map { .route($0) } ?? .unreachable
    }

    private func message(_ link: Int, type: UInt8 = 1) -> RouteMessage {
        var message = RouteMessage(version: .v4, prefix: 32, table: 254, type: type)
        message.hops = [RouteMessage.Hop(link: link)]
        return message
    }

    @Test func theLinkOfTheRouteDecides() throws {
        let host = HostRoute(host: "198.51.100.7")
        let address = try #require(IPAddress("198.51.100.7"))
        #expect(host.status(in: eth0) { _ in route(message(2), to: address) } == .reachable(.ethernetOrWiFi))
        #expect(host.status(in: eth0) { _ in .unreachable } == .notReachable)
        #expect(host.status(in: eth0) { _ in .unknown } == .unknown)
        #expect(host.status(in: eth0) { _ in route(message(2, type: 7), to: address) } == .notReachable)
        var cut = eth0
        cut.links[0].hasCarrier = false
        #expect(host.status(in: cut) { _ in route(message(2), to: address) } == .notReachable)
        #expect(host.status(in: cut) { _ in route(message(1, type: 2), to: address) } == .reachable(.ethernetOrWiFi))
        var modem = eth0
        modem.links[0].kind = .cellular
        #expect(host.status(in: modem) { _ in route(message(2), to: address) } == .reachable(.cellular))
    }

    @Test func makingAManagerDoesNotWaitForTheName() async throws {
        let gate = DispatchSemaphore(value: 0)
        let host = HostRoute(host: "slow.example") { _ in
            gate.wait()
            return IPAddress("127.0.0.1").map { [$0] } ?? []
        }
        let manager = try #require(NetworkReachabilityManager(monitor: NetworkMonitor(), host: host))
        let (statuses, reported) = AsyncStream<NetworkReachabilityManager.NetworkReachabilityStatus>.makeStream()
        manager.startListening(onQueue: DispatchQueue(label: "test")) { reported.yield($0) }
        var iterator = statuses.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first == .unknown || first == .notReachable)
        gate.signal()
        let second = await iterator.next()
        #expect(second == .reachable(.ethernetOrWiFi))
    }

    @Test func aNameThatWasNotFoundIsLookedUpWhenTheNetworkChanges() async {
        let answers = Mutex<[[IPAddress]]>([[], IPAddress("127.0.0.1").map { [$0] } ?? []])
        let host = HostRoute(host: "later.example") { _ in answers.withLock { $0.isEmpty ? [] : $0.removeFirst() } }
        #expect(host.status(in: eth0) == .unknown)
        #expect(host.status(in: NetworkSnapshot()) == .notReachable)
        await withCheckedContinuation { done in host.lookUp { done.resume() } }
        #expect(host.status(in: eth0) == .notReachable && host.status(in: .unknown) == .unknown)
        await withCheckedContinuation { done in host.lookUp { done.resume() } }
        #expect(host.status(in: eth0) == .reachable(.ethernetOrWiFi))
        // The address is known, so no second look-up starts.
        host.lookUp { Issue.record("looked up once too often") }
        #expect(answers.withLock { $0.isEmpty })
    }

    @Test func theBestOfSeveralAddressesCounts() throws {
        let addresses = try ["2001:db8::1", "198.51.100.7"].map { try #require(IPAddress($0)) }
        let status = HostRoute.status(of: addresses, in: eth0) { address in
            address.isVersion6 ? .unreachable : route(message(2), to: address)
        }
        #expect(status == .reachable(.ethernetOrWiFi))
        #expect(HostRoute.status(of: addresses, in: eth0) { _ in .unknown } == .unknown)
        #expect(HostRoute.status(of: [], in: eth0) { _ in .unknown } == .notReachable)
    }

    @Test func theSystemsResolverKnowsItsOwnHost() {
        let addresses = HostRoute.systemAddresses("localhost")
        #expect(addresses.contains { $0.isLoopback })
        #expect(HostRoute.systemAddresses("no such host").isEmpty)
    }
}
