import Foundation
import Testing

@testable import TransferCore

/// `segments: auto` over simulated links. `TRANSFER_HEAVY=1` uses hundreds of seeds for each link.
@Suite struct ConnectionGrowthTests {
    private static let isHeavy = ProcessInfo.processInfo.environment["TRANSFER_HEAVY"] == "1"
    private static let seeds: Range<UInt64> = 0..<(isHeavy ? 300 : 20)
    /// The seeds for the numbers that it is compared with.
    private static let fewSeeds: Range<UInt64> = 0..<(isHeavy ? 100 : 5)

    private static func link(
        _ delay: Double, loss: Double, rate: Double, queue: Double = 256e3, size: Double = 20e6
    ) -> SimulatedLink {
        SimulatedLink("\(delay) ms one way, \(loss) %, \(rate) Mbit/s, queue of \(queue / 1e3) kB") {
            ($0.roundTrip, $0.loss, $0.rate) = (delay / 500, loss / 100, rate * 125_000)
            ($0.queue, $0.size) = (queue, size)
        }
    }

    static let lossy = [
        link(10, loss: 0.1, rate: 100), link(50, loss: 0.1, rate: 100), link(50, loss: 1, rate: 100),
        link(150, loss: 0.5, rate: 50), link(75, loss: 3, rate: 20), link(40, loss: 1, rate: 50, size: 60e6),
        link(10, loss: 1, rate: 100), link(100, loss: 0.1, rate: 20, queue: 128e3),
        link(20, loss: 0.01, rate: 50, queue: 1e6),
    ]

    static let clean = [
        link(50, loss: 0, rate: 100), link(150, loss: 0, rate: 100), link(150, loss: 0, rate: 100, queue: 2e6),
        link(10, loss: 0, rate: 100), link(1, loss: 0, rate: 1000, queue: 512e3, size: 300e6),
        link(5, loss: 0, rate: 1000, queue: 512e3, size: 300e6), link(30, loss: 0, rate: 10, queue: 64e3),
        link(30, loss: 0, rate: 10, queue: 200e3),
    ]

    static let servers = [
        SimulatedLink("500 kB/s for each connection") { ($0.roundTrip, $0.each, $0.size) = (0.03, 5e5, 60e6) },
        SimulatedLink("500 kB/s for each connection, after a burst of 2 MB") {
            ($0.roundTrip, $0.each, $0.burst, $0.size) = (0.03, 5e5, 2e6, 80e6)
        },
        SimulatedLink("2 MB/s for all") { ($0.roundTrip, $0.total) = (0.05, 2e6) },
        SimulatedLink("2 MB/s for all, far away") { ($0.roundTrip, $0.total) = (0.2, 2e6) },
        SimulatedLink("1 MB/s for each of 4 connections, further ones are refused") {
            ($0.roundTrip, $0.each, $0.accepts, $0.size) = (0.05, 1e6, 4, 60e6)
        },
        SimulatedLink("500 kB/s for each of 8 connections, further ones are refused") {
            ($0.roundTrip, $0.each, $0.accepts, $0.size) = (0.05, 5e5, 8, 60e6)
        },
    ]

    @Test(arguments: lossy + clean + servers) func theTimeExceedsTheBestByAtMostAQuarter(link: SimulatedLink) {
        let (best, own) = (link.best(Self.fewSeeds), link.mean(nil, Self.seeds))
        #expect(own <= best.seconds * 1.25, "\(own) s, \(best.seconds) s with \(best.count)")
    }

    @Test(arguments: clean) func aLinkFilledByOneConnectionGetsAtMostFour(link: SimulatedLink) {
        for seed in Self.seeds { #expect(link.run(seed: seed).most <= 4, "\(seed)") }
    }

    @Test func aServerThatBoundsAllConnectionsTogetherKeepsFew() {
        let server = SimulatedLink("") { ($0.roundTrip, $0.total, $0.size) = (0.05, 2e6, 60e6) }
        for seed in Self.seeds { #expect(server.run(seed: seed).last <= 4, "\(seed)") }
    }

    /// Trials alone also find the number, but more slowly.
    @Test func theNumberIsRightWithoutTheKernelsCountersToo() {
        var link = Self.link(40, loss: 1, rate: 50, size: 200e6)
        link.isSeen = false
        let seeds: Range<UInt64> = 0..<5
        #expect(link.mean(nil, seeds) <= link.best(seeds).seconds * 1.25)
    }

    @Test func aShortDownloadGetsNoSecondConnection() {
        let link = SimulatedLink("") { ($0.roundTrip, $0.rate, $0.size) = (0.001, 1e9, 100e6) }
        #expect(link.run(seed: 1).most == 1)
    }

    @Test func aProcessorBoundTransferMakesNoTrial() {
        let link = SimulatedLink("") { ($0.roundTrip, $0.each, $0.size, $0.load) = (0.03, 5e5, 20e6, 0.95) }
        #expect(link.run(seed: 1).most <= 2)
    }

    @Test(arguments: [1e6, 4e6]) func aFileThatComesNearTheUsersBoundGetsNoSecondConnection(bound: Double) {
        var growth = ConnectionGrowth(.automatic)
        for tick in 0..<200 {
            let time = Double(tick) * 0.05
            let wanted = growth.sample(
                now: time, bytes: Int64(bound * time), left: 100_000_000, worked: 0, connections: 1, bound: bound)
            #expect(wanted == 1)
        }
    }

    // MARK: Refusals

    @Test func aRefusalHalvesAGivenNumberForAWhile() {
        var growth = ConnectionGrowth(.exactly(8))
        #expect(growth.sample(now: 0, bytes: 0, left: 1, worked: 0, connections: 8) == 8)
        growth.refused(now: 0, connections: 8, working: 8)
        #expect(growth.sample(now: 1, bytes: 0, left: 1, worked: 0, connections: 4) == 4)
        #expect(growth.sample(now: 11, bytes: 0, left: 1, worked: 0, connections: 4) == 8)
    }

    @Test func refusalsOfThoseOpenedTogetherKeepAllThatWork() {
        var growth = ConnectionGrowth(.exactly(16))
        for count in stride(from: 16, to: 6, by: -1) { growth.refused(now: 1, connections: count, working: 6) }
        #expect(growth.wanted == 6)
    }

    @Test func afterARefusalTheTimeThatTheServerNamesPassesFirst() {
        var growth = ConnectionGrowth(.exactly(4))
        growth.refused(now: 0, connections: 4, working: 2, retryAfter: 30)
        #expect(growth.sample(now: 29, bytes: 0, left: 1, worked: 0, connections: 2) == 2)
        #expect(growth.sample(now: 30, bytes: 0, left: 1, worked: 0, connections: 2) == 4)
    }

    // MARK: What is remembered

    private static func time(_ tenths: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(tenths) * 100_000_000) }

    @Test func theNextFileBeginsWithTheNumberThatWasFound() {
        var found = FoundConnections()
        let now = MonotonicTime(nanoseconds: 100_000_000_000)
        found.note(12, at: "https://a", now: now)
        #expect(found.count(at: "https://a", now: now + .seconds(599)) == 12)
        #expect(found.count(at: "https://a", now: now + .seconds(600)) == nil)
        #expect(found.count(at: "https://b", now: now) == nil)
    }

    @Test func onlySoManyServersAreRemembered() {
        var found = FoundConnections()
        for number in 0...FoundConnections.most {
            found.note(2, at: "\(number)", now: Self.time(number))
        }
        let now = Self.time(FoundConnections.most)
        #expect(found.count(at: "0", now: now) == nil)
        #expect(found.count(at: "1", now: now) == 2 && found.count(at: "\(FoundConnections.most)", now: now) == 2)
    }
}
