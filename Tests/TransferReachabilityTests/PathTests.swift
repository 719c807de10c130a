import Dispatch
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferReachability

@Suite("Paths by the kind of interface")
struct PathTests {
    /// A machine with routes out over Ethernet, Wi-Fi and a modem, and a tunnel over the modem without a route.
    private func snapshot(_ kinds: [LinkKind]) throws -> NetworkSnapshot {
        var links: [NetworkSnapshot.Link] = []
        var routes: [NetworkSnapshot.DefaultRoute] = []
        for (index, kind) in kinds.enumerated() {
            let address = try #require(IPAddress("192.0.2.\(index + 1)"))
            links.append(
                NetworkSnapshot.Link(
                    index: index + 1, name: "\(kind.rawValue)0", kind: kind,
                    addresses: [NetworkSnapshot.Address(address, prefix: 24)]))
            routes.append(NetworkSnapshot.DefaultRoute(version: .v4, link: index + 1, metric: UInt32(index)))
        }
        return NetworkSnapshot(links: links, defaultRoutes: routes)
    }

    @Test(arguments: [
        (PathRule(), ["ethernet0", "wifi0", "cellular0"]),
        (PathRule(required: .wifi), ["wifi0"]),
        (PathRule(required: .wiredEthernet), ["ethernet0"]),
        (PathRule(prohibited: [.cellular]), ["ethernet0", "wifi0"]),
        (PathRule(prohibited: [.wiredEthernet, .wifi]), ["cellular0"]),
        (PathRule(required: .loopback), []),
    ])
    func theRuleSaysWhichInterfacesCount(_ rule: PathRule, _ names: [String]) throws {
        let path = rule.path(in: try snapshot([.ethernet, .wifi, .cellular]))
        #expect(path.availableInterfaces.map(\.name) == names)
        #expect(path.status == (names.isEmpty ? .unsatisfied : .satisfied))
        #expect(path.isExpensive == (names == ["cellular0"]))
    }

    @Test func aMachineWithoutAWayHasNoneByAnyRule() {
        for rule in [PathRule(), PathRule(required: .wifi), PathRule(prohibited: [.cellular])] {
            #expect(rule.path(in: NetworkSnapshot()).status == .unsatisfied)
            // A fact that the kernel does not report is no reason to wait.
            #expect(rule.path(in: .unknown).status == .satisfied)
        }
    }

    @Test func theEndOfAPairIsTheEthernetOfItsContainer() throws {
        let path = PathRule(required: .wiredEthernet).path(in: try snapshot([.virtualEthernet]))
        #expect(path.usesInterfaceType(.wiredEthernet) && !path.usesInterfaceType(.wifi))
    }

    @Test func theMonitorReportsTheCurrentPathOnItsQueue() async {
        let queue = DispatchQueue(label: "paths")
        let (paths, continuation) = AsyncStream<NWPath>.makeStream()
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in
            dispatchPrecondition(condition: .onQueue(queue))
            continuation.yield(path)
        }
        monitor.start(queue: queue)
        var first: NWPath?
        for await path in paths {
            first = path
            break
        }
        #expect(first == monitor.currentPath)
        monitor.cancel()
        #expect(monitor.pathUpdateHandler == nil)
    }

    @Test func flagsMatchTheStatus() {
        #expect(SCNetworkReachabilityFlags(.unknown) == nil)
        #expect(SCNetworkReachabilityFlags(.notReachable) == [])
        #expect(SCNetworkReachabilityFlags(.reachable(.ethernetOrWiFi)) == .reachable)
        #expect(SCNetworkReachabilityFlags(.reachable(.cellular)) == [.reachable, .isWWAN])
    }

    @Test func aManagerHasTheQueueOnWhichItLooksAtChanges() throws {
        let manager = try #require(NetworkReachabilityManager())
        #expect(!manager.reachabilityQueue.label.isEmpty)
        #expect(manager.flags == SCNetworkReachabilityFlags(manager.status))
    }
}
