import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferFolders
@testable import TransferStore

/// The times at which failed files of a watched folder are tried again, without a clock, a server or a folder.
struct FailedFilesTests {
    static let hour = Duration.seconds(3600)
    let now = MonotonicTime.seconds(1000)

    /// Returns the state after this number of refused files.
    private func files(failed: Int) -> FailedFiles {
        var files = FailedFiles(FailedFiles.Delays())
        for job in 0..<failed { _ = files.event(.failed(job: Int64(job), again: .seconds(60)), at: now) }
        return files
    }

    @Test(arguments: [
        (1, Duration.seconds(60)), (2, .seconds(120)), (3, .seconds(240)), (9, .seconds(15_360)), (10, hour * 6),
        (1000, hour * 6),
    ])
    func aFileWaitsForAMinuteToSixHours(_ failures: Int, _ delay: Duration) {
        #expect(FailedFiles.Delays().delay(after: failures) == delay)
    }

    @Test func aSuccessWakesOneFileAndNoOtherWhileThatIsUnderWay() {
        var files = files(failed: 10_000)
        #expect(files.event(.succeeded(job: 20_000), at: now) == .wake(.probe, count: 1))
        #expect(files.event(.succeeded(job: 20_001), at: now) == .none)
        #expect(files.event(.woken(.init(jobs: [7], next: .seconds(60))), at: now) == .none)
        #expect(files.event(.succeeded(job: 20_002), at: now) == .none)
    }

    /// The number of failures before a start, and the number of starts, do not matter.
    @Test func aStartWakesOneFile() {
        var files = FailedFiles(FailedFiles.Delays())
        #expect(files.event(.began(next: .seconds(50)), at: now) == .wake(.probe, count: 1))
        #expect(files.event(.woken(.init(jobs: [7], next: .seconds(50))), at: now) == .none)
        #expect(files.nextWake == now + .seconds(50))
        #expect(files.event(.failed(job: 7, again: .seconds(120)), at: now) == .none)
        #expect(files.event(.succeeded(job: 8), at: now) == .none)
        var others = FailedFiles(FailedFiles.Delays())
        _ = others.event(.began(next: .seconds(50)), at: now)
        _ = others.event(.woken(.init(jobs: [7], next: .seconds(50))), at: now)
        #expect(others.event(.succeeded(job: 7), at: now) == .wake(.followers, count: 2))
    }

    @Test func nothingIsWokenWithoutAFailure() {
        var files = files(failed: 0)
        #expect(files.event(.succeeded(job: 1), at: now) == .none && files.nextWake == nil)
        _ = files.event(.failed(job: 2, again: .seconds(60)), at: now)
        #expect(files.event(.succeeded(job: 3), at: now) == .wake(.probe, count: 1))
        #expect(files.event(.woken(.init(jobs: [2], next: nil)), at: now) == .none)
        #expect(files.event(.succeeded(job: 2), at: now) == .none)
    }

    @Test func theOtherFilesFollowWhileProbesSucceed() {
        var files = files(failed: 10_000)
        var waiting = Array(0..<Int64(10_000))
        var underWay: [Int64] = []
        var most = 0
        var rounds = 0
        var action = files.event(.succeeded(job: 20_000), at: now)
        while rounds < 100_000 {
            rounds += 1
            if case .wake(_, let count) = action {
                let jobs = Array(waiting.prefix(count))
                waiting.removeFirst(jobs.count)
                underWay += jobs
                most = max(most, underWay.count)
                action = files.event(
                    .woken(.init(jobs: jobs, next: waiting.isEmpty ? nil : .seconds(60))), at: now)
            } else if let job = underWay.first {
                underWay.removeFirst()
                action = files.event(.succeeded(job: job), at: now)
            } else {
                break
            }
        }
        #expect(waiting.isEmpty && underWay.isEmpty && most > 8)
    }

    /// Each failed probe delays the next one for longer, whatever other uploads succeed.
    @Test func aFailedProbeStopsProbingForAGrowingTime() {
        var files = files(failed: 10_000)
        var time = now
        for round in 1...12 {
            #expect(files.event(.succeeded(job: 20_000), at: time) == .wake(.probe, count: 1), "round \(round)")
            _ = files.event(.woken(.init(jobs: [7], next: Self.hour * 100)), at: time)
            #expect(files.event(.failed(job: 7, again: Self.hour * 100), at: time) == .none)
            let held = FailedFiles.Delays().delay(after: round)
            time = time + held
            #expect(files.event(.succeeded(job: 20_001), at: time + .seconds(-1)) == .none)
        }
        // One success resets the delay.
        #expect(files.event(.succeeded(job: 20_000), at: time) == .wake(.probe, count: 1))
        _ = files.event(.woken(.init(jobs: [8], next: Self.hour * 100)), at: time)
        #expect(files.event(.succeeded(job: 8), at: time) == .wake(.followers, count: 2))
    }

    @Test func filesComeBackAutomaticallySomeAtATime() {
        var files = files(failed: 100)
        #expect(files.nextWake == now + .seconds(60))
        #expect(files.event(.due, at: now + .seconds(59)) == .none)
        let time = now + .seconds(60)
        #expect(files.event(.due, at: time) == .wake(.due, count: FailedFiles.mostTries))
        #expect(files.nextWake == nil, "the answer is awaited")
        let jobs = Array(0..<Int64(FailedFiles.mostTries))
        #expect(files.event(.woken(.init(jobs: jobs, next: .zero)), at: time) == .none)
        #expect(files.event(.failed(job: 3, again: .seconds(120)), at: time) == .wake(.due, count: 1))
    }

    @Test func aRemovedJobDelaysNoOtherForLong() {
        var files = files(failed: 100)
        #expect(files.event(.succeeded(job: 200), at: now) == .wake(.probe, count: 1))
        _ = files.event(.woken(.init(jobs: [1], next: Self.hour)), at: now)
        #expect(files.event(.succeeded(job: 201), at: now + .seconds(59)) == .none)
        #expect(files.event(.succeeded(job: 202), at: now + .seconds(60)) == .wake(.probe, count: 1))
    }

    /// Files may not be woken while the folder is paused.
    @Test func aDeniedWakeIsRequestedAgainLater() {
        var files = files(failed: 1)
        let time = now + .seconds(60)
        #expect(files.event(.due, at: time) == .wake(.due, count: FailedFiles.mostTries))
        #expect(files.event(.woken(.init(jobs: [], next: .zero)), at: time) == .none)
        #expect(files.nextWake == time + .seconds(60))
    }
}
