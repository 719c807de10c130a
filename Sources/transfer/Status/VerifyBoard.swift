import Glibc
import TransferCore
import TransferQueue

/// The report of a check of files: a line for each, and the result.
struct VerifyBoard {
    private let names: BatchNames
    private let isJSON: Bool
    private let isQuiet: Bool
    /// The columns of the terminal; `nil` for output of any width.
    private let width = Terminal(STDOUT_FILENO, environment: Composition.environment).tableWidth
    /// The damaged files, including missing ones.
    private(set) var damaged: [FileCheck] = []
    private var counts: [String: Int] = [:]
    /// Whether a batch has no record of a file.
    private var lacksRecords = false

    init(names: BatchNames, isJSON: Bool, isQuiet: Bool) {
        self.names = names
        self.isJSON = isJSON
        self.isQuiet = isQuiet
    }

    mutating func add(_ check: FileCheck) {
        let state = Self.state(check.verdict)
        counts[state, default: 0] += 1
        if state == "bad" || state == "missing" { damaged.append(check) }
        if isJSON {
            return print(
                Self.line(
                    path: check.path, state: state, by: Self.proof(check.verdict)?.rawValue, batch: check.batch,
                    job: check.job,
                    ranges: Self.ranges(check.verdict), reason: Self.reason(check.verdict)))
        }
        guard !isQuiet || state != "good" else { return }
        let name = "\(names.short(check.batch))/\(check.job)"
        show(state, "\(name)\(Self.words(check))")
    }

    /// Adds a download that has never brought a file.
    mutating func add(_ job: ListedJob, of batch: String) {
        counts["missing", default: 0] += 1
        let reason = "never downloaded: \(job.state.name)\(job.message.map { ", \($0)" } ?? "")"
        if isJSON {
            return print(Self.line(path: nil, state: "missing", batch: batch, job: job.job, reason: reason))
        }
        show("missing", "\(names.short(batch))/\(job.job)  \(reason)")
    }

    private func show(_ state: String, _ text: String) {
        for line in TextWrap.labelled("\(state.padded(to: 7))  \(text)", width: width, indent: 9) { print(line) }
    }

    /// Forgets damaged files that have been fetched: they are reported again.
    mutating func repaired(_ count: Int) {
        damaged = []
        counts["bad"] = nil
        counts["missing"] = nil
    }

    /// Notes that a batch has no record of a file, which does not count as intact files.
    mutating func foundNothing(of batch: String) {
        lacksRecords = true
        StandardError.write("transfer: \(names.short(batch)): no completed download is recorded\n")
    }

    /// Prints the sum and ends the process with the result.
    func finish() {
        if !isJSON, !isQuiet || counts["good"] != counts.values.reduce(0, +) {
            let parts = ["good", "bad", "missing", "unknown"].compactMap { state in
                counts[state].map { "\(NumberText.grouped($0)) \(state)" }
            }
            if !parts.isEmpty { print(parts.joined(separator: ", ")) }
        }
        if counts["missing"] != nil || lacksRecords { ExitStatus.exit(.unreadableJobFile) }
        if counts["bad"] != nil || counts["unknown"] != nil { ExitStatus.exit(.someFailed) }
    }

    private static func state(_ verdict: FileCheck.Verdict) -> String {
        switch verdict {
        case .good: "good"
        case .bad: "bad"
        case .missing: "missing"
        case .unknown: "unknown"
        }
    }

    private static func proof(_ verdict: FileCheck.Verdict) -> FileCheck.Proof? {
        switch verdict {
        case .good(let proof), .bad(let proof, _): proof
        case .missing, .unknown: nil
        }
    }

    private static func reason(_ verdict: FileCheck.Verdict) -> String? {
        if case .unknown(let reason) = verdict { reason } else { nil }
    }

    /// Returns ranges in the form of a request: `0-4194303, 8388608-12582911` (RFC 9110 §14.1.2).
    private static func ranges(_ verdict: FileCheck.Verdict) -> String? {
        guard case .bad(_, let ranges) = verdict else { return nil }
        return ranges.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ", ")
    }

    private static func words(_ check: FileCheck) -> String {
        switch check.verdict {
        case .good(let proof): "  \(by(proof))"
        case .bad(let proof, let ranges):
            "  \(by(proof)): \(ByteCount.format(check.badBytes)) of \(ByteCount.format(check.size)),"
                + " bytes \(Self.ranges(check.verdict) ?? "")\(ranges.isEmpty ? "none" : "")"
        case .missing: "  \(check.path)"
        case .unknown(let reason): "  \(reason)"
        }
    }

    private static func by(_ proof: FileCheck.Proof) -> String {
        switch proof {
        case .digest: "by its digest"
        case .pieces: "by the digests of its pieces"
        case .sums: "by the sums of its download"
        case .server: "by its server's word"
        }
    }

    static func line(
        path: String?, state: String, by proof: String? = nil, batch: String? = nil, job: String? = nil,
        ranges: String? = nil, reason: String? = nil
    ) -> String {
        JSONObject.text { object in
            if let batch { object.field("batch", batch) }
            if let job { object.field("id", job) }
            object.optional("path", path)
            object.field("state", state)
            if let proof { object.field("by", proof) }
            if let ranges { object.field("ranges", ranges) }
            if let reason { object.field("reason", reason) }
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
