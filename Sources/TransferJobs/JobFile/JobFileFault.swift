/// A fault of a job file, with its place.
public struct JobFileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The description in words, which never contains a secret.
    public var message: String
    /// The JSON path, such as `$.jobs[0].chekcsum`; empty in a list of URLs.
    public var path: String
    /// The fault's place in the file.
    public var span: SourceSpan
    /// The line to quote; `nil` where it is no longer available.
    public var excerpt: SourceExcerpt?

    /// Creates a fault; the message must not contain a secret.
    public init(message: String, path: String, span: SourceSpan, excerpt: SourceExcerpt? = nil) {
        self.message = message
        self.path = path
        self.span = span
        self.excerpt = excerpt
    }

    /// Returns the fault as `transfer validate` prints it: `file:line:column: error: …`, the path, and the line with a
    /// caret.
    ///
    /// - Parameter file: The file's name as the user wrote it.
    /// - Returns: Lines, each with a newline at its end.
    public func rendered(file: String) -> String {
        var text = "\(file):\(span.line):\(span.column): error: \(message)\n"
        if !path.isEmpty { text += "  \(path)\n" }
        if let excerpt { text += excerpt.rendered(line: span.line) }
        return text
    }

    /// The place and the message, on one line.
    public var description: String { "line \(span.line), column \(span.column): \(message)" }
}

/// All faults of a job file: the first ones in full, the rest as a count.
public struct JobFileReport: Sendable, Hashable {
    /// The number of faults that are kept.
    public static let capacity = 20

    /// The first faults, in the order in which they were found.
    public private(set) var faults: [JobFileFault] = []
    /// The number of all faults, including those that are not kept.
    public private(set) var faultCount = 0
    /// The number of jobs in the file, valid or not.
    public var jobCount = 0
    /// The number of watched folders in the file, valid or not.
    public var watchCount = 0
    /// The number of jobs that accept any server certificate (`tls.insecure`).
    public var trustingCount = 0
    /// The options of another tool's list that have no effect here, and without which the jobs are the same.
    public internal(set) var leftOut = LeftOut()
    /// The form of the file; `nil` until it is known.
    public internal(set) var format: JobFileFormat?

    /// Creates a report without faults.
    public init() {}

    /// Whether no fault was found.
    public var isEmpty: Bool { faultCount == 0 }

    /// Counts a fault, and keeps it while fewer than ``capacity`` are kept.
    public mutating func add(_ fault: JobFileFault) {
        faultCount += 1
        if faults.count < Self.capacity { faults.append(fault) }
    }

    /// Adds to the number of faults without their details.
    package mutating func add(uncounted: Int) { faultCount += uncounted }

    /// The warnings, in words: parts of the file that work differently or were left out, without being faults.
    public var warnings: [String] {
        var warnings: [String] = []
        if trustingCount > 0 { warnings.append(Self.trusting(jobs: trustingCount)) }
        if let words = leftOut.words(format) { warnings.append(words) }
        return warnings
    }

    /// Returns the warning for jobs that accept any server certificate, in words.
    public static func trusting(jobs count: Int) -> String {
        "\(Wording.count(count, "job")) without a check of certificates: anyone on the path can read and change what is transferred"
    }

    /// Returns a summary such as `jobs.json: 2 errors in 40 jobs; nothing was started`.
    public func summary(file: String) -> String {
        let jobs = jobCount > 0 ? " in \(Wording.count(jobCount, "job"))" : ""
        let shown = faultCount > faults.count ? ", the first \(faults.count) of them shown" : ""
        return "\(file): \(Wording.count(faultCount, "error"))\(jobs)\(shown); nothing was started"
    }

    /// Returns the faults in the order of the file, followed by the summary.
    public func rendered(file: String) -> String {
        let ordered = faults.sorted { ($0.span.line, $0.span.column) < ($1.span.line, $1.span.column) }
        return ordered.map { $0.rendered(file: file) }.joined() + summary(file: file) + "\n"
    }
}
