import HTTPTypes
import TransferQueue

/// Reads jobs that a client sent, in any form of a job file.
struct OutsideReader: Sendable {
    let rules: OutsideRules

    /// Jobs that may be taken, and what holds for all of them.
    struct Read {
        var batch = BatchSpec()
        var jobs: [JobSpec] = []
        /// A single object that stood alone.
        var isSingle = false
    }

    /// - Parameters:
    ///   - format: `nil` tells it from the bytes.
    ///   - isJobs: One job, or an array or lines of jobs; else a whole job file.
    /// - Throws: `Problem`, with all that is wrong.
    func read(_ bytes: [UInt8], format: JobFileFormat?, isJobs: Bool, limit: Int = .max) throws -> Read {
        var result = Read()
        var bytes = bytes
        if isJobs, format == .json, let first = bytes.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") {
            bytes = [UInt8(ascii: "[")] + bytes + [UInt8(ascii: "]")]
            result.isSingle = true
        }
        var reader = JobFileReader(format: format, directory: rules.directory) { _ in
            throw TransferError(.fileAccess, "a client's jobs name no lists of checksums")
        }
        var refusals: [Problem.Fault] = []
        var code = ""
        var hint: String?
        let report = try reader.read(bytes) { element in
            switch element {
            case .batch(let batch):
                result.batch = batch
                if let key = Self.foreignKey(batch) {
                    refusals.append(Problem.Fault(pointer: "/\(key)", detail: "\"\(key)\" is not a client's to set"))
                    code = "keyRefused"
                }
            case .watch:
                refusals.append(Problem.Fault(pointer: "/watch", detail: "a client has no folders watched"))
                code = "keyRefused"
            case .job(let spec, let place):
                guard result.jobs.count < limit else { return }
                do {
                    result.jobs.append(try rules.confined(spec))
                } catch let refusal as OutsideRules.Refusal {
                    (code, hint) = (refusal.code, refusal.hint ?? hint)
                    if refusals.count < JobFileReport.capacity {
                        refusals.append(Self.fault(place, refusal.message, isSingle: result.isSingle))
                    }
                }
            case .fault: break
            }
        }
        guard report.isEmpty else { throw Self.problem(report, isSingle: result.isSingle) }
        guard refusals.isEmpty else {
            var problem = Problem.forbidden(code, refusals[0].detail, hint: hint)
            problem.errors = refusals
            throw problem
        }
        guard report.jobCount <= limit else {
            throw Problem(.contentTooLarge, "tooMany", "more than \(limit) jobs in one request: submit a batch")
        }
        return result
    }

    private static func foreignKey(_ batch: BatchSpec) -> String? {
        if batch.onFinish != nil { return "onFinish" }
        return batch.limits == BatchLimits() ? nil : "limits"
    }

    private static func fault(_ place: JobLocations, _ message: String, isSingle: Bool) -> Problem.Fault {
        Problem.Fault(
            pointer: isSingle ? "" : "/\(place.index)", line: place.job.line, column: place.job.column, detail: message)
    }

    /// Everything that is wrong with what was sent: it's no JSON, or not what a job is.
    private static func problem(_ report: JobFileReport, isSingle: Bool) -> Problem {
        let first = report.faults.first
        let count = report.faultCount > 1 ? ", and \(report.faultCount - 1) more" : ""
        var problem = Problem(
            .unprocessableContent, "invalidJobs", (first?.message ?? "no jobs") + count)
        problem.errors = report.faults.map { fault in
            // A single job stands in brackets that its client hasn't written.
            let isShifted = isSingle && fault.span.line == 1
            return Problem.Fault(
                pointer: JSONPointer.text(ofPath: fault.path, dropsFirst: isSingle), line: fault.span.line,
                column: fault.span.column - (isShifted ? 1 : 0), detail: fault.message)
        }
        return problem
    }
}

/// Places in JSON as RFC 6901 has them.
enum JSONPointer {
    /// - Parameters:
    ///   - path: `$.jobs[0].to`
    ///   - dropsFirst: Leaves the first step out.
    static func text(ofPath path: String, dropsFirst: Bool) -> String {
        var steps: [String] = []
        var step = ""
        func end(_ steps: inout [String], _ step: inout String) {
            if !step.isEmpty { steps.append(step) }
            step = ""
        }
        for character in path.dropFirst(path.hasPrefix("$") ? 1 : 0) {
            switch character {
            case ".", "[": end(&steps, &step)
            case "]", "\"": end(&steps, &step)
            case "~": step += "~0"
            case "/": step += "~1"
            default: step.append(character)
            }
        }
        end(&steps, &step)
        return steps.dropFirst(dropsFirst ? 1 : 0).map { "/" + $0 }.joined()
    }
}
