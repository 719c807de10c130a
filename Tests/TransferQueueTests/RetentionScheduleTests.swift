import Synchronization
import Testing
import TransferCore
import TransferEventLoop

@testable import TransferQueue

/// The reports of the regular removal of old batches.
@Suite struct RetentionScheduleTests {
    @Test func aRemovalIsReportedAndAFailureOnce() async {
        let outcomes = Mutex<[Result<[String], TransferError>]>([])
        let reports = Mutex<[String]>([])
        let schedule = RetentionSchedule(age: .seconds(30 * 86_400)) { age in
            #expect(age == .seconds(30 * 86_400))
            return try outcomes.withLock { $0.removeFirst() }.get()
        } report: { words, isFailure in
            reports.withLock { $0.append("\(isFailure ? "failure: " : "")\(words)") }
        }
        let pool = WorkerPool(name: "retention", threads: 1)
        defer { pool.stop() }
        let failure = TransferError(.connectionLost, "away", isTransient: true)
        outcomes.withLock {
            $0 = [.success(["a"]), .success([]), .failure(failure), .failure(failure), .success(["b", "c"])]
        }
        var isFailing = false
        for expected in [false, false, true, true, false] {
            isFailing = await schedule.removeOnce(on: pool, wasFailing: isFailing)
            #expect(isFailing == expected)
        }
        #expect(
            reports.withLock { $0 } == [
                "1 batch that ended more than 30d 00h ago: removed", "failure: old batches could not be removed: away",
                "2 batches that ended more than 30d 00h ago: removed",
            ])
    }
}
