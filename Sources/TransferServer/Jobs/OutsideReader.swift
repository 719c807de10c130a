import HTTPTypes
import TransferQueue

/// The reader of jobs that a client sent, in any form of a job file.
struct OutsideReader: Sendable {
    let rules: OutsideRules
    /// Whether jobs may contain secrets written out, because they are sealed.
    let takesSecrets: Bool

    /// The accepted jobs, with the rules for all of them.
    struct Read {
        var batch = BatchSpec()
        var jobs: [JobSpec] = []
    }

    /// Reads jobs.
    ///
    /// - Parameters:
    ///   - format: The form; `nil` lets the bytes determine it.
    ///   - isJobs: Whether the bytes are one job, an array of jobs, or lines of jobs, rather than a whole job file.
    /// - Throws: `Problem` with all faults.
    func read(_ bytes: [UInt8], format: JobFileFormat?, isJobs: Bool, limit: Int = .max) throws -> Read {
        var result = Read()
        result.batch = try read(bytes, format: format, isJobs: isJobs, limit: limit) { result.jobs.append($0) }
        return result
    }

    private struct Found: Error {}

    /// Returns the name that a job file has for its batch; `nil` where it has none, or cannot be read.
    func name(_ bytes: [UInt8], format: JobFileFormat?) -> String? {
        var name: String?
        var reader = JobFileReader(format: format, directory: rules.directory) { _ in throw Found() }
        _ = try? reader.read(bytes) { element in
            if case .batch(let batch) = element { name = batch.name }
            throw Found()
        }
        return name
    }

    /// Reads jobs one by one, so that the jobs of a long file need not be in memory together.
    ///
    /// - Parameter take: A closure that receives each acceptable job, even where the file as a whole is refused later.
    /// - Throws: `Problem` with all faults, once the whole file has been read; the errors of `take`.
    func read(
        _ bytes: [UInt8], format: JobFileFormat?, isJobs: Bool, limit: Int = .max, _ take: (JobSpec) throws -> Void
    ) throws -> BatchSpec {
        guard bytes.contains(where: { $0 > 0x20 }) else {
            throw Problem(.unprocessableContent, "invalidJobs", "the request has no body: jobs are expected in it")
        }
        var found = BatchSpec()
        var count = 0
        let frame = JobFrame(bytes, isJobs: isJobs && format == .json)
        var reader = JobFileReader(format: format, directory: rules.directory) { _ in
            throw TransferError(.fileAccess, "a client's jobs name no lists of checksums")
        }
        reader.takesSecrets = takesSecrets
        var refusals = Refusals()
        let report = try reader.read(frame.file) { element in
            switch element {
            case .batch(let batch):
                found = batch
                if let key = Self.foreignKey(batch) {
                    refusals.add(
                        "keyRefused", Problem.Fault(pointer: "/\(key)", detail: "\"\(key)\" is not a client's to set"))
                }
            case .watch:
                refusals.add("keyRefused", Problem.Fault(pointer: "/watch", detail: "a client has no folders watched"))
            case .job(let spec, let place):
                guard count < limit else { return }
                count += 1
                do {
                    try take(try rules.confined(spec))
                } catch let refusal as OutsideRules.Refusal {
                    let pointer = frame.pointer(ofPath: place.path)
                    refusals.add(
                        refusal.code, hint: refusal.hint,
                        Problem.Fault(pointer: pointer, line: place.job.line, detail: refusal.message))
                }
            case .fault: break
            }
        }
        guard report.isEmpty else { throw Self.problem(report, frame) }
        if let problem = refusals.problem { throw problem }
        guard report.jobCount <= limit else {
            throw Problem(
                .contentTooLarge, "tooMany", "more than \(CountText.words(limit, "job")) in one request: submit a batch"
            )
        }
        guard report.jobCount > 0 else { throw Problem(.unprocessableContent, "invalidJobs", "there is no job in it") }
        return found
    }

    /// The jobs and keys that a client may not send. The first one determines the code of the response.
    private struct Refusals {
        private var code = ""
        private var hint: String?
        private var faults: [Problem.Fault] = []

        mutating func add(_ code: String, hint: String? = nil, _ fault: Problem.Fault) {
            if faults.isEmpty { (self.code, self.hint) = (code, hint) }
            if faults.count < JobFileReport.capacity { faults.append(fault) }
        }

        var problem: Problem? {
            guard let first = faults.first else { return nil }
            var problem = Problem.forbidden(code, first.detail, hint: hint)
            problem.errors = faults
            return problem
        }
    }

    private static func foreignKey(_ batch: BatchSpec) -> String? {
        if batch.onFinish != nil { return "onFinish" }
        return batch.limits == BatchLimits() ? nil : "limits"
    }

    /// Returns the response with all faults of the bytes: they are not JSON, or not valid jobs.
    private static func problem(_ report: JobFileReport, _ frame: JobFrame) -> Problem {
        let count = report.faultCount > 1 ? ", and \(report.faultCount - 1) more" : ""
        var problem = Problem(
            .unprocessableContent, "invalidJobs", (report.faults.first?.message ?? "no jobs") + count)
        problem.errors = report.faults.map { fault in
            Problem.Fault(
                pointer: frame.pointer(ofPath: fault.path), line: fault.span.line, column: frame.column(of: fault.span),
                detail: fault.message)
        }
        return problem
    }
}
