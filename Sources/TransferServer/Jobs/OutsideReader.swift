import HTTPTypes
import TransferQueue

/// Reads jobs that a client sent, in any form of a job file.
struct OutsideReader: Sendable {
    let rules: OutsideRules

    /// Jobs that may be taken, and what holds for all of them.
    struct Read {
        var batch = BatchSpec()
        var jobs: [JobSpec] = []
    }

    /// - Parameters:
    ///   - format: `nil` tells it from the bytes.
    ///   - isJobs: One job, or an array or lines of jobs; else a whole job file.
    /// - Throws: `Problem`, with all that is wrong.
    func read(_ bytes: [UInt8], format: JobFileFormat?, isJobs: Bool, limit: Int = .max) throws -> Read {
        var result = Read()
        let frame = JobFrame(bytes, isJobs: isJobs && format == .json)
        var reader = JobFileReader(format: format, directory: rules.directory) { _ in
            throw TransferError(.fileAccess, "a client's jobs name no lists of checksums")
        }
        var refusals: [Problem.Fault] = []
        var code = ""
        var hint: String?
        let report = try reader.read(frame.file) { element in
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
                    if refusals.isEmpty { (code, hint) = (refusal.code, refusal.hint) }
                    if refusals.count < JobFileReport.capacity {
                        let pointer = frame.pointer(ofPath: place.path)
                        refusals.append(Problem.Fault(pointer: pointer, line: place.job.line, detail: refusal.message))
                    }
                }
            case .fault: break
            }
        }
        guard report.isEmpty else { throw Self.problem(report, frame) }
        guard refusals.isEmpty else {
            var problem = Problem.forbidden(code, refusals[0].detail, hint: hint)
            problem.errors = refusals
            throw problem
        }
        guard report.jobCount <= limit else {
            throw Problem(
                .contentTooLarge, "tooMany", "more than \(CountText.words(limit, "job")) in one request: submit a batch"
            )
        }
        return result
    }

    private static func foreignKey(_ batch: BatchSpec) -> String? {
        if batch.onFinish != nil { return "onFinish" }
        return batch.limits == BatchLimits() ? nil : "limits"
    }

    /// Everything that is wrong with what was sent: it's no JSON, or not what a job is.
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

/// Jobs as a client sends them, alone or in an array, in the frame that makes a job file of them.
struct JobFrame {
    let file: [UInt8]
    private let steps: Int
    private let shift: Int

    /// - Parameter isJobs: Whether there is a frame to be added.
    init(_ bytes: [UInt8], isJobs: Bool) {
        guard isJobs else {
            (file, steps, shift) = (bytes, 0, 0)
            return
        }
        let isSingle = Self.isSingle(bytes, .json)
        let (before, after) = isSingle ? ("{\"version\":1,\"jobs\":[", "]}") : ("{\"version\":1,\"jobs\":", "}")
        file = Array(before.utf8) + bytes + Array(after.utf8)
        steps = isSingle ? 2 : 1
        shift = before.utf8.count
    }

    /// Whether the bytes are one object that stands alone.
    static func isSingle(_ bytes: [UInt8], _ format: JobFileFormat?) -> Bool {
        format == .json && bytes.first { $0 > 0x20 } == UInt8(ascii: "{")
    }

    /// The place as the client knows it.
    func pointer(ofPath path: String) -> String { JSONPointer.text(ofPath: path, dropping: steps) }

    func column(of span: SourceSpan) -> Int { max(1, span.column - (span.line == 1 ? shift : 0)) }
}

/// Places in JSON as RFC 6901 has them.
enum JSONPointer {
    /// - Parameters:
    ///   - path: `$.jobs[0].to`
    ///   - count: Steps at the beginning that are left out.
    static func text(ofPath path: String, dropping count: Int) -> String {
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
        return steps.dropFirst(count).map { "/" + $0 }.joined()
    }
}
