import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// The accuracy of progress: kinds of transfer × views of progress.
///
/// A count grows while bytes move, and never exceeds the bytes that have moved. It falls only where that was reported,
/// and ends with the real total.
@Suite(.timeLimit(.minutes(2))) struct ProgressTableTests {
    @Test(arguments: ProgressCase.allCases) func everyViewShowsTheMovedBytes(_ row: ProgressCase) async throws {
        let folder = try TemporaryFolder("progress")
        let servers = [try TestServer(), try TestServer()]
        defer { for server in servers { server.stop() } }
        let ftp = try FTPScriptServer()
        defer { ftp.stop() }
        let job = try row.job(servers, ftp, folder)
        try await withQueue(folder, configure: { $0.progressInterval = .milliseconds(20) }) { queue in
            let log = EventLog(queue)
            let handle = JobHandle(batch: "b", identity: "f", queue: queue)
            let staged = try await queue.stage([job])
            let seen = Task {
                var seen: [JobProgress] = []
                for try await progress in handle.progress { seen.append(progress) }
                return seen
            }
            let run = Task { try await queue.run([staged]) }
            if row != .ftp {
                // Each view has shown progress before any job ended.
                try await log.wait(forBytes: row.stop)
                try await log.wait { event in
                    guard case .batchProgress(let progress) = event.kind else { return false }
                    return progress.totals.bytes >= row.stop && progress.rate > 0
                }
                // The store has the rate a moment after the event.
                try await within { while try await queue.status(ofBatch: "b")?.rate ?? 0 == 0 { await Task.yield() } }
                if row.isUpload { checkWhatHasNotArrived(row, log) }
                for server in servers {
                    server.script("/x", [])
                    server.release()
                }
            }
            let summary = try await within(.seconds(60)) { try await run.value }
            checkEvents(row, log, totals: try #require(summary.totals["b"]))
            let progress = try await within { try await seen.value }
            #expect(progress.last?.completed == Int64(row.count))
            if row != .resumed, row != .ftp {
                #expect(progress.map(\.completed) == progress.map(\.completed).sorted())
            }
        }
    }

    /// Checks the count when the kernel and libcurl have taken more than a mebibyte, and the server has not read it.
    private func checkWhatHasNotArrived(_ row: ProgressCase, _ log: EventLog) {
        for event in log.events {
            switch event.kind {
            case .progress(_, let progress):
                #expect(progress.completed <= row.stop + ProgressCase.slack, "\(row): \(progress)")
            case .batchProgress(let progress):
                #expect(progress.totals.bytes <= row.stop + ProgressCase.slack, "\(row): \(progress.totals)")
            default: break
            }
        }
    }

    private func checkEvents(_ row: ProgressCase, _ log: EventLog, totals: BatchTotals) {
        var (position, bytes): (Int64, Int64) = (0, 0)
        for event in log.events {
            switch event.kind {
            case .started(_, let start): position = min(position, start.offset)
            case .restarted: position = 0
            case .progress(_, let progress):
                #expect(progress.completed >= position, "\(row): it falls from \(position) to \(progress.completed)")
                #expect(progress.completed <= Int64(row.count))
                #expect(progress.total.map { $0 == Int64(row.count) } ?? true)
                position = progress.completed
            case .batchProgress(let progress):
                #expect(progress.totals.bytes >= bytes, "\(row): it falls from \(bytes) to \(progress.totals.bytes)")
                bytes = progress.totals.bytes
            case .finished(let receipt): #expect(receipt.bytes == Int64(row.count))
            default: break
            }
        }
        // The last observation of a lost connection counts the bytes that have arrived.
        let least = Int64(row.count) - (row == .ftp ? row.stop : 0)
        #expect(totals.completed == 1 && totals.bytes >= bytes && totals.bytes >= least, "\(row): \(totals.bytes)")
        // Headers between the parts of a body count as bytes.
        let most = Int64(row.count) + (row.repeats ? row.stop * 4 : 4096)
        #expect(totals.bytes <= most, "\(row): \(totals.bytes) of \(row.count)")
    }
}
