import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Concurrent transfers with one host", .timeLimit(.minutes(1)))
struct HostSlotsTests {
    /// The admitted requests in order, with their slots.
    private final class Guests: Sendable {
        private let slots = Mutex<[(name: String, slot: HostSlot?)]>([])

        var names: [String] { slots.withLock { $0.map(\.name) } }

        func admit(_ name: String, _ slot: HostSlot) { slots.withLock { $0.append((name, slot)) } }

        func slot(_ name: String) -> HostSlot? { slots.withLock { $0.first { $0.name == name }?.slot } }

        func leave(_ name: String) {
            let slot = slots.withLock { slots in
                let index = slots.firstIndex { $0.name == name }
                let slot = index.flatMap { slots[$0].slot }
                if let index { slots[index].slot = nil }
                return slot
            }
            // The slot is returned outside the lock, because `admit` admits the next request.
            withExtendedLifetime(slot) {}
        }
    }

    private func enter(_ names: [String], _ slots: HostSlots, _ guests: Guests, key: Substring = "a:80") {
        for name in names { slots.enter(key) { guests.admit(name, $0) } }
    }

    @Test func requestsBeyondTheLimitWaitInOrder() {
        let (slots, guests) = (HostSlots(limit: 2), Guests())
        enter(["a", "b", "c", "d"], slots, guests)
        #expect(guests.names == ["a", "b"])
        guests.leave("b")
        #expect(guests.names == ["a", "b", "c"])
        guests.leave("a")
        #expect(guests.names == ["a", "b", "c", "d"])
        guests.leave("c")
        guests.leave("d")
        enter(["e", "f", "g"], slots, guests)
        #expect(guests.names == ["a", "b", "c", "d", "e", "f"])
    }

    @Test func hostsDoNotWaitForEachOther() {
        let (slots, guests) = (HostSlots(limit: 1), Guests())
        enter(["a", "b"], slots, guests, key: "one:80")
        enter(["c", "d"], slots, guests, key: "two:80")
        #expect(guests.names == ["a", "c"])
        guests.leave("c")
        #expect(guests.names == ["a", "c", "d"])
    }

    @Test func anUnclaimedSlotIsFreed() {
        let (slots, guests) = (HostSlots(limit: 1), Guests())
        slots.enter("a:80") { _ in }
        enter(["a", "b"], slots, guests)
        slots.enter("a:80") { _ in }
        enter(["c"], slots, guests)
        #expect(guests.names == ["a"])
        guests.leave("a")
        guests.leave("b")
        #expect(guests.names == ["a", "b", "c"])
    }

    @Test func aHostThatMultiplexesTakesManyMore() {
        let (slots, guests) = (HostSlots(limit: 1), Guests())
        let names = (0..<150).map(String.init)
        enter(names, slots, guests)
        #expect(guests.names == ["0"])
        guests.slot("0")?.hostMultiplexes()
        #expect(guests.names == Array(names.prefix(HostSlots.multiplexedLimit)))
        guests.slot("0")?.hostMultiplexes()
        #expect(guests.names.count == HostSlots.multiplexedLimit)
        guests.leave("7")
        #expect(guests.names.count == HostSlots.multiplexedLimit + 1)
    }

    @Test func aMultiplexingHostIsRemembered() {
        let (slots, guests) = (HostSlots(limit: 1), Guests())
        enter(["a"], slots, guests)
        guests.slot("a")?.hostMultiplexes()
        guests.leave("a")
        enter(["b", "c"], slots, guests)
        #expect(guests.names == ["a", "b", "c"])
    }

    @Test func aLimitAboveThatOfMultiplexingStays() {
        let (slots, guests) = (HostSlots(limit: 200), Guests())
        enter((0..<201).map(String.init), slots, guests)
        guests.slot("0")?.hostMultiplexes()
        #expect(guests.names.count == 200)
    }

    // MARK: On the wire

    @Test(arguments: [1, 3])
    func theServerNeverSeesMoreRequestsAtATime(limit: Int) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 20_000))
            var settings = SessionSettings()
            settings.loops = 2
            settings.maximumConnectionsPerHost = limit
            let session = Session(settings)
            let ends = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        await session.request(server.url("/x")).serializingData().response.value?.count ?? 0
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(ends == 40 * 20_000)
            #expect(server.peakRequests <= limit)
            // Each thread keeps connections of its own, of which one idle connection may stay open.
            #expect(server.peakConnections <= limit * settings.loops)
        }
    }

    @Test func asManyAsMayAreUnderWayAtATime() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", Array(repeating: .holdHead, count: 3))
            var settings = SessionSettings()
            settings.loops = 1
            settings.maximumConnectionsPerHost = 3
            let session = Session(settings)
            let tasks = (0..<5).map { _ in session.request(server.url("/x")).serializingString() }
            try await server.waitForHeld(3)
            #expect(server.requests.count == 3)
            server.release()
            for task in tasks {
                let text = try await task.value
                #expect(text == "x")
            }
        }
    }

    /// A failed, cancelled or refused request frees its slot like any other.
    @Test func everyEndMakesRoom() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.resetBeforeHead, .status(500), .holdHead])
            var settings = SessionSettings()
            settings.loops = 1
            settings.maximumConnectionsPerHost = 1
            let session = Session(settings)
            let failed = await session.request(server.url("/x"), method: .get).response()
            #expect(failed.error != nil)
            let refused = await session.request(server.url("/x")).validate().response()
            #expect(refused.error?.responseCode == 500)
            let cancelled = session.request(server.url("/x"))
            let end = cancelled.serializingData()
            try await server.waitForHeld(1)
            let next = session.request(server.url("/x")).serializingString()
            cancelled.cancel()
            _ = await end.response
            let text = try await next.value
            #expect(text == "x")
        }
    }

    @Test func aRequestThatIsSuspendedInTheQueueLetsOthersPass() async throws {
        try await withTestServer { server async throws in
            server.serve("/first", .text("first"))
            server.serve("/second", .text("second"))
            server.serve("/third", .text("third"))
            server.script("/first", [.holdHead])
            var settings = SessionSettings()
            settings.loops = 1
            settings.maximumConnectionsPerHost = 1
            let session = Session(settings)
            let first = session.request(server.url("/first")).serializingString()
            try await server.waitForHeld(1)
            let waiting = session.request(server.url("/second"))
            let second = waiting.serializingString()
            waiting.suspend()
            let third = session.request(server.url("/third")).serializingString()
            server.release()
            let texts = [try await first.value, try await third.value]
            #expect(texts == ["first", "third"])
            waiting.resume()
            let late = try await second.value
            #expect(late == "second")
            #expect(server.requests.map(\.target) == ["/first", "/third", "/second"])
        }
    }

    @Test func theLimitOfAConfigurationIsHonoured() {
        let configuration = URLSessionConfiguration.af.default
        configuration.httpMaximumConnectionsPerHost = 2
        #expect(SessionSettings(configuration: configuration).maximumConnectionsPerHost == 2)
        configuration.httpMaximumConnectionsPerHost = 0
        #expect(SessionSettings(configuration: configuration).maximumConnectionsPerHost == 1)
    }
}
