import Dispatch
import Synchronization
import Testing
import TransferCore
import TransferEventLoop

@testable import TransferReachability

@Suite("The monitor", .timeLimit(.minutes(1)))
struct NetworkMonitorTests {
    @Test func theFirstSnapshotComesAtOnceToEachObserver() async throws {
        let monitor = NetworkMonitor()
        for _ in 0..<3 {
            var iterator = monitor.snapshots().makeAsyncIterator()
            let next = await iterator.next()
            let snapshot = try #require(next)
            #expect(snapshot.isKnown && snapshot.link(named: "lo") != nil)
        }
    }

    @Test func laterObserversReceiveTheSnapshotToo() async throws {
        let monitor = NetworkMonitor()
        var first = monitor.snapshots().makeAsyncIterator()
        let reported = await first.next()
        let known = try #require(reported)
        var second = monitor.snapshots().makeAsyncIterator()
        let same = await second.next()
        #expect(same == known && monitor.current == known)
    }

    @Test func theMonitorRunsOnTheGivenLoop() async throws {
        let loop = try EventLoop(name: "mine")
        defer { loop.stop() }
        let monitor = NetworkMonitor(loop: loop)
        let (places, reported) = AsyncStream<Bool>.makeStream()
        let observation = monitor.observe { _ in reported.yield(loop.isOnLoop) }
        var iterator = places.makeAsyncIterator()
        let isOnLoop = await iterator.next()
        #expect(isOnLoop == true)
        observation.cancel()
    }

    @Test func aSlowObserverGetsTheNewestOnly() async {
        let queue = DispatchQueue(label: "slow")
        let (seen, reported) = AsyncStream<NetworkSnapshot>.makeStream()
        let mailbox = Mailbox(queue: queue) { reported.yield($0) }
        queue.suspend()
        for index in 1...100 {
            mailbox.put(NetworkSnapshotTests.snapshot([NetworkSnapshotTests.link(index, "e")], routes: []))
        }
        queue.resume()
        var iterator = seen.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.links.first?.index == 100)
        mailbox.put(NetworkSnapshot())
        let second = await iterator.next()
        #expect(second == NetworkSnapshot())
    }

    @Test func aClosedMailboxAndARepeatCallNoObserver() {
        let calls = Mutex(0)
        let mailbox = Mailbox(queue: nil) { _ in calls.withLock { $0 += 1 } }
        mailbox.put(NetworkSnapshot())
        mailbox.put(NetworkSnapshot())
        mailbox.putFirst(.unknown)
        #expect(calls.withLock { $0 } == 1)
        mailbox.close()
        mailbox.put(.unknown)
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func theRouteToThisMachineIsLocal() throws {
        let route = try #require(IPAddress("127.0.0.1").flatMap { NetworkMonitor.shared.route(to: $0) })
        #expect(route.isLocal && route.source == IPAddress("127.0.0.1"))
    }
}
