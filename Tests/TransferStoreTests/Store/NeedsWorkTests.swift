import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// The work for jobs that need other jobs grows with the number of needs, not with its square.
@Suite struct NeedsWorkTests {
    enum Shape: CaseIterable {
        /// A graph in which all jobs need the first one.
        case star
        /// A graph in which each job needs the one before it.
        case chain
        /// A graph in which the last job needs all other jobs.
        case gathering

        func jobs(_ count: Int) -> [JobSpec] {
            (0..<count).map { number in
                let needs: [String] =
                    switch self {
                    case .star: number == 0 ? [] : ["0"]
                    case .chain: number == 0 ? [] : ["\(number - 1)"]
                    case .gathering: number < count - 1 ? [] : (0..<number).map(String.init)
                    }
                return Sample.download("http://h.example/x", to: "f\(number)", id: "\(number)", needs: needs)
            }
        }
    }

    enum Act: CaseIterable {
        case stage, stageAgain, fail, retry, revive, drop, forget

        func steps(_ shape: Shape, _ count: Int) throws -> Int {
            let fixture = try StoreFixture()
            let jobs = shape.jobs(count)
            guard self != .stage else { return try fixture.store.steps { try fixture.stage(jobs) } }
            let batch = try fixture.stage(jobs).batch
            switch self {
            case .stage: return 0
            case .stageAgain: return try fixture.store.steps { try fixture.stage(jobs) }
            case .fail: return try fixture.store.steps { try fail(fixture, batch) }
            case .retry:
                try fail(fixture, batch)
                return try fixture.store.steps {
                    _ = try fixture.store.apply(QueueCommand(id: 0, verb: .retry, batch: batch.id, job: nil))
                }
            case .revive:
                try fail(fixture, batch)
                let mended = [Sample.download("http://h.example/new", to: "f0", id: "0")] + jobs.dropFirst()
                return try fixture.store.steps { try fixture.stage(mended, isReload: true) }
            case .drop: return try fixture.store.steps { try fixture.stage(Array(jobs.prefix(1))) }
            case .forget:
                _ = try fixture.store.release(batch: batch.id, isComplete: false)
                return try fixture.store.steps { _ = try fixture.store.forget(name: "b", endedBefore: nil) }
            }
        }

        private func fail(_ fixture: StoreFixture, _ batch: HeldBatch) throws {
            let first = try #require(fixture.claimAll(batch.id).first { $0.identity == "0" })
            try fixture.fail(first)
        }
    }

    @Test(arguments: Shape.allCases, Act.allCases)
    func twiceTheJobsTakeTwiceTheWork(_ shape: Shape, _ act: Act) throws {
        let few = try act.steps(shape, 200)
        let many = try act.steps(shape, 400)
        #expect(many < few * 5 / 2, "\(few) steps for 200 jobs, \(many) for 400")
    }
}
