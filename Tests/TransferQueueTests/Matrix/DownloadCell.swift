import Foundation
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs

/// A file that is fetched from a server that misbehaves once or permanently.
struct DownloadCell: Sendable {
    let way: MatrixWay
    let moment: MatrixMoment
    let fault: DownloadFault

    static let count: Int64 = 200_000
    private static let old = ServedFile(
        .random(seed: 1, count: count - 777), etag: "\"old\"", lastModified: 1_500_000_000)
    private static let now = ServedFile(.random(seed: 2, count: count), etag: "\"now\"", lastModified: 1_600_000_000)
    private static let moved = ServedFile(
        .random(seed: 2, count: count), etag: "\"now\"", lastModified: 1_600_000_000)

    /// The number of bytes that are held when the fault occurs.
    private var held: Int64 {
        switch (moment, way) {
        case (.first, .resumed): 1
        case (.first, _): 0
        case (.middle, _): Self.count / 2
        case (.last, _): Self.count - 1
        case (.after, .plain): 0
        case (.after, _): Self.count
        }
    }

    /// Whether the file has its name already and its record is lost, so that only its server can confirm it.
    private var asksWhatIsThere: Bool {
        if case .answer = fault.what, way == .plain, moment == .after { return true }
        return way == .conditional
    }

    func run(_ bench: MatrixBench) async throws -> MatrixOutcome {
        let server = try TestServer()
        defer { server.stop() }
        let folder = try TemporaryFolder("cell")
        let place = Place(cell: self, bench: bench, server: server, folder: folder)
        try await place.prepare()
        return try await place.judge()
    }

    /// A server, a folder, and the job between them.
    private struct Place {
        let cell: DownloadCell
        let bench: MatrixBench
        let server: TestServer
        let folder: TemporaryFolder

        var job: JobSpec {
            Sample.download(
                server.url("/f"), to: folder.path("f"), id: "f", ifExists: cell.asksWhatIsThere ? .update : .verify,
                settings: MatrixBench.settings(stalls: cell.fault.stalls))
        }

        private var batch: String { folder.path }

        private func question(from: Int64) -> DownloadFault.Question {
            DownloadFault.Question(from: from, file: DownloadCell.now.content, etag: "\"now\"")
        }

        /// Brings everything to the moment of the fault, and prepares the fault.
        func prepare() async throws {
            server.serve("/moved", DownloadCell.moved)
            server.serve("/login", .text("<html><form>Sign in</form></html>"))
            if cell.way == .conditional {
                server.serve("/f", DownloadCell.old)
                _ = try await bench.end(job, batch: batch + ".before")
            }
            server.serve("/f", DownloadCell.now)
            switch cell.fault.what {
            case .body(let fault): try await prepare(body: fault)
            case .answer(let fault): try await prepare(answer: fault)
            }
        }

        private func prepare(body fault: @Sendable (Int64) -> Fault) async throws {
            let before: Int64 = cell.way == .resumed ? DownloadCell.count / 4 : 0
            if before > 0 { try await hold(before) }
            let bytes: Int64 =
                switch cell.moment {
                case .first: before
                case .middle: DownloadCell.count / 2
                case .last: DownloadCell.count - 1
                case .after: DownloadCell.count
                }
            set([fault(bytes - before)], afterwards: .none)
        }

        private func prepare(answer fault: @Sendable (DownloadFault.Question) -> Fault) async throws {
            let question = question(from: min(cell.held, DownloadCell.count - 1))
            let answer = fault(question)
            let afterwards = cell.fault.isForEver ? answer : .none
            switch (cell.way, cell.moment) {
            case (.plain, .after):
                // The file has its name, and its record is lost with the batch.
                _ = try await bench.end(job, batch: batch + ".before")
                set([answer], afterwards: afterwards)
            case (.resumed, .after), (.conditional, .after):
                try await hold(DownloadCell.count - 100)
                try complete()
                set([answer], afterwards: afterwards)
            case (.resumed, _):
                try await hold(cell.held)
                set([answer], afterwards: afterwards)
            case (_, .first): set([answer], afterwards: afterwards)
            default: set([.cut(after: cell.held), answer], afterwards: afterwards)
            }
        }

        private func set(_ faults: [Fault], afterwards: Fault) {
            server.script("/f", faults, afterwards: afterwards)
        }

        /// Runs the job so that it fails after this number of bytes.
        private func hold(_ bytes: Int64) async throws {
            set([.cut(after: bytes)], afterwards: .status(403))
            _ = try await bench.end(job, batch: batch)
        }

        /// Leaves a partial file as a process does that is killed between the last byte and the record of it.
        private func complete() throws {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path("f.part")))
            try file.seekToEnd()
            try file.write(
                contentsOf: Data(DownloadCell.now.content.bytes(in: DownloadCell.count - 100..<DownloadCell.count)))
            try file.close()
        }

        // MARK: The outcome

        private var right: Content {
            guard cell.fault.isNewVersion else { return DownloadCell.now.content }
            return .random(seed: 99, count: newCount)
        }

        private var newCount: Int64 {
            switch cell.fault.name {
            case "another version, longer": DownloadCell.count + 5000
            case "another version, shorter": DownloadCell.count / 4
            default: DownloadCell.count
            }
        }

        /// The content of the destination before the transfer.
        private var before: Content? {
            switch (cell.way, cell.moment, cell.fault.what) {
            case (.conditional, _, _): DownloadCell.old.content
            case (.plain, .after, .answer): DownloadCell.now.content
            default: nil
            }
        }

        private func isThere(_ content: Content) -> Bool {
            (try? content.firstDifference(fromFileAt: folder.path("f"))) == .some(nil)
        }

        func judge() async throws -> MatrixOutcome {
            let asked = server.requests.count
            let began = ContinuousClock.now
            let end = try await bench.end(job, batch: batch)
            var outcome = MatrixOutcome(text: "")
            let requests = server.requests.count - asked
            // Each attempt may ask once more, and follow one redirect.
            if requests > (cell.fault.asksToWait ? MatrixBench.mostWaits : MatrixBench.limit + 1) * 3 {
                outcome.faults.append("\(requests) requests")
            }
            if ContinuousClock.now - began > .seconds(15) {
                outcome.faults.append("it took \(ContinuousClock.now - began)")
            }
            guard let failure = end.failure else {
                outcome.text = "right"
                if case .nature(let nature) = cell.fault.meaning(cell.way, cell.moment),
                    let fault = nature.faultOfSuccess
                {
                    outcome.faults.append(fault)
                }
                if !isThere(right) { outcome.faults.append("complete, and not the file") }
                if folder.exists("f.part") { outcome.faults.append("complete, and a partial file is left") }
                return outcome
            }
            let words = failure.error.message
            outcome.text = "fails (\(failure.error.status.map { "\($0)" } ?? "\(failure.error.code)"))"
            outcome.faults += refusal(words)
            try await heal(&outcome)
            return outcome
        }

        /// Returns the faults of a failure with these words.
        private func refusal(_ words: String) -> [String] {
            var faults: [String] = []
            if words.count < 8 { faults.append("it says only \"\(words)\"") }
            if let before {
                if !isThere(before) { faults.append("failed, and what was there before is not any more") }
            } else if folder.exists("f") {
                faults.append("failed, and there is a file")
            }
            let kept = max(folder.size("f.part") ?? 0, heldAside)
            if kept < cell.held, !cell.fault.isNewVersion {
                faults.append("of \(cell.held) bytes \(kept) are held: \(words)")
            }
            if case .nature(let nature) = cell.fault.meaning(cell.way, cell.moment),
                let fault = nature.fault(ofFailure: words)
            {
                faults.append(fault)
            }
            return faults
        }

        private var heldAside: Int64 {
            ((try? folder.files()) ?? []).filter { $0.hasPrefix("f.") }.compactMap { folder.size($0) }.max() ?? 0
        }

        /// Removes the fault: the next run ends right, and fetches only the missing bytes.
        private func heal(_ outcome: inout MatrixOutcome) async throws {
            let sent = server.bytesSent("/f")
            let kept = cell.fault.isNewVersion ? 0 : cell.held
            set([], afterwards: .none)
            let end = try await bench.end(job, batch: batch)
            if let failure = end.failure {
                outcome.text += ", then fails"
                outcome.faults.append("the next run fails: \(failure.error.message)")
            } else if !isThere(right) {
                outcome.faults.append("the next run is not right")
            } else {
                outcome.text += ", then right"
                let fetched = server.bytesSent("/f") - sent
                if fetched > right.count - kept + 1000 {
                    outcome.faults.append("the next run fetches \(fetched) bytes")
                }
            }
        }
    }
}

extension DownloadCell {
    static func cells(_ way: MatrixWay) -> [MatrixCell] {
        DownloadFault.all.flatMap { fault in
            MatrixMoment.allCases.map { moment in
                var reason: String?
                if case .leftOut(let why) = fault.meaning(way, moment) { reason = why }
                return MatrixCell(way: way, fault: fault.name, moment: moment, leftOut: reason) { bench in
                    try await DownloadCell(way: way, moment: moment, fault: fault).run(bench)
                }
            }
        }
    }
}
