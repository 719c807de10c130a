import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore

/// The equality of all stores after the same random operations of two processes, in any order.
@Suite struct StoreModelTests {
    /// A random generator with a seed for each test.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    /// A store, and the claims of its two processes.
    private final class Player {
        let bench: StoreBench
        var stores: [any JobStore]
        var claimed: [[JobRecord]] = [[], []]

        init(_ kind: StoreKind) async throws {
            bench = try await StoreBench(kind)
            stores = [bench.store, try bench.another()]
        }
    }

    private static let names = (0..<12).map { "j\($0)" }

    private func jobs(_ random: inout Seeded) -> [JobSpec] {
        let count = Int.random(in: 3...12, using: &random)
        return (0..<count).map { index in
            let needs =
                index > 0 && Bool.random(using: &random) ? ["j\(Int.random(in: 0..<index, using: &random))"] : []
            return Sample.download(
                "http://h.example/\(Int.random(in: 0..<2, using: &random))", to: Self.names[index],
                id: Self.names[index],
                needs: needs, priority: Int.random(in: 0..<2, using: &random))
        }
    }

    /// Performs one operation, decided by `random` alone, and returns its result.
    private func play(_ player: Player, _ random: inout Seeded) throws -> String {
        let who = Int.random(in: 0..<2, using: &random)
        let store = player.stores[who]
        let action = Int.random(in: 0..<12, using: &random)
        let (pick, verb) = (
            Int.random(in: 0..<6, using: &random), QueueVerb.allCases.randomElement(using: &random) ?? .pause
        )
        let specs = jobs(&random)
        let isReload = Bool.random(using: &random)
        let name = Self.names[Int.random(in: 0..<12, using: &random)]
        var record: JobRecord? {
            player.claimed[who].indices.contains(pick) ? player.claimed[who].remove(at: pick) : nil
        }
        do {
            switch action {
            case 0:
                let options = StagingOptions(keepsWhatIsMissing: pick < 3, isReload: isReload, claiming: pick)
                let staged = try store.stage(specs, "b", options)
                return "staged \(staged.count) \(staged.underWay.count)"
            case 1: return "held \(try store.hold(.unfinished).count)"
            case 2, 3, 4:
                guard let batch = try store.hold(.named("b")).first?.id else { return "not mine" }
                let records = try store.claimAll(batch, limit: pick)
                player.claimed[who] += records
                return "claimed \(records.map { "\($0.identity)\($0.attempts)\($0.wasInterrupted)" })"
            case 5: return "done \(try record.map { try store.succeed($0).skipped.count } ?? -1)"
            case 6: return "failed \(try record.map { try store.fail($0).skipped.map(\.identity) } ?? [])"
            case 7:
                guard let record else { return "nothing" }
                try store.step(record, to: pick < 2 ? .waiting : .queued, due: .now + .seconds(1000), attempts: pick)
                return "stepped"
            case 8:
                let delivered = try store.deliver(verb, batch: "b", job: isReload ? name : nil)
                if case .handed = delivered { return "handed" }
                return "\(delivered)"
            case 9:
                let commands = try store.takeCommands()
                return "\(try commands.map { try store.apply($0).jobs.map(\.identity).sorted() })"
            case 10:
                guard let batch = try store.hold(.named("b")).first?.id else { return "not mine" }
                let sleepers = try store.backlog(batch: batch).sleepers.map(\.id)
                return "woke \(try store.wake(sleepers).values.reduce(0, +))"
            default:
                try player.bench.lose(store)
                player.stores[who] = try player.bench.another()
                player.claimed[who] = []
                return "lost"
            }
        } catch StagingFailure.held {
            return "held"
        } catch StagingFailure.faults(let report) {
            return "\(report.faults.count) faults"
        }
    }

    private func look(_ player: Player) throws -> String {
        let store = player.stores[0]
        let ends = try store.ends(after: 0, limit: 1000)
        guard let batch = try store.batchRegister().names.first.map({ _ in Int64(1) }) else { return "nothing" }
        let counts = try store.counts(batch).sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key) \($0.value)" }
        return "\(counts) \(Set(store.names(ends)).sorted())"
    }

    @Test(arguments: 1...24)
    func allStoresAgree(_ seed: Int) async throws {
        var players: [Player] = []
        for kind in StoreKind.allCases { players.append(try await Player(kind)) }
        // The first number that a store assigns is the batch's.
        for player in players {
            _ = try player.stores[0].stage([Sample.download("http://h.example/0", to: "j0", id: "j0")])
        }
        let start = Seeded(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
        var random = start
        for step in 0..<60 {
            let before = random
            var reported: [String] = []
            for player in players {
                random = before
                reported.append(try play(player, &random))
            }
            #expect(reported.allSatisfy { $0 == reported[0] }, "step \(step): \(reported)")
            let seen = try players.map { try look($0) }
            #expect(seen.allSatisfy { $0 == seen[0] }, "after step \(step) (\(reported[0])): \(seen)")
            if reported.contains(where: { $0 != reported[0] }) || seen.contains(where: { $0 != seen[0] }) { return }
        }
    }
}
