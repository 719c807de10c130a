import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs

/// Runs an upload to a server of files to its end, and returns its faults.
struct UploadJudge {
    let bench: MatrixBench
    let batch: String
    let job: JobSpec
    let nature: MatrixNature
    /// The content under the destination's name.
    let object: () -> [UInt8]?
    /// The number of times that the file, or a part of it, was sent so far.
    let requests: () -> Int
    let mostRequests: Int
    let heal: () -> Void

    func judge(_ bytes: [UInt8]) async throws -> MatrixOutcome { try await judged(bytes).of(nature) }

    private func judged(_ bytes: [UInt8]) async throws -> MatrixOutcome {
        let began = ContinuousClock.now
        let end = try await bench.end(job, batch: batch)
        var outcome = MatrixOutcome(text: "")
        if requests() > mostRequests { outcome.faults.append("sent \(requests()) times") }
        if ContinuousClock.now - began > .seconds(15) {
            outcome.faults.append("it took \(ContinuousClock.now - began)")
        }
        let there = object()
        if let there, there != bytes { outcome.faults.append("another file has its name") }
        guard let failure = end.failure else {
            outcome.text = "right"
            if let fault = nature.faultOfSuccess { outcome.faults.append(fault) }
            if there != bytes { outcome.faults.append("complete, and the server has not the file") }
            return outcome
        }
        let words = failure.error.message
        outcome.text = "fails (\(failure.error.code))"
        if let fault = nature.fault(ofFailure: words) { outcome.faults.append(fault) }
        heal()
        let next = try await bench.end(job, batch: batch)
        if let failure = next.failure {
            outcome.text += ", then fails (\(failure.error.code))"
            outcome.faults.append("the next run fails: \(failure.error.message)")
        } else if object() != bytes {
            outcome.faults.append("the next run is not right")
        } else {
            outcome.text += ", then right"
        }
        return outcome
    }
}
